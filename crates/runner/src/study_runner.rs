//! A study carried out: orders go to places as the schedule and the money allow, and what comes back
//! is kept.

mod adoption;
mod estimates;
mod keep;
mod lanes;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Instant;

use model::{
    Asked, EventKind, Happening, MachineLife, Money, Order, Phase, Plan, RunId, RunRecord, Stop,
    Study, Timestamp, Work,
};
use place::Place;
use serde::{Deserialize, Serialize};
use store::Store;

use crate::budget::Ledger;
use crate::error::RunnerError;
use crate::forecast::{self, Grounds, RunForecast};
use crate::in_progress::Recognised;
use crate::inputs::{InputReader, KeptInputs};
use crate::lane::{self, FromLane, News, Stops};
use crate::orders::ScenarioOrder;
use crate::progress::Progress;
use crate::schedule::Schedule;
use crate::short::{ShortRuns, short_records};
use crate::ticket::Ticket;
use lanes::LaneState;

/// A study being carried out.
pub struct StudyRunner<'a> {
    pub study: &'a Study,
    pub plan: &'a Plan,
    pub store: &'a Store,
    /// Of a search that may make short runs first.
    pub short: Option<ShortRuns<'a>>,
    /// By scenario number, of all scenarios that may come.
    pub orders: &'a BTreeMap<u32, ScenarioOrder>,
    pub machines: Vec<Assigned<'a>>,
    pub options: Options<'a>,
}

/// A machine that does one run at a time, or one of the jobs that a queue may hold. Environments that
/// use it in different ways, as a process and in a container, have a place each.
pub struct Assigned<'a> {
    /// By environment.
    pub places: BTreeMap<String, &'a dyn Place>,
    /// Machines that were created for it and are on, by environment: their lives so far.
    pub rented: BTreeMap<String, MachineLife>,
}

pub struct Options<'a> {
    /// Shared with the signal handler.
    pub stop: &'a Stop,
    /// Go on when the money is spent.
    pub over_budget: bool,
    /// Go on when an input is not what it was for runs that are kept, and mark what follows.
    pub accept_changed: bool,
    /// Of the study file.
    pub study_folder: &'a Path,
    /// Of the repository that holds the study file.
    pub git_commit: Option<String>,
    /// Expected runs by scenario number, for what is left and for stopping in time.
    pub expected: BTreeMap<u32, RunForecast>,
}

model::words! {
    /// Why no more runs follow.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Ended {
        AllDone = "all-done",
        BudgetSpent = "budget-spent",
        Interrupted = "interrupted",
        /// A place was set aside, and its runs are missing.
        PlaceFailed = "place-failed",
    }
}

impl StudyRunner<'_> {
    /// Carries out what the schedule says. Every run is kept before its place gets the next.
    pub fn run(
        &self,
        schedule: &mut dyn Schedule,
        progress: &Sender<Progress>,
    ) -> Result<Ended, RunnerError> {
        let own_stop = Stop::new();
        let stops = Stops {
            person: self.options.stop,
            runner: &own_stop,
        };
        let mut session = Session::open(self, schedule, progress, stops)?;
        session.sweep_places();
        thread::scope(|scope| {
            let (news, from_lanes) = mpsc::channel();
            for number in 0..self.machines.len() {
                let tasks = lane::start(scope, number, stops, news.clone());
                session.lanes.push(LaneState::new(tasks));
            }
            session.fill_lanes();
            while session.is_busy() {
                let Ok(FromLane { lane, news }) = from_lanes.recv() else {
                    break;
                };
                session.take(lane, news);
            }
            // Dropping the senders of tasks ends the threads, when places are cleaned up.
            session.lanes.clear();
            drop(news);
            for FromLane { lane, news } in from_lanes {
                session.take(lane, news);
            }
        });
        session.ended()
    }
}

/// One `bancada run`: a machine of each environment is rented for it.
struct Session<'a> {
    runner: &'a StudyRunner<'a>,
    schedule: &'a mut dyn Schedule,
    progress: &'a Sender<Progress>,
    stops: Stops<'a>,
    id: String,
    attempts: u32,
    reader: InputReader,
    records: Vec<RunRecord>,
    beginnings: Vec<RunRecord>,
    kept_inputs: KeptInputs,
    ledger: Ledger,
    expected: BTreeMap<u32, RunForecast>,
    in_progress: BTreeSet<RunId>,
    /// Runs that an earlier coordinator started and that go on at their places.
    to_adopt: Vec<Ticket>,
    /// Runs that are kept or not wanted any more, whose places have something of them.
    to_forget: Vec<Ticket>,
    lanes: Vec<LaneState<'a>>,
    /// Of runs that a place did not finish.
    repeats: BTreeMap<RunId, u32>,
    is_place_set_aside: bool,
    /// With its place, and nobody else could do it.
    is_run_lost: bool,
    done: usize,
    most_spent: Option<Money>,
    projected: Option<Money>,
    projected_at: Option<Instant>,
    why_ended: Option<Ended>,
    error: Option<RunnerError>,
}

impl<'a> Session<'a> {
    fn open(
        runner: &'a StudyRunner<'a>,
        schedule: &'a mut dyn Schedule,
        progress: &'a Sender<Progress>,
        stops: Stops<'a>,
    ) -> Result<Self, RunnerError> {
        let records = runner.store.records()?;
        let is_due: BTreeSet<RunId> = schedule.left().iter().copied().collect();
        // Runs that nobody asked for (`--only`) are not done because they are not due.
        let planned: BTreeSet<RunId> = runner.plan.runs.iter().copied().collect();
        let is_done = |run: RunId| planned.contains(&run) && !is_due.contains(&run);
        let on = runner.machines.iter();
        let on: Vec<MachineLife> = on.flat_map(|m| m.rented.values().cloned()).collect();
        let mut session = Session {
            id: Timestamp::now().to_string(),
            attempts: 0,
            reader: InputReader::new(runner.options.study_folder),
            done: records.iter().filter(|r| is_done(r.run)).count(),
            kept_inputs: KeptInputs::of(records.iter().filter(|r| !is_due.contains(&r.run))),
            records,
            beginnings: short_records(runner.store)?,
            ledger: Ledger::open(runner.study, runner.store, &on)?,
            expected: runner.options.expected.clone(),
            in_progress: BTreeSet::new(),
            to_adopt: Vec::new(),
            to_forget: Vec::new(),
            lanes: Vec::new(),
            repeats: BTreeMap::new(),
            is_place_set_aside: false,
            is_run_lost: false,
            most_spent: None,
            projected: None,
            projected_at: None,
            why_ended: None,
            error: None,
            runner,
            schedule,
            progress,
            stops,
        };
        session.find_tickets(&is_due)?;
        Ok(session)
    }

    /// The order for a run as it would be started now.
    fn order(&self, run: RunId, id: String, is_beginning: bool) -> Result<Order, RunnerError> {
        let no_scenario = || RunnerError::NoScenario(run);
        let runner = self.runner;
        let short = runner.short.filter(|_| is_beginning);
        let orders = short.map_or(runner.orders, |short| &short.orders.orders);
        let built = orders.get(&run.scenario).ok_or_else(no_scenario)?;
        let scenario = runner.plan.scenario(run.scenario);
        let scenario = scenario.ok_or_else(no_scenario)?;
        let mut order = built.for_run(run, id, runner.study.seed);
        order.inputs = self.reader.read(runner.study, scenario)?;
        let expected = self.expected.get(&run.scenario);
        order.expected_seconds = expected.map(|forecast| forecast.seconds().high);
        Ok(order)
    }

    /// Whether a run is a short one of a search.
    fn short_of(&self, order: &Order) -> Option<ShortRuns<'a>> {
        let is_beginning = matches!(&order.work, Work::Train(train) if train.job.preview.is_some());
        self.runner.short.filter(|_| is_beginning)
    }

    fn ended(self) -> Result<Ended, RunnerError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let is_interrupted = self.stops.person.asked() != Asked::Nothing;
        let is_missing = self.is_run_lost || !self.schedule.left().is_empty();
        Ok(match self.why_ended {
            Some(why) => why,
            None if is_interrupted => Ended::Interrupted,
            None if self.is_place_set_aside && is_missing => Ended::PlaceFailed,
            None => Ended::AllDone,
        })
    }

    fn tell(&self, progress: Progress) {
        // Whoever listens may have gone; the study is worth more.
        _ = self.progress.send(progress);
    }

    /// What runs elsewhere is ended, kept, and then the error reported.
    fn give_up(&mut self, error: RunnerError) {
        self.error.get_or_insert(error);
        self.stops.runner.request_finish();
    }

    fn take(&mut self, lane: usize, news: News) {
        match news {
            News::Happened(happening) => self.happened(lane, happening),
            News::Tick { seconds } => self.tick(lane, seconds),
            // What cannot be removed is looked at again the next time.
            News::CleanedUp(run) => _ = self.runner.store.remove_ticket(run),
            News::Ended(ended) => {
                // A run that came home already is not kept twice.
                let Some(running) = self.lanes[lane].run.take() else {
                    return;
                };
                if let Err(error) = self.keep(lane, running, *ended) {
                    self.give_up(error);
                }
                self.fill_lanes();
            }
        }
    }

    fn happened(&mut self, lane: usize, happening: Happening) {
        let Some(running) = &mut self.lanes[lane].run else {
            return;
        };
        let run = running.order.run;
        let progress = match happening {
            Happening::Event(event) => {
                running.state.event(&event);
                let recognised = match event.kind {
                    EventKind::Recognised { .. } => running.state.recognised(),
                    _ => None,
                };
                // Of a run that is ended early, the whole is not what it costs.
                let is_whole = running.order.known_at.is_none();
                if let Some(Recognised { phases, .. }) = recognised.filter(|_| is_whole) {
                    self.expect(run.scenario, phases);
                }
                Progress::Event { run, event }
            }
            Happening::Sample(sample) => Progress::Sample { run, sample },
        };
        self.tell(progress);
    }

    /// Runs of this scenario by one in progress, until one has ended.
    fn expect(&mut self, scenario: u32, phases: Vec<Phase>) {
        let tells = |record: &RunRecord| record.run.scenario == scenario && forecast::tells(record);
        if !self.records.iter().any(tells) {
            let forecast = RunForecast {
                grounds: Grounds::of_pilot(scenario),
                ..RunForecast::exactly(phases)
            };
            self.expected.insert(scenario, forecast);
        }
    }

    fn tick(&mut self, lane: usize, seconds: f64) {
        let Some(running) = &mut self.lanes[lane].run else {
            return;
        };
        running.state.seconds = seconds;
        let run = running.order.run;
        let spent = self.spent();
        let beyond = |allowed: Money| spent.amount > allowed.amount;
        let may_stop = !self.runner.options.over_budget && self.why_ended.is_none();
        if may_stop && self.ledger.allowed.is_some_and(beyond) {
            self.why_ended = Some(Ended::BudgetSpent);
            self.stops.runner.request_finish();
        }
        self.tell(Progress::Tick {
            run,
            seconds,
            seconds_left: self.seconds_left(),
            spent,
        });
    }
}
