//! What may go wrong between a coordinator and a place. How a run ended, well or badly, is no error.

use std::path::Path;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaceError {
    /// The connection is lost for now; what runs there goes on.
    #[error("the connection was lost: {0}")]
    Lost(String),
    /// The place is gone, with everything that ran there.
    #[error("the place is gone: {0}")]
    Dead(String),
    /// It lives, but cannot do this.
    #[error("{0}")]
    Refused(String),
    /// An order ended and left no measurement.
    #[error("the worker left no measurement: {0}")]
    NoMeasurement(String),
}

impl PlaceError {
    pub(crate) fn io(what: &str, path: &Path, error: &std::io::Error) -> Self {
        PlaceError::Refused(format!("cannot {what} {}: {error}", path.display()))
    }
}
