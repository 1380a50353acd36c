//! Repetitions until enough is known: rounds over all scenarios that are still open.

use std::collections::{BTreeMap, BTreeSet};

use model::run::{metric, phase};
use model::{Plan, Role, RunId, RunRecord, Scenario, Status, Study, Until};
use predict::sequential::{Repetition, State, Stopping};

use crate::schedule::{Known, Next, Schedule};

/// Everything is derived from the records: a study that goes on decides as if it had never stopped.
pub struct UntilKnown<'a> {
    study: &'a Study,
    until: &'a Until,
    /// Scenarios that take part, by task.
    tasks: Vec<Vec<u32>>,
    /// Not begun, in the order of the plan.
    due: Vec<RunId>,
    /// Of these, runs of scenarios that are open.
    left: Vec<RunId>,
    /// Up to which repetition a scenario may be run before it is looked at again.
    allowed: BTreeMap<u32, u32>,
}

impl<'a> UntilKnown<'a> {
    pub fn new(
        study: &'a Study,
        plan: &Plan,
        until: &'a Until,
        due: Vec<RunId>,
        records: &[RunRecord],
    ) -> Self {
        let scenarios = due.iter().chain(records.iter().map(|record| &record.run));
        let taking_part: BTreeSet<u32> = scenarios.map(|run| run.scenario).collect();
        let mut schedule = UntilKnown {
            study,
            until,
            tasks: tasks(study, plan, &taking_part),
            due,
            left: Vec::new(),
            allowed: BTreeMap::new(),
        };
        schedule.look(records, &BTreeSet::new());
        schedule
    }

    /// The fewest runs that may still come: up to the next look at every open scenario.
    pub fn fewest(&self) -> usize {
        let is_next = |run: &&RunId| self.is_allowed(**run);
        self.left.iter().filter(is_next).count()
    }

    fn is_allowed(&self, run: RunId) -> bool {
        let allowed = self.allowed.get(&run.scenario);
        allowed.is_some_and(|allowed| run.repetition <= *allowed)
    }

    fn look(&mut self, records: &[RunRecord], in_progress: &BTreeSet<RunId>) {
        let stopping = Stopping {
            until: self.until,
            maximum: self.study.repetitions,
            tasks: self.tasks.len(),
            equal_within: self.study.equal_within() / 100.0,
        };
        let values = Values::of(self.until, records);
        let missing: BTreeSet<RunId> = self.due.iter().chain(in_progress).copied().collect();
        self.allowed.clear();
        for task in &self.tasks {
            let repetitions = |scenario: &u32| -> Vec<Repetition> {
                let run = |repetition| RunId {
                    scenario: *scenario,
                    repetition,
                };
                let runs = (1..=self.study.repetitions).map(run);
                runs.map(|run| match missing.contains(&run) {
                    true => Repetition::Missing,
                    false => values.repetition(run),
                })
                .collect()
            };
            let all: Vec<Vec<Repetition>> = task.iter().map(repetitions).collect();
            for (scenario, state) in task.iter().zip(stopping.states(&all)) {
                if let State::Open { repetitions } = state {
                    self.allowed.insert(*scenario, repetitions);
                }
            }
        }
        let is_open = |run: &&RunId| self.allowed.contains_key(&run.scenario);
        self.left = self.due.iter().filter(is_open).copied().collect();
    }
}

impl Schedule for UntilKnown<'_> {
    fn next(&mut self, known: Known<'_>, can_run: &dyn Fn(RunId) -> bool) -> Next {
        self.look(known.records, known.in_progress);
        let runs = self.left.iter().copied();
        let may_run = |run: &RunId| self.is_allowed(*run) && can_run(*run);
        let Some(run) = runs.filter(may_run).min_by_key(|run| run.repetition) else {
            return match known.in_progress.is_empty() {
                true => Next::Done,
                false => Next::Wait,
            };
        };
        self.due.retain(|other| *other != run);
        self.left.retain(|other| *other != run);
        Next::Run(run)
    }

    fn again(&mut self, run: RunId) {
        self.due.insert(0, run);
        self.left.insert(0, run);
    }

    fn left(&self) -> &[RunId] {
        &self.left
    }
}

/// Of these, the runs whose scenarios are still open; all where the number of repetitions is fixed.
pub fn open_runs(study: &Study, plan: &Plan, due: Vec<RunId>, records: &[RunRecord]) -> Vec<RunId> {
    match &study.until {
        Some(until) => UntilKnown::new(study, plan, until, due, records).left,
        None => due,
    }
}

/// Scenarios with the same levels of the factors that say what is to be done.
pub(crate) fn tasks(study: &Study, plan: &Plan, taking_part: &BTreeSet<u32>) -> Vec<Vec<u32>> {
    let mut tasks: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let scenarios = plan.scenarios.iter();
    for scenario in scenarios.filter(|scenario| taking_part.contains(&scenario.number)) {
        let task = task_of(study, scenario);
        tasks.entry(task).or_default().push(scenario.number);
    }
    tasks.into_values().collect()
}

fn task_of(study: &Study, scenario: &Scenario) -> String {
    let levels = scenario.levels.iter();
    let task = levels.filter(|level| study.role(&level.factor) == Role::Task);
    task.map(|level| format!("{}={}\n", level.factor, level.level))
        .collect()
}

/// Values of one metric by run.
struct Values<'r> {
    by_run: BTreeMap<RunId, &'r RunRecord>,
    metric: String,
}

impl<'r> Values<'r> {
    fn of(until: &Until, records: &'r [RunRecord]) -> Self {
        let metric = match until.metric.as_deref() {
            None | Some("time") => time_metric(records).to_owned(),
            Some(word) => meant(word, records),
        };
        Values {
            by_run: records.iter().map(|record| (record.run, record)).collect(),
            metric,
        }
    }

    /// A run that nobody asks for, and that is not there, counts as failed.
    fn repetition(&self, run: RunId) -> Repetition {
        let record = self.by_run.get(&run).filter(|record| is_ok(record));
        let Some(record) = record else {
            return Repetition::Failed;
        };
        value(record, &self.metric).map_or(Repetition::NoValue, Repetition::Value)
    }
}

pub(crate) fn is_ok(record: &RunRecord) -> bool {
    record.outcome.status == Status::Ok && record.unmet_limits().is_empty()
}

/// As in the report: the first of these that a successful run has.
pub(crate) fn time_metric(records: &[RunRecord]) -> &'static str {
    let candidates = [metric::TRAIN_SECONDS, metric::LATENCY_SECONDS];
    let has = |name: &&&str| {
        let mut ok = records.iter().filter(|record| is_ok(record));
        ok.any(|record| value(record, name).is_some())
    };
    candidates
        .iter()
        .find(has)
        .unwrap_or(&metric::TOTAL_SECONDS)
}

/// The workload's own metric of that name goes before ours.
pub(crate) fn meant(word: &str, records: &[RunRecord]) -> String {
    let is_own = records
        .iter()
        .any(|record| record.metrics.contains_key(word));
    let ours = metric::meant(word).filter(|_| !is_own);
    ours.map_or(word, |metric| metric.name).to_owned()
}

pub(crate) fn value(record: &RunRecord, name: &str) -> Option<f64> {
    let reported = record.metrics.get(name).map(|metric| metric.value);
    let derived = || match name {
        metric::TOTAL_SECONDS => Some(record.seconds),
        metric::TRAIN_SECONDS => {
            let train = record.phases.iter().filter(|p| p.name == phase::TRAIN);
            train.map(|p| p.seconds).reduce(|a, b| a + b)
        }
        _ => None,
    };
    reported.or_else(derived).filter(|value| value.is_finite())
}
