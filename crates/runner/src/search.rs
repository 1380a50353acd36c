//! Runs where they serve a goal: a search over the scenarios instead of all of them.

use std::collections::{BTreeMap, BTreeSet};

use model::goal::{Goal, Hopeless, Searched, SearchedTask, Tried};
use model::run::metric;
use model::{Environment, Level, Plan, RunId, RunRecord, Scenario, Status, Study};
use predict::search::{
    Constraint, FactorSpace, Fidelity, Observation, Point, Question, Reason, Search, Seen, Space,
    Step, WHOLE,
};
use rust_decimal::prelude::ToPrimitive;
use store::{Store, StoreError};

use crate::forecast::RunForecast;
use crate::schedule::{Known, Next, Schedule};
use crate::until::{is_ok, meant, tasks, time_metric, value};

/// In the folder of the results.
const SEARCH_FILE: &str = "search.json";

/// Everything is derived from the records: the same ones give the same next run.
pub struct SearchGoal<'a> {
    study: &'a Study,
    goal: &'a Goal,
    space: Space,
    /// Scenario numbers by point.
    scenarios: Vec<u32>,
    /// By task: the levels that say what is to be done.
    task_names: Vec<String>,
    /// Logarithms by point; empty where one is not known.
    prices: Vec<f64>,
    predicted_seconds: Vec<f64>,
    /// Not begun, in the order of the plan.
    due: Vec<RunId>,
    is_settled: bool,
    tried: Vec<Tried>,
    /// Of the machine time of a run; none where only whole runs are made.
    short_share: Option<f64>,
    /// Short runs that were begun, and whose whole runs were not.
    short: BTreeSet<RunId>,
}

/// Standard deviation of the logarithm of a time that is predicted from a beginning, beyond that of
/// whole runs.
const SHORT_NOISE: f64 = predict::whole_run::ASSUMED_SPREAD;

impl<'a> SearchGoal<'a> {
    /// `expected` are predictions by scenario, from pilots or earlier runs.
    pub fn new(
        study: &'a Study,
        plan: &Plan,
        goal: &'a Goal,
        due: Vec<RunId>,
        records: &[RunRecord],
        expected: &BTreeMap<u32, RunForecast>,
    ) -> Self {
        let numbers = due.iter().chain(records.iter().map(|record| &record.run));
        let taking_part: BTreeSet<u32> = numbers.map(|run| run.scenario).collect();
        let tasks = tasks(study, plan, &taking_part);
        let part = |scenario: &&Scenario| taking_part.contains(&scenario.number);
        let scenarios: Vec<&Scenario> = plan.scenarios.iter().filter(part).collect();
        let environments: Vec<Environment> = scenarios
            .iter()
            .map(|scenario| plan::resolve(study, scenario).environment)
            .collect();
        let all = |values: Vec<Option<f64>>| -> Vec<f64> {
            let values: Option<Vec<f64>> = values.into_iter().collect();
            values.unwrap_or_default()
        };
        let price = |environment: &Environment| {
            let price = environment.price.as_ref()?.per_hour.amount.to_f64()?;
            (price > 0.0).then(|| price.ln())
        };
        let seconds = |scenario: &&Scenario| {
            let seconds = expected.get(&scenario.number)?.seconds().value;
            (seconds > 0.0).then(|| seconds.ln())
        };
        let task_name = |task: &Vec<u32>| {
            let first = task.first().and_then(|number| plan.scenario(*number));
            let levels = first.iter().flat_map(|scenario| &scenario.levels);
            let levels = levels.filter(|l| study.role(&l.factor) == model::Role::Task);
            let words: Vec<String> = levels
                .map(|l| format!("{} {}", l.factor, l.level))
                .collect();
            words.join(", ")
        };
        SearchGoal {
            study,
            goal,
            space: space(study, &scenarios, &environments, &tasks),
            scenarios: scenarios.iter().map(|scenario| scenario.number).collect(),
            task_names: tasks.iter().map(task_name).collect(),
            prices: all(environments.iter().map(price).collect()),
            predicted_seconds: all(scenarios.iter().map(seconds).collect()),
            due,
            is_settled: false,
            tried: Vec::new(),
            short_share: None,
            short: BTreeSet::new(),
        }
    }

    /// Beginnings may be run before whole runs; they take this part of the machine time.
    pub fn with_short_runs(self, share: Option<f64>) -> Self {
        SearchGoal {
            short_share: share,
            ..self
        }
    }

    /// What was found, for the report: with what an earlier session tried.
    pub fn searched(
        &self,
        records: &[RunRecord],
        beginnings: &[RunRecord],
        earlier: Option<Searched>,
    ) -> Searched {
        let mut tried = earlier.map(|earlier| earlier.tried).unwrap_or_default();
        tried.extend(self.tried.iter().cloned());
        tried.retain(|one| {
            let kept = if one.is_short { beginnings } else { records };
            kept.iter().any(|record| record.run == one.run)
        });
        let question = self.question(records);
        let none = BTreeSet::new();
        let known = Known {
            records,
            beginnings,
            in_progress: &none,
            goes_on: false,
        };
        let observed = self.observations(known);
        let search = Search::new(&self.space, &question, &observed);
        let task = |standing: &predict::search::Standing| SearchedTask {
            task: self.task_names[standing.task].clone(),
            chosen: standing.chosen.map(|point| self.scenarios[point]),
            probability: standing.probability,
        };
        Searched {
            goal: self.goal.text.clone(),
            scenarios: self.scenarios.len(),
            tried,
            tasks: search.standings().iter().map(task).collect(),
            is_settled: self.is_settled || self.due.is_empty(),
            hopeless: self.hopeless(known),
        }
    }

    fn question(&self, records: &[RunRecord]) -> Question {
        let limits = self.goal.limits.iter().enumerate();
        let constraints = limits.map(|(place, limit)| Constraint {
            quantity: 2 + place,
            limit: limit.value.ln(),
            is_upper: limit.is_upper,
        });
        let own_time = self.offsets("time", records);
        let mut offsets = vec![own_time, self.offsets(&self.goal.metric, records)];
        let limits = self.goal.limits.iter();
        offsets.extend(limits.map(|limit| self.offsets(&limit.metric, records)));
        Question {
            quantities: 2 + self.goal.limits.len(),
            objective: 1,
            constraints: constraints.collect(),
            offsets,
            repetitions: self.study.repetitions as usize,
            seed: self.study.seed,
        }
    }

    /// What is known of a metric before anything ran.
    fn offsets(&self, name: &str, records: &[RunRecord]) -> Vec<f64> {
        let name = named(name, records);
        let is_time = [metric::TRAIN_SECONDS, metric::TOTAL_SECONDS].contains(&name.as_str());
        let is_cost = name == metric::COST;
        let times = || self.predicted_seconds.clone();
        match (is_time, is_cost, self.predicted_seconds.is_empty()) {
            (true, _, _) => times(),
            (_, true, true) => self.prices.clone(),
            (_, true, false) if !self.prices.is_empty() => times()
                .iter()
                .zip(&self.prices)
                .map(|(a, b)| a + b)
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Runs that are over, in the order in which they began.
    fn ended<'r>(&self, known: Known<'r>) -> Vec<Ended<'r>> {
        let in_progress = known.in_progress;
        let is_due: BTreeSet<RunId> = self.due.iter().chain(in_progress).copied().collect();
        let whole = known.records.iter().filter(|r| !is_due.contains(&r.run));
        let is_begun = |run: &RunId| in_progress.contains(run) && self.short.contains(run);
        let short = known.beginnings.iter().filter(|r| !is_begun(&r.run));
        let whole = whole.map(|record| (record, false));
        let all = whole.chain(short.map(|record| (record, true)));
        let all = all.filter(|(record, _)| record.outcome.status != Status::Interrupted);
        let point = |run: RunId| self.scenarios.binary_search(&run.scenario).ok();
        let mut ended: Vec<Ended> = all
            .filter_map(|(record, is_short)| {
                Some(Ended {
                    point: point(record.run)?,
                    record,
                    is_short,
                })
            })
            .collect();
        ended.sort_by_key(|one| (one.record.started, one.record.run));
        ended
    }

    /// The objective, then the limits.
    fn metrics(&self, ended: &[Ended<'_>]) -> Vec<String> {
        let records: Vec<RunRecord> = ended.iter().map(|one| one.record.clone()).collect();
        let limits = self.goal.limits.iter().map(|limit| &limit.metric);
        let all = std::iter::once(&self.goal.metric).chain(limits);
        all.map(|name| named(name, &records)).collect()
    }

    fn observations(&self, known: Known<'_>) -> Vec<Observation> {
        let ended = self.ended(known);
        let metrics = self.metrics(&ended);
        let sign = if self.goal.is_max { -1.0 } else { 1.0 };
        let logarithm = |value: f64| (value > 0.0).then(|| value.ln());
        let observation = |one: &Ended<'_>| {
            let mut values = vec![logarithm(one.record.seconds)];
            let measured = metrics.iter().map(|name| value(one.record, name));
            values.extend(measured.map(|value| value.and_then(logarithm)));
            values[1] = values[1].map(|value| sign * value);
            let ok = is_ok(one.record) && values[1].is_some();
            Observation {
                point: one.point,
                values: if ok { values } else { Vec::new() },
                outcome: if ok { Seen::Ok } else { Seen::Failed },
                fidelity: match one.is_short {
                    true => part(one.record),
                    false => WHOLE.share,
                },
                noise: if one.is_short {
                    SHORT_NOISE
                } else {
                    WHOLE.noise
                },
            }
        };
        let mut observed: Vec<Observation> = ended.iter().map(observation).collect();
        let point_of = |run: RunId| self.scenarios.binary_search(&run.scenario).ok();
        let running = known.in_progress.iter();
        let running = running.filter_map(|run| Some((point_of(*run)?, self.short.contains(run))));
        observed.extend(running.map(|(point, is_short)| Observation {
            point,
            values: Vec::new(),
            outcome: Seen::InProgress,
            fidelity: if is_short { 0.0 } else { WHOLE.share },
            noise: 0.0,
        }));
        observed
    }

    /// What more runs would not change, however many.
    fn hopeless(&self, known: Known<'_>) -> Option<Hopeless> {
        let ended = self.ended(known);
        let ok: Vec<&Ended> = ended.iter().filter(|one| is_ok(one.record)).collect();
        if ok.is_empty() {
            return (ended.len() >= self.space.fewest_runs()).then_some(Hopeless::AllFailed);
        }
        let has_seen_levels = ok.len() >= Search::first_runs(&self.space);
        self.metrics(&ended).into_iter().find_map(|metric| {
            let values = ok.iter().filter_map(|one| value(one.record, &metric));
            let values: Vec<f64> = values.collect();
            if values.iter().any(|value| *value <= 0.0) {
                return Some(Hopeless::NotPositive { metric });
            }
            (values.is_empty() && has_seen_levels).then_some(Hopeless::NoValue { metric })
        })
    }
}

struct Ended<'r> {
    point: usize,
    record: &'r RunRecord,
    /// Only its beginning was carried out.
    is_short: bool,
}

impl Schedule for SearchGoal<'_> {
    fn next(&mut self, known: Known<'_>, can_run: &dyn Fn(RunId) -> bool) -> Next {
        if self.hopeless(known).is_some() {
            if !known.in_progress.is_empty() {
                return Next::Wait;
            }
            self.due.clear();
            return Next::Done;
        }
        let question = self.question(known.records);
        let observed = self.observations(known);
        let search = Search::new(&self.space, &question, &observed);
        // The lowest repetition of each scenario that this place can run.
        let mut possible: BTreeMap<u32, RunId> = BTreeMap::new();
        let is_free = |run: &RunId| can_run(*run) && !known.in_progress.contains(run);
        for run in self.due.iter().copied().filter(is_free) {
            let kept = possible.entry(run.scenario).or_insert(run);
            *kept = (*kept).min(run);
        }
        let allowed = |point: usize| possible.contains_key(&self.scenarios[point]);
        let short = self.short_share.filter(|_| !known.goes_on);
        let short = short.map(|share| Fidelity {
            share,
            noise: SHORT_NOISE,
        });
        let fidelities: Vec<Fidelity> = short.into_iter().chain([WHOLE]).collect();
        let step = search.step(&fidelities, &allowed);
        let proposal = match step {
            Step::Observe(proposal) => proposal,
            Step::Settled | Step::Exhausted if !known.in_progress.is_empty() => return Next::Wait,
            Step::Settled => {
                self.is_settled = true;
                self.due.clear();
                return Next::Done;
            }
            Step::Exhausted => return Next::Done,
        };
        let Some(&run) = possible.get(&self.scenarios[proposal.point]) else {
            return Next::Done;
        };
        let why = match proposal.reason {
            Reason::Start => "to see every level early".to_owned(),
            Reason::LeastKnown => "to learn where least is known".to_owned(),
            Reason::Promising { chance } => {
                format!("best with a probability of {:.0} %", 100.0 * chance)
            }
        };
        let is_short = proposal.share < WHOLE.share;
        self.tried.push(Tried { run, why, is_short });
        if is_short {
            self.short.insert(run);
            return Next::Beginning(run);
        }
        self.short.remove(&run);
        self.due.retain(|other| *other != run);
        Next::Run(run)
    }

    fn again(&mut self, run: RunId) {
        let is_short = self.short.remove(&run);
        self.tried
            .retain(|one| one.run != run || one.is_short != is_short);
        if !is_short {
            self.due.insert(0, run);
        }
    }

    fn left(&self) -> &[RunId] {
        &self.due
    }
}

fn named(name: &str, records: &[RunRecord]) -> String {
    match name {
        "time" => time_metric(records).to_owned(),
        other => meant(other, records),
    }
}

fn space(
    study: &Study,
    scenarios: &[&Scenario],
    environments: &[Environment],
    tasks: &[Vec<u32>],
) -> Space {
    let mut factors = Vec::new();
    let mut points: Vec<Point> = scenarios
        .iter()
        .map(|scenario| Point {
            levels: Vec::new(),
            task: tasks
                .iter()
                .position(|task| task.contains(&scenario.number))
                .unwrap_or(0),
        })
        .collect();
    for factor in &study.factors {
        let mut levels: Vec<&Level> = Vec::new();
        let mut features: Vec<Vec<f64>> = Vec::new();
        for ((scenario, environment), point) in scenarios.iter().zip(environments).zip(&mut points)
        {
            let Some(level) = scenario.level(&factor.name) else {
                continue;
            };
            let place = levels.iter().position(|known| *known == level);
            point.levels.push(place.unwrap_or(levels.len()));
            if place.is_none() {
                levels.push(level);
                features.push(match factor.name.as_str() {
                    "environment" => machine_features(environment),
                    _ => level
                        .as_float()
                        .filter(|n| *n > 0.0)
                        .map(f64::ln)
                        .into_iter()
                        .collect(),
                });
            }
        }
        // Where a number is not known of all levels, they are names.
        let least = features.iter().map(Vec::len).min().unwrap_or(0);
        features
            .iter_mut()
            .for_each(|of_level| of_level.truncate(least));
        factors.push(FactorSpace { levels: features });
    }
    Space { factors, points }
}

/// Of the whole run, that a beginning carried out: less than all of it, however it ended.
fn part(beginning: &RunRecord) -> f64 {
    let made = beginning.prediction();
    let part = made.map_or(0.0, |made| made.seen_seconds / beginning.seconds);
    part.min(0.99)
}

/// Price, cores and memory, as far as they are known.
fn machine_features(environment: &Environment) -> Vec<f64> {
    let price = environment.price.as_ref();
    let shape = price.map(|price| &price.shape);
    let cores = environment.limits.cores;
    let cores = cores.or_else(|| shape?.vcpus?.to_f64());
    let per_hour = price.and_then(|price| price.per_hour.amount.to_f64());
    let memory = shape.and_then(|shape| shape.memory_gib?.to_f64());
    let known = [per_hour, cores, memory]
        .into_iter()
        .map_while(|value| value);
    known.map(|value| value.max(1e-9).ln()).collect()
}

/// What a search in this folder tried and found.
pub fn searched(store: &Store) -> Result<Option<Searched>, StoreError> {
    let bytes = store.read_file(SEARCH_FILE)?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

pub fn save_searched(store: &Store, found: &Searched) -> Result<(), StoreError> {
    let text = serde_json::to_string_pretty(found).unwrap_or_default();
    store.save_file(SEARCH_FILE, text.as_bytes())
}
