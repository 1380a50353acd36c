//! The files that Caffe reads.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use data::cache::{CachedImages, Opened};
use network::formats::caffe::{Files, Training};

use crate::error::Error;

pub(super) const NET: &str = "train.prototxt";
pub(super) const SOLVER: &str = "solver.prototxt";
pub(super) const WEIGHTS: &str = "initial.caffemodel";
const TRAIN_LIST: &str = "train.txt";
const TEST_LIST: &str = "held-out.txt";
const IMAGES: &str = "images";
const SNAPSHOT: &str = "trained";

/// Names as Caffe opens them from the scratch folder.
pub(super) fn names() -> Files {
    Files {
        net: NET.to_owned(),
        train_list: TRAIN_LIST.to_owned(),
        test_list: TEST_LIST.to_owned(),
        images: format!("{IMAGES}/"),
        snapshot_prefix: SNAPSHOT.to_owned(),
    }
}

/// A folder of which the network and the solver stay, so that anyone can see what was trained.
pub(super) struct Scratch {
    folder: PathBuf,
}

/// Thousands of images and all that can be rebuilt would make results large.
impl Drop for Scratch {
    fn drop(&mut self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for entry in entries.filter(|e| e.file_name() != NET && e.file_name() != SOLVER) {
            let path = entry.path();
            // What cannot be removed stays; the training is worth more.
            _ = match path.is_dir() {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
        }
    }
}

impl Scratch {
    pub(super) fn make(folder: &Path) -> Result<Self, Error> {
        let images = folder.join(IMAGES);
        fs::create_dir_all(&images).map_err(failed(&images))?;
        Ok(Scratch {
            folder: folder.to_owned(),
        })
    }

    /// Where Caffe is started: all names in its files are relative to it.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = self.path(name);
        fs::write(&path, bytes).map_err(failed(&path))
    }

    /// One file an image; the cache has exactly the bytes that were resized, as numbers from −1 to 1.
    pub(super) fn write_images(&self, images: &Opened) -> Result<(), Error> {
        for (part, images) in [("train", &images.train), ("held-out", &images.held_out)] {
            for row in 0..images.len() {
                let values = images.batch(&[row]).map_err(Error::failed)?;
                let path = self.path(IMAGES).join(image_name(part, row));
                let picture = picture(&values, images);
                fs::write(&path, picture).map_err(failed(&path))?;
            }
        }
        Ok(())
    }

    /// The training images in the order of every epoch, whole batches only; the held-out ones once.
    /// After the last step Caffe begins again: of the first batch it logs the loss once more.
    pub(super) fn write_lists(
        &self,
        images: &Opened,
        seed: u64,
        training: &Training,
    ) -> Result<(), Error> {
        let iterations = training.iterations;
        let kept = iterations.an_epoch as usize * training.batch as usize;
        let epochs = iterations.all / iterations.an_epoch.max(1);
        let order = (1..=epochs).flat_map(|epoch| {
            let order = data::epoch_order(seed, epoch, images.train.len());
            order.into_iter().take(kept)
        });
        self.write_list(TRAIN_LIST, "train", &images.train.labels, order)?;
        let all = 0..images.held_out.len();
        self.write_list(TEST_LIST, "held-out", &images.held_out.labels, all)
    }

    fn write_list(
        &self,
        name: &str,
        part: &str,
        labels: &[u16],
        rows: impl Iterator<Item = usize>,
    ) -> Result<(), Error> {
        let path = self.path(name);
        let write = || -> io::Result<()> {
            let mut file = BufWriter::new(File::create(&path)?);
            for row in rows {
                let label = labels.get(row).copied().unwrap_or_default();
                writeln!(file, "{} {label}", image_name(part, row))?;
            }
            file.flush()
        };
        write().map_err(failed(&path))
    }
}

/// OpenCV, by which Caffe reads, looks into the file, not at its name.
fn image_name(part: &str, row: usize) -> String {
    format!("{part}-{row}.pnm")
}

/// A binary PGM or PPM. Caffe reads colours as blue, green, red: written the other way round, its
/// first channel is our first.
fn picture(values: &[f32], images: &CachedImages) -> Vec<u8> {
    let pixels = images.height as usize * images.width as usize;
    let channels = values.len() / pixels.max(1);
    let kind = if channels == 1 { "P5" } else { "P6" };
    let head = format!("{kind}\n{} {}\n255\n", images.width, images.height);
    let mut bytes = head.into_bytes();
    for pixel in 0..pixels {
        let of_pixel = (0..channels).rev().map(|channel| channel * pixels + pixel);
        bytes.extend(of_pixel.filter_map(|place| values.get(place).map(|&v| byte(v))));
    }
    bytes
}

/// What became `x / 127.5 − 1`.
fn byte(value: f32) -> u8 {
    ((value + 1.0) * 127.5).round() as u8
}

fn failed(path: &Path) -> impl Fn(io::Error) -> Error {
    move |error| Error::failed(format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_come_back_as_they_were() {
        for pixel in 0..=255_u8 {
            let kept = (f32::from(pixel) / 255.0 - 0.5) / 0.5;
            assert_eq!(byte(kept), pixel);
        }
    }
}
