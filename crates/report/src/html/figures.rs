//! Time and cost of scenarios.

use analyse::{Analysis, MetricInfo, ScenarioResult};
use messages::{message, word};
use model::run::metric;

use super::axis::{Group, MetricAxis, figures_of, scenario_axis};
use super::page::Page;
use crate::figure::{Axis, Colour, Extent, Figure, Mark, Point, Series, Side, Symbol};
use crate::tables::{currency_symbol, money};

/// Above this, single runs are a cloud.
const MOST_POINTS: usize = 600;

/// Bars of time with the cost beside them, one figure an environment (study A of docs/studies.md).
pub(super) fn time_and_cost(page: &mut Page, analysis: &Analysis) {
    let Some(info) = time_metric(analysis) else {
        return;
    };
    let unpriced = analysis.bills.is_empty();
    page.open(
        "time",
        if unpriced {
            word!("section-time")
        } else {
            word!("section-time-and-cost")
        },
    );
    let all: Vec<&ScenarioResult> = analysis.scenarios.iter().collect();
    // One unit for all figures, so that they can be compared.
    let axis = MetricAxis::new(info, &all);
    page.pages(figures_of(analysis), |group| {
        let is_told = group.scenarios.iter().any(|s| axis.value(s).is_some());
        is_told.then(|| time_figure(analysis, &axis, group))
    });
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
    let unit = CostUnit::of(analysis);
    let priced = scenarios.iter().any(|s| unit.value(s).is_some());
    let right = format!("{} ({})", unit.cost_per(), currency_symbol(analysis));
    if priced {
        series.push(costs(analysis, scenarios, &right, unit));
    }
    let caption = message!(
        "time-caption",
        label = axis.info.label,
        place = group.place,
        cost = if priced { unit.name() } else { "none" },
        dots
    );
    let y = Axis::linear(axis.title(), Extent::FromZero).switchable();
    Figure {
        right: priced.then(|| Axis::linear(right, Extent::FromZero).switchable()),
        ..Figure::new(caption, 420, scenario_axis(scenarios), y).with(series)
    }
}

/// What one pays for: a run that trains, a response of one that serves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CostUnit {
    Run,
    MillionResponses,
}

impl CostUnit {
    fn of(analysis: &Analysis) -> Self {
        match analysis.metric(metric::COST_PER_INFERENCE) {
            Some(_) => CostUnit::MillionResponses,
            None => CostUnit::Run,
        }
    }

    /// As messages choose by it.
    fn name(self) -> &'static str {
        match self {
            CostUnit::Run => "run",
            CostUnit::MillionResponses => "million",
        }
    }

    fn cost_per(self) -> &'static str {
        match self {
            CostUnit::Run => word!("head-cost-per-run"),
            CostUnit::MillionResponses => word!("head-cost-per-million"),
        }
    }

    fn value(self, scenario: &ScenarioResult) -> Option<f64> {
        match self {
            CostUnit::Run => Some(scenario.cost.as_ref()?.estimate.value),
            CostUnit::MillionResponses => {
                Some(1e6 * scenario.mean(metric::COST_PER_INFERENCE)?.value)
            }
        }
    }

    fn says(self, analysis: &Analysis, value: f64) -> String {
        let cost = money(value, &analysis.study.currency);
        message!("time-says-cost", cost, per = self.name())
    }
}

/// From the middle of a bar, where its whisker is.
const BESIDE: f64 = 0.28;

/// A line would say that there is something between two scenarios.
fn costs(analysis: &Analysis, scenarios: &[&ScenarioResult], name: &str, unit: CostUnit) -> Series {
    let point = |(place, scenario): (usize, &&ScenarioResult)| {
        let value = unit.value(scenario)?;
        Some(Point {
            symbol: Symbol::Diamond,
            ..Point::new(place as f64 + BESIDE, value).says(unit.says(analysis, value))
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
