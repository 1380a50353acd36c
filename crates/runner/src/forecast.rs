//! Expected time and cost: expected phases of every scenario's run, from earlier runs or a pilot,
//! added up over the runs that are still due, with an interval of the sum.

mod effects;
mod grounds;
mod rented;
mod scatter;

use std::collections::BTreeMap;

use model::run::{Origin, phase};
use model::{Money, Phase, Plan, RunId, RunRecord, Scenario, Status, Study};
use serde::Serialize;
use stats::LogSpread;

pub use effects::{fill_unknown, fill_with_usual, spread};
pub(crate) use grounds::Grounds;
pub(crate) use rented::money;

/// A number, and where it lies with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Spread {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// What one run of a scenario is expected to be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunForecast {
    pub phases: Vec<Phase>,
    /// The interval of one run, as factors of the expected time: 0.9 and 1.15.
    pub low_factor: f64,
    pub high_factor: f64,
    /// Of a run that serves, where it can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<ExpectedRequests>,
    #[serde(skip)]
    pub(crate) grounds: Grounds,
}

/// What a run asks of a server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ExpectedRequests {
    pub count: f64,
    /// In which they are handled, together; the pauses between them are not part of it.
    pub seconds: f64,
}

impl RunForecast {
    /// As if there were no doubt.
    pub fn exactly(phases: Vec<Phase>) -> Self {
        RunForecast {
            phases,
            low_factor: 1.0,
            high_factor: 1.0,
            requests: None,
            grounds: Grounds::default(),
        }
    }

    /// Of which nothing is known: it costs what the shortest run does.
    pub(crate) fn shortest() -> Self {
        RunForecast::exactly(vec![Phase {
            name: phase::TRAIN.to_owned(),
            begin_seconds: 0.0,
            seconds: 0.001,
        }])
    }

    pub fn seconds(&self) -> Spread {
        let value: f64 = self.phases.iter().map(|p| p.seconds).sum();
        Spread {
            value,
            low: value * self.low_factor,
            high: value * self.high_factor,
        }
    }

    /// Logarithm of the middle of what its runs take.
    fn log_centre(&self) -> f64 {
        self.seconds().value.max(1e-6).ln() + self.grounds.centre
    }

    fn set_factors(&mut self, spread: LogSpread) {
        let half = self.grounds.half_width(spread);
        let centre = self.grounds.centre;
        // The expected time itself is part of the interval, however skewed the runs are.
        self.low_factor = (centre - half).exp().min(1.0);
        self.high_factor = (centre + half).exp().max(1.0);
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forecast {
    /// By scenario number.
    pub scenarios: BTreeMap<u32, RunForecast>,
    pub environments: Vec<EnvironmentForecast>,
    pub runs: usize,
    /// Of the runs, those of which nothing is known: they are not in the sums.
    pub unknown_runs: usize,
    pub seconds: Spread,
    /// Of the environments that have a price; none when none has.
    pub money: Option<MoneySpread>,
    /// How far runs of one scenario lie apart, which the intervals rest on.
    pub spread: LogSpread,
    /// How it was obtained, in words.
    pub method: String,
}

impl Forecast {
    /// What the intervals rest on that was not measured.
    pub fn assumption(&self) -> Option<Assumption> {
        let grounds = || self.scenarios.values().map(|forecast| &forecast.grounds);
        let is_assumed = self.spread.degrees_of_freedom.is_none();
        if is_assumed && grounds().any(|grounds| !grounds.is_steady) {
            return Some(Assumption::RunsVary(self.spread.sd));
        }
        let has_pilot = grounds().any(Grounds::has_pilot);
        has_pilot.then_some(Assumption::PilotsErr(grounds::PILOT_ERROR))
    }
}

/// Standard deviations of logarithms: 0.4 is about 40 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Assumption {
    /// No run was repeated.
    RunsVary(f64),
    /// What runs differ by is known; how far a pilot is from a whole run is not.
    PilotsErr(f64),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EnvironmentForecast {
    pub environment: String,
    pub runs: usize,
    pub seconds: Spread,
    pub money: Option<MoneySpread>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MoneySpread {
    pub value: Money,
    pub low: Money,
    pub high: Money,
}

/// Expected phases of each scenario that has runs, from those runs.
pub fn from_records<'r>(
    records: impl IntoIterator<Item = &'r RunRecord>,
) -> BTreeMap<u32, RunForecast> {
    let mut by_scenario: BTreeMap<u32, Vec<&RunRecord>> = BTreeMap::new();
    let mut scenarios: BTreeMap<u32, Scenario> = BTreeMap::new();
    for record in records.into_iter().filter(|r| tells(r)) {
        let number = record.run.scenario;
        by_scenario.entry(number).or_default().push(record);
        scenarios.insert(number, record.scenario.clone());
    }
    let each = by_scenario.into_iter();
    let mut known = each
        .map(|(scenario, runs)| (scenario, from_runs(scenario, &runs)))
        .collect();
    let scenarios: Vec<Scenario> = scenarios.into_values().collect();
    let spread = spread(&known, &scenarios);
    known
        .values_mut()
        .for_each(|forecast| forecast.set_factors(spread));
    known
}

/// Whether a record says how long a run takes here: one from elsewhere does not.
pub fn tells(record: &RunRecord) -> bool {
    matches!(record.origin, Origin::Measured { .. }) && record.outcome.status.is_result()
}

fn from_runs(scenario: u32, runs: &[&RunRecord]) -> RunForecast {
    let ok: Vec<&&RunRecord> = runs
        .iter()
        .filter(|r| r.outcome.status == Status::Ok)
        .collect();
    let chosen = if ok.is_empty() {
        runs.iter().collect()
    } else {
        ok
    };
    let count = chosen.len() as f64;
    let mut phases: Vec<Phase> = Vec::new();
    for phase in chosen.iter().flat_map(|r| &r.phases) {
        match phases.iter_mut().find(|p| p.name == phase.name) {
            Some(known) => known.seconds += phase.seconds / count,
            None => phases.push(Phase {
                seconds: phase.seconds / count,
                ..phase.clone()
            }),
        }
    }
    let totals: Vec<f64> = chosen.iter().map(|r| r.seconds).collect();
    let handled = chosen.iter().map(|run| run.request_seconds());
    let handled: Option<f64> = handled.sum();
    let asked: u64 = chosen.iter().map(|run| run.requests()).sum();
    RunForecast {
        requests: handled.map(|seconds| ExpectedRequests {
            count: asked as f64 / count,
            seconds: seconds / count,
        }),
        grounds: Grounds::of_runs(scenario, &totals),
        ..RunForecast::exactly(phases)
    }
}

/// A scenario of which nothing is known is taken for a usual one of those that are.
pub(crate) fn seconds_of<'r>(
    runs: impl Iterator<Item = &'r RunId>,
    expected: &BTreeMap<u32, RunForecast>,
) -> f64 {
    let known: f64 = expected.values().map(|f| f.seconds().value).sum();
    let usual = known / expected.len().max(1) as f64;
    let seconds = |run: &RunId| {
        expected
            .get(&run.scenario)
            .map_or(usual, |f| f.seconds().value)
    };
    runs.map(seconds).sum()
}

/// Adds up over the runs that are due, on machines that are rented for them.
pub fn add_up(
    study: &Study,
    plan: &Plan,
    due: &[RunId],
    mut scenarios: BTreeMap<u32, RunForecast>,
    spread: LogSpread,
) -> Forecast {
    let is_unknown = |run: &&RunId| !scenarios.contains_key(&run.scenario);
    let unknown_runs = due.iter().filter(is_unknown).count();
    scenarios
        .values_mut()
        .for_each(|forecast| forecast.set_factors(spread));
    let batches = scatter::batches(study, plan, due, &scenarios);
    let drawn = scatter::drawn(&batches, spread, study.seed);
    let paid = rented::paid(study, &batches, &drawn);
    let mut environments: Vec<EnvironmentForecast> = Vec::new();
    for (place, name) in batches.environments.iter().enumerate() {
        let own = batches
            .all
            .iter()
            .filter(|batch| batch.environment == place);
        environments.push(EnvironmentForecast {
            environment: name.clone(),
            runs: own.map(|batch| batch.runs).sum(),
            seconds: drawn.seconds_of(&batches, place),
            money: paid.environments[place],
        });
    }
    Forecast {
        unknown_runs,
        environments,
        runs: due.len(),
        seconds: drawn.seconds(&batches),
        money: paid.total,
        spread,
        method: String::new(),
        scenarios,
    }
}
