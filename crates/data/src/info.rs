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

const DATASETS: &[DatasetInfo] = &[
    DatasetInfo {
        name: "digits",
        channels: 1,
        classes: 10,
        side: 28,
        images: 2048,
        held_out: 512,
        needs_folder: false,
    },
    DatasetInfo {
        name: "digits-colour",
        channels: 3,
        classes: 10,
        side: 32,
        images: 2048,
        held_out: 512,
        needs_folder: false,
    },
    DatasetInfo {
        name: "mnist",
        channels: 1,
        classes: 10,
        side: 28,
        images: 60_000,
        held_out: 10_000,
        needs_folder: true,
    },
    DatasetInfo {
        name: "fashion-mnist",
        channels: 1,
        classes: 10,
        side: 28,
        images: 60_000,
        held_out: 10_000,
        needs_folder: true,
    },
    DatasetInfo {
        name: "cifar10",
        channels: 3,
        classes: 10,
        side: 32,
        images: 50_000,
        held_out: 10_000,
        needs_folder: true,
    },
    DatasetInfo {
        name: "cifar100",
        channels: 3,
        classes: 100,
        side: 32,
        images: 50_000,
        held_out: 10_000,
        needs_folder: true,
    },
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
        return info(name).ok_or_else(|| DataError::UnknownDataset {
            name: name.to_owned(),
        });
    }
    let folder = data_dir.ok_or_else(|| DataError::FolderNeeded {
        dataset: name.to_owned(),
    })?;
    let listing = folder::list(folder, 0)?;
    let shape = listing.shape()?;
    Ok(DatasetInfo {
        name: FOLDER,
        channels: shape.channels,
        classes: listing.classes.len() as u32,
        side: shape.side,
        images: listing.train.len() as u32,
        held_out: listing.held_out.len() as u32,
        needs_folder: true,
    })
}

/// Where `bancada data fetch` puts the files of a dataset, below bancada's cache folder.
pub fn fetched_folder(home: &Path, dataset: &str) -> PathBuf {
    home.join("data").join(dataset)
}
