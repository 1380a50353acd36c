//! Which run comes next.

use std::collections::{BTreeMap, BTreeSet};

use model::{Plan, RunId, RunRecord, Scenario, Status};

/// What is known when the next run is chosen.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Of all runs that are kept, those of this session last.
    pub records: &'a [RunRecord],
    /// Of runs of which only the beginning was carried out.
    pub beginnings: &'a [RunRecord],
    /// It is asked of a run that an earlier session started, and that is a whole one.
    pub goes_on: bool,
    pub in_progress: &'a BTreeSet<RunId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Run(RunId),
    /// Only its beginning; the run itself may come later.
    Beginning(RunId),
    /// Not before a run in progress has ended: what follows depends on it.
    Wait,
    Done,
}

/// Says what comes next from what is known so far. It is asked whenever a place is free, and never
/// answers with a run twice.
pub trait Schedule {
    /// `can_run` says whether the place that is free is the one for a run.
    fn next(&mut self, known: Known<'_>, can_run: &dyn Fn(RunId) -> bool) -> Next;

    /// A run that could not be finished is to come again.
    fn again(&mut self, run: RunId);

    /// Runs that are still to come, as far as that is known: for forecasts.
    fn left(&self) -> &[RunId];
}

/// A list of runs, one after the other.
#[derive(Debug, Clone)]
pub struct Listed {
    left: Vec<RunId>,
}

impl Listed {
    pub fn new(runs: Vec<RunId>) -> Self {
        Listed { left: runs }
    }
}

impl Schedule for Listed {
    fn next(&mut self, _known: Known<'_>, can_run: &dyn Fn(RunId) -> bool) -> Next {
        let place = self.left.iter().position(|run| can_run(*run));
        match place {
            Some(place) => Next::Run(self.left.remove(place)),
            None => Next::Done,
        }
    }

    fn again(&mut self, run: RunId) {
        self.left.insert(0, run);
    }

    fn left(&self) -> &[RunId] {
        &self.left
    }
}

/// Which runs are to be done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunSelection {
    /// Runs with these outcomes are repeated.
    pub retry: BTreeSet<Status>,
    /// What was cut short by hand counts as done. Else it is repeated: it answered only in part.
    pub keep_interrupted: bool,
    /// Scenarios that have all of these.
    pub only: Vec<Only>,
    /// These alone, where not all are wanted.
    pub runs: Option<BTreeSet<RunId>>,
    /// Runs that are repeated whatever became of them: their inputs have changed since.
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

/// Planned runs that have no result yet, in the order of the plan.
pub fn due_runs(
    plan: &Plan,
    statuses: &BTreeMap<RunId, Status>,
    wanted: &RunSelection,
) -> Vec<RunId> {
    let is_asked = |run: &RunId| {
        let holds = |scenario: &Scenario| wanted.only.iter().all(|only| only.holds(scenario));
        let is_named = wanted.runs.as_ref().is_none_or(|runs| runs.contains(run));
        is_named && (wanted.only.is_empty() || plan.scenario(run.scenario).is_some_and(holds))
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
