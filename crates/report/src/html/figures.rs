//! Time and cost of scenarios.

use analyse::{Analysis, LevelFacts, MetricInfo, ScenarioResult};

use super::axis::{Group, MetricAxis, by_environment, heading, scenario_axis};
use super::page::Page;
use crate::figure::{Axis, Colour, Dash, Extent, Figure, Line, Mark, Point, Series, Side, Symbol};

/// Above this, single runs are a cloud.
const MOST_POINTS: usize = 600;
/// More names than this cover each other.
const MOST_LABELS: usize = 40;

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

/// Time against cost: who is on the Pareto line.
pub(super) fn choice(page: &mut Page, analysis: &Analysis) {
    let Some(info) = time_metric(analysis) else {
        return;
    };
    let priced: Vec<&ScenarioResult> = analysis
        .scenarios
        .iter()
        .filter(|s| s.cost.is_some() && s.mean(&info.name).is_some())
        .collect();
    if priced.len() < 3 {
        return;
    }
    page.open("choice", "What to choose");
    page.list("findings", &analysis.best.sentences);
    page.figure(&choice_figure(analysis, info, &priced));
    page.close();
}

fn choice_figure(analysis: &Analysis, info: &MetricInfo, priced: &[&ScenarioResult]) -> Figure {
    let axis = MetricAxis::new(info, priced);
    let pareto: Vec<u32> = analysis.best.pareto().collect();
    let found = |number: &u32| priced.iter().find(|s| s.number == *number).copied();
    let others = priced.iter().copied();
    let others: Vec<&ScenarioResult> = others.filter(|s| !pareto.contains(&s.number)).collect();
    let labelled = priced.len() <= MOST_LABELS;
    let size = 9.0;
    let line = Line {
        dots: size,
        ..Line::plain(2.0, Dash::Dotted)
    };
    let mut series = vec![
        Series::new(
            "slower and more expensive",
            Colour::Muted,
            Mark::Symbols { size },
        )
        .with(choice_points(&axis, &others, labelled)),
    ];
    let tasks = &analysis.best.tasks;
    for (place, task) in tasks.iter().enumerate() {
        let on_line: Vec<&ScenarioResult> = task.pareto.iter().filter_map(found).collect();
        let (name, colour) = match tasks.len() {
            1 => ("Pareto line".to_owned(), Colour::Series(2)),
            _ => (LevelFacts::phrase_of(&task.task), Colour::Series(place)),
        };
        let line = Series::new(&name, colour, Mark::Line(line));
        series.push(line.with(choice_points(&axis, &on_line, labelled || tasks.len() == 1)));
    }
    let cost = format!("cost of a run ({})", analysis.study.currency);
    Figure::new(
        "Time against cost per run, one point per scenario. Lower left is better; no scenario of the same task is both faster and cheaper than a point on its Pareto line.",
        420,
        Axis::linear(axis.title(), Extent::FromZero).switchable(),
        Axis::linear(cost, Extent::FromZero).switchable(),
    )
    .with(series)
}

fn choice_points(axis: &MetricAxis, scenarios: &[&ScenarioResult], labelled: bool) -> Vec<Point> {
    let point = |scenario: &&ScenarioResult| {
        let cost = scenario.cost.as_ref()?;
        let says = format!(
            "{}\n{}\n{}",
            heading(scenario),
            axis.text(scenario),
            cost.mean
        );
        Some(Point {
            label: match labelled {
                true => scenario.label.clone(),
                false => String::new(),
            },
            ..Point::new(axis.value(scenario)?, cost.estimate.value).says(says)
        })
    };
    scenarios.iter().filter_map(point).collect()
}
