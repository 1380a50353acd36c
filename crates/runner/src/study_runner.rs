//! A study carried out: orders go to places as the schedule and the money allow, and what comes back
//! is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Instant;

use model::{
    Asked, Happening, Measurement, Money, Order, Plan, RunId, RunRecord, Status, Stop, Study,
    Timestamp,
};
use place::Place;
use store::{Staging, Store};

use crate::budget::Ledger;
use crate::error::RunnerError;
use crate::forecast::{self, RunForecast};
use crate::in_progress::{InProgress, UsedInputs};
use crate::inputs::{InputChange, InputReader, KeptInputs};
use crate::lane::{self, Failure, FromLane, News, Stops, Task};
use crate::orders::ScenarioOrder;
use crate::progress::{Count, Progress};
use crate::record;
use crate::schedule::{Known, Next, Schedule};

/// A place that fails so often in a row is set aside.
const FAILURES: u32 = 3;
/// How often the cost of many runs left is computed: it takes as long as there are runs.
const MANY_RUNS: usize = 50;
const PROJECT_EVERY: std::time::Duration = std::time::Duration::from_millis(500);

/// A study being carried out.
pub struct StudyRunner<'a> {
    pub study: &'a Study,
    pub plan: &'a Plan,
    pub store: &'a Store,
    /// By scenario number, of all scenarios that may come.
    pub orders: &'a BTreeMap<u32, ScenarioOrder>,
    pub places: Vec<Assigned<'a>>,
    pub options: Options<'a>,
}

/// A place, and the environments whose runs go there.
pub struct Assigned<'a> {
    pub place: &'a dyn Place,
    pub environments: BTreeSet<String>,
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

/// Why no more runs follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    AllDone,
    BudgetSpent,
    Interrupted,
    /// A place was set aside, and its runs are missing.
    PlaceFailed,
}

impl Ended {
    pub fn word(self) -> &'static str {
        match self {
            Ended::AllDone => "all-done",
            Ended::BudgetSpent => "budget-spent",
            Ended::Interrupted => "interrupted",
            Ended::PlaceFailed => "place-failed",
        }
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
        thread::scope(|scope| {
            let (news, from_lanes) = mpsc::channel();
            for (number, assigned) in self.places.iter().enumerate() {
                let tasks = lane::start(scope, number, assigned.place, stops, news.clone());
                session.lanes.push(LaneState::new(tasks));
            }
            session.fill_lanes();
            while session.is_busy() {
                let Ok(FromLane { lane, news }) = from_lanes.recv() else {
                    break;
                };
                session.take(lane, news);
            }
            // Dropping the senders of tasks ends the threads.
            session.lanes.clear();
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
    kept_inputs: KeptInputs,
    ledger: Ledger,
    expected: BTreeMap<u32, RunForecast>,
    in_progress: BTreeSet<RunId>,
    lanes: Vec<LaneState>,
    done: usize,
    projected: Option<Money>,
    projected_at: Option<Instant>,
    why_ended: Option<Ended>,
    error: Option<RunnerError>,
}

struct LaneState {
    tasks: Sender<Task>,
    run: Option<Running>,
    run_ended: Option<Instant>,
    failures: u32,
    is_set_aside: bool,
}

struct Running {
    staging: Staging,
    order: Order,
    state: InProgress,
    inputs: UsedInputs,
}

impl LaneState {
    fn new(tasks: Sender<Task>) -> Self {
        LaneState {
            tasks,
            run: None,
            run_ended: None,
            failures: 0,
            is_set_aside: false,
        }
    }
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
        Ok(Session {
            id: Timestamp::now().to_string(),
            attempts: 0,
            reader: InputReader::new(runner.options.study_folder),
            done: records.iter().filter(|r| is_done(r.run)).count(),
            kept_inputs: KeptInputs::of(records.iter().filter(|r| !is_due.contains(&r.run))),
            records,
            ledger: Ledger::open(runner.study, runner.store)?,
            expected: runner.options.expected.clone(),
            in_progress: BTreeSet::new(),
            lanes: Vec::new(),
            projected: None,
            projected_at: None,
            why_ended: None,
            error: None,
            runner,
            schedule,
            progress,
            stops,
        })
    }

    fn is_busy(&self) -> bool {
        self.lanes.iter().any(|lane| lane.run.is_some())
    }

    fn ended(self) -> Result<Ended, RunnerError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let is_interrupted = self.stops.person.asked() != Asked::Nothing;
        Ok(match self.why_ended {
            Some(why) => why,
            None if is_interrupted => Ended::Interrupted,
            None => Ended::AllDone,
        })
    }

    fn tell(&self, progress: Progress) {
        // Whoever listens may have gone; the study is worth more.
        _ = self.progress.send(progress);
    }

    /// Gives every free place its next order.
    fn fill_lanes(&mut self) {
        for lane in 0..self.lanes.len() {
            if self.lanes[lane].run.is_some() || self.lanes[lane].is_set_aside {
                continue;
            }
            if self.error.is_some() || self.why_ended == Some(Ended::BudgetSpent) {
                return;
            }
            if self.stops.asked() != Asked::Nothing {
                self.why_ended.get_or_insert(Ended::Interrupted);
                return;
            }
            if let Some(run) = self.next_of(lane)
                && let Err(error) = self.begin(lane, run)
            {
                self.give_up(error);
            }
        }
    }

    /// What runs elsewhere is ended, kept, and then the error reported.
    fn give_up(&mut self, error: RunnerError) {
        self.error.get_or_insert(error);
        self.stops.runner.request_finish();
    }

    fn next_of(&mut self, lane: usize) -> Option<RunId> {
        let runner = self.runner;
        let environments = &runner.places[lane].environments;
        let can_run = |run: RunId| {
            let order = runner.orders.get(&run.scenario);
            order.is_some_and(|order| environments.contains(&order.environment.name))
        };
        let known = Known {
            records: &self.records,
            in_progress: &self.in_progress,
        };
        match self.schedule.next(known, &can_run) {
            Next::Run(run) => Some(run),
            Next::Wait | Next::Done => None,
        }
    }

    fn begin(&mut self, lane: usize, run: RunId) -> Result<(), RunnerError> {
        let no_scenario = || RunnerError::NoScenario(run);
        let runner = self.runner;
        let built = runner.orders.get(&run.scenario).ok_or_else(no_scenario)?;
        let scenario = runner.plan.scenario(run.scenario);
        let scenario = scenario.ok_or_else(no_scenario)?;
        if !runner.options.over_budget && self.would_break(run) {
            self.why_ended = Some(Ended::BudgetSpent);
            return Ok(());
        }
        let inputs = self.reader.read(runner.study, scenario)?;
        let changes = self.kept_inputs.changes(&inputs);
        let is_accepted = |change: &InputChange| change.is_accepted;
        if !runner.options.accept_changed && !changes.iter().all(is_accepted) {
            return Err(RunnerError::InputsChanged(changes));
        }
        self.attempts += 1;
        let id = format!("{}-{run}-{}", self.id, self.attempts);
        let mut order = built.for_run(run, id, runner.study.seed);
        order.inputs.clone_from(&inputs);
        let staging = runner.store.begin(run)?;
        self.in_progress.insert(run);
        self.project();
        self.tell(Progress::RunBegins {
            run,
            place: runner.places[lane].place.name(),
            scenario: scenario.clone(),
            count: self.count(),
            projected: self.projected,
        });
        let task = Task {
            order: order.clone(),
            folder: staging.folder().to_owned(),
        };
        let idle = self.lanes[lane].run_ended;
        let running = Running {
            staging,
            state: InProgress::new(&order, &built.environment, &self.id, idle),
            order,
            inputs: UsedInputs { inputs, changes },
        };
        self.lanes[lane].run = Some(running);
        // A lane that has ended has told why.
        _ = self.lanes[lane].tasks.send(task);
        Ok(())
    }

    fn count(&self) -> Count {
        Count {
            done: self.done,
            total: self.runner.plan.runs.len(),
        }
    }

    fn take(&mut self, lane: usize, news: News) {
        match news {
            News::Happened(happening) => self.happened(lane, happening),
            News::Tick { seconds } => self.tick(lane, seconds),
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
                Progress::Event { run, event }
            }
            Happening::Sample(sample) => Progress::Sample { run, sample },
        };
        self.tell(progress);
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

    /// Earlier bills, and what the runs in progress have cost by now.
    fn spent(&self) -> Money {
        let running = self.lanes.iter().filter_map(|lane| lane.run.as_ref());
        let running: Vec<&InProgress> = running.map(|run| &run.state).collect();
        if running.is_empty() {
            return self.ledger.spent();
        }
        let mut ledger = self.ledger.clone();
        running.iter().for_each(|run| run.add_to(&mut ledger));
        ledger.spent()
    }

    /// Of the place that takes longest.
    fn seconds_left(&self) -> f64 {
        let runner = self.runner;
        let left = self.schedule.left();
        let of_lane = |(lane, assigned): (&LaneState, &Assigned<'_>)| {
            let is_here = |run: &&RunId| {
                let order = runner.orders.get(&run.scenario);
                order.is_some_and(|o| assigned.environments.contains(&o.environment.name))
            };
            let here = left.iter().filter(is_here);
            let begun = lane.run.as_ref().map_or(0.0, |running| {
                let expected = self.expected.get(&running.order.run.scenario);
                let expected = expected.map_or(0.0, |f| f.seconds().value);
                (expected - running.state.seconds).max(0.0)
            });
            begun + forecast::seconds_of(here, &self.expected)
        };
        let lanes = self.lanes.iter().zip(&runner.places);
        lanes.map(of_lane).fold(0.0, f64::max)
    }

    fn project(&mut self) {
        let is_new = |at: Instant| at.elapsed() < PROJECT_EVERY;
        let takes_long = self.schedule.left().len() > MANY_RUNS;
        if takes_long && self.projected_at.is_some_and(is_new) {
            return;
        }
        self.projected_at = Some(Instant::now());
        let runs = self.in_progress.iter().chain(self.schedule.left());
        let runs: Vec<RunId> = runs.copied().collect();
        self.projected =
            self.ledger
                .projected(self.runner.study, self.runner.plan, &runs, &self.expected);
    }

    /// The money is gone, or this run, with those in progress, is expected to take more than is left.
    fn would_break(&self, run: RunId) -> bool {
        let runs: Vec<RunId> = self.in_progress.iter().copied().chain([run]).collect();
        let known = |run: &RunId| {
            let known = self.expected.get(&run.scenario).cloned();
            (run.scenario, known.unwrap_or_else(RunForecast::shortest))
        };
        let expected = runs.iter().map(known).collect();
        let StudyRunner { study, plan, .. } = self.runner;
        let rest = forecast::add_up(study, plan, &runs, expected, self.ledger.rentals());
        let money = rest.money.map(|m| m.value);
        self.ledger.is_spent() || money.is_some_and(|money| self.ledger.breaks_with(money))
    }

    fn keep(
        &mut self,
        lane: usize,
        running: Running,
        ended: lane::Ended,
    ) -> Result<(), RunnerError> {
        let Running {
            staging,
            order,
            state,
            inputs,
        } = running;
        let run = order.run;
        let lane::Ended { result, seconds } = ended;
        let measurement = match result {
            Ok(measurement) => {
                self.lanes[lane].failures = 0;
                measurement
            }
            Err(failure) => {
                self.place_failed(lane, &failure);
                record::without_measurement(&order, &failure, seconds)
            }
        };
        let record = self.record(&order, measurement, &state, &inputs)?;
        record::remove_worker_files(staging.folder());
        staging.commit(&record)?;
        if seconds.is_some() {
            self.lanes[lane].run_ended = Some(Instant::now());
        }
        self.in_progress.remove(&run);
        self.ledger.add(&record);
        self.kept_inputs.add(&record);
        self.records.retain(|earlier| earlier.run != run);
        self.records.push(record.clone());
        let of_scenario = self.records.iter();
        let of_scenario = of_scenario.filter(|r| r.run.scenario == run.scenario);
        self.expected.extend(forecast::from_records(of_scenario));
        self.done += 1;
        self.project();
        self.tell(Progress::RunEnds {
            record: Box::new(record),
            count: self.count(),
            seconds_left: self.seconds_left(),
            spent: self.spent(),
            allowed: self.ledger.allowed,
            projected: self.projected,
        });
        Ok(())
    }

    fn place_failed(&mut self, lane: usize, failure: &Failure) {
        let state = &mut self.lanes[lane];
        state.failures += 1;
        if !failure.place_is_gone && state.failures < FAILURES {
            return;
        }
        state.is_set_aside = true;
        self.why_ended.get_or_insert(Ended::PlaceFailed);
        self.tell(Progress::PlaceSetAside {
            place: self.runner.places[lane].place.name(),
            why: failure.why.clone(),
        });
    }

    fn record(
        &self,
        order: &Order,
        measurement: Measurement,
        state: &InProgress,
        inputs: &UsedInputs,
    ) -> Result<RunRecord, RunnerError> {
        let StudyRunner {
            study,
            plan,
            options,
            ..
        } = self.runner;
        let scenario = plan.scenario(order.run.scenario);
        let scenario = scenario.ok_or(RunnerError::NoScenario(order.run))?;
        let mut record = record::of_measurement(study, scenario, &state.environment, measurement);
        record.machine.git_commit.clone_from(&options.git_commit);
        let is_stopped = record.outcome.status == Status::Interrupted;
        if self.why_ended == Some(Ended::BudgetSpent) && is_stopped {
            record.outcome.detail = self.ledger.allowed.map(ended_by_budget);
        }
        inputs.write_to(&mut record, &self.reader);
        record::bill(&mut record, state.rental.clone(), study);
        Ok(record)
    }
}

/// Nobody interrupted it: its record must not say that somebody did.
fn ended_by_budget(allowed: Money) -> String {
    format!("was stopped because the budget of {allowed} was spent")
}
