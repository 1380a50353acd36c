//! What is known of a dataset before it is loaded.

use std::path::{Path, PathBuf};

use crate::error::DataError;
use crate::folder;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatasetInfo {
    pub name: &'static str,
    pub channels: u32,
    pub classes: u32,
    /// Side of its own square images.
    pub side: u32,
    /// Training images it has; for a generator, how many are drawn unless a number is requested.
    pub images: u32,
    pub held_out: u32,
    /// Whether it is read from files that must be there.
    pub needs_folder: bool,
}

/// The name under which a folder of pictures is requested.
pub const FOLDER: &str = "folder";

const fn dataset(
    name: &'static str,
    [channels, side, classes]: [u32; 3],
    [images, held_out]: [u32; 2],
    needs_folder: bool,
) -> DatasetInfo {
    DatasetInfo {
        name,
        channels,
        classes,
        side,
        images,
        held_out,
        needs_folder,
    }
}

const DATASETS: &[DatasetInfo] = &[
    dataset("digits", [1, 28, 10], [2048, 512], false),
    dataset("digits-colour", [3, 32, 10], [2048, 512], false),
    dataset("mnist", [1, 28, 10], [60_000, 10_000], true),
    dataset("fashion-mnist", [1, 28, 10], [60_000, 10_000], true),
    dataset("cifar10", [3, 32, 10], [50_000, 10_000], true),
    dataset("cifar100", [3, 32, 100], [50_000, 10_000], true),
];

pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    DATASETS.iter().map(|d| d.name).chain([FOLDER])
}

/// Of the datasets whose every number is known beforehand, which a folder's are not.
pub fn info(name: &str) -> Option<DatasetInfo> {
    DATASETS.iter().copied().find(|d| d.name == name)
}

/// What is known of a dataset; for `folder`, found in the pictures that lie in `data_dir`, of
/// which every header is read.
pub fn describe(name: &str, data_dir: Option<&Path>) -> Result<DatasetInfo, DataError> {
    if name != FOLDER {
        return info(name).ok_or_else(|| DataError::unknown_dataset(name));
    }
    let folder = data_dir.ok_or_else(|| DataError::folder_needed(name))?;
    let listing = folder::list(folder, 0)?;
    let shape = listing.shape()?;
    Ok(DatasetInfo {
        name: FOLDER,
        channels: shape.channels,
        classes: listing.classes.len() as u32,
        side: shape.height,
        images: listing.train.len() as u32,
        held_out: listing.held_out.len() as u32,
        needs_folder: true,
    })
}

/// Where `bancada data fetch` puts the files of a dataset, below bancada's cache folder.
pub fn fetched_folder(home: &Path, dataset: &str) -> PathBuf {
    home.join("data").join(dataset)
}
