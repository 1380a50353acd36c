//! Carry out a plan: which runs are due, in which order, where, within which money; every run billed
//! and kept before its place gets the next. Reports what happens as [`Progress`]; prints nothing.
//!
//! Read in this order: `orders` (what to run), `schedule` (what is next; `until`: when a scenario was repeated often enough), `study_runner` (the story)
//! with `lane` (one place) and `record` (a measurement becomes a run), then money and time: `budget`,
//! `forecast`, `pilot`.

mod budget;
mod datasets;
mod error;
mod finish;
mod fits;
pub mod forecast;
mod in_progress;
mod inputs;
mod lane;
mod load_length;
mod orders;
mod pilot;
mod preview;
mod progress;
mod record;
mod schedule;
mod search;
mod short;
mod shortfall;
mod study_runner;
mod ticket;
mod until;

pub use budget::{Ledger, Rentals, over_budget};
pub use error::RunnerError;
pub use finish::{add_machine_life, machine_lives, price_record, reprice_record, settle};
pub use fits::{TooSmall, drop_unfounded_costs};
pub use forecast::{EnvironmentForecast, Forecast, RunForecast, Spread};
pub use inputs::{InputChange, InputError, InputReader, KeptInputs, input_changes, wrong_inputs};
pub use load_length::from_loads;
pub use orders::{OrderBuilder, OrderError, ScenarioOrder, scenarios_of};
pub use pilot::{BadPilot, Pilot, PilotOptions, pilot};
pub use preview::Preview;
pub use progress::{Count, Progress};
pub use record::{RecordOf, was_elsewhere};
pub use schedule::{Known, Listed, Next, Only, RunSelection, Schedule, due_runs};
pub use search::{SearchGoal, save_searched, searched};
pub use short::{SHORT_FOLDER, ShortOrders, ShortRuns, short_records};
pub use shortfall::Shortfall;
pub use study_runner::{Assigned, Ended, Options, StudyRunner};
pub use ticket::{LeftAtPlace, left_at_places};
pub use until::{UntilKnown, open_runs};
