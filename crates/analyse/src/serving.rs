//! What answers cost: by memory and machine, cold against warm, on demand against always on (study B
//! of docs/studies.md).

use model::run::metric;
use model::{Environment, LoadShape, Service, ServingRecord, Study, Workload};
use serde::Serialize;
use stats::{Comparison, Estimate, Interval, StatsError};

use crate::analysis::{LevelFacts, ScenarioResult};
use crate::levels::Levels;
use crate::scenarios::ok_rows;
use crate::table::{Row, Table};
use crate::words;

/// Of a study that serves.
#[derive(Debug, Clone, Serialize)]
pub struct Serving {
    /// One a scenario with answers, in the order of the scenarios.
    pub scenarios: Vec<ServedScenario>,
    pub cold_starts: Vec<ColdStart>,
    pub break_evens: Vec<BreakEven>,
    pub sentences: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct ServedScenario {
    pub scenario: u32,
    pub label: String,
    pub phrase: String,
    pub place: ServedBy,
    /// What tells it from others alike but for the environment.
    #[serde(skip)]
    pub beside_environment: String,
    /// The word of the load.
    pub load: &'static str,
    /// Of all runs together, that count.
    pub requests: u64,
    pub failed: u64,
    /// That waited for a worker to be started.
    pub cold: u64,
    pub latency_seconds: Option<Estimate>,
    pub p99_seconds: Option<Estimate>,
    pub prediction_seconds: Option<Estimate>,
    pub prediction_percent: Option<Estimate>,
    pub setup_seconds: Option<Estimate>,
    /// In the study's currency.
    pub cost_per_inference: Option<Estimate>,
    /// What stood between client and stack, in words.
    pub service: Option<String>,
}

impl ServedScenario {
    /// Who answers only some requests is fast and cheap for a bad reason.
    pub fn is_reliable(&self) -> bool {
        self.failed as f64 <= MOST_FAILED * self.requests as f64
    }
}

/// Of all requests: a service that promises less would promise little.
const MOST_FAILED: f64 = 0.01;

/// Where a scenario's answers come from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ServedBy {
    /// Workers started on demand, of that much memory.
    OnDemand {
        memory_mb: u32,
    },
    AlwaysOn,
}

/// The same answers from workers that had to be started, and from those that had not.
#[derive(Debug, Clone, Serialize)]
pub struct ColdStart {
    pub levels: Vec<LevelFacts>,
    pub phrase: String,
    pub cold: u32,
    pub warm: u32,
    pub cold_requests: u64,
    pub warm_requests: u64,
    /// Mean cold latency over mean warm latency, at a confidence that holds for all of them together with the other
    /// statements of the study.
    pub ratio: Estimate,
    /// Seconds.
    pub difference: Estimate,
}

/// From which rate on a machine that is always on is cheaper than workers on demand.
#[derive(Debug, Clone, Serialize)]
pub struct BreakEven {
    pub phrase: String,
    pub on_demand: u32,
    pub on_demand_environment: String,
    pub always_on: u32,
    pub always_on_environment: String,
    pub requests_per_day: Estimate,
    /// What the machine can answer in a day, as far as it was asked.
    pub capacity_per_day: f64,
    /// Whether it was only asked one request after the other.
    pub one_by_one: bool,
    pub within_capacity: bool,
}

const SECONDS_PER_DAY: f64 = 86_400.0;

pub(crate) fn serving(
    table: &Table,
    scenarios: &[ScenarioResult],
    levels: &Levels,
) -> Option<Serving> {
    let Workload::Serve(_) = &table.study.workload else {
        return None;
    };
    let maker = Maker { table };
    let served: Vec<ServedScenario> = scenarios.iter().filter_map(|s| maker.served(s)).collect();
    let cold_starts = maker.cold_starts(scenarios, levels.pairs);
    let break_evens = maker.break_evens(scenarios, &served);
    let mut serving = Serving {
        scenarios: served,
        cold_starts,
        break_evens,
        sentences: Vec::new(),
    };
    serving.sentences = words::serving::sentences(&serving, table.currency);
    (!serving.scenarios.is_empty()).then_some(serving)
}

struct Maker<'t, 'a> {
    table: &'t Table<'a>,
}

impl Maker<'_, '_> {
    fn served(&self, scenario: &ScenarioResult) -> Option<ServedScenario> {
        let rows = self.ok(scenario.number);
        let records: Vec<&ServingRecord> = rows
            .iter()
            .filter_map(|row| row.record.serving.as_deref())
            .collect();
        if records.is_empty() {
            return None;
        }
        let mean = |name: &str| scenario.mean(name).cloned();
        let cold: f64 = self.values(&rows, metric::COLD_REQUESTS).iter().sum();
        Some(ServedScenario {
            scenario: scenario.number,
            label: scenario.label.clone(),
            phrase: scenario.phrase(),
            place: place(self.environment(scenario)),
            beside_environment: LevelFacts::phrase_of(&self.varied(scenario, &["environment"])),
            load: self.load(scenario).word(),
            requests: records.iter().map(|r| r.requests()).sum(),
            failed: records.iter().map(|r| r.failed()).sum(),
            cold: cold as u64,
            latency_seconds: mean(metric::LATENCY_SECONDS),
            p99_seconds: mean(metric::LATENCY_P99_SECONDS),
            prediction_seconds: mean(metric::PREDICTION_SECONDS),
            prediction_percent: mean(metric::PREDICTION_PERCENT),
            setup_seconds: mean(metric::SETUP_SECONDS),
            cost_per_inference: mean(metric::COST_PER_INFERENCE),
            service: records.iter().find_map(|r| r.service.clone()),
        })
    }

    fn ok(&self, scenario: u32) -> Vec<&Row<'_>> {
        ok_rows(self.table, scenario)
    }

    fn values(&self, rows: &[&Row], name: &str) -> Vec<f64> {
        let column = self.table.column(name);
        let values = column.map(|place| rows.iter().filter_map(move |row| row.values[place]));
        values.into_iter().flatten().collect()
    }

    fn environment(&self, scenario: &ScenarioResult) -> Option<&Environment> {
        self.table.study.environment(&scenario.environment)
    }

    fn load(&self, scenario: &ScenarioResult) -> LoadShape {
        load_of(self.table.study, scenario)
    }

    /// The levels that tell a scenario from others alike but for these factors.
    fn varied(&self, scenario: &ScenarioResult, but: &[&str]) -> Vec<LevelFacts> {
        let is_varied = |level: &&LevelFacts| {
            let factor = self.table.study.factor(&level.factor);
            factor.is_none_or(|factor| factor.levels.len() > 1)
        };
        others(scenario, but).filter(is_varied).cloned().collect()
    }

    /// Scenarios alike but for the load.
    fn cold_starts(&self, scenarios: &[ScenarioResult], level: f64) -> Vec<ColdStart> {
        let of = |wanted: LoadShape| {
            let is_wanted = move |s: &&ScenarioResult| self.load(s) == wanted;
            scenarios.iter().filter(is_wanted)
        };
        // Of a machine that is always on, no answer is cold, whatever the load is called.
        let has_cold = |s: &&ScenarioResult| {
            let cold = self.values(&self.ok(s.number), metric::COLD_REQUESTS);
            match cold.is_empty() {
                // Measured elsewhere: what the file calls cold is, where workers are started on demand.
                true => self.is_on_demand(s),
                false => cold.iter().sum::<f64>() > 0.0,
            }
        };
        let with_warm = of(LoadShape::Cold).filter(has_cold).filter_map(|cold| {
            let warm = of(LoadShape::Warm).find(|warm| alike(cold, warm, &["load"]))?;
            Some((cold, warm))
        });
        let pairs: Vec<_> = with_warm.collect();
        let confidence = 1.0 - level / pairs.len().max(1) as f64;
        let found = pairs.iter();
        found
            .filter_map(|(cold, warm)| self.cold_start(cold, warm, confidence))
            .collect()
    }

    fn cold_start(
        &self,
        cold: &ScenarioResult,
        warm: &ScenarioResult,
        confidence: f64,
    ) -> Option<ColdStart> {
        let (cold_rows, warm_rows) = (self.ok(cold.number), self.ok(warm.number));
        let latencies = |rows: &[&Row]| self.values(rows, metric::LATENCY_SECONDS);
        let (a, b) = (latencies(&cold_rows), latencies(&warm_rows));
        let counted = |rows: &[&Row]| -> u64 {
            let records = rows.iter().filter_map(|row| row.record.serving.as_ref());
            records.map(|r| r.requests() - r.failed()).sum()
        };
        let (mean_a, mean_b) = (stats::precise::mean(&a), stats::precise::mean(&b));
        let or_bare = |found: Result<Comparison, StatsError>, value: f64| {
            let method = "means of runs, too few for an interval";
            let bare = |_| Estimate::bare(value, confidence, a.len() + b.len(), method);
            found.map_or_else(bare, |comparison| comparison.estimate)
        };
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let levels = self.varied(cold, &["load"]);
        Some(ColdStart {
            phrase: LevelFacts::phrase_of(&levels),
            levels,
            cold: cold.number,
            warm: warm.number,
            cold_requests: counted(&cold_rows),
            warm_requests: counted(&warm_rows),
            ratio: or_bare(stats::welch_ratio(&a, &b, confidence), mean_a / mean_b),
            difference: or_bare(stats::welch_difference(&a, &b, confidence), mean_a - mean_b),
        })
    }

    /// One for each two environments and each combination of the other factors.
    fn break_evens(
        &self,
        scenarios: &[ScenarioResult],
        served: &[ServedScenario],
    ) -> Vec<BreakEven> {
        let mut found: Vec<BreakEven> = Vec::new();
        let is_reliable = |s: &&ScenarioResult| {
            let mut reliable = served.iter().filter(|one| one.is_reliable());
            reliable.any(|one| one.scenario == s.number)
        };
        let reliable: Vec<&ScenarioResult> = scenarios.iter().filter(is_reliable).collect();
        for on_demand in reliable.iter().filter(|s| self.is_on_demand(s)) {
            for always_on in reliable.iter().filter(|s| !self.is_on_demand(s)) {
                if !alike(on_demand, always_on, &["load", "environment"]) {
                    continue;
                }
                let is_same = |even: &BreakEven| {
                    even.on_demand_environment == on_demand.environment
                        && even.always_on_environment == always_on.environment
                        && even.phrase == self.phrase_beside(on_demand)
                };
                if !found.iter().any(is_same) {
                    found.extend(self.break_even(on_demand, always_on, &reliable));
                }
            }
        }
        found
    }

    fn phrase_beside(&self, scenario: &ScenarioResult) -> String {
        LevelFacts::phrase_of(&self.varied(scenario, &["load", "environment"]))
    }

    fn is_on_demand(&self, scenario: &ScenarioResult) -> bool {
        matches!(place(self.environment(scenario)), ServedBy::OnDemand { .. })
    }

    /// Where workers answer often enough to be worth a machine, they are warm; a search says what
    /// they bear, not what an answer costs.
    fn is_usual(&self, scenario: &ScenarioResult) -> bool {
        !matches!(self.load(scenario), LoadShape::Cold | LoadShape::Search)
    }

    fn break_even(
        &self,
        on_demand: &ScenarioResult,
        always_on: &ScenarioResult,
        all: &[&ScenarioResult],
    ) -> Option<BreakEven> {
        if !self.is_usual(on_demand) {
            return None;
        }
        let each = on_demand.mean(metric::COST_PER_INFERENCE)?;
        let busy = self.seconds_per_answer(always_on.number)?;
        let day = always_on.mean(metric::COST_PER_INFERENCE)?.value / busy * SECONDS_PER_DAY;
        // What it was measured to handle under the heaviest load; one by one where there was none.
        let rates = all
            .iter()
            .filter(|s| s.environment == always_on.environment)
            .filter(|s| alike(s, always_on, &["load"]))
            .flat_map(|s| [metric::REQUESTS_PER_SECOND, metric::HIGHEST_RATE].map(|m| s.mean(m)))
            .flatten()
            .map(|rate| rate.value);
        let at_once = rates.reduce(f64::max);
        let capacity_per_day = SECONDS_PER_DAY * at_once.unwrap_or(1.0 / busy);
        let requests = day / each.value;
        Some(BreakEven {
            phrase: self.phrase_beside(on_demand),
            on_demand: on_demand.number,
            on_demand_environment: on_demand.environment.clone(),
            always_on: always_on.number,
            always_on_environment: always_on.environment.clone(),
            requests_per_day: Estimate {
                value: requests,
                interval: each.interval.filter(|i| i.low > 0.0).map(|i| Interval {
                    low: day / i.high,
                    high: day / i.low,
                }),
                method: "daily cost of the machine over the cost of a serverless response"
                    .to_owned(),
                ..each.clone()
            },
            capacity_per_day,
            one_by_one: at_once.is_none(),
            within_capacity: requests <= capacity_per_day,
        })
    }

    /// Of a machine that is busy answering.
    fn seconds_per_answer(&self, scenario: u32) -> Option<f64> {
        let rows = self.ok(scenario);
        let sum = |name: &str| self.values(&rows, name).iter().sum::<f64>();
        let answered = sum(metric::REQUESTS) - sum(metric::FAILED_REQUESTS);
        let busy = sum(metric::BUSY_SECONDS);
        (answered > 0.0 && busy > 0.0).then(|| busy / answered)
    }
}

pub(crate) fn load_of(study: &Study, scenario: &ScenarioResult) -> LoadShape {
    let varied = scenario.level("load");
    let varied = varied.and_then(|l| LoadShape::named(&l.level));
    let fixed = study.workload.as_serve().map(|serve| serve.load);
    varied.or(fixed).unwrap_or(LoadShape::Clients)
}

fn place(environment: Option<&Environment>) -> ServedBy {
    match environment.and_then(|e| e.service.as_ref()) {
        Some(Service::Serverless(serverless)) => ServedBy::OnDemand {
            memory_mb: serverless.memory_mb,
        },
        _ => ServedBy::AlwaysOn,
    }
}

fn others<'s>(
    scenario: &'s ScenarioResult,
    but: &'s [&str],
) -> impl Iterator<Item = &'s LevelFacts> {
    let is_other = |level: &&LevelFacts| !but.contains(&level.factor.as_str());
    scenario.levels.iter().filter(is_other)
}

/// Whether two scenarios differ in these factors at most.
fn alike(one: &ScenarioResult, other: &ScenarioResult, but: &[&str]) -> bool {
    others(one, but).eq(others(other, but))
}
