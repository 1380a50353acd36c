//! Builds a cache, a few images at a time: memory does not grow with the dataset.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::thread;

use host::Unfinished;

use super::files::{self, Array};
use super::recipe::{ArrayOf, Description, Recipe};
use crate::error::DataError;
use crate::images::{Images, normalise};
use crate::source::OwnShape;
use crate::survey::{Part, Survey};

/// What one thread makes at a time.
const CHUNK_BYTES: u64 = 8 << 20;
const MOST_THREADS: usize = 8;

pub(crate) struct Making<'m> {
    pub(crate) survey: &'m Survey,
    pub(crate) recipe: &'m Recipe,
    pub(crate) shape: OwnShape,
}

impl Making<'_> {
    /// All files of the cache, in a folder that is made for them.
    pub(crate) fn whole(&self, folder: &Path, raw: bool) -> Result<(), DataError> {
        let description = self.description();
        let arrays = description.arrays(raw);
        fs::create_dir_all(folder).map_err(DataError::written(folder))?;
        check_room(folder, &arrays)?;
        let [train, train_labels, held_out, held_out_labels, rest @ ..] = arrays.as_slice() else {
            return Ok(());
        };
        self.part(folder, &self.survey.train, train, train_labels)?;
        self.part(folder, &self.survey.held_out, held_out, held_out_labels)?;
        for raw in rest {
            self.raw(&folder.join(raw.name), raw)?;
        }
        description.write(folder)
    }

    /// The raw images for a cache that was made without them.
    pub(crate) fn add_raw(&self, folder: &Path) -> Result<(), DataError> {
        let raw = self.description().raw();
        check_room(folder, std::slice::from_ref(&raw))?;
        let path = folder.join(files::TRAIN_RAW);
        let unfinished = Unfinished::beside(&path);
        self.raw(unfinished.path(), &raw)?;
        unfinished.publish(&path).map_err(DataError::written(&path))
    }

    fn description(&self) -> Description {
        Description::new(self.recipe, self.survey.classes, self.shape)
    }

    fn part(
        &self,
        folder: &Path,
        part: &Part,
        images: &ArrayOf,
        labels: &ArrayOf,
    ) -> Result<(), DataError> {
        let side = self.recipe.image;
        let mut image_file = Array::create(&folder.join(images.name), &images.header)?;
        let mut label_file = Array::create(&folder.join(labels.name), &labels.header)?;
        let make = |rows| {
            let images = part.source.read_square(rows, self.shape, side)?;
            Ok(Chunk {
                bytes: normalised(&images),
                labels: images.labels,
            })
        };
        let image_bytes = 4 * u64::from(self.shape.channels) * u64::from(side).pow(2);
        in_order(part.count, image_bytes, make, |chunk| {
            image_file.put(&chunk.bytes)?;
            let labels = chunk.labels.iter().map(|&label| i32::from(label));
            let labels: Vec<u8> = labels.flat_map(i32::to_le_bytes).collect();
            label_file.put(&labels)
        })?;
        image_file.finish()?;
        label_file.finish()
    }

    fn raw(&self, path: &Path, raw: &ArrayOf) -> Result<(), DataError> {
        let part = &self.survey.train;
        let mut file = Array::create(path, &raw.header)?;
        let OwnShape {
            channels,
            height,
            width,
        } = self.shape;
        let image_bytes = [channels, height, width].map(u64::from).iter().product();
        let make = |rows| Ok(part.source.read(rows, self.shape)?.pixels);
        in_order(part.count, image_bytes, make, |pixels| file.put(&pixels))?;
        file.finish()
    }
}

struct Chunk {
    bytes: Vec<u8>,
    labels: Vec<u16>,
}

/// Makes rows in several threads and puts them one after the other.
fn in_order<T: Send>(
    count: usize,
    image_bytes: u64,
    make: impl Fn(Range<usize>) -> Result<T, DataError> + Sync,
    mut put: impl FnMut(T) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let rows_at_once = (CHUNK_BYTES / image_bytes.max(1)).clamp(1, 4096) as usize;
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let ranges: Vec<Range<usize>> = (0..count)
        .step_by(rows_at_once)
        .map(|begin| begin..count.min(begin + rows_at_once))
        .collect();
    for some in ranges.chunks(threads.min(MOST_THREADS)) {
        let made: Vec<Result<T, DataError>> = thread::scope(|scope| {
            let make = &make;
            let workers: Vec<_> = some
                .iter()
                .map(|rows| scope.spawn(move || make(rows.clone())))
                .collect();
            let results = workers.into_iter().map(|worker| match worker.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            results.collect()
        });
        for chunk in made {
            put(chunk?)?;
        }
    }
    Ok(())
}

fn normalised(images: &Images) -> Vec<u8> {
    let table: Vec<[u8; 4]> = (0..=255).map(|p| normalise(p).to_le_bytes()).collect();
    let pixels = images.pixels.iter();
    pixels
        .flat_map(|&pixel| table[usize::from(pixel)])
        .collect()
}

/// A full disk would be found after half an hour otherwise.
fn check_room(folder: &Path, arrays: &[ArrayOf]) -> Result<(), DataError> {
    let needed = arrays.iter().try_fold(0u64, |sum, array| {
        sum.checked_add(array.header.data_bytes()?)
    });
    let needed_bytes = needed.unwrap_or(u64::MAX);
    let Ok(disk) = rustix::fs::statvfs(folder) else {
        return Ok(());
    };
    let free_bytes = disk.f_bavail.saturating_mul(disk.f_frsize);
    match needed_bytes > free_bytes {
        true => Err(DataError::new(format!(
            "the image cache needs {}, but only {} are free in {}: free some space, use fewer or smaller images, or set BANCADA_CACHE to a folder on a different disk",
            size(needed_bytes),
            size(free_bytes),
            folder.parent().unwrap_or(folder).display()
        ))),
        false => Ok(()),
    }
}

/// As a person reads it: 1.5 GB.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
