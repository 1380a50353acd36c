//! The files of a cache folder, written.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::DataError;
use crate::npy::{Header, Kind};

pub(crate) const TRAIN_IMAGES: &str = "train-images.npy";
pub(crate) const TRAIN_LABELS: &str = "train-labels.npy";
pub(crate) const HELD_OUT_IMAGES: &str = "held-out-images.npy";
pub(crate) const HELD_OUT_LABELS: &str = "held-out-labels.npy";
pub(crate) const TRAIN_RAW: &str = "train-raw.npy";
pub(crate) const DESCRIPTION: &str = "cache.json";

/// Writes one part (`train` or `held-out`) of given numbers: normalised images, one after the
/// other, and their labels. A folder with both parts can be opened as any other cache.
pub fn write(
    folder: &Path,
    part: &str,
    images: &[f32],
    shape: [usize; 4],
    labels: &[i32],
) -> Result<(), DataError> {
    let values = shape.iter().try_fold(1usize, |all, &n| all.checked_mul(n));
    if values != Some(images.len()) || shape[0] != labels.len() {
        let [count, channels, height, width] = shape;
        return Err(DataError::new(format!(
            "{} values and {} labels are not {count} images of {channels} × {height} × {width}",
            images.len(),
            labels.len()
        )));
    }
    fs::create_dir_all(folder).map_err(DataError::written(folder))?;
    let write = |what: &str, kind: Kind, sizes: &[usize], bytes: Vec<u8>| {
        let shape = sizes.iter().map(|&size| size as u64).collect();
        let path = folder.join(format!("{part}-{what}.npy"));
        let mut file = Array::create(&path, &Header { kind, shape })?;
        file.put(&bytes)?;
        file.finish()
    };
    let bytes = images.iter().flat_map(|value| value.to_le_bytes());
    write("images", Kind::Float32, &shape, bytes.collect())?;
    let bytes = labels.iter().flat_map(|label| label.to_le_bytes());
    write("labels", Kind::Int32, &shape[..1], bytes.collect())
}

/// A NumPy file that is being written.
pub(crate) struct Array {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Array {
    pub(crate) fn create(path: &Path, header: &Header) -> Result<Self, DataError> {
        let file = File::create(path).map_err(DataError::written(path))?;
        let mut array = Array {
            path: path.to_owned(),
            file: BufWriter::with_capacity(1 << 18, file),
        };
        array.put(&header.to_bytes())?;
        Ok(array)
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        let written = self.file.write_all(bytes);
        written.map_err(DataError::written(&self.path))
    }

    /// What is not on the disk when the folder gets its name may be lost with the power.
    pub(crate) fn finish(self) -> Result<(), DataError> {
        let failed = DataError::written(&self.path);
        let file = self.file.into_inner().map_err(|error| error.into_error());
        file.and_then(|file| file.sync_all()).map_err(failed)
    }
}
