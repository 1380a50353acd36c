//! What may go wrong between a coordinator and a place. How a run ended, well or badly, is no error.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaceError {
    /// The connection is lost for now; what runs there goes on.
    Lost(String),
    /// The place is gone, with everything that ran there.
    Dead(String),
    /// It lives, but cannot do this.
    Refused(String),
    /// An order ended and left no measurement.
    NoMeasurement(String),
}

impl PlaceError {
    pub(crate) fn io(what: &str, path: &Path, error: &std::io::Error) -> Self {
        PlaceError::Refused(format!("cannot {what} {}: {error}", path.display()))
    }
}

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlaceError::Lost(why) => write!(f, "the connection was lost: {why}"),
            PlaceError::Dead(why) => write!(f, "the place is gone: {why}"),
            PlaceError::Refused(why) => f.write_str(why),
            PlaceError::NoMeasurement(why) => write!(f, "the worker left no measurement: {why}"),
        }
    }
}

impl std::error::Error for PlaceError {}
