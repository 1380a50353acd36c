//! Where orders are carried out. A [`Place`] takes an order, lets a worker carry it out, reports what
//! happens and hands over the measurement.
//!
//! Read [`Place`] first. [`Local`] is this machine; [`Fake`] carries nothing out and exists for
//! tests. A new kind of place is one file here and one call of [`conformance::check`] in a test.

pub mod agent;
pub mod conformance;
mod connection;
pub mod detached;
mod error;
mod fake;
mod files;
pub mod local;
pub mod old_programs;
mod ready;
pub mod remote;
pub mod runs;
mod sent;
pub mod slurm;
pub mod ssh;
pub mod unattended;
mod wire;

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use model::{Capacity, Happening, Inventory, Measurement, Order, Price};

pub use connection::Timed;
pub use detached::Detached;
pub use error::PlaceError;
pub use fake::{Fake, Fault, Script};
pub use local::Local;
pub use model::measurement::{DecodedImages, ReadyImage};
pub use remote::Remote;
pub use runs::Runs;
pub use slurm::Sbatch;
pub use ssh::{Ssh, SshOptions};
pub use wire::{Lack, Lacking};

/// Where orders are carried out, one at a time. Several places run side by side, each on a thread of
/// its own.
pub trait Place: Send + Sync {
    /// For people: `this machine`, `node7`.
    fn name(&self) -> String;

    fn describe(&self) -> Result<Description, PlaceError>;

    /// Brings what these orders need, so that no run waits for it. An order that was not prepared may
    /// be started all the same: it may take longer, or fail.
    fn prepare(&self, orders: &[Order]) -> Result<Prepared, PlaceError>;

    /// Starts an order. `folder` is a new folder of the coordinator's for its files; a place on the
    /// same file system may let the worker write there.
    fn start(&self, order: &Order, folder: &Path) -> Result<Ticket, PlaceError>;

    /// What happened since the last look. Returns at the latest after `patience`, and at once when
    /// the order has ended; asking again after the end gives the end again.
    fn follow(&self, ticket: &Ticket, patience: Duration) -> Result<Followed, PlaceError>;

    /// Asks an order in progress to end; [`Place::follow`] then sees its end. Of one that has ended:
    /// nothing.
    fn cancel(&self, ticket: &Ticket, how: Cancel) -> Result<(), PlaceError>;

    /// Puts the files of an ended order into `folder`, and returns the measurement. May be asked
    /// again, with the same answer.
    fn fetch(&self, ticket: &Ticket, folder: &Path) -> Result<Measurement, PlaceError>;

    /// Leaves nothing of an order at the place, whatever became of it. May be asked again.
    fn clean_up(&self, ticket: &Ticket) -> Result<(), PlaceError>;

    /// How long a lost connection is waited for before the run counts as lost.
    fn lost_patience(&self) -> Duration {
        Duration::from_secs(600)
    }

    /// Whether what was started here goes on when the coordinator is gone, so that the next one finds
    /// it again: an order that was started is then not started again by [`Place::start`].
    fn outlives_coordinator(&self) -> bool {
        false
    }

    /// Cleans up every order of an earlier coordinator but these, by their [`Order::id`].
    fn sweep(&self, _keep: &[String]) -> Result<(), PlaceError> {
        Ok(())
    }
}

/// An order in progress. Its text is the place's own; it survives the coordinator.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Ticket(pub String);

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Followed {
    pub happenings: Vec<Happening>,
    /// In a queue, where it uses no machine yet.
    pub is_waiting: bool,
    pub has_ended: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cancel {
    /// The workload gets its grace time.
    Finish,
    Now,
}

impl Cancel {
    /// By which a worker is asked for it.
    pub(crate) fn signal(self) -> i32 {
        match self {
            Cancel::Finish => local::FINISH,
            Cancel::Now => local::NOW,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Description {
    pub machine: Inventory,
    pub capacity: Capacity,
    /// Of a place that knows what it costs; else the study says it.
    pub price: Option<Price>,
}

/// What was made before the first run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Prepared {
    pub decoded: Vec<DecodedImages>,
    /// Of containers: found, pulled or built.
    pub images: Vec<ReadyImage>,
}
