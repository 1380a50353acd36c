//! Why a run could not be measured at all.

use std::fmt;
use std::io;
use std::path::PathBuf;

#[derive(Debug)]
pub enum MeasureError {
    /// A file of the run's folder cannot be written: full disk, read-only folder.
    Folder {
        path: PathBuf,
        source: io::Error,
    },
    /// A regular expression of the study does not compile.
    Pattern {
        pattern: String,
        source: regex::Error,
    },
    EmptyCommand,
    /// The system gave no thread, pipe or process.
    System {
        what: &'static str,
        source: io::Error,
    },
}

impl fmt::Display for MeasureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MeasureError::Folder { path, source } => write!(
                f,
                "cannot write {}: {source}; free some space or choose a different folder with --out",
                path.display()
            ),
            MeasureError::Pattern { pattern, source } => {
                write!(
                    f,
                    "the log pattern `{pattern}` is not a regular expression: {source}"
                )
            }
            MeasureError::EmptyCommand => {
                write!(
                    f,
                    "the command is empty: give at least the program to start"
                )
            }
            MeasureError::System { what, source } => write!(
                f,
                "the system refused {what}: {source}; close other programs or raise the limit (ulimit)"
            ),
        }
    }
}

impl std::error::Error for MeasureError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            MeasureError::Folder { source, .. } | MeasureError::System { source, .. } => {
                Some(source)
            }
            MeasureError::Pattern { source, .. } => Some(source),
            MeasureError::EmptyCommand => None,
        }
    }
}
