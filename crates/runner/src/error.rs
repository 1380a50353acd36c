//! Why a study could not be carried on.

use std::fmt;

use model::RunId;
use place::PlaceError;
use store::StoreError;

use crate::inputs::{InputChange, InputError};
use crate::orders::OrderError;

#[derive(Debug)]
pub enum RunnerError {
    Store(StoreError),
    Order(OrderError),
    Place(PlaceError),
    NoScenario(RunId),
    Input(InputError),
    /// Since runs that are kept.
    InputsChanged(Vec<InputChange>),
}

impl fmt::Display for RunnerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunnerError::Store(error) => error.fmt(f),
            RunnerError::Order(error) => error.fmt(f),
            RunnerError::Place(error) => error.fmt(f),
            RunnerError::Input(error) => error.fmt(f),
            RunnerError::InputsChanged(changes) => {
                let paths: Vec<&str> = changes.iter().map(|c| c.path.as_str()).collect();
                let paths = paths.join(", ");
                write!(f, "inputs have changed since earlier runs: {paths}")
            }
            RunnerError::NoScenario(run) => write!(f, "the plan has no scenario for run {run}"),
        }
    }
}

impl std::error::Error for RunnerError {}

impl From<StoreError> for RunnerError {
    fn from(error: StoreError) -> Self {
        RunnerError::Store(error)
    }
}

impl From<InputError> for RunnerError {
    fn from(error: InputError) -> Self {
        RunnerError::Input(error)
    }
}

impl From<OrderError> for RunnerError {
    fn from(error: OrderError) -> Self {
        RunnerError::Order(error)
    }
}

impl From<PlaceError> for RunnerError {
    fn from(error: PlaceError) -> Self {
        RunnerError::Place(error)
    }
}
