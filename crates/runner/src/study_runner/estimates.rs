//! What a session has cost, what it will cost, and how long it will take.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use model::{Money, RunId, Timestamp};

use super::lanes::LaneState;
use super::{Assigned, Session, StudyRunner};
use crate::budget::Ledger;
use crate::forecast::{self, RunForecast};
use crate::progress::Count;

/// How often the cost of many runs left is computed: it takes as long as there are runs.
const MANY_RUNS: usize = 50;
const PROJECT_EVERY: Duration = Duration::from_millis(500);

impl Session<'_> {
    pub(super) fn count(&self) -> Count {
        Count {
            done: self.done,
            total: self.runner.plan.runs.len(),
        }
    }

    /// Earlier bills, machines that are on, and what the runs in progress have cost by now. What was
    /// shown is not taken back: a run's own clock, known at its end, has seen a little less than the
    /// coordinator's. Only the most that requests can cost is: their bill replaces it.
    pub(super) fn spent(&mut self) -> Money {
        let mut ledger = self.ledger.clone();
        ledger.set_time(Timestamp::now(), &BTreeMap::new());
        let running = self.lanes.iter().filter_map(|lane| lane.run.as_ref());
        let (bounds, measured): (Vec<_>, Vec<_>) =
            running.partition(|run| run.state.is_billed_by_request());
        measured
            .iter()
            .for_each(|run| run.state.add_to(&mut ledger));
        let known = ledger.spent();
        let most = self.most_spent.get_or_insert(known);
        most.amount = most.amount.max(known.amount);
        let most = *most;
        bounds.iter().for_each(|run| run.state.add_to(&mut ledger));
        let at_most = ledger.spent().amount - known.amount;
        Money::new(most.amount + at_most, most.currency)
    }

    /// As if the runs in progress were still to come.
    fn without_running(&self) -> Ledger {
        let running = self.lanes.iter().filter_map(|lane| lane.run.as_ref());
        let seconds = running.map(|run| (run.state.rental.id.clone(), run.state.seconds));
        let mut ledger = self.ledger.clone();
        ledger.set_time(Timestamp::now(), &seconds.collect());
        ledger
    }

    /// Of the machine that takes longest. Machines of one environment share its runs.
    pub(super) fn seconds_left(&self) -> f64 {
        let runner = self.runner;
        let mut runs: BTreeMap<&str, Vec<RunId>> = BTreeMap::new();
        for run in self.schedule.left() {
            if let Some(order) = runner.orders.get(&run.scenario) {
                runs.entry(&order.environment.name).or_default().push(*run);
            }
        }
        let lanes = || self.lanes.iter().zip(&runner.machines);
        let takes = |lane: &LaneState<'_>, machine: &Assigned<'_>, name: &str| {
            machine.places.contains_key(name) && !lane.set_aside.contains(name)
        };
        let share = |(name, runs): (&&str, &Vec<RunId>)| {
            let machines = lanes().filter(|(lane, machine)| takes(lane, machine, name));
            forecast::seconds_of(runs.iter(), &self.expected) / machines.count().max(1) as f64
        };
        let shares: BTreeMap<&str, f64> = runs.iter().map(|of| (*of.0, share(of))).collect();
        let of_lane = |(lane, machine): (&LaneState<'_>, &Assigned<'_>)| {
            let begun = lane.run.as_ref().map_or(0.0, |running| {
                let expected = self.expected.get(&running.order.run.scenario);
                let recognised = running.state.recognised().map(|whole| whole.seconds);
                let expected = expected.map(|forecast| forecast.seconds().value);
                let expected = recognised.or(expected).unwrap_or(0.0);
                (expected - running.state.seconds).max(0.0)
            });
            let own = shares.iter().filter(|(name, _)| takes(lane, machine, name));
            begun + own.map(|(_, seconds)| seconds).sum::<f64>()
        };
        lanes().map(of_lane).fold(0.0, f64::max)
    }

    pub(super) fn project(&mut self) {
        let is_new = |at: Instant| at.elapsed() < PROJECT_EVERY;
        let takes_long = self.schedule.left().len() > MANY_RUNS;
        if takes_long && self.projected_at.is_some_and(is_new) {
            return;
        }
        self.projected_at = Some(Instant::now());
        let runs = self.in_progress.iter().chain(self.schedule.left());
        let runs: Vec<RunId> = runs.copied().collect();
        let StudyRunner { study, plan, .. } = self.runner;
        let ledger = self.without_running();
        self.projected = ledger.projected(study, plan, &runs, &self.expected);
    }

    /// The money is gone, or this run, with those in progress, is expected to take more than is left.
    pub(super) fn would_break(&self, run: RunId) -> bool {
        let runs: Vec<RunId> = self.in_progress.iter().copied().chain([run]).collect();
        let known = |run: &RunId| {
            let known = self.expected.get(&run.scenario).cloned();
            (run.scenario, known.unwrap_or_else(RunForecast::shortest))
        };
        let expected = runs.iter().map(known).collect();
        let StudyRunner { study, plan, .. } = self.runner;
        let ledger = self.without_running();
        let money = forecast::money(study, plan, &runs, &expected, ledger.rentals());
        ledger.is_spent() || money.is_some_and(|money| ledger.breaks_with(money))
    }
}
