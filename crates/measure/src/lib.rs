//! Carry out one run: start its process, hold it to its limits, listen to its events, sample the
//! machine beside it, and say how it ended.
//!
//! Never prints, never computes statistics beyond sums and medians of its own readings, never
//! touches the store. Threads only: no async runtime stands near a measurement.

mod error;
mod request;
mod stop;

pub use error::MeasureError;
pub use request::{Measured, Request, Watched};
pub use stop::{Asked, Stop};

use std::collections::BTreeMap;
use std::path::Path;

/// Carries out one run and comes back when no process of it is left.
///
/// How the run ended, well or badly, is in [`Measured::outcome`]; an error means that the run
/// could not be measured (its folder cannot be written, a pattern is wrong).
pub fn run(
    _request: &Request,
    _stop: &Stop,
    _watch: &mut dyn FnMut(Watched<'_>),
) -> Result<Measured, MeasureError> {
    Err(MeasureError::EmptyCommand)
}

/// What this machine is. `versions` are kept as given; the commit is that of the repository
/// holding `repository_of`.
pub fn inventory(
    _repository_of: Option<&Path>,
    versions: BTreeMap<String, String>,
) -> model::Inventory {
    model::Inventory {
        versions,
        ..model::Inventory::default()
    }
}

/// Cores this process may really use: affinity and cgroup quota (v1 and v2).
pub fn usable_cores() -> f64 {
    1.0
}
