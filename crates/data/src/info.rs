//! What is known of a dataset before it is loaded.

use std::path::{Path, PathBuf};

use crate::error::DataError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatasetInfo {
    pub name: &'static str,
    pub channels: u32,
    pub classes: u32,
    /// Side of its own square images.
    pub side: u32,
    /// Training images it has; for a generator, how many are drawn unless a number is asked for.
    pub images: u32,
    pub held_out: u32,
    /// Whether it is read from files that must be there.
    pub needs_folder: bool,
}

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
        name: "cifar10",
        channels: 3,
        classes: 10,
        side: 32,
        images: 50_000,
        held_out: 10_000,
        needs_folder: true,
    },
];

pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    DATASETS.iter().map(|d| d.name)
}

pub fn info(name: &str) -> Option<DatasetInfo> {
    DATASETS.iter().copied().find(|d| d.name == name)
}

/// What is known of a dataset; for `folder`, of the images that lie in `data_dir`.
pub fn describe(name: &str, data_dir: Option<&Path>) -> Result<DatasetInfo, DataError> {
    let _ = data_dir;
    info(name).ok_or_else(|| DataError::UnknownDataset {
        name: name.to_owned(),
    })
}

/// Where `bancada data fetch` puts the files of a dataset, below bancada's cache folder.
pub fn fetched_folder(home: &Path, dataset: &str) -> PathBuf {
    home.join("data").join(dataset)
}
