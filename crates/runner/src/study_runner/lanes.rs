//! Machines of a session and the run that each has: which comes next, and what a failure means.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::Sender;
use std::time::Instant;

use model::{Asked, Order, RunId, Timestamp};
use store::Staging;

use super::{Ended, Session};
use crate::error::RunnerError;
use crate::in_progress::{InProgress, UsedInputs};
use crate::inputs::InputChange;
use crate::lane::{Failure, Task, ToLane};
use crate::progress::Progress;
use crate::schedule::{Known, Next};
use crate::ticket::Ticket;

/// A place that fails so often in a row is set aside.
const FAILURES: u32 = 3;
/// A run that its place did not finish goes to others so often.
const REPEATS: u32 = 2;

pub(super) struct LaneState<'a> {
    pub(super) tasks: Sender<ToLane<'a>>,
    pub(super) run: Option<Running>,
    pub(super) run_ended: Option<Instant>,
    /// In a row, by environment.
    pub(super) failures: BTreeMap<String, u32>,
    /// Environments whose runs are no longer carried out here.
    pub(super) set_aside: BTreeSet<String>,
}

pub(super) struct NextRun {
    pub(super) run: RunId,
    /// Only of a search.
    pub(super) is_beginning: bool,
    pub(super) adopted: Option<Ticket>,
}

pub(super) struct Running {
    pub(super) staging: Staging,
    pub(super) order: Order,
    pub(super) state: InProgress,
    pub(super) inputs: UsedInputs,
}

impl<'a> LaneState<'a> {
    pub(super) fn new(tasks: Sender<ToLane<'a>>) -> Self {
        LaneState {
            tasks,
            run: None,
            run_ended: None,
            failures: BTreeMap::new(),
            set_aside: BTreeSet::new(),
        }
    }
}

impl<'a> Session<'a> {
    pub(super) fn is_busy(&self) -> bool {
        self.lanes.iter().any(|lane| lane.run.is_some())
    }

    /// Gives every free place its next order.
    pub(super) fn fill_lanes(&mut self) {
        for lane in 0..self.lanes.len() {
            if self.lanes[lane].run.is_some() {
                continue;
            }
            if self.error.is_some() || self.why_ended == Some(Ended::BudgetSpent) {
                return;
            }
            if self.stops.asked() != Asked::Nothing {
                self.why_ended.get_or_insert(Ended::Interrupted);
                return;
            }
            if let Some(next) = self.next_of(lane)
                && let Err(error) = self.begin(lane, next)
            {
                self.give_up(error);
            }
        }
    }

    /// First what runs there already.
    pub(super) fn next_of(&mut self, lane: usize) -> Option<NextRun> {
        let runner = self.runner;
        if let Some(ticket) = self.adoptable(lane) {
            let run = ticket.run();
            // Takes it from the list of what is to come.
            let known = Known {
                records: &self.records,
                beginnings: &self.beginnings,
                in_progress: &self.in_progress,
                goes_on: true,
            };
            if self.schedule.next(known, &|other| other == run) == Next::Run(run) {
                return Some(NextRun {
                    run,
                    is_beginning: false,
                    adopted: Some(ticket),
                });
            }
        }
        let state = &self.lanes[lane];
        let places = &runner.machines[lane].places;
        let can_run = |run: RunId| {
            let order = runner.orders.get(&run.scenario);
            let name = order.map(|order| &order.environment.name);
            name.is_some_and(|name| places.contains_key(name) && !state.set_aside.contains(name))
        };
        let known = Known {
            records: &self.records,
            beginnings: &self.beginnings,
            in_progress: &self.in_progress,
            goes_on: false,
        };
        let waiting: BTreeSet<RunId> = self.to_adopt.iter().map(Ticket::run).collect();
        let can_run = |run: RunId| !waiting.contains(&run) && can_run(run);
        match self.schedule.next(known, &can_run) {
            next @ (Next::Run(run) | Next::Beginning(run)) => Some(NextRun {
                run,
                is_beginning: next == Next::Beginning(run),
                adopted: None,
            }),
            Next::Wait | Next::Done => None,
        }
    }

    pub(super) fn begin(&mut self, lane: usize, next: NextRun) -> Result<(), RunnerError> {
        let NextRun {
            run,
            is_beginning,
            adopted,
        } = next;
        let no_scenario = || RunnerError::NoScenario(run);
        let runner = self.runner;
        let built = runner.orders.get(&run.scenario).ok_or_else(no_scenario)?;
        let name = &built.environment.name;
        let place = runner.machines[lane].places.get(name);
        let place = *place.ok_or_else(no_scenario)?;
        let scenario = runner.plan.scenario(run.scenario);
        let scenario = scenario.ok_or_else(no_scenario)?;
        // What runs already is paid for already.
        let is_too_much = |session: &Self| match is_beginning {
            true => session.ledger.is_spent(),
            false => session.would_break(run),
        };
        if adopted.is_none() && !runner.options.over_budget && is_too_much(self) {
            self.why_ended = Some(Ended::BudgetSpent);
            return Ok(());
        }
        self.attempts += 1;
        let (order, rental) = match adopted {
            Some(ticket) => (ticket.order, ticket.rental),
            None => {
                let id = format!("{}-{run}-{}", self.id, self.attempts);
                (self.order(run, id, is_beginning)?, self.rental(lane, name))
            }
        };
        let inputs = order.inputs.clone();
        let changes = self.kept_inputs.changes(&inputs);
        let is_accepted = |change: &InputChange| change.is_accepted;
        if !runner.options.accept_changed && !changes.iter().all(is_accepted) {
            return Err(RunnerError::InputsChanged(changes));
        }
        let short = self.short_of(&order);
        let staging = short.map_or(runner.store, |short| short.store).begin(run)?;
        if place.outlives_coordinator() {
            let ticket = Ticket {
                place: place.name(),
                order: order.clone(),
                rental: rental.clone(),
                when: Timestamp::now(),
                is_kept: false,
            };
            ticket.write(runner.store)?;
        }
        self.in_progress.insert(run);
        self.project();
        self.tell(Progress::RunBegins {
            run,
            place: place.name(),
            scenario: scenario.clone(),
            count: self.count(),
            projected: self.projected,
        });
        let task = Task {
            place,
            order: order.clone(),
            folder: staging.folder().to_owned(),
        };
        let idle = self.lanes[lane].run_ended;
        let running = Running {
            staging,
            state: InProgress::new(&order, &built.environment, rental, idle),
            order,
            inputs: UsedInputs { inputs, changes },
        };
        self.lanes[lane].run = Some(running);
        // A lane that has ended has told why.
        _ = self.lanes[lane]
            .tasks
            .send(ToLane::CarryOut(Box::new(task)));
        Ok(())
    }

    /// Several machines of one environment are so many rentals.
    pub(super) fn rental(&self, lane: usize, environment: &str) -> String {
        if let Some(life) = self.runner.machines[lane].rented.get(environment) {
            return life.rental.clone();
        }
        let machines = &self.runner.machines[..lane];
        let before = machines
            .iter()
            .filter(|machine| machine.places.contains_key(environment));
        match before.count() {
            0 => self.id.clone(),
            earlier => format!("{}#{}", self.id, earlier + 1),
        }
    }

    pub(super) fn place_failed(&mut self, lane: usize, environment: &str, failure: &Failure) {
        let state = &mut self.lanes[lane];
        let failures = state.failures.entry(environment.to_owned()).or_default();
        *failures += 1;
        if !failure.place_is_gone && *failures < FAILURES {
            return;
        }
        state.set_aside.insert(environment.to_owned());
        self.is_place_set_aside = true;
        let place = self.runner.machines[lane].places.get(environment);
        self.tell(Progress::PlaceSetAside {
            place: place.map(|place| place.name()).unwrap_or_default(),
            why: failure.why.clone(),
        });
    }

    /// Whether another machine can do what its place did not finish. A run that takes every machine
    /// down with it is not passed on for ever.
    pub(super) fn can_repeat(&mut self, run: RunId, environment: &str) -> bool {
        let mut machines = self.lanes.iter().zip(&self.runner.machines);
        let is_elsewhere = machines.any(|(lane, machine)| {
            machine.places.contains_key(environment) && !lane.set_aside.contains(environment)
        });
        let repeats = self.repeats.entry(run).or_default();
        *repeats += 1;
        is_elsewhere && *repeats <= REPEATS
    }
}
