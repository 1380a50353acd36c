//! Means of scenarios in the Bencher metric format, for continuous benchmarking: a benchmark per
//! scenario, a measure per metric, with the ends of its interval.

use analyse::{Analysis, Estimate, ScenarioResult};
use serde_json::{Map, Value, json};

use crate::delimited::{metric_column, metrics, money_column};

pub(crate) fn bencher(analysis: &Analysis) -> String {
    let benchmarks = analysis.scenarios.iter().filter_map(|scenario| {
        let measures = measures(analysis, scenario);
        (!measures.is_empty()).then(|| (name(analysis, scenario), Value::Object(measures)))
    });
    let benchmarks: Map<String, Value> = benchmarks.collect();
    format!("{:#}\n", Value::Object(benchmarks))
}

/// By its levels: numbers of scenarios change when a study grows.
fn name(analysis: &Analysis, scenario: &ScenarioResult) -> String {
    let levels = scenario.levels.iter();
    let levels: Vec<String> = levels
        .map(|level| format!("{}={}", level.factor, level.level))
        .collect();
    match levels.is_empty() {
        true => analysis.study.name.clone(),
        false => format!("{}: {}", analysis.study.name, levels.join(", ")),
    }
}

fn measures(analysis: &Analysis, scenario: &ScenarioResult) -> Map<String, Value> {
    let mut measures = Map::new();
    let mut add = |name: String, estimate: &Estimate| {
        if estimate.value.is_finite() {
            measures.insert(name, measure(estimate));
        }
    };
    for (_, info) in metrics(analysis) {
        if let Some(summary) = scenario.metrics.get(&info.name) {
            add(metric_column(info), &summary.mean);
        }
    }
    if let Some(cost) = &scenario.cost {
        add(money_column(analysis, "cost"), &cost.estimate);
    }
    measures
}

fn measure(estimate: &Estimate) -> Value {
    match estimate.interval {
        Some(interval) => json!({
            "value": estimate.value,
            "lower_value": interval.low,
            "upper_value": interval.high,
        }),
        None => json!({ "value": estimate.value }),
    }
}
