//! Why a serving run has no result.

use std::fmt;
use std::io;
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The first request was not answered well.
    #[error("the first request failed: {0}")]
    NoAnswer(String),
    #[error("was interrupted")]
    Stopped,
    /// Everything else, as a sentence.
    #[error("{0}")]
    Failed(String),
}

impl ClientError {
    pub(crate) fn failed(sentence: impl fmt::Display) -> Self {
        ClientError::Failed(sentence.to_string())
    }

    /// A load that names no rate, no trace, …
    pub(crate) fn incomplete(what: &str) -> Self {
        ClientError::Failed(format!("the load has no {what}"))
    }

    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| ClientError::Failed(format!("{}: {error}", path.display()))
    }
}
