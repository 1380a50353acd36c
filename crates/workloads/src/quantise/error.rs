use std::fmt;
use std::io;
use std::path::Path;

/// Why a model could not be quantised, as a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct QuantiseError(String);

impl QuantiseError {
    pub(crate) fn new(sentence: impl fmt::Display) -> QuantiseError {
        QuantiseError(sentence.to_string())
    }

    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> QuantiseError {
        let path = path.to_owned();
        move |source| QuantiseError(format!("cannot {what} {}: {source}", path.display()))
    }
}
