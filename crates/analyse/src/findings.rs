//! The result in sentences, and what to do next.

use std::collections::BTreeMap;

use messages::message;
use model::run::metric;
use model::{Money, Role};
use rust_decimal::Decimal;

use crate::analysis::{Analysis, FactorFacts, Finding, ScenarioResult, Topic};
use crate::decides::{Variation, VariationTerm, Verdict};
use crate::failures::Outcomes;
use crate::lists::unique;
use crate::scenarios::WANTED_PRECISION;
use crate::speedup::SpeedUpKind;
use crate::words::format;

pub(crate) fn findings(analysis: &Analysis) -> Vec<Finding> {
    let mut findings = Vec::new();
    if analysis.totals.runs.ok == 0 {
        let text = match analysis.totals.runs.total() {
            0 => message!("finding-no-run"),
            _ => message!("finding-no-success", counts = analysis.totals.runs.text()),
        };
        findings.push(Topic::Caution.finding(text));
    }
    for variation in &analysis.variations {
        findings.extend(of_metric(analysis, variation));
    }
    let speed_ups = analysis.speed_ups.iter();
    let counted =
        speed_ups.filter(|s| s.kind == SpeedUpKind::Count && is_different(analysis, &s.factor));
    let mut add = |topic: Topic, texts: &[String]| {
        findings.extend(texts.iter().cloned().map(|text| topic.finding(text)));
    };
    counted.for_each(|s| add(Topic::SpeedUp, &s.sentences));
    let growths = analysis.growths.iter();
    growths.for_each(|g| add(Topic::Growth, &g.sentences));
    let serving = analysis.serving.iter();
    serving.for_each(|s| add(Topic::Serving, &s.sentences));
    add(Topic::Best, &analysis.best.sentences);
    add(Topic::Cost, &analysis.money.sentences);
    findings.extend(memory(analysis));
    let successive = analysis.successive.as_ref();
    let alike = successive.filter(|found| found.correlation.is_some());
    findings.extend(alike.map(|found| Topic::Caution.finding(found.sentence.clone())));
    let drift = analysis.drift.as_ref().filter(|d| d.seen);
    findings.extend(drift.map(|drift| Topic::Caution.finding(drift.sentence.clone())));
    findings
}

/// Whether a factor was found to change the time, alone or together with others: only then is it said by how much
/// each of its levels does.
pub(crate) fn is_different(analysis: &Analysis, factor: &str) -> bool {
    let time = analysis.time_metric.as_deref();
    let time = time.and_then(|name| analysis.variation(name));
    let terms = time.iter().flat_map(|time| &time.terms);
    let mut found = terms.filter(|term| term.verdict.is_different());
    found.any(|term| term.factors.iter().any(|name| name == factor))
}

fn of_metric(analysis: &Analysis, variation: &Variation) -> Vec<Finding> {
    let is_time = analysis.is_time(&variation.metric);
    let topic = match variation.metric.as_str() {
        _ if is_time => Topic::Time,
        metric::COST => Topic::Cost,
        _ => Topic::Metric,
    };
    if variation.follows_time {
        return match topic {
            Topic::Cost => vec![topic.finding(message!("finding-cost-follows"))],
            _ => Vec::new(),
        };
    }
    let noun = analysis.noun(variation);
    // Time is the question; of other metrics only what matters most is said.
    let most = if is_time { usize::MAX } else { 1 };
    let least = if is_time { 0.01 } else { 0.1 };
    let matters = |t: &&VariationTerm| t.verdict.is_different() && t.share >= least;
    // A factor that acts in opposite ways has said what the interaction would say, if it is worth saying.
    let is_said = |t: &VariationTerm| {
        let mains = variation.terms.iter().filter(matters);
        let mut mains = mains.filter(|m| m.reversed_by.is_some());
        t.factors.len() == 2
            && mains.any(|m| {
                t.factors.contains(&m.factors[0])
                    && m.reversed_by
                        .as_ref()
                        .is_some_and(|by| t.factors.contains(by))
            })
    };
    let worth = |t: &&VariationTerm| matters(t) && !is_said(t);
    let said = variation
        .terms
        .iter()
        .filter(worth)
        .take(most)
        .filter_map(|term| {
            let sentence = term.sentence.as_ref()?;
            // Not begun with a capital: the first word is often a level's own name.
            let share = format::percent(term.share);
            Some(message!("finding-share", sentence, share, noun))
        });
    let mut findings: Vec<Finding> = said.map(|text| topic.finding(text)).collect();
    if findings.is_empty() && is_time && variation.problem.is_none() && !variation.terms.is_empty()
    {
        findings.push(topic.finding(nothing_sure(analysis, variation)));
    }
    findings
}

/// What can be said of the time where no factor is worth a sentence of its own.
fn nothing_sure(analysis: &Analysis, variation: &Variation) -> String {
    let is_task = |term: &VariationTerm| {
        let mut factors = analysis.study.factors.iter();
        factors.any(|f| f.role == Role::Task && term.factors == [f.name.as_str()])
    };
    let terms = &variation.terms;
    let mains = || terms.iter().filter(|term| term.factors.len() == 1);
    if terms.iter().any(|term| term.verdict.is_different()) {
        return message!("finding-no-factor");
    }
    // What is equal on average may differ for one of several tasks.
    let is_for_all = |term: &VariationTerm| variation.tasks < 2 || term.is_free || is_task(term);
    let is_equal = |term: &VariationTerm| term.verdict == Verdict::PracticallyEqual;
    if mains().all(|term| is_equal(term) && is_for_all(term)) {
        return message!("finding-all-equal");
    }
    if mains().all(|term| term.verdict == Verdict::NotEstimable) {
        return message!("finding-not-estimable");
    }
    let needed = would_decide(mains().filter_map(|term| term.repetitions).max());
    message!("finding-inconclusive", runs = variation.runs, needed)
}

/// `: about 8 repetitions would decide`, where that is within reach.
fn would_decide(repetitions: Option<usize>) -> String {
    match repetitions.filter(|needed| *needed <= MOST_REPETITIONS) {
        Some(repetitions) => message!("would-decide", repetitions),
        None => String::new(),
    }
}

fn memory(analysis: &Analysis) -> Option<Finding> {
    let full = |s: &&ScenarioResult| s.runs.out_of_memory > 0 && s.runs.ok == 0;
    let names: Vec<String> = analysis
        .scenarios
        .iter()
        .filter(full)
        .map(|s| match s.levels.is_empty() {
            true => s.label.clone(),
            false => format!("{} ({})", s.label, s.phrase()),
        })
        .collect();
    let text = || message!("finding-out-of-memory", names = format::listed(&names, 4));
    (!names.is_empty()).then(|| Topic::Caution.finding(text()))
}

/// The budget, where one more run that costs what the others did would go beyond it.
fn budget_that_is_spent(analysis: &Analysis) -> Option<Money> {
    let budget = analysis.study.budget?;
    let totals = &analysis.totals;
    let spent = totals.spent_total?;
    let paid = Decimal::from(totals.runs.total().checked_sub(totals.imported)?);
    let another = spent.amount.checked_div(paid)?;
    (spent.amount + another > budget.amount).then_some(budget)
}

pub(crate) fn advice(analysis: &Analysis) -> Vec<String> {
    let mut advice = Vec::new();
    let runs = &analysis.totals.runs;
    let how = |usual: String| match budget_that_is_spent(analysis) {
        Some(budget) => message!("advice-over-budget", budget = format::money(&budget)),
        None => usual,
    };
    if analysis.totals.missing > 0 {
        let how = match (analysis.study.budget, runs.total()) {
            (Some(budget), 0) => message!("advice-plan", budget = format::money(&budget)),
            _ => how(message!("advice-continue")),
        };
        let runs = analysis.totals.missing;
        advice.push(message!("advice-missing", runs, how));
    }
    if runs.interrupted > 0 && !analysis.study.import_only {
        let how = how(message!("advice-rerun"));
        advice.push(message!("advice-interrupted", runs = runs.interrupted, how));
    }
    if runs.failed > 0 && !analysis.study.import_only {
        advice.push(message!("advice-failed", runs = runs.failed));
    }
    let time = analysis
        .time_metric
        .as_ref()
        .and_then(|name| analysis.variation(name));
    if let Some(time) = time {
        advice.extend(first_choice(analysis, time));
        advice.extend(free_choices(analysis, time));
        if let Some(noise) = time.noise.as_ref().filter(|n| n.share > 0.2 && !n.is_small) {
            advice.push(message!(
                "advice-noise",
                share = format::percent(noise.share)
            ));
        }
    }
    advice.extend(more_repetitions(analysis));
    advice
}

/// The choice that matters most, with what it does together with others.
fn first_choice(analysis: &Analysis, time: &Variation) -> Option<String> {
    let choices = analysis.study.factors.iter();
    let choices = choices.filter(|factor| factor.role == Role::Choice);
    let different = || time.terms.iter().filter(|t| t.verdict.is_different());
    let share = |factor: &str| {
        let own = different().filter(|t| t.factors.iter().any(|name| name == factor));
        own.map(|term| term.share).sum::<f64>()
    };
    let choices: Vec<&FactorFacts> = choices.filter(|f| f.levels.len() > 1).collect();
    if choices.len() < 2 {
        return None;
    }
    let ranked = choices.iter().map(|factor| (share(&factor.name), factor));
    let (share, factor) = ranked.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let factor = &factor.name;
    let together = different().any(|t| t.factors.len() > 1 && t.factors.contains(factor));
    let holds = time.tasks < 2 || is_first_for_all(time, factor);
    // Which of its factors to look at is not known of what cannot be told apart.
    let mut unknown = different().filter(|t| !t.any_of.is_empty());
    if unknown.any(|t| t.share > share) {
        return None;
    }
    match (share >= 0.01, holds) {
        (false, _) => None,
        (true, true) => {
            let share = format::percent(share);
            Some(message!("advice-first", factor, share, together))
        }
        (true, false) => first_by_task(time),
    }
}

fn is_first_for_all(time: &Variation, factor: &str) -> bool {
    let mut found = time.first_choices.iter();
    time.first_choices.len() == time.tasks && found.all(|first| first.factor == factor)
}

/// `stack for small; batch for large`.
fn first_by_task(time: &Variation) -> Option<String> {
    let factors = unique(time.first_choices.iter().map(|first| first.factor.as_str()));
    let of_factor = |factor: &&str| {
        let own = time.first_choices.iter().filter(|f| f.factor == *factor);
        let tasks: Vec<String> = own.map(|first| first.task.clone()).collect();
        message!("advice-first-of", factor, tasks = format::listed(&tasks, 4))
    };
    let choices: Vec<String> = factors.iter().map(of_factor).collect();
    (!choices.is_empty()).then(|| message!("advice-first-by-task", choices = choices.join("; ")))
}

/// Choices that were not found to change the time, by verdict.
fn free_choices(analysis: &Analysis, time: &Variation) -> Vec<String> {
    // What is different, or cannot be known, for some levels of others is not free.
    let binds = |t: &&VariationTerm| {
        t.factors.len() != 1 && (t.verdict.is_different() || t.verdict == Verdict::NotEstimable)
    };
    let is_bound = |name: &String| time.terms.iter().filter(binds).any(|t| t.may_concern(name));
    let named = |is_it: &dyn Fn(&VariationTerm) -> bool| -> Vec<&VariationTerm> {
        let mains = time.terms.iter().filter(|t| t.factors.len() == 1);
        mains
            .filter(|t| is_it(t) && !t.factors.iter().any(is_bound))
            .collect()
    };
    let names = |terms: &[&VariationTerm]| {
        let names: Vec<String> = terms.iter().map(|t| t.name()).collect();
        format::listed(&names, 4)
    };
    let mut advice = Vec::new();
    let fails = |t: &VariationTerm| {
        t.factors
            .iter()
            .any(|name| decides_failures(analysis, name))
    };
    let equal = named(&|t| t.verdict == Verdict::PracticallyEqual && t.is_free && !fails(t));
    if !equal.is_empty() {
        let count = equal.len();
        advice.push(message!("advice-no-effect", names = names(&equal), count));
    }
    let open = named(&|t| t.verdict == Verdict::Inconclusive);
    if !open.is_empty() {
        let needed = would_decide(open.iter().filter_map(|term| term.repetitions).max());
        advice.push(message!(
            "advice-open",
            names = names(&open),
            runs = time.runs,
            needed
        ));
    }
    advice
}

/// Whether runs fail more often with one of its levels than with another, all else equal.
fn decides_failures(analysis: &Analysis, factor: &str) -> bool {
    let is_measured = |s: &&ScenarioResult| Outcomes::of(s).runs > 0;
    let mut known: BTreeMap<Vec<&str>, Outcomes> = BTreeMap::new();
    let mut measured = analysis.scenarios.iter().filter(is_measured);
    measured.any(|scenario| {
        let others = scenario.levels.iter().filter(|l| l.factor != factor);
        let key = others.map(|level| level.level.as_str()).collect();
        let own = Outcomes::of(scenario);
        let first = *known.entry(key).or_insert(own);
        own.failed * first.runs != first.failed * own.runs
    })
}

/// Named although nobody repeats so often: if only small numbers were named, most of those would come from a spread that
/// happened to look small.
const MOST_NAMED: usize = 400;
/// Repetitions beyond the first, of all scenarios: of fewer, a spread that happened to look small would make most of the
/// numbers that are named too low.
const FEWEST_FOR_A_NUMBER: usize = 8;
/// Runs of the scenario itself: a number that suffices for any spread that two may come from is many times too large.
const FEWEST_OF_ITS_OWN: usize = 3;

/// More than this nobody repeats for a little precision.
pub(crate) const MOST_REPETITIONS: usize = 100;

fn more_repetitions(analysis: &Analysis) -> Option<String> {
    let wide: Vec<_> = analysis
        .scenarios
        .iter()
        .filter_map(|s| Some((s, s.repetitions_for_five_percent?)))
        .collect();
    let (worst, needed) = wide.iter().max_by_key(|(_, needed)| *needed)?;
    let margin = analysis.time_of(worst)?.relative_margin()?;
    let time = analysis.time_metric.as_ref()?;
    let runs = |s: &ScenarioResult| s.metrics.get(time).map_or(1, |known| known.count);
    let free: usize = analysis.scenarios.iter().map(|s| runs(s).max(1) - 1).sum();
    let hope = match *needed <= MOST_NAMED {
        _ if free < FEWEST_FOR_A_NUMBER || runs(worst) < FEWEST_OF_ITS_OWN => {
            message!("advice-spread-unknown")
        }
        true => message!("advice-enough", repetitions = *needed),
        false => message!("advice-too-noisy"),
    };
    Some(message!(
        "advice-not-precise",
        scenarios = wide.len(),
        wanted = format::percent(WANTED_PRECISION),
        worst = worst.label,
        margin = format::percent(margin),
        hope
    ))
}
