//! Why a run could not be measured at all.

use std::io;
use std::path::{Path, PathBuf};

use log_patterns::PatternError;

#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// A file of the run's folder cannot be written: full disk, read-only folder.
    #[error(
        "cannot write {path}: {source}; free some space or choose a different folder with --out"
    )]
    Folder { path: PathBuf, source: io::Error },
    /// A regular expression of the study does not compile.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    #[error("the command is empty: give at least the program to start")]
    EmptyCommand,
    /// The system gave no thread, pipe or process.
    #[error(
        "the system refused {what}: {source}; close other programs or raise the limit (ulimit)"
    )]
    System {
        what: &'static str,
        source: io::Error,
    },
}

impl MeasureError {
    pub(crate) fn folder(path: &Path) -> impl Fn(io::Error) -> MeasureError {
        move |source| MeasureError::Folder {
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> MeasureError {
        move |source| MeasureError::System { what, source }
    }
}
