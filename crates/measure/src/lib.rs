//! Measures one run: starts its process, enforces its limits, reads its events, samples the machine,
//! and determines the outcome.
//!
//! Never prints, never computes statistics beyond sums and medians of its own readings, never
//! touches the store. Threads only: no async runtime near a measurement.
//!
//! Read in this order: `request` (what is asked and given), `run` (the story of one run), then
//! its helpers: `process`, `container`, `sampler`, `events`, `log` and `progress`, and what is made of their findings:
//! `story`, `outcome`, `metrics`, `warnings`. Limits are enforced by `host::limits`.

mod client;
mod clock;
mod conclude;
mod container;
mod cost;
mod error;
mod events;
mod files;
mod high_water;
mod inventory;
mod log;
mod metrics;
mod outcome;
mod process;
mod progress;
mod repeat;
mod reported_metrics;
mod request;
mod run;
mod sampler;
pub mod samples;
mod steps;
mod story;
mod threads;
mod warnings;

pub use cost::{SampledSet, sampling_cpu_seconds};
pub use error::MeasureError;
pub use host::limits::{capacity, possible_limits, usable_cores};
pub use inventory::{git_commit, inventory};
pub use model::{Asked, Stop};
pub use repeat::{Repeated, Series};
pub use request::{ClientCommand, Contained, Recognition, Request, Watched};
pub use run::{could_not_begin, run};
pub use sampler::thread_cpu_seconds;
