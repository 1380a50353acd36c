//! Tables for other programs: one a function, numbers unrounded, units in the column names. The
//! columns are documented in docs/results.md.

mod grid;
mod money;
mod told;

use analyse::{Analysis, LevelFacts, MetricInfo, ScenarioResult, VariationTerm};
use model::Money;
use model::run::metric;

pub use grid::Grid;
use grid::Writer;
pub(crate) use money::{bills, break_evens};
pub use told::ToldStep;
pub(crate) use told::{losses, profile, steps};

/// One row per run.
pub(crate) fn runs(analysis: &Analysis) -> Grid {
    let factors: Vec<&str> = analysis
        .study
        .factors
        .iter()
        .map(|f| f.name.as_str())
        .collect();
    let mut out = Writer::default();
    out.texts([
        "study",
        "run",
        "scenario",
        "repetition",
        "status",
        "excluded",
        "imported",
        "environment",
        "started_utc",
    ]);
    out.all(factors.iter().map(|f| format!("factor_{f}")));
    for what in ["cost", "unused_cost", "not_work_cost", "expected_lost_cost"] {
        out.all([money_column(analysis, what)]);
    }
    out.all(metrics(analysis).map(|(_, info)| metric_column(info)));
    out.all(["warnings".to_owned()]);
    out.all(billed_column(analysis));
    out.end_row();
    for run in &analysis.runs {
        let scenario = crate::tables::scenario(analysis, run.scenario);
        out.all([
            analysis.study.name.clone(),
            run.run.to_string(),
            format!("C{}", run.scenario),
        ]);
        out.all([
            run.repetition.to_string(),
            run.status.to_string(),
            run.excluded.clone().unwrap_or_default(),
            run.imported.to_string(),
        ]);
        let started = run.started.map(|moment| moment.to_string());
        out.all([run.environment.clone(), started.unwrap_or_default()]);
        out.all(
            factors
                .iter()
                .map(|f| scenario.map(|s| level(&s.levels, f)).unwrap_or_default()),
        );
        let parts = [
            run.cost,
            run.unused.map(|u| u.unused),
            run.unused.map(|u| u.not_work),
            run.unused.map(|u| u.expected_lost),
        ];
        out.all(parts.map(exact));
        out.all(
            metrics(analysis).map(|(place, _)| number(run.values.get(place).copied().flatten())),
        );
        out.all([run.warnings.to_string()]);
        out.all(analysis.study.repriced.clone());
        out.end_row();
    }
    out.finish()
}

/// One row a scenario: of each metric its mean with the interval, and the rest of its summary.
pub(crate) fn scenarios(analysis: &Analysis) -> Grid {
    let factors: Vec<&str> = analysis
        .study
        .factors
        .iter()
        .map(|f| f.name.as_str())
        .collect();
    let mut out = Writer::default();
    out.texts(["study", "scenario", "environment"]);
    out.all(factors.iter().map(|f| format!("factor_{f}")));
    out.texts([
        "runs_planned",
        "runs_ok",
        "runs_failed",
        "runs_out_of_memory",
        "runs_timed_out",
    ]);
    out.texts([
        "runs_interrupted",
        "runs_not_measurable",
        "runs_with_warnings",
    ]);
    for what in [
        "cost_mean",
        "cost_total",
        "cost_per_epoch",
        "cost_per_thousand_images",
        "cost_per_thousand_steps",
    ] {
        out.all([money_column(analysis, what)]);
    }
    for (_, info) in metrics(analysis) {
        let name = metric_column(info);
        out.all(SUMMARY.iter().map(|what| format!("{name}_{what}")));
    }
    out.all(billed_column(analysis));
    out.end_row();
    for scenario in &analysis.scenarios {
        scenario_row(analysis, &factors, scenario, &mut out);
    }
    out.finish()
}

const SUMMARY: [&str; 9] = [
    "count", "mean", "low", "high", "sd", "median", "min", "max", "cv",
];

fn scenario_row(
    analysis: &Analysis,
    factors: &[&str],
    scenario: &ScenarioResult,
    out: &mut Writer,
) {
    out.all([
        analysis.study.name.clone(),
        scenario.label.clone(),
        scenario.environment.clone(),
    ]);
    out.all(factors.iter().map(|f| level(&scenario.levels, f)));
    let runs = &scenario.runs;
    let counts = [
        scenario.planned,
        runs.ok,
        runs.failed,
        runs.out_of_memory,
        runs.timed_out,
        runs.interrupted,
        runs.not_measurable,
    ];
    out.all(counts.iter().map(|n| n.to_string()));
    out.all([scenario.warned_runs.to_string()]);
    let cost = scenario.cost.as_ref();
    let amounts = [
        cost.map(|c| c.mean),
        cost.map(|c| c.total),
        cost.and_then(|c| c.per_epoch),
        cost.and_then(|c| c.per_thousand_images),
        cost.and_then(|c| c.per_thousand_steps),
    ];
    out.all(amounts.map(exact));
    for (_, info) in metrics(analysis) {
        let Some(s) = scenario.metrics.get(&info.name) else {
            out.all(SUMMARY.iter().map(|_| String::new()));
            continue;
        };
        let interval = s.mean.interval;
        out.all([s.count.to_string(), number(Some(s.mean.value))]);
        out.all([
            number(interval.map(|i| i.low)),
            number(interval.map(|i| i.high)),
        ]);
        out.all([s.sd, s.median, s.min, s.max].map(|v| number(Some(v))));
        out.all([number(s.cv)]);
    }
    out.all(analysis.study.repriced.clone());
    out.end_row();
}

/// One row a term of each metric's analysis of variance, the noise last.
pub(crate) fn variation(analysis: &Analysis) -> Grid {
    let mut out = Writer::default();
    out.texts([
        "study",
        "metric",
        "scale",
        "term",
        "degrees_of_freedom",
        "sum_of_squares",
        "share_fraction",
    ]);
    out.texts(["f", "p", "verdict", "sentence"]);
    out.end_row();
    for variation in &analysis.variations {
        let mut row = |name: String, numbers: [Option<f64>; 5], verdict: &str, sentence: &str| {
            let scale = variation.scale.word().to_owned();
            out.all([
                analysis.study.name.clone(),
                variation.metric.clone(),
                scale,
                name,
            ]);
            out.all(numbers.map(number));
            out.all([verdict.to_owned(), sentence.to_owned()]);
            out.end_row();
        };
        for term in &variation.terms {
            let VariationTerm {
                degrees_of_freedom,
                sum_of_squares,
                share,
                ..
            } = term;
            let numbers = [
                Some(*degrees_of_freedom as f64),
                Some(*sum_of_squares),
                Some(*share),
                term.f,
                term.p,
            ];
            row(
                term.name(),
                numbers,
                term.verdict.words(),
                term.sentence.as_deref().unwrap_or(""),
            );
        }
        if let Some(noise) = &variation.noise {
            let numbers = [
                Some(noise.degrees_of_freedom as f64),
                Some(noise.sum_of_squares),
                Some(noise.share),
                None,
                None,
            ];
            row("noise".to_owned(), numbers, "", "");
        }
    }
    out.finish()
}

/// Cost is written from the exact money, not from its `f64`.
fn metrics(analysis: &Analysis) -> impl Iterator<Item = (usize, &MetricInfo)> {
    let money = [
        metric::COST,
        metric::COST_PER_EPOCH,
        metric::COST_PER_THOUSAND_IMAGES,
        metric::COST_PER_THOUSAND_STEPS,
    ];
    analysis
        .metrics
        .iter()
        .enumerate()
        .filter(move |(_, info)| !money.contains(&info.name.as_str()))
}

/// Only where costs are not those that were frozen with the runs, so that no file of a what-if is
/// taken for the bills themselves.
fn billed_column(analysis: &Analysis) -> Option<String> {
    let repriced = analysis.study.repriced.as_ref();
    repriced.map(|_| "billed".to_owned())
}

fn exact(money: Option<Money>) -> String {
    money
        .map(|m| m.amount.normalize().to_string())
        .unwrap_or_default()
}

fn money_column(analysis: &Analysis, what: &str) -> String {
    format!("{what}_{}", analysis.study.currency.to_lowercase())
}

/// The name, with the unit after it unless the words of the name say it already.
fn metric_column(info: &MetricInfo) -> String {
    let unit = match info.unit.as_str() {
        "" => return info.name.clone(),
        "s" => "seconds",
        "B" => "bytes",
        "%" => "percent",
        "1/s" => "per_second",
        "J" => "joules",
        other => other,
    };
    let plain = |c: char| {
        if c.is_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '_'
        }
    };
    let unit: String = unit.chars().map(plain).collect();
    // Between word ends, so that `seconds` is not found in `milliseconds`.
    let is_said = format!("_{}_", info.name).contains(&format!("_{unit}_"));
    match is_said {
        true => info.name.clone(),
        false => format!("{}_{unit}", info.name),
    }
}

fn level(levels: &[LevelFacts], factor: &str) -> String {
    levels
        .iter()
        .find(|l| l.factor == factor)
        .map(|l| l.level.clone())
        .unwrap_or_default()
}

/// All digits; powers of ten only where they would be a row of noughts.
fn number(value: Option<f64>) -> String {
    match value {
        Some(v) if !v.is_finite() => String::new(),
        Some(v) if v != 0.0 && !(1e-6..1e17).contains(&v.abs()) => format!("{v:e}"),
        Some(v) => v.to_string(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::run::metric::Better;

    #[test]
    fn a_column_says_its_unit_once() {
        let check = |name: &str, unit: &str, expected: &str| {
            let info = MetricInfo {
                name: name.to_owned(),
                label: String::new(),
                unit: unit.to_owned(),
                better: Better::Neither,
            };
            assert_eq!(metric_column(&info), expected);
        };
        check("total_seconds", "s", "total_seconds");
        check(
            "billed_seconds_per_request",
            "s",
            "billed_seconds_per_request",
        );
        check("cost_per_inference", "USD", "cost_per_inference_usd");
        check("images_per_second", "1/s", "images_per_second");
        check("accuracy", "%", "accuracy_percent");
        check("wait_milliseconds", "s", "wait_milliseconds_seconds");
        check("queue_depth", "rows", "queue_depth_rows");
        check("speed", "m/s", "speed_m_s");
        check("loss", "", "loss");
    }
}
