//! What went wrong, as a sentence.

use std::fmt;
use std::io;
use std::path::Path;

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ImageError(String);

impl ImageError {
    pub(crate) fn new(sentence: impl Into<String>) -> ImageError {
        ImageError(sentence.into())
    }

    /// A sentence that begins with the path.
    pub(crate) fn of(path: &Path, what: impl fmt::Display) -> ImageError {
        ImageError(format!("{} {what}", path.display()))
    }

    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ImageError {
        let path = path.to_owned();
        move |error| ImageError::of(&path, format!("cannot be {what}: {error}"))
    }
}
