//! Figures of what runs did besides taking time: use of the machine, phases.

use analyse::{Analysis, MetricInfo, Place, ScenarioResult, format};
use model::run::metric;
use serde_json::json;

use super::axis::{Axis, Group, by_environment, hover, label, labels, ticks};
use super::page::{Figure, Page};
use super::timeline;

pub(super) fn resources(page: &mut Page, analysis: &Analysis) {
    let has = |name: &str| analysis.scenarios.iter().any(|s| s.mean(name).is_some());
    // Runs of before the mean was taken have the peak alone.
    let memory = match has(metric::MEAN_MEMORY_PERCENT) {
        true => metric::MEAN_MEMORY_PERCENT,
        false => metric::MEMORY_PERCENT,
    };
    let used = [
        (metric::CPU_PERCENT, "@1"),
        (metric::GPU_PERCENT, "@3"),
        (memory, "@2"),
        (metric::GPU_MEMORY_PERCENT, "@4"),
    ];
    let used: Vec<(&MetricInfo, &str)> = used
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
    page.open("resources", "Use of the machine");
    let all: Vec<&ScenarioResult> = analysis
        .scenarios
        .iter()
        .filter(|s| s.runs.ok > 0)
        .collect();
    let memory = memory.map(|info| Axis::new(info, &all));
    // A worker on demand may use a part of the machine, which its share of the whole says nothing of.
    let on_demand = |scenario: &ScenarioResult| {
        let mut served = analysis.serving.iter().flat_map(|s| &s.scenarios);
        served.any(|s| s.scenario == scenario.number && matches!(s.place, Place::OnDemand { .. }))
    };
    for group in by_environment(analysis) {
        let shares = Group {
            scenarios: group
                .scenarios
                .iter()
                .copied()
                .filter(|s| !on_demand(s))
                .collect(),
            place: group.place.clone(),
        };
        let told = |info: &MetricInfo, group: &Group| {
            group.scenarios.iter().any(|s| s.mean(&info.name).is_some())
        };
        let used: Vec<(&MetricInfo, &str)> = used
            .iter()
            .filter(|(info, _)| told(info, &shares))
            .copied()
            .collect();
        if !used.is_empty() {
            page.figure(&use_figure(&used, &shares));
        }
        if let Some(axis) = memory.as_ref().filter(|axis| told(axis.info, &group)) {
            page.figure(&memory_figure(axis, &group));
        }
    }
    timeline::over_time(page, analysis);
    page.close();
}

fn use_figure(used: &[(&MetricInfo, &str)], group: &Group) -> Figure {
    let scenarios = group.scenarios.as_slice();
    let bars = used
        .iter()
        .map(|(info, colour)| Axis::new(info, scenarios).bars(scenarios, colour));
    let names: Vec<String> = used.iter().map(|(info, _)| info.label.clone()).collect();
    let names = crate::markdown::capital(&format::listed(&names, 4));
    Figure {
        caption: format!(
            "{names} of each scenario{} while training, mean of its runs; 100 % is all that a run may use.",
            group.place
        ),
        height: 340,
        data: bars.collect(),
        layout: json!({
            "xaxis": ticks(scenarios), "yaxis": { "title": { "text": "%" }, "range": [0, 105] },
            "legend": { "orientation": "h", "y": 1.15, "x": 0 }, "barmode": "group", "showlegend": true,
        }),
        log_switch: None,
    }
}

fn memory_figure(axis: &Axis, group: &Group) -> Figure {
    let scenarios = group.scenarios.as_slice();
    Figure {
        caption: format!(
            "Peak memory of the run's processes{}, as the kernel counted it.",
            group.place
        ),
        height: 320,
        data: vec![axis.bars(scenarios, "@5")],
        layout: json!({
            "xaxis": ticks(scenarios), "showlegend": false,
            "yaxis": { "title": { "text": axis.title() }, "rangemode": "tozero" },
        }),
        log_switch: None,
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
    let mut names: Vec<&str> = Vec::new();
    for phase in all.iter().flat_map(|s| &s.phases) {
        if !names.contains(&phase.phase.as_str()) {
            names.push(&phase.phase);
        }
    }
    let seconds = |s: &ScenarioResult, name: &str| {
        s.phases.iter().find(|p| p.phase == name).map(|p| p.seconds)
    };
    let mut totals: Vec<f64> = all
        .iter()
        .map(|s| s.phases.iter().map(|p| p.seconds).sum())
        .collect();
    totals.sort_by(f64::total_cmp);
    let unit = format::seconds_unit(totals[totals.len() / 2]);
    let bars = names.iter().enumerate().map(|(place, name)| {
        let text = |s: &&ScenarioResult| {
            hover(
                s,
                &[format!(
                    "{name} {}",
                    seconds(s, name).map(format::duration).unwrap_or_default()
                )],
            )
        };
        json!({
            "type": "bar", "name": label(name), "x": labels(&all), "hoverinfo": "text",
            "y": all.iter().map(|s| seconds(s, name).map(|v| v / unit.scale)).collect::<Vec<_>>(),
            "text": all.iter().map(text).collect::<Vec<_>>(), "textposition": "none",
            "marker": { "color": phase_colour(&names[..=place]) },
        })
    });
    page.open("phases", "Where the time goes");
    page.figure(&Figure {
        caption: "Phases of a run's life, mean seconds of each scenario. What is paid besides training is seen here.".to_owned(),
        height: 400,
        data: bars.collect(),
        layout: json!({
            "xaxis": ticks(&all), "yaxis": { "title": { "text": format!("time ({})", unit.name) } },
            "barmode": "stack", "legend": { "orientation": "h", "y": 1.15, "x": 0, "traceorder": "normal" },
        }),
        log_switch: None,
    });
    page.close();
}

/// Of the last one of these. Training is what the time figure shows, so it has that figure's
/// colour, and takes none from the others.
fn phase_colour(names: &[&str]) -> String {
    let is_other = |name: &&&str| **name != model::run::phase::TRAIN;
    match names.last().filter(is_other) {
        None => "@1".to_owned(),
        Some(_) => format!("@{}", (names.iter().filter(is_other).count() - 1) % 7 + 2),
    }
}
