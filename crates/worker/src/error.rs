//! Why an order cannot be carried out on this machine.

use std::path::Path;

use data::DataError;
use frameworks::{HomeError, NotSetUp, SetupError, SpecError};

use crate::hosts::HostError;

#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// The study holds measurements made elsewhere.
    #[error(
        "the study has no [workload], so there is nothing to run: its measurements come from bancada import"
    )]
    Nothing,
    #[error(transparent)]
    Data(DataError),
    /// A folder of pictures that is not what the order was made for.
    #[error(
        "the pictures in {0} are not those that the study was planned with: their names or sizes differ"
    )]
    OtherData(String),
    #[error(transparent)]
    Framework(SpecError),
    #[error(transparent)]
    NotSetUp(NotSetUp),
    /// The machine has no `caffe` program.
    #[error("{}", SetupError::NoCaffe)]
    NoCaffe,
    #[error(transparent)]
    Home(HomeError),
    #[error(transparent)]
    Hosts(HostError),
    #[error("network `{network}`: {why}")]
    Network { network: String, why: String },
    /// A model, a stack or a picture that cannot be had.
    #[error("{0}")]
    Serving(String),
    /// No engine, no image, or a workload that cannot be in one.
    #[error("{0}")]
    Container(String),
    #[error("only a command that is run here, and not in a container, is repeated in one process")]
    NotRepeated,
    #[error(transparent)]
    Measure(measure::MeasureError),
    #[error("cannot write {path}: {error}")]
    Write { path: String, error: std::io::Error },
}

impl WorkError {
    pub(crate) fn write(path: &Path, error: std::io::Error) -> Self {
        WorkError::Write {
            path: path.display().to_string(),
            error,
        }
    }
}
