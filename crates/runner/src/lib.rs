//! Runs a plan: decides which runs are due, in which order, within the budget; every run is
//! measured, billed and stored before the next begins. Emits [`Progress`]; prints nothing.

pub mod agreement;
mod budget;
mod conduct;
mod datasets;
mod finish;
mod fits;
pub mod forecast;
mod hosts;
mod inputs;
mod load_length;
mod picture;
mod pilot;
mod ready;
mod scratch;
mod serving;
mod trial;
pub mod verification;
mod workload;

pub use budget::{Ledger, Rentals, over_budget};
pub use conduct::{Conduct, Ended, Only, Options, Progress, RunnerError, Wanted, due_runs};
pub use datasets::Datasets;
pub use finish::{price_record, reprice_record, settle};
pub use fits::TooSmall;
pub use forecast::{EnvironmentForecast, Forecast, RunForecast, Spread};
pub use hosts::HostError;
pub use inputs::{InputChange, InputError, InputReader, KeptInputs, input_changes};
pub use load_length::from_loads;
pub use pilot::{BadPilot, Pilot, PilotOptions, pilot};
pub use ready::{make_ready, scenarios_of};
pub use scratch::Scratch;
pub use serving::{Models, ReadyModel, was_elsewhere};
pub use trial::trial;
pub use workload::{PreparedRun, Surroundings, Trainer, WorkloadError, prepare};
