//! Why an order cannot be carried out on this machine.

use std::fmt;
use std::path::Path;

use data::DataError;
use frameworks::{HomeError, NotSetUp, SetupError, SpecError};

use crate::hosts::HostError;

#[derive(Debug)]
pub enum WorkError {
    /// The study holds measurements made elsewhere.
    Nothing,
    Data(DataError),
    /// A folder of pictures that is not what the order was made for.
    OtherData(String),
    Framework(SpecError),
    NotSetUp(NotSetUp),
    /// The machine has no `caffe` program.
    NoCaffe,
    Home(HomeError),
    Hosts(HostError),
    Network {
        network: String,
        why: String,
    },
    /// A model, a stack or a picture that cannot be had.
    Serving(String),
    Measure(measure::MeasureError),
    Write {
        path: String,
        error: std::io::Error,
    },
}

impl WorkError {
    pub(crate) fn write(path: &Path, error: std::io::Error) -> Self {
        WorkError::Write {
            path: path.display().to_string(),
            error,
        }
    }
}

impl fmt::Display for WorkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorkError::Nothing => f.write_str(
                "the study has no [workload], so there is nothing to run: its measurements come from bancada import",
            ),
            WorkError::Data(error) => error.fmt(f),
            WorkError::OtherData(folder) => write!(
                f,
                "the pictures in {folder} are not those that the study was planned with: their names or sizes differ"
            ),
            WorkError::Framework(error) => error.fmt(f),
            WorkError::NotSetUp(error) => error.fmt(f),
            WorkError::NoCaffe => SetupError::NoCaffe.fmt(f),
            WorkError::Home(error) => error.fmt(f),
            WorkError::Serving(why) => f.write_str(why),
            WorkError::Hosts(error) => error.fmt(f),
            WorkError::Network { network, why } => write!(f, "network `{network}`: {why}"),
            WorkError::Measure(error) => error.fmt(f),
            WorkError::Write { path, error } => write!(f, "cannot write {path}: {error}"),
        }
    }
}

impl std::error::Error for WorkError {}
