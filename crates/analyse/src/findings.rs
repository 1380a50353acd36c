//! The result in sentences, and what to do next.

use model::Money;
use model::run::metric::{self, Better};
use rust_decimal::Decimal;

use crate::analysis::{Analysis, Finding, Topic};
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
        findings.push(Finding {
            topic: Topic::Caution,
            text,
        });
    }
    for variation in &analysis.variations {
        findings.extend(of_metric(analysis, variation));
    }
    let counted = analysis
        .speed_ups
        .iter()
        .filter(|s| s.kind == SpeedUpKind::Count);
    findings.extend(counted.flat_map(|s| &s.sentences).map(|text| Finding {
        topic: Topic::SpeedUp,
        text: text.clone(),
    }));
    let serving = analysis.serving.iter().flat_map(|s| &s.sentences);
    findings.extend(serving.map(|text| Finding {
        topic: Topic::Serving,
        text: text.clone(),
    }));
    findings.extend(analysis.best.sentences.iter().map(|text| Finding {
        topic: Topic::Best,
        text: text.clone(),
    }));
    findings.extend(analysis.money.sentences.iter().map(|text| Finding {
        topic: Topic::Cost,
        text: text.clone(),
    }));
    findings.extend(memory(analysis));
    if let Some(drift) = analysis.drift.as_ref().filter(|d| d.seen) {
        findings.push(Finding {
            topic: Topic::Caution,
            text: drift.sentence.clone(),
        });
    }
    findings
}

fn of_metric(analysis: &Analysis, variation: &Variation) -> Vec<Finding> {
    let is_time = analysis.time_metric.as_deref() == Some(variation.metric.as_str());
    let topic = match variation.metric.as_str() {
        _ if is_time => Topic::Time,
        metric::COST => Topic::Cost,
        _ => Topic::Metric,
    };
    if variation.follows_time {
        let text = "Cost follows time: what makes a run longer makes it more expensive.".to_owned();
        return match topic {
            Topic::Cost => vec![Finding { topic, text }],
            _ => Vec::new(),
        };
    }
    let noun = if is_time {
        "time"
    } else {
        variation.label.as_str()
    };
    // Time is the question; of other metrics only what matters most is said.
    let most = if is_time { usize::MAX } else { 1 };
    let least = if is_time { 0.01 } else { 0.1 };
    let worth = |t: &&VariationTerm| t.verdict.is_sure() && t.share >= least;
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
    let mut findings: Vec<Finding> = said.map(|text| Finding { topic, text }).collect();
    if findings.is_empty() && is_time && variation.problem.is_none() && !variation.terms.is_empty()
    {
        findings.push(Finding {
            topic,
            text: nothing_sure(variation),
        });
    }
    findings
}

/// What can be said of the time where no factor is worth a sentence of its own.
fn nothing_sure(variation: &Variation) -> String {
    let terms = &variation.terms;
    if terms.iter().any(|term| term.verdict.is_sure()) {
        return "No factor explains 1 % or more of the variation in time.".to_owned();
    }
    if terms.iter().all(|term| term.verdict == Verdict::NotSeen) {
        return "No factor has a significant effect on the time.".to_owned();
    }
    let untested =
        "Whether the differences in time are significant cannot be tested without repetitions";
    let largest = terms.iter().max_by(|a, b| a.share.total_cmp(&b.share));
    match largest.and_then(|term| term.sentence.as_ref()) {
        Some(sentence) => format!("{untested}. As measured, {sentence}."),
        None => format!("{untested}."),
    }
}

fn memory(analysis: &Analysis) -> Option<Finding> {
    let full = |s: &&crate::analysis::ScenarioResult| s.runs.out_of_memory > 0 && s.runs.ok == 0;
    let names: Vec<String> = analysis
        .scenarios
        .iter()
        .filter(full)
        .map(|s| format!("{} ({})", s.label, s.phrase()))
        .collect();
    (!names.is_empty()).then(|| Finding {
        topic: Topic::Caution,
        text: format!("Runs out of memory: {}.", format::listed(&names, 4)),
    })
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

/// The level that is best for the factor that matters most.
fn first_choice(analysis: &Analysis, time: &Variation) -> Option<String> {
    // How a server was asked is no choice of whoever runs it.
    let is_choice = |factor: &str| analysis.serving.is_none() || factor != "load";
    let term = time.terms.iter().find(|t| {
        t.factors.len() == 1 && t.verdict.is_sure() && t.factors.iter().all(|f| is_choice(f))
    })?;
    let factor = term.factors.first()?;
    let lower = analysis
        .metric(&time.metric)
        .is_some_and(|m| m.better == Better::Lower);
    let fastest = analysis.best.fastest.filter(|_| lower)?;
    let scenario = analysis.scenarios.iter().find(|s| s.number == fastest)?;
    let level = scenario.levels.iter().find(|l| l.factor == *factor)?;
    Some(format!(
        "{factor} explains {} of the variation in time; {} is in the fastest scenario.",
        format::percent(term.share),
        level.phrase
    ))
}

/// Factors that change the time neither alone nor together with others.
fn free_choices(time: &Variation) -> Option<String> {
    let sure = || time.terms.iter().filter(|t| t.verdict.is_sure());
    // Without names it is all larger groups together: any factor may be the one.
    let in_a_sure_one =
        |name: &String| sure().any(|t| t.factors.is_empty() || t.factors.contains(name));
    let free = time
        .terms
        .iter()
        .filter(|t| t.factors.len() == 1 && t.verdict == Verdict::NotSeen)
        .filter(|t| !t.factors.iter().any(in_a_sure_one));
    let names: Vec<String> = free.map(|t| t.name()).collect();
    (!names.is_empty()).then(|| {
        let verb = if names.len() == 1 { "has" } else { "have" };
        format!(
            "{} {verb} no significant effect on the time in {}. This is inconclusive: repeat more before deciding, or choose by cost or accuracy.",
            format::listed(&names, 4),
            format::counted(time.runs, "run", "runs")
        )
    })
}

/// More than this nobody repeats for a little precision.
const MOST_REPETITIONS: usize = 100;

fn more_repetitions(analysis: &Analysis) -> Option<String> {
    let wide: Vec<_> = analysis
        .scenarios
        .iter()
        .filter_map(|s| Some((s, s.repetitions_for_five_percent?)))
        .collect();
    let (worst, needed) = wide.iter().max_by_key(|(_, needed)| *needed)?;
    let name = analysis.time_metric.as_ref()?;
    let margin = worst.mean(name)?.relative_margin()?;
    let hope = match *needed <= MOST_REPETITIONS {
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
