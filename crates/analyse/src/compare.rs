//! Two scenarios, two studies, or two versions of one: which is better, by how much, and how sure is that?

use std::collections::BTreeMap;

use messages::message;
use model::run::metric::Better;
use model::{EnergySource, Status};
use serde::Serialize;
use stats::{CellMeans, Contrast, Design, Estimate, LevelPair, Observation, Scale};

use crate::analysis::{Analysis, LevelFacts, RunRow, ScenarioResult};
use crate::decides::{Comparison, Verdict};
use crate::energy;
use crate::findings::MOST_REPETITIONS;
use crate::lists::unique;
use crate::words::comparison::Pair;
use crate::words::format;
use crate::words::names::MetricInfo;

/// One of the two.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// What sentences call it.
    pub name: &'a str,
    pub analysis: &'a Analysis,
    /// One scenario; else all that both have.
    pub scenario: Option<u32>,
}

pub struct CompareRequest<'a> {
    pub first: Side<'a>,
    pub second: Side<'a>,
    /// By its name or the shorter word; else the time.
    pub metric: Option<&'a str>,
    /// Differences within this percentage count as none.
    pub equal_within_percent: f64,
}

/// The second against the first.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    pub metric: String,
    pub first: String,
    pub second: String,
    pub verdict: Verdict,
    /// Whether the second is worse, where they are different and one direction is.
    pub is_worse: Option<bool>,
    pub comparison: Comparison,
    pub estimate: Option<Estimate>,
    /// Of every scenario, that would probably decide it.
    pub repetitions: Option<usize>,
    /// Each by itself, where several are compared.
    pub scenarios: Vec<ComparedScenario>,
    /// The answer, then what must be known with it.
    pub sentences: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct ComparedScenario {
    pub levels: Vec<LevelFacts>,
    pub verdict: Verdict,
    pub estimate: Estimate,
    pub sentence: String,
}

/// A scenario that both have.
struct Matched<'a> {
    first: &'a ScenarioResult,
    second: &'a ScenarioResult,
}

/// The whole answer has this error rate; scenarios share another.
const LEVEL: f64 = 0.05;

/// The error is a sentence.
pub fn compare(request: &CompareRequest) -> Result<Compared, String> {
    let comparer = Comparer::new(request)?;
    comparer.compared()
}

struct Comparer<'a> {
    request: &'a CompareRequest<'a>,
    info: &'a MetricInfo,
    matched: Vec<Matched<'a>>,
    scale: Scale,
    /// Of each matched scenario: the values of both.
    values: Vec<[Vec<f64>; 2]>,
    /// What they were rounded to, on average.
    steps: Vec<[f64; 2]>,
}

/// What was measured and what was modelled differ by the model, too.
fn same_source(request: &CompareRequest, matched: &[Matched]) -> Result<(), String> {
    let of = |side: &Side, number: u32| {
        let runs = side.analysis.runs.iter().filter(|r| r.scenario == number);
        let sources: Vec<EnergySource> = runs.filter_map(|run| run.energy_source).collect();
        sources
    };
    let mut found = Vec::new();
    for pair in matched {
        found.extend(of(&request.first, pair.first.number));
        found.extend(of(&request.second, pair.second.number));
    }
    let words: Vec<String> = unique(found).iter().map(|s| s.word().to_owned()).collect();
    match words.len() {
        0 | 1 => Ok(()),
        _ => Err(message!("compare-energy", sources = words.join(", "))),
    }
}

impl<'a> Comparer<'a> {
    fn new(request: &'a CompareRequest<'a>) -> Result<Self, String> {
        let CompareRequest { first, second, .. } = request;
        let name = match request.metric {
            Some(word) => metric_name(first.analysis, word)?,
            None => first
                .analysis
                .time_metric
                .clone()
                .ok_or_else(|| message!("compare-no-time", name = first.name))?,
        };
        let info = first.analysis.metric(&name);
        let none = || message!("compare-no-metric", name = first.name, metric = name);
        let info = info.ok_or_else(none)?;
        let matched = matched(first, second)?;
        if energy::is_energy(&name) {
            same_source(request, &matched)?;
        }
        let values: Vec<[Vec<f64>; 2]> = matched
            .iter()
            .map(|m| {
                [
                    values(first.analysis, m.first.number, &name),
                    values(second.analysis, m.second.number, &name),
                ]
            })
            .collect();
        let steps = matched.iter().map(|m| {
            let of = |side: &Side, scenario: &ScenarioResult| {
                step(side.analysis, scenario.number, &name)
            };
            [of(first, m.first), of(second, m.second)]
        });
        let steps = steps.collect();
        let has_both = |both: &[Vec<f64>; 2]| both.iter().all(|values| !values.is_empty());
        if !values.iter().any(has_both) {
            return Err(message!("compare-not-both", label = info.label));
        }
        let positive = values.iter().flatten().flatten().all(|value| *value > 0.0);
        let scale = match positive && info.unit != "%" {
            true => Scale::Logarithmic,
            false => Scale::Linear,
        };
        Ok(Comparer {
            request,
            info,
            matched,
            scale,
            values,
            steps,
        })
    }

    fn compared(&self) -> Result<Compared, String> {
        let mut scenarios = self.scenarios();
        let overall = self.overall();
        let (verdict, estimate, repetitions) = match &overall {
            Some(contrast) => {
                let verdict = self.verdict(contrast, LEVEL);
                let wanted = stats::Decision {
                    margin: self.margin(),
                    level: LEVEL,
                    repetitions: self.fewest(),
                };
                let open = verdict == Verdict::Inconclusive;
                let repetitions = open
                    .then(|| stats::repetitions_to_decide(contrast, wanted))
                    .flatten();
                (verdict, Some(self.estimate(contrast, LEVEL)), repetitions)
            }
            None => (Verdict::NotEstimable, None, None),
        };
        let mut sentences = vec![self.answer(verdict, estimate.as_ref(), repetitions)];
        sentences.extend(self.opposite(&scenarios));
        sentences.extend(self.unsuccessful());
        sentences.extend(self.unmatched());
        if self.matched.len() < 2 {
            scenarios.clear();
        }
        let grew = estimate.as_ref().map(|estimate| match self.comparison() {
            Comparison::Ratio => estimate.value > 1.0,
            Comparison::Difference => estimate.value > 0.0,
        });
        let is_worse = match (verdict, self.info.better) {
            (Verdict::Different, Better::Lower) => grew,
            (Verdict::Different, Better::Higher) => grew.map(|grew| !grew),
            _ => None,
        };
        Ok(Compared {
            metric: self.info.name.clone(),
            first: self.request.first.name.to_owned(),
            second: self.request.second.name.to_owned(),
            verdict,
            is_worse,
            comparison: self.comparison(),
            estimate,
            repetitions,
            scenarios,
            sentences,
        })
    }

    fn comparison(&self) -> Comparison {
        match self.scale {
            Scale::Linear => Comparison::Difference,
            Scale::Logarithmic => Comparison::Ratio,
        }
    }

    /// All scenarios that both have, each as much as another.
    fn overall(&self) -> Option<Contrast> {
        let both = self.values.iter().zip(&self.steps);
        self.contrast(both.filter(|([a, b], _)| !a.is_empty() && !b.is_empty()))
    }

    fn contrast<'v>(
        &self,
        pairs: impl Iterator<Item = (&'v [Vec<f64>; 2], &'v [f64; 2])>,
    ) -> Option<Contrast> {
        let scaled = |value: f64| match self.scale {
            Scale::Linear => value,
            Scale::Logarithmic => value.ln(),
        };
        let mut data = Vec::new();
        let mut rounded = Vec::new();
        let mut count = 0;
        for (scenario, (both, steps)) in pairs.enumerate() {
            count = scenario + 1;
            for (side, (values, step)) in both.iter().zip(steps).enumerate() {
                rounded.extend(values.iter().map(|value| match self.scale {
                    Scale::Linear => *step,
                    Scale::Logarithmic => step / value,
                }));
                data.extend(values.iter().map(|value| Observation {
                    levels: vec![scenario, side],
                    value: scaled(*value),
                }));
            }
        }
        let levels = vec![count, 2];
        let means = CellMeans::new(&Design { levels }, &data, None).ok()?;
        let means = means.rounded(&rounded);
        let pair = LevelPair {
            factor: 1,
            level: 1,
            base: 0,
        };
        means.difference(pair, &[])
    }

    fn margin(&self) -> f64 {
        let share = self.request.equal_within_percent / 100.0;
        let mean = || {
            let all: Vec<f64> = self
                .values
                .iter()
                .flat_map(|[first, _]| first)
                .copied()
                .collect();
            stats::summary(&all, crate::CONFIDENCE).map_or(0.0, |s| s.mean.value)
        };
        match self.scale {
            Scale::Logarithmic => share.ln_1p(),
            Scale::Linear => share * mean().abs(),
        }
    }

    fn verdict(&self, contrast: &Contrast, level: f64) -> Verdict {
        let interval = contrast.estimate(1.0 - level, "", |value| value).interval;
        let margin = self.margin();
        match interval {
            _ if contrast.p() <= level => Verdict::Different,
            Some(i) if i.low >= -margin && i.high <= margin => Verdict::PracticallyEqual,
            _ => Verdict::Inconclusive,
        }
    }

    fn estimate(&self, contrast: &Contrast, level: f64) -> Estimate {
        const METHOD: &str =
            "equally weighted scenarios, each with its own variance (Welch–Satterthwaite)";
        match self.scale {
            Scale::Linear => contrast.estimate(1.0 - level, METHOD, |value| value),
            Scale::Logarithmic => contrast.estimate(1.0 - level, METHOD, f64::exp),
        }
    }

    fn fewest(&self) -> usize {
        let counts = self.values.iter().flatten().map(Vec::len);
        counts.filter(|count| *count > 0).min().unwrap_or(0)
    }

    fn scenarios(&self) -> Vec<ComparedScenario> {
        let level = LEVEL / self.matched.len().max(1) as f64;
        let each = self.matched.iter().zip(&self.values).zip(&self.steps);
        each.filter_map(|((matched, values), steps)| {
            let contrast = self.contrast(std::iter::once((values, steps)))?;
            let verdict = self.verdict(&contrast, level);
            let estimate = self.estimate(&contrast, level);
            Some(ComparedScenario {
                levels: matched.second.levels.clone(),
                verdict,
                sentence: self.pair(verdict, &estimate),
                estimate,
            })
        })
        .collect()
    }

    fn pair(&self, verdict: Verdict, estimate: &Estimate) -> String {
        let pair = Pair {
            metric: self.info,
            level: self.request.second.name,
            baseline: self.request.first.name,
            comparison: self.comparison(),
            estimate,
            verdict,
        };
        pair.sentence()
    }

    fn answer(
        &self,
        verdict: Verdict,
        estimate: Option<&Estimate>,
        repetitions: Option<usize>,
    ) -> String {
        let CompareRequest { first, second, .. } = self.request;
        let runs = |side: usize| {
            self.values
                .iter()
                .map(|both| both[side].len())
                .sum::<usize>()
        };
        let over = match self.matched.len() {
            1 => String::new(),
            scenarios => message!("compare-over", scenarios),
        };
        let said = match estimate {
            Some(estimate) => self.pair(verdict, estimate),
            None => message!(
                "compare-unrepeated",
                second = second.name,
                first = first.name
            ),
        };
        let more = match repetitions.filter(|needed| *needed <= MOST_REPETITIONS) {
            Some(repetitions) => message!("repetitions-would-decide", repetitions),
            None => String::new(),
        };
        let margin = match verdict {
            Verdict::PracticallyEqual => {
                let percent = format::significant(self.request.equal_within_percent, 2);
                message!("compare-within", percent)
            }
            _ => String::new(),
        };
        message!(
            "compare-answer",
            said,
            margin,
            more,
            first = runs(0),
            second = runs(1),
            over
        )
    }

    /// Scenarios that went the other way than the whole.
    fn opposite(&self, scenarios: &[ComparedScenario]) -> Option<String> {
        let neutral = match self.comparison() {
            Comparison::Ratio => 1.0,
            Comparison::Difference => 0.0,
        };
        let different = || scenarios.iter().filter(|s| s.verdict.is_different());
        let (more, less): (Vec<&ComparedScenario>, Vec<&ComparedScenario>) =
            different().partition(|s| s.estimate.value > neutral);
        let names = |of: &[&ComparedScenario]| {
            let names: Vec<String> = of
                .iter()
                .map(|s| LevelFacts::phrase_of(&s.levels))
                .collect();
            format::listed(&names, 4)
        };
        (!more.is_empty() && !less.is_empty()).then(|| {
            let (more, less) = (names(&more), names(&less));
            message!("compare-opposite", more, less)
        })
    }

    /// Runs that failed are outcomes, not missing values.
    fn unsuccessful(&self) -> Vec<String> {
        let sides = [(self.request.first, true), (self.request.second, false)];
        let said = sides.into_iter().filter_map(|(side, is_first)| {
            let of = |m: &Matched| {
                if is_first {
                    m.first.number
                } else {
                    m.second.number
                }
            };
            let numbers: Vec<u32> = self.matched.iter().map(of).collect();
            let runs = side.analysis.runs.iter();
            let failed = runs
                .filter(|r| numbers.contains(&r.scenario) && has_failed(r))
                .count();
            (failed > 0).then(|| message!("compare-failed", name = side.name, runs = failed))
        });
        said.collect()
    }

    fn unmatched(&self) -> Option<String> {
        let CompareRequest { first, second, .. } = self.request;
        if first.scenario.is_some() {
            return None;
        }
        let known = self.matched.len();
        let lost = |side: &Side| measured(side.analysis).count().saturating_sub(known);
        let (a, b) = (lost(first), lost(second));
        let (first, second) = (first.name, second.name);
        (a + b > 0).then(|| message!("compare-left-out", a, b, first, second))
    }
}

fn has_failed(row: &RunRow) -> bool {
    [Status::Failed, Status::OutOfMemory, Status::TimedOut].contains(&row.status)
}

fn metric_name(analysis: &Analysis, word: &str) -> Result<String, String> {
    let ours = model::run::metric::meant(word).map(|metric| metric.name);
    let known = |name: &&str| analysis.metric(name).is_some();
    let time = Some("time").filter(|time| *time == word);
    let time = time.and(analysis.time_metric.as_deref());
    let found = time.or(Some(word).filter(known)).or(ours.filter(known));
    found.map(str::to_owned).ok_or_else(|| {
        let names: Vec<String> = analysis.metrics.iter().map(|m| m.name.clone()).collect();
        let names = format::listed(&names, 20);
        message!("compare-unknown-metric", metric = word, names)
    })
}

fn measured(analysis: &Analysis) -> impl Iterator<Item = &ScenarioResult> {
    analysis.scenarios.iter().filter(|s| s.runs.total() > 0)
}

fn matched<'a>(first: &Side<'a>, second: &Side<'a>) -> Result<Vec<Matched<'a>>, String> {
    let one = |side: &Side<'a>, number: u32| {
        let mut all = side.analysis.scenarios.iter();
        let found = all.find(|s| s.number == number);
        found.ok_or_else(|| {
            let last = side.analysis.scenarios.len();
            message!("compare-no-scenario", name = side.name, number, last)
        })
    };
    match (first.scenario, second.scenario) {
        (Some(a), Some(b)) => Ok(vec![Matched {
            first: one(first, a)?,
            second: one(second, b)?,
        }]),
        (None, None) => {
            let key = |s: &ScenarioResult| -> Vec<(String, String)> {
                let levels = s.levels.iter();
                levels
                    .map(|l| (l.factor.clone(), l.level.clone()))
                    .collect()
            };
            let by_key: BTreeMap<_, _> = measured(first.analysis).map(|s| (key(s), s)).collect();
            let both = measured(second.analysis).filter_map(|second| {
                let first = *by_key.get(&key(second))?;
                Some(Matched { first, second })
            });
            let both: Vec<Matched> = both.collect();
            match both.is_empty() {
                true => Err(message!(
                    "compare-no-match",
                    first = first.name,
                    second = second.name
                )),
                false => Ok(both),
            }
        }
        _ => Err(message!("compare-one-scenario")),
    }
}

/// What the values of a scenario were rounded to.
fn step(analysis: &Analysis, scenario: u32, metric: &str) -> f64 {
    let column = analysis.metrics.iter().position(|m| m.name == metric);
    let own = analysis.runs.iter().filter(|row| row.scenario == scenario);
    let steps = own.filter_map(|row| row.steps.get(column?).copied());
    let steps: Vec<f64> = steps.collect();
    steps.iter().sum::<f64>() / steps.len().max(1) as f64
}

pub(crate) fn values(analysis: &Analysis, scenario: u32, metric: &str) -> Vec<f64> {
    let Some(column) = analysis.metrics.iter().position(|m| m.name == metric) else {
        return Vec::new();
    };
    let rows = analysis.runs.iter().filter(|row| {
        row.scenario == scenario && row.status == Status::Ok && row.excluded.is_none()
    });
    rows.filter_map(|row| row.values.get(column).copied().flatten())
        .collect()
}
