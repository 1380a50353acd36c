//! What an earlier coordinator started and did not bring home.

use std::collections::BTreeSet;
use std::thread;

use model::RunId;
use place::Place;

use super::{Assigned, Session};
use crate::error::RunnerError;
use crate::ticket::Ticket;

impl Assigned<'_> {
    /// Whether this is where the run of a ticket goes on.
    fn has_place_of(&self, ticket: &Ticket) -> bool {
        let place = self.places.get(&ticket.order.environment);
        place.is_some_and(|place| place.outlives_coordinator() && place.name() == ticket.place)
    }
}

impl<'a> Session<'a> {
    /// Runs that go on somewhere, that are still wanted and whose orders are still the same. Others
    /// are forgotten; their places clean them up.
    pub(super) fn find_tickets(&mut self, is_due: &BTreeSet<RunId>) -> Result<(), RunnerError> {
        for ticket in Ticket::all(self.runner.store)? {
            let run = ticket.run();
            let is_here = self.runner.machines.iter();
            let is_here = is_here.clone().any(|machine| machine.has_place_of(&ticket));
            let is_same = || -> Result<bool, RunnerError> {
                let order = self.order(run, ticket.order.id.clone(), false)?;
                Ok(ticket.is_of(&order))
            };
            let is_wanted = !ticket.is_kept && is_due.contains(&run) && is_same().unwrap_or(false);
            match (is_wanted, is_here) {
                (true, true) => self.to_adopt.push(ticket),
                // A place that is not used this time: its runs wait for the next time.
                (true, false) => {}
                (false, _) => self.to_forget.push(ticket),
            }
        }
        Ok(())
    }

    pub(super) fn adoptable(&mut self, lane: usize) -> Option<Ticket> {
        let machine = &self.runner.machines[lane];
        let set_aside = &self.lanes[lane].set_aside;
        let found = self.to_adopt.iter().position(|ticket| {
            !set_aside.contains(&ticket.order.environment) && machine.has_place_of(ticket)
        });
        found.map(|found| self.to_adopt.remove(found))
    }

    /// Before the first order: places may share a machine. What a place that cannot be reached still
    /// has is cleaned up the next time.
    pub(super) fn sweep_places(&mut self) {
        let ids: Vec<String> = self.to_adopt.iter().map(|t| t.order.id.clone()).collect();
        let machines = self.runner.machines.iter();
        let places = machines.flat_map(|machine| machine.places.values());
        let swept: BTreeSet<String> = thread::scope(|scope| {
            let outliving = places.filter(|place| place.outlives_coordinator());
            let sweep = |place: &'a dyn Place| {
                let ids = &ids;
                scope.spawn(move || place.sweep(ids).is_ok().then(|| place.name()))
            };
            let sweeps: Vec<_> = outliving.map(|place| sweep(*place)).collect();
            let swept = sweeps.into_iter().filter_map(|sweep| sweep.join().ok());
            swept.flatten().collect()
        });
        for ticket in std::mem::take(&mut self.to_forget) {
            if swept.contains(&ticket.place) {
                // It is looked at again the next time.
                _ = self.runner.store.remove_ticket(ticket.run());
            }
        }
    }
}
