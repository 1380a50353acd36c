//! The terms of Bancada as types. No I/O, no clock: every value is made elsewhere.
//!
//! Read in this order: [`study`] (the question, and its [`design`]; [`serving`] where models are served), [`order`] (what
//! to run), [`measurement`] (what a worker leaves), [`run`] (one answer), then what a run is made of:
//! [`event`], [`sample`], [`machine`], [`capacity`], [`money`], [`warning`].

#[macro_use]
mod words;

pub mod capacity;
pub mod date;
pub mod design;
pub mod energy;
pub mod event;
pub mod goal;
pub mod hosts;
pub mod job;
pub mod location;
pub mod machine;
pub mod measurement;
pub mod money;
pub mod order;
pub mod profile;
mod role;
pub mod run;
pub mod sample;
pub mod serving;
mod shared;
pub mod stop;
pub mod study;
mod until;
pub mod verify;
pub mod warning;

pub use capacity::{Capacity, UnmetLimit};
pub use date::KnownDate;
pub use design::{AliasTable, Design, Effect};
pub use energy::{CarbonIntensity, EnergyCounters, EnergySource, PowerModel};
pub use event::{Event, EventKind};
pub use goal::{Goal, Searched};
pub use hosts::Hosts;
pub use job::{LoadClientJob, TrainJob};
pub use location::Location;
pub use machine::Inventory;
pub use measurement::{Happening, Measurement, Ready, ReadyModel};
pub use money::{
    Bill, BillLine, BillingRule, Currency, ExchangeRate, LineKind, Money, OwnMachine, PaidPhases,
    Price,
};
pub use order::{Order, Work};
pub use profile::{LayerWork, MachineProfile, WorkKind};
pub use role::Role;
pub use run::{
    Epoch, FrameworkRecord, MachineLife, Metric, OperatorTime, Outcome, Phase, RentalPart, RunId,
    RunRecord, Status, Verified,
};
pub use sample::Sample;
pub use serving::{LoadShape, ServePrecision, ServeWorkload, Service, ServingRecord};
pub use shared::Shared;
pub use stop::{Asked, Stop};
pub use study::{
    CommandWorkload, Environment, Factor, Level, Limits, Optimizer, Pipeline, Plan, Precision,
    RunSequence, Scale, Scenario, Study, TrainWorkload, Workload,
};
pub use until::{Until, UntilRule};
pub use verify::VerifyReport;
pub use warning::Warning;

/// The variant that files write as this word.
pub fn named<T: serde::de::DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}

/// A moment, in files always written as RFC 3339 in UTC.
pub type Timestamp = jiff::Timestamp;
