//! One run after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::time::Instant;

use cost::BillRequest;
use measure::{Asked, ClientCommand, Measured, Stop, Watched};
use model::event::JOB_VARIABLE;
use model::money::RentalScope;
use model::run::{BUNDLE_SCHEMA, EnvironmentRecord, Origin, RunInput, phase};
use model::{
    Event, EventKind, Inventory, Money, Phase, Plan, RentalPart, RunId, RunRecord, Scenario,
    Status, Study, Timestamp,
};
use store::{Staging, Store, StoreError};

use crate::budget::Ledger;
use crate::finish::{endpoint_left, model_metrics, price_record, serving_record};
use crate::forecast::{self, RunForecast};
use crate::inputs::{self, InputChange, InputError, InputReader, KeptInputs};
use crate::ready;
use crate::verification;
use crate::workload::{PreparedRun, Surroundings, WorkloadError, prepare};

/// The trained weights, in a run's bundle.
pub(crate) const MODEL_FILE: &str = "model.safetensors";
/// An endpoint that is being made can be deleted only when it is in service, minutes later: whoever
/// has no patience stops twice, and is told what may be left.
const TEAR_DOWN_SECONDS: f64 = 900.0;

/// A study being carried out.
pub struct Conduct<'a> {
    pub study: &'a Study,
    pub plan: &'a Plan,
    pub store: &'a Store,
    pub options: Options<'a>,
}

pub struct Options<'a> {
    pub surroundings: Surroundings<'a>,
    /// Shared with the signal handler.
    pub stop: &'a Stop,
    pub wanted: Wanted,
    /// Go on when the money is spent.
    pub over_budget: bool,
    /// Go on when an input is not what it was for runs that are kept, and mark what follows.
    pub accept_changed: bool,
    pub inventory: Inventory,
    pub bancada_version: &'a str,
    /// Expected runs by scenario number, for what is left and for stopping in time.
    pub expected: BTreeMap<u32, RunForecast>,
}

/// Which runs are to be done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Runs with these outcomes are re-run.
    pub retry: BTreeSet<Status>,
    /// What was cut short by hand counts as done. Else it is done again: it answered only in part.
    pub keep_interrupted: bool,
    /// Scenarios that have all of these.
    pub only: Vec<Only>,
    /// Runs that are done again whatever became of them: their inputs have changed since.
    pub redo: BTreeSet<RunId>,
}

/// One of some levels of a factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Only {
    pub factor: String,
    /// As they are written.
    pub levels: Vec<String>,
}

impl Only {
    fn holds(&self, scenario: &Scenario) -> bool {
        let level = scenario.level(&self.factor).map(ToString::to_string);
        level.is_some_and(|level| self.levels.contains(&level))
    }
}

/// What happens while a study is carried out.
#[derive(Debug)]
pub enum Progress<'a> {
    RunBegins {
        run: RunId,
        scenario: &'a Scenario,
        done: usize,
        total: usize,
        projected: Option<Money>,
    },
    Told {
        run: RunId,
        event: &'a Event,
    },
    Tick {
        run: RunId,
        seconds: f64,
        seconds_left: f64,
        spent: Money,
    },
    RunEnds {
        record: &'a RunRecord,
        done: usize,
        total: usize,
        seconds_left: f64,
        ledger: &'a Ledger,
        /// What is spent and what the runs left are expected to cost; none where that of one of
        /// them is not known.
        projected: Option<Money>,
    },
}

/// Why no more runs follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    AllDone,
    BudgetSpent,
    Interrupted,
}

impl Ended {
    pub fn word(self) -> &'static str {
        match self {
            Ended::AllDone => "all-done",
            Ended::BudgetSpent => "budget-spent",
            Ended::Interrupted => "interrupted",
        }
    }
}

/// Planned runs that have no result yet, in the order of the plan.
pub fn due_runs(plan: &Plan, statuses: &BTreeMap<RunId, Status>, wanted: &Wanted) -> Vec<RunId> {
    let is_asked = |run: &RunId| {
        let holds = |scenario: &Scenario| wanted.only.iter().all(|only| only.holds(scenario));
        wanted.only.is_empty() || plan.scenario(run.scenario).is_some_and(holds)
    };
    let is_due = |run: &&RunId| match statuses.get(run) {
        None => true,
        Some(_) if wanted.redo.contains(run) => true,
        Some(Status::Interrupted) => !wanted.keep_interrupted,
        Some(status) => wanted.retry.contains(status),
    };
    let due = plan.runs.iter().filter(is_due).copied();
    due.filter(is_asked).collect()
}

impl Conduct<'_> {
    /// Carries out what is due. Every run is kept before the next begins.
    pub fn run(&self, tell: &mut dyn FnMut(Progress<'_>)) -> Result<Ended, RunnerError> {
        let due = due_runs(self.plan, &self.store.statuses()?, &self.options.wanted);
        let mut records = self.store.records()?;
        let mut ledger = Ledger::open(self.study, self.store)?;
        let mut expected = self.options.expected.clone();
        let mut session = Session::begin();
        let reader = InputReader::new(self.options.surroundings.study_folder);
        let is_due: BTreeSet<RunId> = due.iter().copied().collect();
        // Runs that nobody asked for (`--only`) are not done because they are not due.
        let planned: BTreeSet<RunId> = self.plan.runs.iter().copied().collect();
        let is_done = |run: RunId| planned.contains(&run) && !is_due.contains(&run);
        let done_before = records.iter().filter(|r| is_done(r.run)).count();
        let mut kept = KeptInputs::of(records.iter().filter(|r| !is_due.contains(&r.run)));
        for (place, &run) in due.iter().enumerate() {
            if self.options.stop.asked() != Asked::Nothing {
                return Ok(Ended::Interrupted);
            }
            if !self.options.over_budget && self.would_break(&ledger, run, &expected) {
                return Ok(Ended::BudgetSpent);
            }
            let scenario = self.scenario(run)?;
            let inputs = reader.read(self.study, scenario)?;
            let changes = kept.changes(&inputs);
            let is_accepted = |change: &InputChange| change.is_accepted;
            if !self.options.accept_changed && !changes.iter().all(is_accepted) {
                return Err(RunnerError::InputsChanged(changes));
            }
            let total = self.plan.runs.len();
            tell(Progress::RunBegins {
                run,
                scenario,
                done: done_before + place,
                total,
                projected: self.projected(&ledger, &due[place..], &expected),
            });
            let seconds_after = seconds_of(&due[place + 1..], &expected);
            let under_way = UnderWay {
                run,
                scenario,
                ledger: &ledger,
                session: &session,
                seconds_after,
                expected: expected.get(&run.scenario),
                inputs: &UsedInputs {
                    reader: &reader,
                    inputs,
                    changes,
                },
            };
            let finished = self.one_run(under_way, tell)?;
            session.run_ended = finished.ended;
            ledger.add(&finished.record);
            kept.add(&finished.record);
            records.retain(|earlier| earlier.run != run);
            records.push(finished.record);
            expected.extend(forecast::from_records(&records));
            if let Some(record) = records.last() {
                let seconds_left = seconds_of(&due[place + 1..], &expected);
                tell(Progress::RunEnds {
                    record,
                    done: done_before + place + 1,
                    total,
                    seconds_left,
                    ledger: &ledger,
                    projected: self.projected(&ledger, &due[place + 1..], &expected),
                });
            }
            if finished.budget_spent {
                return Ok(Ended::BudgetSpent);
            }
        }
        Ok(if self.options.stop.asked() != Asked::Nothing {
            Ended::Interrupted
        } else {
            Ended::AllDone
        })
    }

    fn scenario(&self, run: RunId) -> Result<&Scenario, RunnerError> {
        self.plan
            .scenario(run.scenario)
            .ok_or(RunnerError::NoScenario(run))
    }

    fn projected(
        &self,
        ledger: &Ledger,
        left: &[RunId],
        expected: &BTreeMap<u32, RunForecast>,
    ) -> Option<Money> {
        let is_known = |run: &RunId| expected.contains_key(&run.scenario);
        if !left.iter().all(is_known) {
            return None;
        }
        let rest = forecast::add_up(
            self.study,
            self.plan,
            left,
            expected.clone(),
            ledger.rentals(),
        );
        let rest = match rest.money {
            Some(money) => money.value,
            None if left.is_empty() => Money::zero(ledger.spent().currency),
            None => return None,
        };
        let spent = ledger.spent();
        (rest.currency == spent.currency)
            .then(|| Money::new(spent.amount + rest.amount, rest.currency))
    }

    /// The money is gone, or the next run is expected to take more than is left.
    fn would_break(
        &self,
        ledger: &Ledger,
        run: RunId,
        expected: &BTreeMap<u32, RunForecast>,
    ) -> bool {
        let known = expected.get(&run.scenario).cloned();
        let next = known.unwrap_or_else(RunForecast::shortest);
        let only = BTreeMap::from([(run.scenario, next)]);
        let next = forecast::add_up(self.study, self.plan, &[run], only, ledger.rentals());
        let next_money = next.money.map(|m| m.value);
        ledger.is_spent() || next_money.is_some_and(|money| ledger.breaks_with(money))
    }

    fn one_run(
        &self,
        under_way: UnderWay<'_>,
        tell: &mut dyn FnMut(Progress<'_>),
    ) -> Result<FinishedRun, RunnerError> {
        let UnderWay { run, scenario, .. } = under_way;
        let prepared = prepare(
            self.study,
            scenario,
            run.repetition,
            self.options.surroundings,
        );
        let staging = self.store.begin(run)?;
        let mut prepared = match prepared {
            Ok(prepared) => prepared,
            Err(why) => return self.not_prepared(under_way, staging, &why),
        };
        // An endpoint at a provider is made for this run and deleted after it.
        if prepared.makes_endpoint()
            && let Some(price) = &mut prepared.environment.price
        {
            price.billing.rental = RentalScope::Run;
        }
        self.write_job(&mut prepared, &staging)?;
        let client = self.write_asks(&mut prepared, &staging)?;
        let mut budget_spent = false;
        let mut so_far = SoFar::default();
        let rental = under_way.session.next_part();
        let measured = self.measure(&prepared, client, staging.folder(), &mut |watched| {
            if let Watched::Tick { seconds } = watched {
                so_far.seconds = seconds;
                let spent = self.spent_with(&prepared, under_way.ledger, &so_far, &rental);
                let beyond = under_way
                    .ledger
                    .allowed
                    .is_some_and(|allowed| spent.amount > allowed.amount);
                if beyond && !self.options.over_budget && !budget_spent {
                    budget_spent = true;
                    self.options.stop.request_finish();
                }
                tell(Progress::Tick {
                    run,
                    seconds,
                    seconds_left: under_way.seconds_left(seconds),
                    spent,
                });
            }
            if let Watched::Event(event) = watched {
                so_far.told(event);
                tell(Progress::Told { run, event });
            }
        })?;
        let ended = Some(Instant::now());
        let no_onnx = ready::tidy(
            staging.folder(),
            prepared.framework.as_ref(),
            prepared.keep_model,
        )?;
        prepared.warnings.extend(no_onnx);
        let asked = prepared.asks.as_ref().and_then(|asks| asks.model.as_ref());
        let runtime = asked.and_then(|model| model.runtime.clone());
        let mut record = self.record(run, scenario, prepared, measured);
        if budget_spent && record.outcome.status == Status::Interrupted {
            record.outcome.detail = under_way.ledger.allowed.map(ended_by_budget);
        }
        serving_record(&mut record, runtime, staging.folder());
        record.warnings.extend(endpoint_left(staging.folder()));
        record.rental = Some(rental);
        under_way.inputs.write_to(&mut record);
        price_record(&mut record, self.study);
        staging.commit(&record)?;
        Ok(FinishedRun {
            record,
            budget_spent,
            ended,
        })
    }

    /// What was there when the study began may be gone by now: that run fails, and the others follow.
    fn not_prepared(
        &self,
        under_way: UnderWay<'_>,
        staging: Staging,
        why: &WorkloadError,
    ) -> Result<FinishedRun, RunnerError> {
        let UnderWay { run, scenario, .. } = under_way;
        let measured = measure::could_not_begin(staging.folder(), &why.to_string())
            .map_err(RunnerError::Measure)?;
        let nothing = PreparedRun::new(plan::resolve(self.study, scenario).environment);
        let record = self.record(run, scenario, nothing, measured);
        staging.commit(&record)?;
        Ok(FinishedRun {
            record,
            budget_spent: false,
            ended: under_way.session.run_ended,
        })
    }

    fn write_job(&self, prepared: &mut PreparedRun, staging: &Staging) -> Result<(), RunnerError> {
        let Some(job) = &mut prepared.job else {
            return Ok(());
        };
        // A worker on another host begins in another folder.
        let folder = std::path::absolute(staging.folder())
            .map_err(|e| RunnerError::write(staging.folder(), e))?;
        job.checkpoint = Some(folder.join(MODEL_FILE));
        if let Some(trainer) = &prepared.framework {
            let home = self.options.surroundings.home;
            let left_out = ready::fill_job(job, trainer, &folder, home)?;
            prepared.warnings.extend(left_out);
        }
        let path = folder.join("job.json");
        write_json(&path, job)?;
        prepared
            .env
            .push((JOB_VARIABLE.to_owned(), path.to_string_lossy().into_owned()));
        Ok(())
    }

    /// The client's job; a client that is the run itself finds it in its own variables.
    fn write_asks(
        &self,
        prepared: &mut PreparedRun,
        staging: &Staging,
    ) -> Result<Option<ClientCommand>, RunnerError> {
        let Some(asks) = &mut prepared.asks else {
            return Ok(None);
        };
        let folder = staging.folder();
        let job = &mut asks.job;
        for path in [
            &mut job.requests,
            &mut job.outcome,
            &mut job.record,
            &mut job.endpoint,
        ] {
            *path = folder.join(&*path);
        }
        let path = folder.join("ask.json");
        write_json(&path, job)?;
        let variable = (JOB_VARIABLE.to_owned(), path.to_string_lossy().into_owned());
        if asks.alone {
            prepared.env.push(variable);
            return Ok(None);
        }
        let program = self.options.surroundings.bancada;
        Ok(Some(ClientCommand {
            command: vec![program.to_string_lossy().into_owned(), "ask".to_owned()],
            env: vec![variable],
        }))
    }

    fn measure(
        &self,
        prepared: &PreparedRun,
        client: Option<ClientCommand>,
        folder: &Path,
        watch: &mut dyn FnMut(Watched<'_>),
    ) -> Result<Measured, RunnerError> {
        let mut settings = self.study.measure.clone();
        if prepared.makes_endpoint() {
            settings.grace_seconds = settings.grace_seconds.max(TEAR_DOWN_SECONDS);
        }
        let request = measure::Request {
            command: prepared.command.clone(),
            env: prepared.env.clone(),
            directory: prepared.directory.clone(),
            folder: folder.to_owned(),
            limits: prepared.limits().clone(),
            settings,
            log: prepared.log.clone(),
            tells_steps: prepared.job.is_some(),
            client,
            // The provider is told to delete what was made there.
            outlives: prepared.makes_endpoint(),
            cgroup_name: format!("bancada-{}", std::process::id()),
        };
        measure::run(&request, self.options.stop, watch).map_err(RunnerError::Measure)
    }

    /// Earlier bills and what the run in progress has cost by now.
    fn spent_with(
        &self,
        prepared: &PreparedRun,
        ledger: &Ledger,
        so_far: &SoFar,
        rental: &RentalPart,
    ) -> Money {
        let environment = &prepared.environment;
        let Some(price) = &environment.price else {
            return ledger.spent();
        };
        let request = BillRequest {
            phases: &so_far.phases(),
            total_seconds: so_far.seconds,
            // What is billed of requests is known at the end; until then, the most it can be.
            requests: Some(cost::Requests {
                count: 0,
                as_billed: true,
                seconds: so_far.seconds,
            }),
            started: None,
            price,
            spoken: price.per_hour.currency,
            rates: &[],
        };
        ledger.with(&environment.name, &request, rental.idle_seconds)
    }

    fn record(
        &self,
        run: RunId,
        scenario: &Scenario,
        prepared: PreparedRun,
        measured: Measured,
    ) -> RunRecord {
        let device = prepared.device().map(str::to_owned);
        let home = self.options.surroundings.home;
        let trainer = prepared.framework.as_ref();
        let job = prepared.job.as_ref();
        let told = measured.framework.as_ref();
        let asked_model = prepared.asks.as_ref().and_then(|asks| asks.model.clone());
        let framework = trainer.map(|trainer| verification::of_run(trainer, job, told, home));
        let mut record = RunRecord {
            schema: BUNDLE_SCHEMA,
            study: self.study.name.clone(),
            run,
            scenario: scenario.clone(),
            fingerprint: plan::scenario_fingerprint(self.study, scenario),
            inputs: Vec::new(),
            origin: Origin::Measured {
                bancada: self.options.bancada_version.to_owned(),
            },
            outcome: measured.outcome,
            started: measured.started,
            seconds: measured.seconds,
            phases: measured.phases,
            epochs: measured.epochs,
            metrics: measured.metrics,
            environment: EnvironmentRecord {
                name: prepared.environment.name,
                limits: prepared.environment.limits,
                limits_by: measured.limits_by,
                device,
            },
            command: prepared.command,
            machine: self.options.inventory.clone(),
            price: prepared.environment.price,
            rental: None,
            bill: None,
            warnings: measured.warnings,
            framework,
            serving: None,
            profile: measured.profile,
        };
        record.warnings.extend(prepared.warnings);
        if let Some(model) = asked_model {
            record.metrics.extend(model_metrics(&model));
        }
        if let Some(trainer) = trainer {
            let warning = verification::warning(trainer, job, record.framework.as_ref());
            record.warnings.extend(warning);
        }
        record
    }
}

/// The life of the run under way, up to now.
#[derive(Default)]
struct SoFar {
    seconds: f64,
    /// Names of phases and when they were heard to begin.
    begun: Vec<(String, f64)>,
}

impl SoFar {
    fn told(&mut self, event: &Event) {
        if let EventKind::Phase { phase } = &event.kind {
            self.begun.push((phase.clone(), self.seconds));
        }
    }

    /// A run that has told no phase is one, `train`, as it is when measured.
    fn phases(&self) -> Vec<Phase> {
        let mut begun = self.begun.clone();
        match begun.first() {
            None => begun.push((phase::TRAIN.to_owned(), 0.0)),
            Some(_) => begun.insert(0, (phase::STARTUP.to_owned(), 0.0)),
        }
        let ends = begun.iter().skip(1).map(|b| b.1).chain([self.seconds]);
        let lasting = begun.iter().zip(ends);
        lasting
            .map(|((name, begin_seconds), end)| Phase {
                name: name.clone(),
                begin_seconds: *begin_seconds,
                seconds: end - begin_seconds,
            })
            .collect()
    }
}

/// One `bancada run`: a machine of each environment is rented for it.
struct Session {
    id: String,
    run_ended: Option<Instant>,
}

impl Session {
    fn begin() -> Self {
        Session {
            id: Timestamp::now().to_string(),
            run_ended: None,
        }
    }

    /// Of a run that begins now.
    fn next_part(&self) -> RentalPart {
        let idle = self.run_ended.map(|ended| ended.elapsed().as_secs_f64());
        RentalPart {
            id: self.id.clone(),
            idle_seconds: idle.unwrap_or(0.0),
        }
    }
}

#[derive(Clone, Copy)]
struct UnderWay<'a> {
    run: RunId,
    scenario: &'a Scenario,
    ledger: &'a Ledger,
    session: &'a Session,
    /// Expected of the runs that follow.
    seconds_after: f64,
    expected: Option<&'a RunForecast>,
    inputs: &'a UsedInputs<'a>,
}

/// The inputs of the run under way, as they were when it began.
struct UsedInputs<'a> {
    reader: &'a InputReader,
    inputs: Vec<RunInput>,
    /// Against those of runs that are kept.
    changes: Vec<InputChange>,
}

impl UsedInputs<'_> {
    fn write_to(&self, record: &mut RunRecord) {
        let settled = self.reader.settle(self.inputs.clone());
        record.inputs = settled.inputs;
        let is_kept = |change: &&InputChange| record.inputs.iter().any(|i| i.path == change.path);
        let changes: Vec<InputChange> = self.changes.iter().filter(is_kept).cloned().collect();
        let warning = inputs::warning(&changes, settled.changed);
        record.warnings.extend(warning);
    }
}

impl UnderWay<'_> {
    fn seconds_left(&self, elapsed: f64) -> f64 {
        let expected = self.expected.map_or(0.0, |f| f.seconds().value);
        (expected - elapsed).max(0.0) + self.seconds_after
    }
}

struct FinishedRun {
    record: RunRecord,
    budget_spent: bool,
    /// When its machine was idle again; none where none was used yet.
    ended: Option<Instant>,
}

/// Nobody interrupted it: its record must not say that somebody did.
fn ended_by_budget(allowed: Money) -> String {
    format!("was stopped because the budget of {allowed} was spent")
}

/// A scenario of which nothing is known is taken for a usual one of those that are.
fn seconds_of(runs: &[RunId], expected: &BTreeMap<u32, RunForecast>) -> f64 {
    let known: f64 = expected.values().map(|f| f.seconds().value).sum();
    let usual = known / expected.len().max(1) as f64;
    let seconds = |run: &RunId| {
        expected
            .get(&run.scenario)
            .map_or(usual, |f| f.seconds().value)
    };
    runs.iter().map(seconds).sum()
}

pub(crate) fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), RunnerError> {
    let failed = |error| RunnerError::write(path, error);
    let bytes = serde_json::to_vec_pretty(value).map_err(|e| failed(e.into()))?;
    std::fs::write(path, bytes).map_err(failed)
}

#[derive(Debug)]
pub enum RunnerError {
    Store(StoreError),
    Workload(WorkloadError),
    Measure(measure::MeasureError),
    Write {
        path: String,
        error: std::io::Error,
    },
    NoScenario(RunId),
    Input(InputError),
    /// Since runs that are kept.
    InputsChanged(Vec<InputChange>),
}

impl RunnerError {
    pub(crate) fn write(path: &Path, error: std::io::Error) -> Self {
        RunnerError::Write {
            path: path.display().to_string(),
            error,
        }
    }
}

impl fmt::Display for RunnerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunnerError::Store(error) => error.fmt(f),
            RunnerError::Workload(error) => error.fmt(f),
            RunnerError::Measure(error) => error.fmt(f),
            RunnerError::Write { path, error } => write!(f, "cannot write {path}: {error}"),
            RunnerError::Input(error) => error.fmt(f),
            RunnerError::InputsChanged(changes) => {
                let paths: Vec<&str> = changes.iter().map(|c| c.path.as_str()).collect();
                write!(
                    f,
                    "inputs have changed since earlier runs: {}",
                    paths.join(", ")
                )
            }
            RunnerError::NoScenario(run) => write!(f, "the plan has no scenario for run {run}"),
        }
    }
}

impl std::error::Error for RunnerError {}

impl From<StoreError> for RunnerError {
    fn from(error: StoreError) -> Self {
        RunnerError::Store(error)
    }
}

impl From<InputError> for RunnerError {
    fn from(error: InputError) -> Self {
        RunnerError::Input(error)
    }
}

impl From<WorkloadError> for RunnerError {
    fn from(error: WorkloadError) -> Self {
        RunnerError::Workload(error)
    }
}
