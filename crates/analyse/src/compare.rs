//! Two scenarios, two studies, or two versions of one: which is better, by how much, and how sure is that?

mod doubt;
mod pairs;

use std::collections::BTreeMap;

use messages::message;
use model::EnergySource;
use model::run::metric::Better;
use serde::Serialize;
use stats::{Contrast, Estimate, Samples, Scale};

use crate::analysis::{Analysis, LevelFacts, ScenarioResult};
use crate::decides::{Comparison, Verdict};
use crate::energy;
use crate::failures::{Failures, Outcomes};
use crate::findings::MOST_REPETITIONS;
use crate::lists::unique;
use crate::words::comparison::Pair;
use crate::words::format;
use crate::words::names::MetricInfo;
use doubt::Doubt;
use pairs::{contrast, has_both, is_repeated, samples, scale};

/// One of the two.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// What sentences call it.
    pub name: &'a str,
    pub analysis: &'a Analysis,
    /// One scenario; else all that both have.
    pub scenario: Option<u32>,
    /// Where there is no one scenario: those with these levels of factors, each with the one of the other side that
    /// has the same levels of all other factors.
    pub levels: &'a [(String, String)],
}

impl<'a> Side<'a> {
    /// The scenarios that were measured and have its levels, by their other levels.
    fn by_other_levels(&self) -> BTreeMap<Vec<(&'a str, &'a str)>, &'a ScenarioResult> {
        let is_fixed = |factor: &str| self.levels.iter().any(|(name, _)| name == factor);
        let has = |scenario: &ScenarioResult, (factor, level): &(String, String)| {
            let found = scenario.level(factor);
            found.is_some_and(|found| found.level == *level)
        };
        let own = measured(self.analysis);
        let own = own.filter(|scenario| self.levels.iter().all(|level| has(scenario, level)));
        let key = |scenario: &'a ScenarioResult| {
            let levels = scenario.levels.iter();
            let others = levels.filter(|level| !is_fixed(&level.factor));
            others
                .map(|l| (l.factor.as_str(), l.level.as_str()))
                .collect()
        };
        own.map(|scenario| (key(scenario), scenario)).collect()
    }
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
    /// Whether the second is worse, where they are different and one direction is, or where more of its runs fail. Not
    /// said to be no worse where that is open.
    pub is_worse: Option<bool>,
    /// Whether it is worse because more of its runs fail: the first sentence says so, and the verdict is of the runs
    /// that succeeded.
    pub fails_more: bool,
    /// Whether more of its runs fail, and too few more to know.
    pub may_fail_more: bool,
    /// Runs of the first and the second in the scenarios that both have, and how many of them failed.
    pub outcomes: [Outcomes; 2],
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
    /// Of each matched scenario: the values of the first and of the second.
    values: Vec<Samples>,
    failures: Failures,
    /// Of the whole answer.
    doubt: Option<Doubt>,
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
            // A side of which no run succeeded has no time.
            None => [first, second]
                .iter()
                .find_map(|side| side.analysis.time_metric.clone())
                .ok_or_else(|| message!("compare-no-time", name = first.name))?,
        };
        let info = first.analysis.metric(&name);
        let info = info.or_else(|| second.analysis.metric(&name));
        let none = || message!("compare-no-metric", name = first.name, metric = name);
        let info = info.ok_or_else(none)?;
        let matched = matched(first, second)?;
        if energy::is_energy(&name) {
            same_source(request, &matched)?;
        }
        let each = matched.iter();
        let values: Vec<Samples> = each.map(|m| samples(first, second, m, &name)).collect();
        let failures = Failures::of(matched.iter().map(|m| (m.first, m.second)));
        let is_decided = failures.make_worse() || failures.make_better();
        if !values.iter().any(has_both) && !is_decided {
            return Err(message!("compare-not-both", label = info.label));
        }
        let scale = scale(&values, info);
        let repeated = matched.iter().zip(&values);
        let repeated = repeated.filter(|(_, both)| is_repeated(both));
        let repeated: Vec<&Matched> = repeated.map(|(pair, _)| pair).collect();
        let doubt = Doubt::of([first, second], &repeated, &name);
        Ok(Comparer {
            request,
            info,
            matched,
            scale,
            values,
            failures,
            doubt,
        })
    }

    fn compared(&self) -> Result<Compared, String> {
        let mut scenarios = self.scenarios();
        let overall = self.overall();
        let (verdict, estimate, repetitions) = match &overall {
            Some(_) if self.doubt.is_some() => (self.doubtful(), None, None),
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
        if self.matched.len() < 2 {
            scenarios.clear();
        }
        Ok(Compared {
            metric: self.info.name.clone(),
            first: self.request.first.name.to_owned(),
            second: self.request.second.name.to_owned(),
            verdict,
            is_worse: self.is_worse(verdict, estimate.as_ref()),
            fails_more: self.failures.make_worse(),
            may_fail_more: self.failures.may_make_worse(),
            outcomes: self.failures.sides,
            comparison: self.comparison(),
            repetitions,
            sentences: self.sentences(verdict, estimate.as_ref(), repetitions, &scenarios),
            estimate,
            scenarios,
        })
    }

    /// What may be the difference of something else is none of the sides.
    fn doubtful(&self) -> Verdict {
        match self.doubt {
            Some(Doubt::Time) => Verdict::Inconclusive,
            _ => Verdict::NotEstimable,
        }
    }

    /// A version that fails more is no better for the time of the runs that survive.
    fn is_worse(&self, verdict: Verdict, estimate: Option<&Estimate>) -> Option<bool> {
        if self.failures.make_worse() {
            return Some(true);
        }
        if self.failures.make_better() {
            return Some(false);
        }
        let grew = estimate.map(|estimate| match self.comparison() {
            Comparison::Ratio => estimate.value > 1.0,
            Comparison::Difference => estimate.value > 0.0,
        });
        let is_worse = match (verdict, self.info.better) {
            (Verdict::Different, Better::Lower) => grew,
            (Verdict::Different, Better::Higher) => grew.map(|grew| !grew),
            _ => None,
        };
        is_worse.filter(|is_worse| *is_worse || !self.failures.may_make_worse())
    }

    fn sentences(
        &self,
        verdict: Verdict,
        estimate: Option<&Estimate>,
        repetitions: Option<usize>,
        scenarios: &[ComparedScenario],
    ) -> Vec<String> {
        let names = [self.request.first.name, self.request.second.name];
        let is_worse = self.failures.make_worse();
        let failures = || self.failures.sentence(names, self.matched.len());
        let mut sentences: Vec<String> = is_worse.then(failures).into_iter().collect();
        if !is_worse || self.values.iter().any(has_both) {
            sentences.push(self.answer(verdict, estimate, repetitions));
        }
        sentences.extend(self.opposite(scenarios));
        match (is_worse, self.failures.may_make_worse()) {
            (true, _) => {}
            (false, true) => sentences.push(self.failures.open_sentence(names)),
            (false, false) => sentences.extend(self.unsuccessful()),
        }
        sentences.extend(estimate.and_then(|_| self.unrepeated()));
        sentences.extend(self.unmatched());
        sentences
    }

    fn unrepeated(&self) -> Option<String> {
        let both = self.values.iter().filter(|both| has_both(both));
        let scenarios = both.count() - self.repeated().count();
        (scenarios > 0).then(|| message!("compare-single", scenarios))
    }

    fn comparison(&self) -> Comparison {
        match self.scale {
            Scale::Linear => Comparison::Difference,
            Scale::Logarithmic => Comparison::Ratio,
        }
    }

    /// All scenarios that both have and repeated, each as much as another.
    fn overall(&self) -> Option<Contrast> {
        contrast(&self.repeated().collect::<Vec<_>>(), self.scale)
    }

    /// One run says nothing of its spread.
    fn repeated(&self) -> impl Iterator<Item = &Samples> {
        self.values.iter().filter(|both| is_repeated(both))
    }

    fn margin(&self) -> f64 {
        let share = self.request.equal_within_percent / 100.0;
        let mean = || {
            let all: Vec<f64> = self.values.iter().flat_map(|both| both.values(0)).collect();
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
        const PAIRED: &str = "differences within blocks (Student)";
        let method = match self.values.iter().any(|both| both.is_paired) {
            true => PAIRED,
            false => METHOD,
        };
        match self.scale {
            Scale::Linear => contrast.estimate(1.0 - level, method, |value| value),
            Scale::Logarithmic => contrast.estimate(1.0 - level, method, f64::exp),
        }
    }

    fn fewest(&self) -> usize {
        let counts = self.repeated().flat_map(|both| &both.lists).map(Vec::len);
        counts.min().unwrap_or(0)
    }

    fn scenarios(&self) -> Vec<ComparedScenario> {
        let level = LEVEL / self.matched.len().max(1) as f64;
        let each = self.matched.iter().zip(&self.values);
        let each = each.filter(|(_, both)| is_repeated(both));
        let CompareRequest { first, second, .. } = self.request;
        // Of what cannot be told apart from a time or a day, no scenario by itself is said either.
        let each = each.filter(|(pair, _)| {
            self.doubt.is_none() && Doubt::of([first, second], &[pair], &self.info.name).is_none()
        });
        each.filter_map(|(matched, values)| {
            let contrast = contrast(&[values], self.scale)?;
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
        let compared: Vec<&Samples> = match self.repeated().next() {
            Some(_) => self.repeated().collect(),
            None => self.values.iter().collect(),
        };
        let runs = |side: usize| {
            let counts = compared.iter().map(|both| both.lists[side].len());
            counts.sum::<usize>()
        };
        let over = match (self.matched.len(), compared.len()) {
            (1, _) => String::new(),
            (_, scenarios) => message!("compare-over", scenarios),
        };
        let said = match estimate {
            Some(estimate) if self.failures.are_any() => {
                message!("compare-survivors", said = self.pair(verdict, estimate))
            }
            Some(estimate) => self.pair(verdict, estimate),
            None => match &self.doubt {
                Some(doubt) => doubt.sentence(first.name, second.name),
                None => message!(
                    "compare-unrepeated",
                    second = second.name,
                    first = first.name
                ),
            },
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

    /// Runs that failed, where the second side is not the worse for them.
    fn unsuccessful(&self) -> impl Iterator<Item = String> {
        let names = [self.request.first.name, self.request.second.name];
        let sides = names.into_iter().zip(self.failures.sides);
        sides
            .filter(|(_, side)| side.failed > 0)
            .map(|(name, side)| message!("compare-failed", name, runs = side.failed))
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
            let by_levels = first.by_other_levels();
            let both = second
                .by_other_levels()
                .into_iter()
                .filter_map(|(key, second)| {
                    let first = *by_levels.get(&key)?;
                    Some(Matched { first, second })
                });
            let mut both: Vec<Matched> = both.collect();
            both.sort_by_key(|pair| pair.second.number);
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
