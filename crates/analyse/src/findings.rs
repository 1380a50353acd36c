//! The result in sentences, and what to do next.

use model::run::metric;
use model::{Money, Role};
use rust_decimal::Decimal;

use crate::analysis::{Analysis, FactorFacts, Finding, Topic};
use crate::decides::{Variation, VariationTerm, Verdict};
use crate::scenarios::WANTED_PRECISION;
use crate::speedup::SpeedUpKind;
use crate::words::format;

pub(crate) fn findings(analysis: &Analysis) -> Vec<Finding> {
    let mut findings = Vec::new();
    if analysis.totals.runs.ok == 0 {
        let text = match analysis.totals.runs.total() {
            0 => "No run has been measured yet.".to_owned(),
            _ => format!("No run was successful: {}.", analysis.totals.runs.text()),
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
fn is_different(analysis: &Analysis, factor: &str) -> bool {
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
        let text = "Cost follows time: what makes a run longer makes it more expensive.".to_owned();
        return match topic {
            Topic::Cost => vec![topic.finding(text)],
            _ => Vec::new(),
        };
    }
    let noun = analysis.noun(variation);
    // Time is the question; of other metrics only what matters most is said.
    let most = if is_time { usize::MAX } else { 1 };
    let least = if is_time { 0.01 } else { 0.1 };
    // A factor that acts in opposite ways has said what the interaction would say.
    let is_said = |t: &VariationTerm| {
        let mut mains = variation.terms.iter().filter(|m| m.reversed_by.is_some());
        t.factors.len() == 2
            && mains.any(|m| {
                t.factors.contains(&m.factors[0])
                    && m.reversed_by
                        .as_ref()
                        .is_some_and(|by| t.factors.contains(by))
            })
    };
    let worth = |t: &&VariationTerm| t.verdict.is_different() && t.share >= least && !is_said(t);
    let said = variation
        .terms
        .iter()
        .filter(worth)
        .take(most)
        .filter_map(|term| {
            let sentence = term.sentence.as_ref()?;
            // Not begun with a capital: the first word is often a level's own name.
            Some(format!(
                "{sentence}; {} of the variation in {noun}.",
                format::percent(term.share)
            ))
        });
    let mut findings: Vec<Finding> = said.map(|text| topic.finding(text)).collect();
    if findings.is_empty() && is_time && variation.problem.is_none() && !variation.terms.is_empty()
    {
        findings.push(topic.finding(nothing_sure(variation)));
    }
    findings
}

/// What can be said of the time where no factor is worth a sentence of its own.
fn nothing_sure(variation: &Variation) -> String {
    let terms = &variation.terms;
    let mains = || terms.iter().filter(|term| term.factors.len() == 1);
    if terms.iter().any(|term| term.verdict.is_different()) {
        return "No factor explains 1 % or more of the variation in time.".to_owned();
    }
    if mains().all(|term| term.verdict == Verdict::PracticallyEqual) {
        return "All levels of every factor are practically equal in time.".to_owned();
    }
    if mains().all(|term| term.verdict == Verdict::NotEstimable) {
        return "No effect on the time can be estimated from the combinations that were measured."
            .to_owned();
    }
    let needed = mains().filter_map(|term| term.repetitions).max();
    let more = match needed.filter(|needed| *needed <= MOST_REPETITIONS) {
        Some(needed) => format!(": about {} repetitions would decide", format::count(needed)),
        None => String::new(),
    };
    format!(
        "Inconclusive: no difference in time is settled by {}{more}.",
        format::counted(variation.runs, "run", "runs")
    )
}

fn memory(analysis: &Analysis) -> Option<Finding> {
    let full = |s: &&crate::analysis::ScenarioResult| s.runs.out_of_memory > 0 && s.runs.ok == 0;
    let names: Vec<String> = analysis
        .scenarios
        .iter()
        .filter(full)
        .map(|s| match s.levels.is_empty() {
            true => s.label.clone(),
            false => format!("{} ({})", s.label, s.phrase()),
        })
        .collect();
    let text = format!("Runs out of memory: {}.", format::listed(&names, 4));
    (!names.is_empty()).then(|| Topic::Caution.finding(text))
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
    let how = |usual: &str| match budget_that_is_spent(analysis) {
        Some(budget) => format!(
            "the budget of {budget} does not allow another run. Raise it, or continue with `bancada run --over-budget`."
        ),
        None => format!("`bancada run` {usual}."),
    };
    if analysis.totals.missing > 0 {
        let missing = format::counted(analysis.totals.missing, "run is", "runs are");
        let how = match (analysis.study.budget, runs.total()) {
            (Some(budget), 0) => {
                format!("`bancada plan` shows whether the budget of {budget} is sufficient.")
            }
            _ => how("continues where it stopped"),
        };
        advice.push(format!("{missing} missing: {how}"));
    }
    if runs.interrupted > 0 && !analysis.study.import_only {
        let runs = format::counted(runs.interrupted, "run was", "runs were");
        let how = how("re-runs them (or counts them, with --keep-interrupted)");
        advice.push(format!("{runs} interrupted: {how}"));
    }
    if runs.failed > 0 && !analysis.study.import_only {
        let runs = format::counted(runs.failed, "run", "runs");
        advice.push(format!(
            "{runs} failed: see log.txt of each, then `bancada run --retry failed`."
        ));
    }
    let time = analysis
        .time_metric
        .as_ref()
        .and_then(|name| analysis.variation(name));
    if let Some(time) = time {
        advice.extend(first_choice(analysis, time));
        advice.extend(free_choices(time));
        if let Some(noise) = time.noise.as_ref().filter(|n| n.share > 0.2) {
            advice.push(format!(
                "Noise is {} of the variation: use a quieter machine or more repetitions before relying on small differences.",
                format::percent(noise.share)
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
    (share >= 0.01).then(|| {
        format!(
            "To save time, look at {factor} first: of what one may choose it explains most of the variation in time ({}{}).",
            format::percent(share),
            if together { ", with its interactions" } else { "" }
        )
    })
}

/// Choices that were not found to change the time, by verdict.
fn free_choices(time: &Variation) -> Vec<String> {
    let different = || time.terms.iter().filter(|t| t.verdict.is_different());
    // Without names it is all larger groups together: any factor may be the one.
    let in_a_different_one =
        |name: &String| different().any(|t| t.factors.is_empty() || t.factors.contains(name));
    let named = |verdict: Verdict| -> Vec<&VariationTerm> {
        let mains = time.terms.iter().filter(|t| t.factors.len() == 1);
        mains
            .filter(|t| t.verdict == verdict && !t.factors.iter().any(in_a_different_one))
            .collect()
    };
    let names = |terms: &[&VariationTerm]| {
        let names: Vec<String> = terms.iter().map(|t| t.name()).collect();
        format::listed(&names, 4)
    };
    let mut advice = Vec::new();
    let equal = named(Verdict::PracticallyEqual);
    if !equal.is_empty() {
        advice.push(format!(
            "{} practically no effect on the time: choose by cost or accuracy.",
            match equal.len() {
                1 => format!("{} has", names(&equal)),
                _ => format!("{} have", names(&equal)),
            }
        ));
    }
    let open = named(Verdict::Inconclusive);
    if !open.is_empty() {
        let needed = open.iter().filter_map(|term| term.repetitions).max();
        advice.push(format!(
            "The effect of {} on the time is inconclusive in {}{}.",
            names(&open),
            format::counted(time.runs, "run", "runs"),
            match needed {
                Some(needed) if needed <= MOST_REPETITIONS =>
                    format!(": about {} repetitions would decide", format::count(needed)),
                _ => String::new(),
            }
        ));
    }
    advice
}

/// Named although nobody repeats so often: if only small numbers were named, most of those would come from a spread that
/// happened to look small.
const MOST_NAMED: usize = 400;
/// Repetitions beyond the first, of all scenarios: of fewer, a spread that happened to look small would make most of the
/// numbers that are named too low.
const FEWEST_FOR_A_NUMBER: usize = 8;

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
    let times = analysis
        .scenarios
        .iter()
        .filter_map(|s| Some(s.metrics.get(analysis.time_metric.as_ref()?)?.count));
    let free: usize = times.map(|count| count - 1).sum();
    let hope = match *needed <= MOST_NAMED {
        _ if free < FEWEST_FOR_A_NUMBER => {
            "repeat more often; the spread is not known well enough yet to say how often".to_owned()
        }
        true => format!(
            "about {} repetitions would be enough",
            format::count(*needed)
        ),
        false => "the noise is too large to reach this by repeating: find what disturbs the runs, or make them longer".to_owned(),
    };
    Some(format!(
        "{} not yet within ±{} (worst: {}, ±{}); {hope}.",
        format::counted(wide.len(), "scenario is", "scenarios are"),
        format::percent(WANTED_PRECISION),
        worst.label,
        format::percent(margin),
    ))
}
