//! Runs that go on at their places when the coordinator is gone.

use model::{Order, RunId, Timestamp};
use serde::{Deserialize, Serialize};
use store::Store;

use crate::error::RunnerError;

/// What the next coordinator needs to know about a run that was started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ticket {
    /// [`place::Place::name`].
    pub(crate) place: String,
    /// As it was started: starting it again at the same place finds it.
    pub(crate) order: Order,
    /// By which it is billed.
    pub(crate) rental: String,
    pub(crate) when: Timestamp,
    /// The run is kept, and only its place is still to be cleaned up.
    #[serde(default)]
    pub(crate) is_kept: bool,
}

/// What a place still has of a run, as far as its results know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftAtPlace {
    pub run: RunId,
    pub place: String,
    /// The run is home, and only its files there could not be removed; else it may be in progress.
    pub is_kept: bool,
}

/// Whatever the next session will look after.
pub fn left_at_places(store: &Store) -> Result<Vec<LeftAtPlace>, RunnerError> {
    let left = Ticket::all(store)?.into_iter().map(|ticket| LeftAtPlace {
        run: ticket.run(),
        place: ticket.place,
        is_kept: ticket.is_kept,
    });
    Ok(left.collect())
}

impl Ticket {
    /// Before the order is started: a program that is killed right after has left a note.
    pub(crate) fn write(&self, store: &Store) -> Result<(), RunnerError> {
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        Ok(store.write_ticket(self.order.run, &bytes)?)
    }

    /// Of an earlier coordinator. One that was killed while it wrote a note had started nothing.
    pub(crate) fn all(store: &Store) -> Result<Vec<Ticket>, RunnerError> {
        let notes = store.tickets()?;
        let parsed = notes.iter().filter_map(|note| {
            let ticket: Ticket = serde_json::from_slice(&note.bytes).ok()?;
            (ticket.run() == note.run).then_some(ticket)
        });
        Ok(parsed.collect())
    }

    pub(crate) fn run(&self) -> RunId {
        self.order.run
    }

    /// Whether this is the order that would be started now.
    pub(crate) fn is_of(&self, order: &Order) -> bool {
        let renamed = Order {
            id: order.id.clone(),
            // What is known by now does not change what was started.
            expected_seconds: order.expected_seconds,
            ..self.order.clone()
        };
        // As it would be read from a file: numbers may lose their last digit on the way.
        let written = serde_json::to_vec(order).unwrap_or_default();
        serde_json::from_slice(&written).is_ok_and(|order: Order| order == renamed)
    }
}
