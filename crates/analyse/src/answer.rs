//! The answer of a study: for each task what to choose, how sure that is, and what it saves against
//! the usual choice and the worst one. Everything is taken from the rankings, so nothing is
//! recommended, and nothing saved, that they do not support.

use messages::word;
use model::{Money, Role};
use rust_decimal::Decimal;
use serde::Serialize;

use crate::analysis::{Analysis, LevelFacts, ScenarioResult, WarningGroup};
use crate::decides::Verdict;
use crate::ranking::{Behind, Ranking, TaskBest};
use crate::table::Table;
use crate::words::{answer as words, ranking};
use crate::{facts, inputs, predicted, prices};

#[derive(Debug, Clone, Default, Serialize)]
pub struct Answer {
    /// In the order of `best.tasks`.
    pub tasks: Vec<TaskAnswer>,
    /// The same by what is recommended: tasks with the same answer together.
    pub recommendations: Vec<Recommendation>,
    /// Why nothing can be recommended; empty where something is, or candidates are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<String>,
    /// What may change the decision: each is among the notes, warnings or findings, too.
    pub cautions: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct TaskAnswer {
    pub task: Vec<LevelFacts>,
    /// The first level of everything one may choose, as the study lists them; `None` if that was
    /// not measured, or had runs that failed.
    pub usual: Option<u32>,
    /// The cheapest, then the fastest; one of both where they are the same.
    pub picks: Vec<Pick>,
    /// Scenarios that were not ranked because runs of them failed, or there is only one.
    pub unranked: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    Cheapest,
    Fastest,
    CheapestAndFastest,
}

impl Goal {
    pub fn words(self) -> &'static str {
        match self {
            Goal::Cheapest => word!("goal-cheapest"),
            Goal::Fastest => word!("goal-fastest"),
            Goal::CheapestAndFastest => word!("goal-both"),
        }
    }
}

/// The best by one goal, or the candidates where that is not settled.
#[derive(Debug, Clone, Serialize)]
pub struct Pick {
    pub goal: Goal,
    /// The best as measured, then those that cannot be told from it.
    pub scenarios: Vec<u32>,
    /// The same, by the levels that one may choose: `gpu · pytorch`.
    pub choices: Vec<String>,
    /// Different: there is one best. Practically equal: any of them will do.
    pub verdict: Verdict,
    /// How often the best was best in resamplings of the means.
    pub chance: Option<f64>,
    /// Repetitions that would probably decide it.
    pub repetitions: Option<usize>,
    /// Of the best as measured, where that is significantly better.
    pub savings: Vec<Saving>,
    /// How sure it is, as a sentence without its point.
    pub how_sure: String,
    /// Whether scenarios of its task were left out of the ranking.
    #[serde(skip)]
    pub(crate) has_unranked: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    Usual,
    Worst,
}

/// What the best saves of what another scenario takes or costs, with its interval.
#[derive(Debug, Clone, Serialize)]
pub struct Saving {
    pub metric: String,
    pub against: Against,
    pub scenario: u32,
    /// 0.75 means a quarter of the other one's time or cost.
    pub part: f64,
    pub low: f64,
    pub high: f64,
    /// Of a run, or of a million responses where the metric is the cost of one.
    pub money: Option<Money>,
    pub seconds: Option<f64>,
}

/// The same answer to one task or several.
#[derive(Debug, Clone, Serialize)]
pub struct Recommendation {
    pub goal: Goal,
    pub choices: Vec<String>,
    pub verdict: Verdict,
    /// Places in `tasks`.
    pub tasks: Vec<usize>,
    /// `cheapest and fastest for all 8 tasks`.
    pub what: String,
    /// `settled: best in 97 % or more of resamplings`.
    pub how_sure: String,
    /// Sentences of what it saves; empty where nothing is shown to be saved.
    pub saves: Vec<String>,
}

pub(crate) fn answer(table: &Table, analysis: &Analysis) -> Answer {
    let best = &analysis.best;
    let tasks: Vec<TaskAnswer> = best.tasks.iter().map(|t| of_task(analysis, t)).collect();
    let within = table.study.equal_within() / 100.0;
    let mut answer = Answer {
        recommendations: recommendations(analysis, &tasks, within),
        nothing: words::nothing(analysis, &tasks),
        cautions: cautions(table, analysis),
        tasks,
    };
    for pick in answer.tasks.iter_mut().flat_map(|task| &mut task.picks) {
        pick.how_sure = words::how_sure(&[pick], within);
    }
    answer
}

fn of_task(analysis: &Analysis, task: &TaskBest) -> TaskAnswer {
    let usual = usual(analysis, task);
    let maker = Maker {
        analysis,
        task,
        usual,
    };
    TaskAnswer {
        task: task.task.clone(),
        usual,
        picks: maker.picks(),
        unranked: task.unranked.len(),
    }
}

/// What a study lists first is what others are compared with everywhere.
fn usual(analysis: &Analysis, task: &TaskBest) -> Option<u32> {
    let choices = analysis.study.factors.iter();
    let choices = choices.filter(|factor| factor.role == Role::Choice);
    let is_first = |scenario: &ScenarioResult| {
        choices.clone().all(|factor| {
            let level = scenario.level(&factor.name).map(|level| &level.level);
            level == factor.levels.first()
        })
    };
    let ranked = task.ranked.iter();
    ranked
        .copied()
        .find(|number| analysis.choice(*number).is_some_and(is_first))
}

struct Maker<'a> {
    analysis: &'a Analysis,
    task: &'a TaskBest,
    usual: Option<u32>,
}

impl Maker<'_> {
    fn picks(&self) -> Vec<Pick> {
        match (&self.task.cost, &self.task.time) {
            (Some(cost), Some(time)) if is_same(cost, time) => {
                vec![self.pick(Goal::CheapestAndFastest, &[cost, time])]
            }
            (cost, time) => {
                let cheapest = cost.iter().map(|r| self.pick(Goal::Cheapest, &[r]));
                let fastest = time.iter().map(|r| self.pick(Goal::Fastest, &[r]));
                cheapest.chain(fastest).collect()
            }
        }
    }

    fn pick(&self, goal: Goal, rankings: &[&Ranking]) -> Pick {
        let (scenarios, verdict) = match rankings.first() {
            Some(first) => (first.first.clone(), first.verdict),
            None => (Vec::new(), Verdict::NotEstimable),
        };
        let lowest = |a: f64, b: f64| a.min(b);
        Pick {
            goal,
            choices: scenarios
                .iter()
                .map(|number| self.choice(*number))
                .collect(),
            scenarios,
            verdict,
            chance: rankings.iter().filter_map(|r| r.stability).reduce(lowest),
            repetitions: rankings.iter().filter_map(|r| r.repetitions).max(),
            savings: rankings.iter().flat_map(|r| self.savings(r)).collect(),
            how_sure: String::new(),
            has_unranked: !self.task.unranked.is_empty(),
        }
    }

    /// Levels that the task does not say and that the study varies.
    fn choice(&self, number: u32) -> String {
        let Some(scenario) = self.analysis.choice(number) else {
            return String::new();
        };
        let is_varied = |level: &&LevelFacts| {
            let mut factors = self.analysis.study.factors.iter();
            let own = factors.find(|factor| factor.name == level.factor);
            own.is_some_and(|own| own.role != Role::Task && own.levels.len() > 1)
        };
        match LevelFacts::phrase_of(scenario.levels.iter().filter(is_varied)).as_str() {
            "" => scenario.label.clone(),
            phrase => phrase.to_owned(),
        }
    }

    fn savings(&self, ranking: &Ranking) -> Vec<Saving> {
        let Some(best) = ranking.first.first() else {
            return Vec::new();
        };
        let usual = ranking.behind.iter();
        let usual = usual.filter(|behind| Some(behind.scenario) == self.usual);
        let usual = usual.map(|behind| (Against::Usual, behind));
        let worst = ranking.behind.last().map(|behind| (Against::Worst, behind));
        // A best that is not shown to be better than the worst saves nothing for certain.
        let shown = usual.chain(worst).filter(|(_, behind)| behind.low > 0.0);
        shown
            .map(|(against, behind)| self.saving(&ranking.metric, *best, against, behind))
            .collect()
    }

    fn saving(&self, metric: &str, best: u32, against: Against, behind: &Behind) -> Saving {
        // So much more of the best one's value is so much less of the other one's.
        let part = |more: f64| more / (1.0 + more);
        let difference = |of: &dyn Fn(&ScenarioResult) -> Option<Decimal>| {
            let value = |number: u32| of(self.analysis.choice(number)?);
            value(behind.scenario)?.checked_sub(value(best)?)
        };
        let mean = |scenario: &ScenarioResult| scenario.mean(metric).map(|mean| mean.value);
        let money = match metric {
            model::run::metric::COST => difference(&|s| Some(s.cost.as_ref()?.mean.amount)),
            model::run::metric::COST_PER_INFERENCE => {
                difference(&|s| Decimal::from_f64_retain(mean(s)? * 1e6))
            }
            _ => None,
        };
        let currency = self.analysis.study.currency.parse().ok();
        let values = self.analysis.choice(behind.scenario).and_then(mean);
        let values = values.zip(self.analysis.choice(best).and_then(mean));
        Saving {
            metric: metric.to_owned(),
            against,
            scenario: behind.scenario,
            part: part(behind.by),
            low: part(behind.low),
            high: part(behind.high),
            money: money.zip(currency).map(|(m, c)| Money::new(m, c)),
            seconds: values
                .filter(|_| self.analysis.is_time(metric))
                .map(|(other, best)| other - best),
        }
    }
}

/// Whether one sentence serves both.
fn is_same(cost: &Ranking, time: &Ranking) -> bool {
    let sorted = |ranking: &Ranking| {
        let mut first = ranking.first.clone();
        first.sort_unstable();
        first
    };
    cost.verdict == time.verdict && sorted(cost) == sorted(time)
}

fn recommendations(analysis: &Analysis, tasks: &[TaskAnswer], within: f64) -> Vec<Recommendation> {
    let mut groups: Vec<(Vec<String>, Vec<usize>, Vec<&Pick>)> = Vec::new();
    for (place, task) in tasks.iter().enumerate() {
        let estimable = |pick: &&Pick| pick.verdict != Verdict::NotEstimable;
        for pick in task.picks.iter().filter(estimable) {
            let mut names = pick.choices.clone();
            names.sort();
            let known = groups.iter_mut().find(|(known, _, picks)| {
                let is_alike = |own: &&Pick| own.goal == pick.goal && own.verdict == pick.verdict;
                *known == names && picks.first().is_some_and(is_alike)
            });
            match known {
                Some((_, places, picks)) => {
                    places.push(place);
                    picks.push(pick);
                }
                None => groups.push((names, vec![place], vec![pick])),
            }
        }
    }
    // What holds for most tasks first.
    groups.sort_by_key(|(_, places, _)| std::cmp::Reverse(places.len()));
    let made = groups.into_iter().filter_map(|(_, places, picks)| {
        let first = picks.first()?;
        let usual = |place: usize| tasks.get(place).and_then(|task| task.usual);
        let usuals: Vec<Option<u32>> = places.iter().map(|place| usual(*place)).collect();
        Some(Recommendation {
            goal: first.goal,
            choices: first.choices.clone(),
            verdict: first.verdict,
            what: words::what(first, &places, tasks, analysis.best.measured_tasks),
            how_sure: words::how_sure(&picks, within),
            saves: words::saves(analysis, &picks, &usuals),
            tasks: places,
        })
    });
    made.collect()
}

/// Kinds of warnings after which a measured time is not what the scenario usually takes.
const DECISIVE: [&str; 7] = [
    "machine-busy",
    "fewer-cores",
    "stolen",
    "throttled",
    "swapped",
    "limit-unmet",
    "computes-otherwise",
];

fn cautions(table: &Table, analysis: &Analysis) -> Vec<String> {
    let mut said = prices::other_machines(table);
    said.extend(ranking::unranked(&analysis.best.tasks));
    said.extend(predicted::notes(table));
    said.extend(facts::several_runtimes(table));
    said.extend(inputs::notes(table));
    let drift = analysis.drift.as_ref().filter(|drift| drift.seen);
    said.extend(drift.map(|drift| drift.sentence.clone()));
    let is_decisive = |group: &&WarningGroup| DECISIVE.contains(&group.kind.as_str());
    let decisive = analysis.warnings.iter().filter(is_decisive);
    said.extend(decisive.map(|group| group.text.clone()));
    said
}
