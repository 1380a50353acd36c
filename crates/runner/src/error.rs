//! Why a study could not be carried on.

use model::RunId;
use place::PlaceError;
use store::StoreError;

use crate::inputs::{InputChange, InputError};
use crate::orders::OrderError;

#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Order(#[from] OrderError),
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error("the plan has no scenario for run {0}")]
    NoScenario(RunId),
    #[error(transparent)]
    Input(#[from] InputError),
    /// Since runs that are kept.
    #[error("inputs have changed since earlier runs: {}", paths(.0))]
    InputsChanged(Vec<InputChange>),
}

fn paths(changes: &[InputChange]) -> String {
    let paths: Vec<&str> = changes.iter().map(|c| c.path.as_str()).collect();
    paths.join(", ")
}
