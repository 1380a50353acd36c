//! Which scenario to choose, per task: the fastest, the cheapest, what lies between, and how sure that is.

use std::collections::BTreeMap;

use messages::{message, word};
use model::run::metric::{self, Better};
use model::{Role, Status};
use serde::Serialize;

use crate::analysis::{LevelFacts, ScenarioResult, StatusCounts};
use crate::decides::Verdict;
use crate::levels::Levels;
use crate::pareto::{self, Candidate, Criteria, Dominated, Reason};
use crate::rounded;
use crate::scenarios::ok_rows;
use crate::serving::Serving;
use crate::table::{Row, Table};
use crate::words::names::MetricInfo;
use crate::words::{pareto as pareto_words, ranking as words};

/// What to choose, for every task of the study.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Best {
    /// In the order of the scenarios; one without levels where the study has one task.
    pub tasks: Vec<TaskBest>,
    /// What holds for all tasks, then each.
    pub sentences: Vec<String>,
    /// Metrics that the Pareto set is over; empty without one.
    pub criteria: Vec<String>,
    /// Why metrics that the study asks for are not among them.
    pub left_out: Vec<String>,
}

impl Best {
    /// Whether it is the fastest of its task, or cannot be told from the fastest.
    pub fn is_among_fastest(&self, scenario: u32) -> bool {
        let mut rankings = self.tasks.iter().filter_map(|task| task.time.as_ref());
        rankings.any(|ranking| ranking.is_first(scenario))
    }

    pub fn is_among_cheapest(&self, scenario: u32) -> bool {
        let mut rankings = self.tasks.iter().filter_map(|task| task.cost.as_ref());
        rankings.any(|ranking| ranking.is_first(scenario))
    }

    /// Of all tasks: which scenarios no other of their task beats in all criteria, as measured.
    pub fn pareto(&self) -> impl Iterator<Item = u32> {
        self.tasks
            .iter()
            .flat_map(|task| task.pareto.iter().copied())
    }
}

/// Scenarios that do the same, by what one may choose.
#[derive(Debug, Clone, Serialize)]
pub struct TaskBest {
    /// Levels of the factors that say what is to be done.
    pub task: Vec<LevelFacts>,
    pub time: Option<Ranking>,
    pub cost: Option<Ranking>,
    /// Not beaten in all criteria as measured, from the best by the first (the fastest) to the worst (the cheapest).
    pub pareto: Vec<u32>,
    /// Beaten in all criteria, with evidence.
    pub dominated: Vec<Dominated>,
    /// Scenarios whose runs all succeeded.
    pub ranked: Vec<u32>,
    /// Never ranked by what survived.
    pub unranked: Vec<Unranked>,
    pub sentences: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Ranking {
    pub metric: String,
    /// The best as measured, then those that cannot be told from it.
    pub first: Vec<u32>,
    /// Worse ones, the nearest first.
    pub behind: Vec<Behind>,
    /// Different: there is one best. Practically equal: all in `first` are.
    pub verdict: Verdict,
    /// How often the best was best in resamplings of the means.
    pub stability: Option<f64>,
    /// Repetitions that would probably decide it.
    pub repetitions: Option<usize>,
}

impl Ranking {
    pub fn is_first(&self, scenario: u32) -> bool {
        self.verdict != Verdict::NotEstimable && self.first.contains(&scenario)
    }
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Behind {
    pub scenario: u32,
    /// By how much of the best one's value, with its interval.
    pub by: f64,
    pub low: f64,
    pub high: f64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Unranked {
    pub scenario: u32,
    pub why: String,
}

/// A run that ended badly by itself is an outcome of its scenario; one that was interrupted is not.
pub(crate) fn has_failed(row: &Row) -> bool {
    let bad = [Status::Failed, Status::OutOfMemory, Status::TimedOut];
    row.status().is_some_and(|status| bad.contains(&status))
}

pub(crate) fn best(
    table: &Table,
    scenarios: &[ScenarioResult],
    serving: Option<&Serving>,
    levels: &Levels,
) -> Best {
    let Some(time) = table.time_column() else {
        return Best::default();
    };
    let cost = table.column(metric::COST_PER_INFERENCE);
    let cost = cost.or_else(|| table.column(metric::COST));
    let mut tasks: BTreeMap<Vec<&str>, Vec<&ScenarioResult>> = BTreeMap::new();
    let is_task = |level: &&LevelFacts| table.study.role(&level.factor) == Role::Task;
    let mut order = Vec::new();
    for scenario in scenarios {
        let levels = scenario.levels.iter().filter(is_task);
        let key: Vec<&str> = levels.map(|level| level.level.as_str()).collect();
        if !tasks.contains_key(&key) {
            order.push(key.clone());
        }
        tasks.entry(key).or_default().push(scenario);
    }
    let maker = Maker {
        table,
        serving,
        time,
        cost,
        criteria: Criteria::of(table, time, cost),
        level: levels.ranking / tasks.len().max(1) as f64,
        dominance_level: levels.dominance / tasks.len().max(1) as f64,
    };
    let made = order.iter().filter_map(|key| maker.task(&tasks[key]));
    let tasks: Vec<TaskBest> = made.collect();
    let criteria = maker.criteria_infos();
    Best {
        sentences: words::sentences(&tasks, scenarios, table),
        tasks,
        criteria: criteria.map(|info| info.name.clone()).collect(),
        left_out: maker.criteria.left_out,
    }
}

struct Maker<'t, 'a> {
    table: &'t Table<'a>,
    serving: Option<&'t Serving>,
    time: usize,
    cost: Option<usize>,
    criteria: Criteria,
    /// Error rate of one ranking.
    level: f64,
    /// Of all that is said of dominated scenarios of one task.
    dominance_level: f64,
}

/// A scenario and its values of one metric.
struct Measured {
    scenario: u32,
    values: Vec<f64>,
    mean: f64,
    /// What its values were rounded to.
    step: f64,
}

impl Measured {
    fn sample(&self) -> stats::Sample<'_> {
        rounded::sample(&self.values, self.step)
    }
}

impl Maker<'_, '_> {
    fn task(&self, scenarios: &[&ScenarioResult]) -> Option<TaskBest> {
        let mut unranked = Vec::new();
        let mut ranked = Vec::new();
        for scenario in scenarios.iter().filter(|s| s.runs.total() > 0) {
            match self.why_not(scenario) {
                Some(why) => unranked.push(Unranked {
                    scenario: scenario.number,
                    why,
                }),
                None => ranked.push(*scenario),
            }
        }
        if ranked.len() + unranked.len() < 2 {
            return None;
        }
        let time = self.ranking(&ranked, self.time);
        let cost = self.cost.and_then(|column| self.ranking(&ranked, column));
        let is_task = |level: &&LevelFacts| self.table.study.role(&level.factor) == Role::Task;
        let levels = scenarios.first()?.levels.iter().filter(is_task);
        let mut best = TaskBest {
            task: levels.cloned().collect(),
            time,
            cost,
            pareto: Vec::new(),
            dominated: Vec::new(),
            ranked: ranked.iter().map(|scenario| scenario.number).collect(),
            unranked,
            sentences: Vec::new(),
        };
        self.add_pareto(&mut best, &ranked);
        let is_asked = !self.table.study.pareto.is_empty();
        best.sentences = words::of_task(&best, scenarios, self.infos(), !is_asked);
        if is_asked && !self.criteria.columns.is_empty() {
            let infos: Vec<&MetricInfo> = self.criteria_infos().collect();
            best.sentences.extend(pareto_words::set(&best, &infos));
        }
        Some(best)
    }

    fn criteria_infos(&self) -> impl Iterator<Item = &MetricInfo> {
        let columns = self.criteria.columns.iter();
        columns.map(|column| &self.table.columns[*column])
    }

    fn infos(&self) -> (&MetricInfo, Option<&MetricInfo>) {
        let info = |column: usize| &self.table.columns[column];
        (info(self.time), self.cost.map(info))
    }

    /// Why a scenario is not ranked by the runs that succeeded.
    fn why_not(&self, scenario: &ScenarioResult) -> Option<String> {
        let runs = &scenario.runs;
        let failed = StatusCounts {
            failed: runs.failed,
            out_of_memory: runs.out_of_memory,
            timed_out: runs.timed_out,
            ..StatusCounts::default()
        };
        if failed.total() > 0 {
            let failed = failed.text();
            return Some(message!("unranked-runs", failed, runs = runs.total()));
        }
        let served = self.serving.iter().flat_map(|serving| &serving.scenarios);
        let mut own = served.filter(|one| one.scenario == scenario.number);
        own.any(|one| !one.is_reliable())
            .then(|| word!("unranked-requests").to_owned())
    }

    fn measured(&self, scenario: &ScenarioResult, column: usize) -> Option<Measured> {
        let rows = ok_rows(self.table, scenario.number);
        let values: Vec<f64> = rows.iter().filter_map(|row| row.values[column]).collect();
        let mean = stats::summary(&values, crate::CONFIDENCE)?.mean.value;
        Some(Measured {
            scenario: scenario.number,
            values,
            mean,
            step: rounded::step(&rows, column),
        })
    }

    fn ranking(&self, scenarios: &[&ScenarioResult], column: usize) -> Option<Ranking> {
        let measured = scenarios.iter().filter_map(|s| self.measured(s, column));
        let mut measured: Vec<Measured> = measured.collect();
        measured.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        let (best, others) = measured.split_first()?;
        if others.is_empty() {
            return None;
        }
        let mut ranking = Ranking {
            metric: self.table.columns[column].name.clone(),
            first: vec![best.scenario],
            behind: Vec::new(),
            verdict: Verdict::NotEstimable,
            stability: None,
            repetitions: None,
        };
        if measured.iter().any(|one| one.values.len() < 2) {
            return Some(ranking);
        }
        if others
            .iter()
            .any(|one| self.are_apart(column, [best.scenario, one.scenario]))
        {
            ranking.first = measured.iter().map(|one| one.scenario).collect();
            ranking.verdict = Verdict::Inconclusive;
            return Some(ranking);
        }
        let within = self.table.study.equal_within() / 100.0;
        let margin = within * best.mean.abs();
        let samples: Vec<stats::Sample> = measured.iter().map(Measured::sample).collect();
        let ranked = stats::rank_lowest_of(&samples, self.level, within)?;
        let scenario = |place: usize| measured[place].scenario;
        ranking.first = ranked.first.iter().map(|place| scenario(*place)).collect();
        let behind = ranked.behind.iter().map(|behind| Behind {
            scenario: scenario(behind.place),
            by: behind.by,
            low: behind.low,
            high: behind.high,
        });
        ranking.behind = behind.collect();
        let level = self.level / others.len() as f64;
        let open = ranked.open.iter();
        let needed = open.filter_map(|place| more(best, &measured[*place], margin, level));
        ranking.repetitions = needed.max();
        ranking.verdict = match (ranking.first.len(), ranked.is_settled()) {
            (1, _) => Verdict::Different,
            (_, true) => Verdict::PracticallyEqual,
            (_, false) => Verdict::Inconclusive,
        };
        ranking.stability = stats::chance_of_lowest_of(&samples, self.table.study.seed);
        Some(ranking)
    }

    /// Whether the machine may have changed between them.
    fn are_apart(&self, column: usize, pair: [u32; 2]) -> bool {
        self.table.dependences.are_apart(self.table, column, pair)
    }

    fn add_pareto(&self, best: &mut TaskBest, scenarios: &[&ScenarioResult]) {
        if self.criteria.columns.is_empty() {
            return;
        }
        let candidates = scenarios.iter().filter_map(|s| self.candidate(s));
        let candidates: Vec<Candidate> = candidates.collect();
        let limits = pareto::Limits {
            level: self.dominance_level,
            equal_within: self.table.study.equal_within() / 100.0,
        };
        let front = pareto::front(&candidates, limits);
        let infos: Vec<&MetricInfo> = self.criteria_infos().collect();
        best.pareto = front.measured;
        let in_time = |beaten: &&pareto::Beaten| {
            let mut columns = self.criteria.columns.iter();
            columns.any(|column| self.are_apart(*column, [beaten.scenario, beaten.by]))
        };
        let beaten = front.beaten.iter().filter(|one| !in_time(one));
        let beaten = beaten.map(|beaten| {
            let (scenario, by) = (beaten.scenario, beaten.by);
            let each = beaten.reasons.iter().zip(&infos);
            let reasons: Vec<Reason> = each.map(|(found, info)| found.reason(info)).collect();
            Dominated {
                sentence: pareto_words::dominated(scenario, by, &reasons, &infos),
                scenario,
                by,
                reasons,
            }
        });
        best.dominated = beaten.collect();
    }

    /// `None` unless it has all criteria.
    fn candidate(&self, scenario: &ScenarioResult) -> Option<Candidate> {
        let mut candidate = Candidate {
            scenario: scenario.number,
            values: Vec::new(),
            means: Vec::new(),
            steps: Vec::new(),
        };
        for column in &self.criteria.columns {
            let sign = match self.table.columns[*column].better {
                Better::Higher => -1.0,
                Better::Lower | Better::Neither => 1.0,
            };
            let measured = self.measured(scenario, *column)?;
            let values = measured.values.iter().map(|value| sign * value);
            candidate.values.push(values.collect());
            candidate.means.push(sign * measured.mean);
            candidate.steps.push(measured.step);
        }
        Some(candidate)
    }
}

/// Repetitions that would tell two scenarios apart, or show them to be equal.
fn more(best: &Measured, other: &Measured, margin: f64, level: f64) -> Option<usize> {
    let spread = |one: &Measured| stats::summary(&one.values, crate::CONFIDENCE);
    let (a, b) = (spread(best)?, spread(other)?);
    let part = |one: &stats::Summary| one.sd * one.sd / one.count as f64;
    let rounded = |one: &Measured, known: &stats::Summary| {
        part(known) + stats::rounding_variance(one.step, known.sd * known.sd)
    };
    let repetitions = best.values.len().min(other.values.len());
    let contrast = stats::Contrast {
        value: other.mean - best.mean,
        standard_error: (rounded(best, &a) + rounded(other, &b)).sqrt(),
        degrees_of_freedom: (a.count + b.count - 2) as f64,
        count: a.count + b.count,
    };
    let wanted = stats::Decision {
        margin,
        level,
        repetitions,
    };
    stats::repetitions_to_decide(&contrast, wanted)
}
