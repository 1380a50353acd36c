//! What can go wrong on the way, in a sentence.

use std::fmt;
use std::io;
use std::path::Path;

/// Nobody needs to distinguish the causes: all of them are for a person to read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FetchError(String);

impl FetchError {
    pub(crate) fn new(sentence: impl fmt::Display) -> Self {
        FetchError(sentence.to_string())
    }

    /// A file that is not what it should be, or not whole.
    pub(crate) fn of(file: impl fmt::Display, problem: impl fmt::Display) -> Self {
        FetchError(format!("{file}: {problem}"))
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| FetchError::of(path.display(), error)
    }

    pub(crate) fn json(file: &str, expected: &str, error: &serde_json::Error) -> Self {
        match error.is_eof() {
            true => FetchError::of(
                file,
                format!("{expected} that is truncated ({error}): download it again"),
            ),
            false => FetchError::of(file, format!("not {expected}: {error}")),
        }
    }

    /// The place is there and has no such file.
    pub(crate) fn missing(file: &str) -> Self {
        FetchError(format!("has no {file}"))
    }

    pub(crate) fn archive(what: impl fmt::Display, problem: impl fmt::Display) -> Self {
        FetchError(format!("{what} cannot be unpacked: {problem}"))
    }
}
