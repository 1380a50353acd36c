//! Expected time and cost: expected phases of every scenario's run, from earlier runs or a pilot,
//! added up over the runs that are still due.

use std::collections::{BTreeMap, BTreeSet};

use cost::BillRequest;
use model::run::{Origin, phase};
use model::{Money, Phase, Plan, RunId, RunRecord, Scenario, Status, Study};
use serde::Serialize;

use crate::budget::Rentals;

/// A number between two others.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Spread {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Spread {
    fn add(&mut self, other: Spread) {
        self.value += other.value;
        self.low += other.low;
        self.high += other.high;
    }
}

/// What one run of a scenario is expected to be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunForecast {
    pub phases: Vec<Phase>,
    /// The interval, as factors of the expected time: 0.9 and 1.15.
    pub low_factor: f64,
    pub high_factor: f64,
    /// Of a run that serves, where it can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<ExpectedRequests>,
}

/// What a run asks of a server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ExpectedRequests {
    pub count: f64,
    /// In which they are handled, together; the pauses between them are not part of it.
    pub seconds: f64,
}

impl RunForecast {
    /// Of which nothing is known: it costs what the shortest run does.
    pub(crate) fn shortest() -> Self {
        RunForecast {
            phases: vec![Phase {
                name: phase::TRAIN.to_owned(),
                begin_seconds: 0.0,
                seconds: 0.001,
            }],
            low_factor: 1.0,
            high_factor: 1.0,
            requests: None,
        }
    }

    pub fn seconds(&self) -> Spread {
        let value: f64 = self.phases.iter().map(|p| p.seconds).sum();
        Spread {
            value,
            low: value * self.low_factor,
            high: value * self.high_factor,
        }
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
    /// How it was obtained, in words.
    pub method: String,
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
    for record in records.into_iter().filter(|r| tells(r)) {
        by_scenario
            .entry(record.run.scenario)
            .or_default()
            .push(record);
    }
    by_scenario
        .into_iter()
        .map(|(scenario, runs)| (scenario, from_runs(&runs)))
        .collect()
}

/// Whether a record says how long a run takes here: one from elsewhere does not.
pub fn tells(record: &RunRecord) -> bool {
    matches!(record.origin, Origin::Measured { .. }) && record.outcome.status.is_result()
}

fn from_runs(runs: &[&RunRecord]) -> RunForecast {
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
    let half_width = relative_half_width(&totals);
    let handled = chosen.iter().map(|run| run.request_seconds());
    let handled: Option<f64> = handled.sum();
    let asked: u64 = chosen.iter().map(|run| run.requests()).sum();
    RunForecast {
        phases,
        low_factor: (1.0 - half_width).max(0.0),
        high_factor: 1.0 + half_width,
        requests: handled.map(|seconds| ExpectedRequests {
            count: asked as f64 / count,
            seconds: seconds / count,
        }),
    }
}

/// Of a next value, from the ones seen (prediction interval of Student); one value alone says
/// nothing of its spread, so a fifth is taken.
fn relative_half_width(values: &[f64]) -> f64 {
    const UNKNOWN: f64 = 0.2;
    let Some(summary) = stats::summary(values, 0.95).filter(|s| s.count > 1 && s.mean.value > 0.0)
    else {
        return UNKNOWN;
    };
    let count = summary.count as f64;
    let t = stats::distribution::student_quantile(0.975, count - 1.0);
    (t * summary.sd * (1.0 + 1.0 / count).sqrt() / summary.mean.value).min(1.0)
}

/// Scenarios nothing is known of get the product of their levels' effects: a model of main
/// effects on the logarithm, fitted to the scenarios that are known. Of one with a level that none
/// of these has, nothing can be said.
pub fn fill_unknown(known: &mut BTreeMap<u32, RunForecast>, scenarios: &[Scenario]) {
    if known.is_empty() {
        return;
    }
    let names: Vec<String> = phase_names(known.values());
    let rows: Vec<&Scenario> = scenarios
        .iter()
        .filter(|s| known.contains_key(&s.number))
        .collect();
    let models: Vec<Additive> = names
        .iter()
        .map(|name| {
            let logs = rows
                .iter()
                .map(|s| phase_seconds(&known[&s.number], name).max(1e-6).ln());
            Additive::fit(&rows, &logs.collect::<Vec<f64>>())
        })
        .collect();
    let low_factor = known.values().map(|f| f.low_factor).fold(1.0, f64::min) * 0.9;
    let high_factor = known.values().map(|f| f.high_factor).fold(1.0, f64::max) * 1.1;
    let asked = RequestModel::fit(&rows, known);
    let factors = scenarios
        .first()
        .map_or(0, |scenario| scenario.levels.len());
    let keys = |scenario: &Scenario| {
        (0..factors)
            .map(|factor| key_of(scenario, factor))
            .collect()
    };
    let known_levels: BTreeSet<(String, String)> = rows
        .iter()
        .flat_map(|row| -> Vec<_> { keys(row) })
        .collect();
    let is_seen = |scenario: &Scenario| keys(scenario).iter().all(|key| known_levels.contains(key));
    let seen: Vec<&Scenario> = scenarios.iter().filter(|s| is_seen(s)).collect();
    for scenario in seen {
        let phases = names.iter().zip(&models).map(|(name, model)| Phase {
            name: name.clone(),
            begin_seconds: 0.0,
            seconds: model.predict(scenario).exp(),
        });
        known.entry(scenario.number).or_insert_with(|| RunForecast {
            phases: phases.collect(),
            low_factor,
            high_factor,
            requests: asked.as_ref().map(|asked| asked.predict(scenario)),
        });
    }
}

/// Scenarios of which nothing can be said by their levels are taken for a usual one of those that
/// are known, somewhere between the shortest and the longest.
pub fn fill_with_usual(known: &mut BTreeMap<u32, RunForecast>, scenarios: &[&Scenario]) {
    let count = known.len() as f64;
    let seconds: Vec<Spread> = known.values().map(RunForecast::seconds).collect();
    let mean = seconds.iter().map(|s| s.value).sum::<f64>() / count;
    if known.is_empty() || mean <= 0.0 {
        return;
    }
    let low = seconds.iter().map(|s| s.low).fold(f64::INFINITY, f64::min);
    let high = seconds.iter().map(|s| s.high).fold(0.0, f64::max);
    let phase = |name: String| Phase {
        begin_seconds: 0.0,
        seconds: known.values().map(|f| phase_seconds(f, &name)).sum::<f64>() / count,
        name,
    };
    let usual = RunForecast {
        phases: phase_names(known.values()).into_iter().map(phase).collect(),
        low_factor: low / mean,
        high_factor: high / mean,
        requests: None,
    };
    for scenario in scenarios {
        known
            .entry(scenario.number)
            .or_insert_with(|| usual.clone());
    }
}

/// Requests by the effects of levels, as phases are.
struct RequestModel {
    count: Additive,
    seconds: Additive,
}

impl RequestModel {
    /// None where a scenario does not tell its requests.
    fn fit(rows: &[&Scenario], known: &BTreeMap<u32, RunForecast>) -> Option<Self> {
        let requests = rows.iter().map(|row| known[&row.number].requests);
        let requests: Vec<ExpectedRequests> = requests.collect::<Option<_>>()?;
        let fit = |of: fn(&ExpectedRequests) -> f64| {
            let logs = requests.iter().map(|requests| of(requests).max(1e-6).ln());
            Additive::fit(rows, &logs.collect::<Vec<f64>>())
        };
        Some(RequestModel {
            count: fit(|requests| requests.count),
            seconds: fit(|requests| requests.seconds),
        })
    }

    fn predict(&self, scenario: &Scenario) -> ExpectedRequests {
        ExpectedRequests {
            count: self.count.predict(scenario).exp(),
            seconds: self.seconds.predict(scenario).exp(),
        }
    }
}

fn phase_names<'f>(forecasts: impl Iterator<Item = &'f RunForecast>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for phase in forecasts.flat_map(|f| &f.phases) {
        if !names.contains(&phase.name) {
            names.push(phase.name.clone());
        }
    }
    names
}

fn phase_seconds(forecast: &RunForecast, name: &str) -> f64 {
    forecast
        .phases
        .iter()
        .filter(|p| p.name == name)
        .map(|p| p.seconds)
        .sum()
}

/// Mean plus one effect a level, by backfitting (Friedman and Stuetzle 1981): each level's effect
/// is the mean of what the others leave unexplained.
struct Additive {
    mean: f64,
    effects: BTreeMap<(String, String), f64>,
}

impl Additive {
    const ROUNDS: usize = 60;

    fn fit(rows: &[&Scenario], values: &[f64]) -> Self {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let mut model = Additive {
            mean,
            effects: BTreeMap::new(),
        };
        let factors = rows.first().map_or(0, |row| row.levels.len());
        for _ in 0..Self::ROUNDS {
            for factor in 0..factors {
                let mut sums: BTreeMap<(String, String), (f64, f64)> = BTreeMap::new();
                for (row, value) in rows.iter().zip(values) {
                    let key = key_of(row, factor);
                    let left = value - model.predict(row)
                        + model.effects.get(&key).copied().unwrap_or(0.0);
                    let sum = sums.entry(key).or_default();
                    sum.0 += left;
                    sum.1 += 1.0;
                }
                model.effects.extend(
                    sums.into_iter()
                        .map(|(key, (sum, count))| (key, sum / count)),
                );
            }
        }
        model
    }

    fn predict(&self, scenario: &Scenario) -> f64 {
        let effects = (0..scenario.levels.len()).map(|factor| {
            self.effects
                .get(&key_of(scenario, factor))
                .copied()
                .unwrap_or(0.0)
        });
        self.mean + effects.sum::<f64>()
    }
}

fn key_of(scenario: &Scenario, factor: usize) -> (String, String) {
    let level = &scenario.levels[factor];
    (level.factor.clone(), level.level.to_string())
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

/// Adds up over the runs that are due. Their money is what they add to the rentals that began
/// already.
pub fn add_up(
    study: &Study,
    plan: &Plan,
    due: &[RunId],
    scenarios: BTreeMap<u32, RunForecast>,
    begun: &Rentals,
) -> Forecast {
    let mut environments: Vec<EnvironmentForecast> = Vec::new();
    let mut total = Spread::default();
    let mut rented = RentedSpread::after(begun);
    for run in due {
        let (Some(scenario), Some(run_forecast)) =
            (plan.scenario(run.scenario), scenarios.get(&run.scenario))
        else {
            continue;
        };
        let environment = plan::resolve(study, scenario).environment;
        let seconds = run_forecast.seconds();
        rented.add(&environment, run_forecast);
        total.add(seconds);
        match environments
            .iter_mut()
            .find(|e| e.environment == environment.name)
        {
            Some(known) => {
                known.runs += 1;
                known.seconds.add(seconds);
            }
            None => {
                environments.push(EnvironmentForecast {
                    environment: environment.name,
                    runs: 1,
                    seconds,
                    money: None,
                });
            }
        }
    }
    rented.stay_on_together(begun);
    for environment in &mut environments {
        environment.money = rented.beyond(begun, Some(&environment.environment));
    }
    // With machines that are on and have no run left.
    let is_priced = environments.iter().any(|e| e.money.is_some());
    let money = rented.beyond(begun, None).filter(|_| is_priced);
    let is_unknown = |run: &&RunId| !scenarios.contains_key(&run.scenario);
    Forecast {
        unknown_runs: due.iter().filter(is_unknown).count(),
        scenarios,
        environments,
        runs: due.len(),
        seconds: total,
        money,
        method: String::new(),
    }
}

/// Rentals with the runs that are due: as expected, and at the ends of the interval.
struct RentedSpread {
    value: Rentals,
    low: Rentals,
    high: Rentals,
}

impl RentedSpread {
    fn after(begun: &Rentals) -> Self {
        RentedSpread {
            value: begun.clone(),
            low: begun.clone(),
            high: begun.clone(),
        }
    }

    fn add(&mut self, environment: &model::Environment, forecast: &RunForecast) {
        let Some(price) = &environment.price else {
            return;
        };
        let ends = [
            (&mut self.value, 1.0),
            (&mut self.low, forecast.low_factor),
            (&mut self.high, forecast.high_factor),
        ];
        for (rentals, factor) in ends {
            let phases: Vec<Phase> = forecast
                .phases
                .iter()
                .map(|p| Phase {
                    seconds: p.seconds * factor,
                    ..p.clone()
                })
                .collect();
            let total_seconds = phases.iter().map(|p| p.seconds).sum();
            let requests = forecast.requests.unwrap_or_else(|| {
                // Pauses of a load are not billed; where their length is not known, this is the most.
                let asked = forecast.phases.iter().filter(|p| phase::is_work(&p.name));
                ExpectedRequests {
                    count: 0.0,
                    seconds: asked.map(|p| p.seconds).sum::<f64>(),
                }
            });
            let request = BillRequest {
                phases: &phases,
                total_seconds,
                requests: Some(cost::Requests {
                    count: requests.count.round() as u64,
                    as_billed: true,
                    seconds: requests.seconds * factor,
                }),
                started: None,
                price,
                spoken: price.per_hour.currency,
                rates: &[],
            };
            rentals.add(&environment.name, None, &request, 0.0);
        }
    }

    fn stay_on_together(&mut self, begun: &Rentals) {
        for rentals in [&mut self.value, &mut self.low, &mut self.high] {
            rentals.stay_on_together(begun);
        }
    }

    /// Of one environment, or of all.
    fn beyond(&self, begun: &Rentals, environment: Option<&str>) -> Option<MoneySpread> {
        let beyond = |rentals: &Rentals| {
            let total = rentals.total(environment)?;
            let before = begun.total(environment);
            let before = before.filter(|before| before.currency == total.currency);
            let before = before.map_or(Default::default(), |before| before.amount);
            Some(Money::new(total.amount - before, total.currency))
        };
        Some(MoneySpread {
            value: beyond(&self.value)?,
            low: beyond(&self.low)?,
            high: beyond(&self.high)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use model::study::FactorLevel;

    use super::*;

    fn scenario(number: u32, network: &str, image: i64) -> Scenario {
        let level = |factor: &str, level| FactorLevel {
            factor: factor.into(),
            level,
        };
        Scenario {
            number,
            levels: vec![
                level("network", network.into()),
                level("image", image.into()),
            ],
        }
    }

    fn forecast(seconds: f64) -> RunForecast {
        let phase = Phase {
            name: "train".into(),
            begin_seconds: 0.0,
            seconds,
        };
        RunForecast {
            phases: vec![phase],
            low_factor: 0.9,
            high_factor: 1.1,
            requests: None,
        }
    }

    #[test]
    fn an_unseen_combination_is_the_product_of_its_effects() {
        let scenarios = [
            scenario(1, "rede1", 32),
            scenario(2, "rede1", 64),
            scenario(3, "rede2", 32),
            scenario(4, "rede2", 64),
        ];
        let mut known =
            BTreeMap::from([(1, forecast(2.0)), (2, forecast(6.0)), (3, forecast(3.0))]);
        fill_unknown(&mut known, &scenarios);
        let filled = known[&4].seconds();
        assert!((filled.value - 9.0).abs() < 1e-6, "{filled:?}");
        assert!(filled.low < 9.0 * 0.9 && filled.high > 9.0 * 1.1);
    }

    #[test]
    fn of_a_level_that_nobody_saw_nothing_is_said() {
        let scenarios = [scenario(1, "rede1", 32), scenario(2, "rede2", 32)];
        let mut known = BTreeMap::from([(1, forecast(2.0))]);
        fill_unknown(&mut known, &scenarios);
        assert_eq!(known.keys().copied().collect::<Vec<u32>>(), [1]);
    }

    #[test]
    fn one_value_says_nothing_of_its_spread() {
        assert_eq!(relative_half_width(&[3.0]), 0.2);
        assert_eq!(relative_half_width(&[]), 0.2);
        assert_eq!(relative_half_width(&[3.0, 3.0, 3.0]), 0.0);
        assert!(relative_half_width(&[1.0, 9.0]) <= 1.0);
    }
}
