//! Tables for other programs: one a function, numbers unrounded, units in the column names. The
//! columns are documented in docs/results.md.

mod columns;
mod grid;
mod money;
mod told;

use analyse::lists::unique;
use analyse::{
    Analysis, CostResult, MetricInfo, RunRow, ScenarioResult, Summary, Variation, VariationTerm,
};
use model::run::metric;
use model::{EnergySource, Money};

use columns::Columns;
pub use grid::Grid;
pub(crate) use money::{bills, break_evens};
pub use told::ToldStep;
pub(crate) use told::{losses, profile, steps};

/// The name of a column and what it is of.
type Named<T, R> = (&'static str, fn(&T) -> R);

/// One row per run.
pub(crate) fn runs(analysis: &Analysis) -> Grid {
    let mut table = Columns::new(analysis);
    table.add("run", |run: &&RunRow| run.run.to_string());
    table.add("scenario", |run| format!("C{}", run.scenario));
    table.add("repetition", |run| run.repetition.to_string());
    table.add("status", |run| run.status.to_string());
    table.add("excluded", |run| run.excluded.clone().unwrap_or_default());
    table.add("imported", |run| run.imported.to_string());
    table.add("predicted", |run| run.prediction.is_some().to_string());
    table.add("environment", |run| run.environment.clone());
    table.add("started_utc", |run| {
        let started = run.started.map(|moment| moment.to_string());
        started.unwrap_or_default()
    });
    table.factors(|run| run.scenario);
    let unused: [Named<RunRow, Option<Money>>; 4] = [
        ("cost", |run| run.cost),
        ("unused_cost", |run| run.unused.map(|u| u.unused)),
        ("not_work_cost", |run| run.unused.map(|u| u.not_work)),
        ("expected_lost_cost", |run| {
            run.unused.map(|u| u.expected_lost)
        }),
    ];
    for (what, money) in unused {
        table.add(money_column(analysis, what), move |run| exact(money(run)));
    }
    for (place, info) in metrics(analysis) {
        table.add(metric_column(info), move |run| {
            number(run.values.get(place).copied().flatten())
        });
    }
    if has_energy(analysis) {
        table.add("energy_source", |run| {
            run.energy_source.map_or("", EnergySource::word).to_owned()
        });
    }
    table.add("warnings", |run| run.warnings.to_string());
    table.billed();
    table.grid(&analysis.runs)
}

/// One row a scenario: of each metric its mean with the interval, and the rest of its summary.
pub(crate) fn scenarios(analysis: &Analysis) -> Grid {
    let mut table = Columns::new(analysis);
    table.add("scenario", |s: &&ScenarioResult| s.label.clone());
    table.add("environment", |s| s.environment.clone());
    table.factors(|s| s.number);
    let counts: [Named<ScenarioResult, usize>; 8] = [
        ("runs_planned", |s| s.planned),
        ("runs_ok", |s| s.runs.ok),
        ("runs_failed", |s| s.runs.failed),
        ("runs_out_of_memory", |s| s.runs.out_of_memory),
        ("runs_timed_out", |s| s.runs.timed_out),
        ("runs_interrupted", |s| s.runs.interrupted),
        ("runs_not_measurable", |s| s.runs.not_measurable),
        ("runs_with_warnings", |s| s.warned_runs),
    ];
    for (name, count) in counts {
        table.add(name, move |s| count(s).to_string());
    }
    let costs: [Named<CostResult, Option<Money>>; 5] = [
        ("cost_mean", |cost| Some(cost.mean)),
        ("cost_total", |cost| Some(cost.total)),
        ("cost_per_epoch", |cost| cost.per_epoch),
        ("cost_per_thousand_images", |cost| cost.per_thousand_images),
        ("cost_per_thousand_steps", |cost| cost.per_thousand_steps),
    ];
    for (what, money) in costs {
        table.add(money_column(analysis, what), move |s| {
            exact(s.cost.as_ref().and_then(money))
        });
    }
    for (_, info) in metrics(analysis) {
        let name = metric_column(info);
        for (what, value) in SUMMARY {
            table.add(format!("{name}_{what}"), move |s| {
                number(s.metrics.get(&info.name).and_then(value))
            });
        }
    }
    if has_energy(analysis) {
        table.add("energy_source", |s| energy_sources(analysis, s.number));
    }
    table.billed();
    table.grid(&analysis.scenarios)
}

fn has_energy(analysis: &Analysis) -> bool {
    analysis.runs.iter().any(|run| run.energy_source.is_some())
}

fn energy_sources(analysis: &Analysis, scenario: u32) -> String {
    let runs = analysis.runs.iter().filter(|run| run.scenario == scenario);
    let words = unique(runs.filter_map(|run| run.energy_source.map(EnergySource::word)));
    words.join(", ")
}

const SUMMARY: [Named<Summary, Option<f64>>; 9] = [
    ("count", |s| Some(s.count as f64)),
    ("mean", |s| Some(s.mean.value)),
    ("low", |s| s.mean.interval.map(|i| i.low)),
    ("high", |s| s.mean.interval.map(|i| i.high)),
    ("sd", |s| Some(s.sd)),
    ("median", |s| Some(s.median)),
    ("min", |s| Some(s.min)),
    ("max", |s| Some(s.max)),
    ("cv", |s| s.cv),
];

/// A term of the analysis of variance, or the noise.
struct Part<'a> {
    variation: &'a Variation,
    /// `None` for the noise.
    term: Option<&'a VariationTerm>,
    degrees_of_freedom: usize,
    sum_of_squares: f64,
    share: Option<f64>,
}

/// One row per term.
pub(crate) fn variation(analysis: &Analysis) -> Grid {
    let mut table = Columns::new(analysis);
    table.add("metric", |part: &Part| part.variation.metric.clone());
    table.add("scale", |part| part.variation.scale.word().to_owned());
    table.add("term", |part| {
        part.term.map_or_else(|| "noise".to_owned(), |t| t.name())
    });
    table.add("degrees_of_freedom", |part| {
        part.degrees_of_freedom.to_string()
    });
    table.add("sum_of_squares", |part| number(Some(part.sum_of_squares)));
    table.add("share_fraction", |part| number(part.share));
    table.add("f", |part| number(part.term.and_then(|t| t.f)));
    table.add("p", |part| number(part.term.and_then(|t| t.p)));
    table.add("adjusted_p", |part| {
        number(part.term.and_then(|t| t.adjusted_p))
    });
    table.add("verdict", |part| {
        part.term.map_or("", |t| t.verdict.words()).to_owned()
    });
    table.add("sentence", |part| {
        part.term
            .and_then(|t| t.sentence.clone())
            .unwrap_or_default()
    });
    let parts = analysis.variations.iter().flat_map(|variation| {
        let terms = variation.terms.iter().map(move |term| Part {
            variation,
            term: Some(term),
            degrees_of_freedom: term.degrees_of_freedom,
            sum_of_squares: term.sum_of_squares,
            share: term.share(),
        });
        terms.chain(variation.noise.as_ref().map(|noise| Part {
            variation,
            term: None,
            degrees_of_freedom: noise.degrees_of_freedom,
            sum_of_squares: noise.sum_of_squares,
            share: Some(noise.share),
        }))
    });
    table.grid(parts)
}

/// Cost is written from the exact money, not from its `f64`.
pub(crate) fn metrics(analysis: &Analysis) -> impl Iterator<Item = (usize, &MetricInfo)> {
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

fn exact(money: Option<Money>) -> String {
    money
        .map(|m| m.amount.normalize().to_string())
        .unwrap_or_default()
}

pub(crate) fn money_column(analysis: &Analysis, what: &str) -> String {
    format!("{what}_{}", analysis.study.currency.to_lowercase())
}

/// The name, with the unit after it unless the words of the name say it already.
pub(crate) fn metric_column(info: &MetricInfo) -> String {
    let unit = match info.unit.as_str() {
        "" => return info.name.clone(),
        "s" => "seconds",
        "B" => "bytes",
        "%" => "percent",
        "1/s" => "per_second",
        "J" => "joules",
        "g" => "grams",
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

/// All digits; powers of ten only where they would be a row of noughts.
pub(crate) fn number(value: Option<f64>) -> String {
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
