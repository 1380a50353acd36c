//! What can be wrong with data, in a sentence.

use std::fmt;
use std::io;
use std::path::Path;

/// Nobody needs to distinguish the causes: all of them are for a person to read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DataError(String);

impl DataError {
    pub(crate) fn new(sentence: impl fmt::Display) -> Self {
        DataError(sentence.to_string())
    }

    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| DataError(format!("cannot read {}: {error}", path.display()))
    }

    pub(crate) fn written(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| DataError(format!("cannot write {}: {error}", path.display()))
    }

    pub(crate) fn unknown_dataset(name: &str) -> Self {
        let known: Vec<&str> = crate::names().collect();
        DataError(format!(
            "unknown dataset `{name}`; known: {}",
            known.join(", ")
        ))
    }

    pub(crate) fn folder_needed(dataset: &str) -> Self {
        DataError(format!(
            "`{dataset}` is read from files: set their folder as `data_dir`"
        ))
    }

    pub(crate) fn too_large(images: usize, side: u32) -> Self {
        DataError(format!(
            "{images} images of {side}×{side} pixels do not fit in memory: use fewer or smaller images"
        ))
    }

    /// Images of one file, labels of another.
    pub(crate) fn labels_differ(
        (images_path, images): (&Path, usize),
        (labels_path, labels): (&Path, usize),
    ) -> Self {
        DataError(format!(
            "{} has {images} images, but {} has {labels} labels: they do not match",
            images_path.display(),
            labels_path.display()
        ))
    }
}
