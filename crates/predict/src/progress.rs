//! Progress that programs print: bars and counters recognised in their output, combined into a
//! position in the whole run, and the time that is left.
//!
//! Bytes are cut into updates ([`Cutter`]: lines, carriage returns, cursor movements), an update is
//! recognised ([`recognise`]), a [`Tracker`] combines what is recognised, and [`eta`] predicts; a
//! [`Follower`] does all of it for a program that is running. A
//! wrong position is worse than none: what a counter is part of is reported only where the output
//! says so, see [`Scope`].

mod cut;
pub mod eta;
mod follow;
mod own;
mod recognise;
mod tracker;

use serde::Serialize;

pub use cut::Cutter;
pub use follow::Follower;
pub use model::event::CountUnit as Unit;
pub use own::{OwnPatterns, PatternError};
pub use recognise::{Counter, EpochNumber, Observation, Purpose, recognise, recognise_begun};
pub use tracker::{Given, Tracker};

/// How far a program is, as far as it is certain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Position {
    pub scope: Scope,
    pub unit: Unit,
    /// In units; whole numbers of epochs are epochs that are over.
    pub done: f64,
    pub total: Option<f64>,
    /// So many units may be missing from `total`, as in "epoch 0/9", which may be of 9 or of 10.
    pub more: f64,
    /// So many more units than `done` may be over, where a line can mean the beginning of an epoch
    /// or its end.
    pub ahead: f64,
}

impl Position {
    pub fn left(&self) -> Option<f64> {
        self.total.map(|total| (total - self.done).max(0.0))
    }
}

/// What `total` is the end of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The whole run.
    Run,
    /// One bar or counter; whether others follow is not known.
    Counter,
}
