//! A cache folder, read batch by batch.

use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::files::{HELD_OUT_IMAGES, HELD_OUT_LABELS, TRAIN_IMAGES, TRAIN_LABELS};
use super::recipe;
use crate::error::DataError;
use crate::npy::{self, Found, Header, Kind, LONGEST_HEADER_BYTES};

/// Both parts of a cache.
#[derive(Debug)]
pub struct Opened {
    pub train: CachedImages,
    pub held_out: CachedImages,
    /// As the folder's description says; `None` if it has none.
    pub classes: Option<u32>,
}

/// One part of a cache: labels in memory, images on the disk until a batch is requested.
#[derive(Debug)]
pub struct CachedImages {
    pub channels: u32,
    pub height: u32,
    pub width: u32,
    pub labels: Vec<u16>,
    path: PathBuf,
    file: File,
    data_offset: u64,
}

pub fn open(folder: &Path) -> Result<Opened, DataError> {
    Ok(Opened {
        train: open_part(folder, TRAIN_IMAGES, TRAIN_LABELS)?,
        held_out: open_part(folder, HELD_OUT_IMAGES, HELD_OUT_LABELS)?,
        classes: recipe::read(folder).map(|description| description.classes),
    })
}

impl CachedImages {
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The images of these rows as a network sees them, one after the other.
    pub fn batch(&self, rows: &[usize]) -> Result<Vec<f32>, DataError> {
        let values = self.channels as usize * self.height as usize * self.width as usize;
        let mut bytes = vec![0; 4 * values];
        let mut images = Vec::with_capacity(rows.len() * values);
        for &row in rows {
            if row >= self.len() {
                return Err(DataError::new(format!(
                    "image {row} of {} was requested, which has {}",
                    self.path.display(),
                    self.len()
                )));
            }
            let offset = self.data_offset + row as u64 * bytes.len() as u64;
            let read = self.file.read_exact_at(&mut bytes, offset);
            read.map_err(DataError::read(&self.path))?;
            let (words, _) = bytes.as_chunks::<4>();
            images.extend(words.iter().map(|&word| f32::from_le_bytes(word)));
        }
        Ok(images)
    }
}

/// Whether the file is there with this header and as long as it says.
pub(crate) fn is_whole(path: &Path, header: &Header) -> bool {
    ArrayFile::open(path, header.kind).is_ok_and(|array| array.found.header == *header)
}

fn open_part(folder: &Path, images: &str, labels: &str) -> Result<CachedImages, DataError> {
    let path = folder.join(images);
    let images = ArrayFile::open(&path, Kind::Float32)?;
    let &[count, channels, height, width] = images.shape() else {
        return Err(broken(&path, "does not contain images"));
    };
    let side =
        |size: u64| u32::try_from(size).map_err(|_| broken(&path, "does not contain images"));
    let (channels, height, width) = (side(channels)?, side(height)?, side(width)?);
    let labels_path = folder.join(labels);
    let labels = read_labels(&labels_path)?;
    if labels.len() as u64 != count {
        return Err(DataError::labels_differ(
            (&path, count as usize),
            (&labels_path, labels.len()),
        ));
    }
    Ok(CachedImages {
        channels,
        height,
        width,
        labels,
        path,
        file: images.file,
        data_offset: images.found.data_offset,
    })
}

fn read_labels(path: &Path) -> Result<Vec<u16>, DataError> {
    let array = ArrayFile::open(path, Kind::Int32)?;
    let &[count] = array.shape() else {
        return Err(broken(path, "does not contain labels"));
    };
    // The file is as long as its header says, so this is no more than what is there.
    let mut bytes = vec![0; 4 * count as usize];
    let read = array
        .file
        .read_exact_at(&mut bytes, array.found.data_offset);
    read.map_err(DataError::read(path))?;
    let (words, _) = bytes.as_chunks::<4>();
    let labels = words.iter().map(|&word| i32::from_le_bytes(word));
    labels
        .map(u16::try_from)
        .collect::<Result<_, _>>()
        .map_err(|_| broken(path, "has a label that is not from 0 to 65535"))
}

/// A NumPy file of the right kind and length.
struct ArrayFile {
    file: File,
    found: Found,
}

impl ArrayFile {
    fn open(path: &Path, kind: Kind) -> Result<Self, DataError> {
        let failed = || DataError::read(path);
        let file = File::open(path).map_err(failed())?;
        let length = file.metadata().map_err(failed())?.len();
        let mut head = vec![0; length.min(LONGEST_HEADER_BYTES as u64) as usize];
        file.read_exact_at(&mut head, 0).map_err(failed())?;
        let found = npy::parse(&head).map_err(|problem| broken(path, problem))?;
        if found.header.kind != kind {
            return Err(broken(path, "contains a different type of numbers"));
        }
        if found.file_bytes() != Some(length) {
            return Err(broken(path, "does not have the length in its header"));
        }
        Ok(ArrayFile { file, found })
    }

    fn shape(&self) -> &[u64] {
        &self.found.header.shape
    }
}

/// A file of a cache that cannot be used.
fn broken(path: &Path, problem: impl fmt::Display) -> DataError {
    DataError::new(format!(
        "{} {problem}: delete its folder, and it is rebuilt",
        path.display()
    ))
}
