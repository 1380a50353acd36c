//! Time and cost of scenarios.

use analyse::{Analysis, MetricInfo, ScenarioResult};

use super::axis::{Group, MetricAxis, by_environment, scenario_axis};
use super::page::Page;
use crate::figure::{Axis, Colour, Extent, Figure, Mark, Point, Series, Side, Symbol};

/// Above this, single runs are a cloud.
const MOST_POINTS: usize = 600;

/// Bars of time with the cost beside them, one figure an environment (study A of docs/studies.md).
pub(super) fn time_and_cost(page: &mut Page, analysis: &Analysis) {
    let Some(info) = time_metric(analysis) else {
        return;
    };
    let unpriced = analysis.bills.is_empty();
    page.open("time", if unpriced { "Time" } else { "Time and cost" });
    let all: Vec<&ScenarioResult> = analysis.scenarios.iter().collect();
    // One unit for all figures, so that they can be compared.
    let axis = MetricAxis::new(info, &all);
    for group in by_environment(analysis) {
        if group.scenarios.iter().any(|s| axis.value(s).is_some()) {
            page.figure(&time_figure(analysis, &axis, &group));
        }
    }
    page.close();
}

fn time_metric(analysis: &Analysis) -> Option<&MetricInfo> {
    analysis.metric(analysis.time_metric.as_deref()?)
}

fn time_figure(analysis: &Analysis, axis: &MetricAxis, group: &Group) -> Figure {
    let scenarios = group.scenarios.as_slice();
    let mut series = vec![axis.bars(scenarios, Colour::Series(0))];
    let dots = analysis.runs.len() <= MOST_POINTS;
    if dots {
        series.push(axis.single_runs(analysis, scenarios));
    }
    let missing = without_a_bar(axis, scenarios);
    if !missing.points.is_empty() {
        series.push(missing);
    }
    let priced = scenarios.iter().any(|s| s.cost.is_some());
    let currency = &analysis.study.currency;
    if priced {
        series.push(costs(scenarios, &format!("cost ({currency})")));
    }
    let cost = if priced {
        ", with the cost of a run as diamonds (axis on the right)"
    } else {
        ""
    };
    let runs = if dots { ", dots single runs" } else { "" };
    let caption = format!(
        "Mean {}{} of each scenario{cost}; whiskers are 95 % intervals{runs}.",
        axis.info.label, group.place
    );
    let y = Axis::linear(axis.title(), Extent::FromZero).switchable();
    let right = format!("cost per run ({currency})");
    Figure {
        right: priced.then(|| Axis::linear(right, Extent::FromZero).switchable()),
        ..Figure::new(caption, 420, scenario_axis(scenarios), y).with(series)
    }
}

/// From the middle of a bar, where its whisker is.
const BESIDE: f64 = 0.28;

/// A line would say that there is something between two scenarios.
fn costs(scenarios: &[&ScenarioResult], name: &str) -> Series {
    let point = |(place, scenario): (usize, &&ScenarioResult)| {
        let cost = scenario.cost.as_ref()?;
        Some(Point {
            symbol: Symbol::Diamond,
            ..Point::new(place as f64 + BESIDE, cost.estimate.value)
                .says(format!("cost {}", cost.mean))
        })
    };
    let points = scenarios.iter().enumerate().filter_map(point);
    // Smaller where they would cover each other.
    let size = match scenarios.len() {
        0..=50 => 10.0,
        51..=120 => 8.0,
        _ => 5.0,
    };
    Series {
        on: Side::Right,
        ..Series::new(name, Colour::Series(1), Mark::Symbols { size }).with(points)
    }
}

/// Not fitting in memory is a result: it stands where the bar would.
fn without_a_bar(axis: &MetricAxis, scenarios: &[&ScenarioResult]) -> Series {
    let missing = scenarios.iter().enumerate();
    let missing = missing.filter(|(_, s)| axis.value(s).is_none());
    let words = missing.map(|(place, scenario)| Point {
        label: scenario.runs.text(),
        ..Point::new(place as f64, 6.0).says(scenario.runs.text())
    });
    Series {
        on: Side::Foot,
        ..Series::new("", Colour::Muted, Mark::Words).with(words)
    }
}
