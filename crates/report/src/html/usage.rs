//! Figures of resource use and phases.

use analyse::lists::unique;
use analyse::{Analysis, MetricInfo, ScenarioResult, ServedBy, format, phase_words};
use messages::{message, word};
use model::run::metric;

use super::axis::{Group, MetricAxis, figures_of, scenario_axis, together};
use super::page::Page;
use super::timeline;
use crate::figure::{Axis, BarMode, Colour, Extent, Figure, Mark, Point, Range, Series};
use crate::view::typical;

pub(super) fn resources(page: &mut Page, analysis: &Analysis) {
    let has = |name: &str| analysis.scenarios.iter().any(|s| s.mean(name).is_some());
    // Runs of before the mean was taken have the peak alone.
    let memory = match has(metric::MEAN_MEMORY_PERCENT) {
        true => metric::MEAN_MEMORY_PERCENT,
        false => metric::MEMORY_PERCENT,
    };
    let used = [
        (metric::CPU_PERCENT, Colour::Series(0)),
        (metric::GPU_PERCENT, Colour::Series(2)),
        (memory, Colour::Series(1)),
        (metric::GPU_MEMORY_PERCENT, Colour::Series(3)),
    ];
    let used: Vec<(&MetricInfo, Colour)> = used
        .into_iter()
        .filter(|(name, _)| has(name))
        .filter_map(|(name, colour)| Some((analysis.metric(name)?, colour)))
        .collect();
    let memory = analysis
        .metric(metric::PEAK_MEMORY_BYTES)
        .filter(|m| has(&m.name));
    if used.is_empty() && memory.is_none() {
        return;
    }
    page.open("resources", word!("section-resources"));
    let all: Vec<&ScenarioResult> = analysis
        .scenarios
        .iter()
        .filter(|s| s.runs.ok > 0)
        .collect();
    let memory = memory.map(|info| MetricAxis::new(info, &all));
    // A worker on demand may use a part of the machine, which its share of the whole says nothing of.
    let on_demand = |scenario: &ScenarioResult| {
        let mut served = analysis.serving.iter().flat_map(|s| &s.scenarios);
        served
            .any(|s| s.scenario == scenario.number && matches!(s.place, ServedBy::OnDemand { .. }))
    };
    let told = |info: &MetricInfo, scenarios: &[&ScenarioResult]| {
        scenarios.iter().any(|s| s.mean(&info.name).is_some())
    };
    page.pages(figures_of(analysis), |group| {
        let mut shares = Group {
            scenarios: group.scenarios.clone(),
            place: group.place.clone(),
        };
        shares.scenarios.retain(|s| !on_demand(s));
        let mut used = used.clone();
        used.retain(|(info, _)| told(info, &shares.scenarios));
        (!used.is_empty()).then(|| use_figure(&used, &shares))
    });
    if let Some(axis) = &memory {
        page.pages(figures_of(analysis), |group| {
            told(axis.info, &group.scenarios).then(|| memory_figure(axis, group))
        });
    }
    timeline::over_time(page, analysis);
    page.close();
}

fn use_figure(used: &[(&MetricInfo, Colour)], group: &Group) -> Figure {
    let scenarios = group.scenarios.as_slice();
    let bars = used
        .iter()
        .map(|(info, colour)| MetricAxis::new(info, scenarios).bars(scenarios, *colour));
    let names: Vec<String> = used.iter().map(|(info, _)| info.label.clone()).collect();
    let names = crate::markdown::capital(&format::listed(&names, 4));
    let caption = message!("usage-caption", names, place = group.place);
    let whole = Extent::Exactly(Range::new(0.0, 105.0));
    let y = Axis::linear("%", whole);
    Figure::new(caption, 340, scenario_axis(scenarios), y).with(bars.collect())
}

fn memory_figure(axis: &MetricAxis, group: &Group) -> Figure {
    let scenarios = group.scenarios.as_slice();
    let caption = message!("memory-caption", place = group.place);
    let y = Axis::linear(axis.title(), Extent::FromZero);
    Figure {
        legend: false,
        ..Figure::new(caption, 320, scenario_axis(scenarios), y)
            .with(vec![axis.bars(scenarios, Colour::Series(6))])
    }
}

pub(super) fn phases(page: &mut Page, analysis: &Analysis) {
    let all: Vec<&ScenarioResult> = analysis
        .scenarios
        .iter()
        .filter(|s| s.phases.len() > 1)
        .collect();
    if all.is_empty() {
        return;
    }
    let phases = all.iter().flat_map(|s| &s.phases);
    let names: Vec<&str> = unique(phases.map(|phase| phase.phase.as_str()));
    let totals = all.iter().map(|s| s.phases.iter().map(|p| p.seconds).sum());
    let unit = format::seconds_unit(typical(totals).unwrap_or(0.0));
    page.open("phases", word!("section-phases"));
    page.pages(together(analysis), |group| {
        let told = group.scenarios.iter().filter(|s| s.phases.len() > 1);
        let told: Vec<&ScenarioResult> = told.copied().collect();
        (!told.is_empty()).then(|| phases_figure(&names, &told, &unit, &group.place))
    });
    page.close();
}

fn phases_figure(
    names: &[&str],
    scenarios: &[&ScenarioResult],
    unit: &format::Unit,
    place: &str,
) -> Figure {
    let series = names.iter().enumerate().map(|(at, name)| {
        let bar = |(at, scenario): (usize, &&ScenarioResult)| {
            let phase = scenario.phases.iter().find(|p| p.phase == *name);
            let seconds = phase.map(|phase| phase.seconds);
            let said = seconds.map(|v| format!("{} {}", phase_words(name), format::duration(v)));
            Point::new(at as f64, seconds.map(|v| v / unit.scale)).says(said.unwrap_or_default())
        };
        let colour = phase_colour(&names[..=at]);
        Series::new(phase_words(name), colour, Mark::Bars)
            .with(scenarios.iter().enumerate().map(bar))
    });
    let caption = message!("phases-caption", place);
    let y = Axis::linear(
        format!("{} ({})", word!("head-time"), unit.name),
        Extent::FromZero,
    );
    Figure {
        bars: BarMode::Stacked,
        ..Figure::new(caption, 400, scenario_axis(scenarios), y).with(series.collect())
    }
}

/// Of the last one of these. Training is what the time figure shows, so it has that figure's
/// colour, and takes none from the others.
fn phase_colour(names: &[&str]) -> Colour {
    let is_other = |name: &&&str| **name != model::run::phase::TRAIN;
    match names.last().filter(is_other) {
        None => Colour::Series(0),
        Some(_) => Colour::Series((names.iter().filter(is_other).count() - 1) % 7 + 1),
    }
}
