//! Figures as Plotly specifications. Colours are names (`@1`, `@muted`) that the script turns into
//! those of the light or the dark page; text passes [`label`], as Plotly reads tags in it.

use analyse::{Analysis, MetricInfo, ScenarioResult};
use serde_json::{Value, json};

use super::axis::{Axis, Group, by_environment, hover, label, labels, ticks};
use super::page::{Figure, LogSwitch, Page};

/// Above this, single runs are a cloud.
const MOST_POINTS: usize = 600;

/// Bars of time with the cost as a line, one figure an environment (study A of docs/studies.md).
pub(super) fn time_and_cost(page: &mut Page, analysis: &Analysis) {
    let Some(info) = time_metric(analysis) else {
        return;
    };
    let unpriced = analysis.bills.is_empty();
    page.open("time", if unpriced { "Time" } else { "Time and cost" });
    let all: Vec<&ScenarioResult> = analysis.scenarios.iter().collect();
    // One unit for all figures, so that they can be compared.
    let axis = Axis::new(info, &all);
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

fn time_figure(analysis: &Analysis, axis: &Axis, group: &Group) -> Figure {
    let scenarios = group.scenarios.as_slice();
    let mut data = vec![axis.bars(scenarios, "@1")];
    if analysis.runs.len() <= MOST_POINTS {
        data.push(axis.single_runs(analysis, scenarios));
    }
    let costs: Vec<Option<f64>> = scenarios
        .iter()
        .map(|s| s.cost.as_ref().map(|c| c.estimate.value))
        .collect();
    let priced = costs.iter().any(Option::is_some);
    let currency = &analysis.study.currency;
    if priced {
        let text: Vec<String> = scenarios
            .iter()
            .map(|s| {
                hover(
                    s,
                    &[s.cost
                        .as_ref()
                        .map(|c| format!("cost {}", c.mean))
                        .unwrap_or_default()],
                )
            })
            .collect();
        data.push(json!({
            "type": "scatter", "mode": "lines+markers", "name": format!("cost ({currency})"), "yaxis": "y2",
            "x": labels(scenarios), "y": costs, "text": text, "hoverinfo": "text",
            "line": { "color": "@2", "width": 2 }, "marker": { "color": "@2", "size": 8 },
        }));
    }
    let mut layout = json!({
        "xaxis": ticks(scenarios),
        "yaxis": { "title": { "text": axis.title() }, "rangemode": "tozero" },
        "legend": { "orientation": "h", "y": 1.12, "x": 0 },
        "barmode": "overlay",
        "annotations": without_a_bar(axis, scenarios),
    });
    if priced {
        layout["yaxis2"] = json!({
            "title": { "text": format!("cost of a run ({currency})") }, "overlaying": "y", "side": "right",
            "rangemode": "tozero", "showgrid": false, "exponentformat": "none",
        });
    }
    let cost = if priced {
        ", with the cost of a run as a line"
    } else {
        ""
    };
    Figure {
        caption: format!(
            "Mean {}{} of each scenario{cost}; whiskers are 95 % intervals, dots single runs.",
            axis.info.label, group.place
        ),
        height: 420,
        data,
        layout,
        log_switch: Some(LogSwitch::StartsLinear),
    }
}

/// Not fitting in memory is a result: it stands where the bar would.
fn without_a_bar(axis: &Axis, scenarios: &[&ScenarioResult]) -> Vec<Value> {
    let missing = scenarios.iter().filter(|s| axis.value(s).is_none());
    let annotation = |s: &&ScenarioResult| {
        json!({
            "x": s.label, "y": 0, "yref": "paper", "text": label(&s.runs.text()), "textangle": -90,
            "xanchor": "center", "yanchor": "bottom", "showarrow": false, "font": { "color": "@muted" },
        })
    };
    missing.map(annotation).collect()
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
    let axis = Axis::new(info, &priced);
    let on_line: Vec<&ScenarioResult> = analysis
        .best
        .pareto
        .iter()
        .filter_map(|n| priced.iter().find(|s| s.number == *n).copied())
        .collect();
    let trace = |scenarios: &[&ScenarioResult], name: &str, mode: &str, colour: &str| {
        let cost = |s: &&ScenarioResult| s.cost.as_ref().map(|c| c.estimate.value);
        let about = |s: &&ScenarioResult| {
            let money = s
                .cost
                .as_ref()
                .map(|c| c.mean.to_string())
                .unwrap_or_default();
            hover(s, &[axis.text(s), money])
        };
        json!({
            "type": "scatter", "mode": mode, "name": name,
            "x": scenarios.iter().map(|s| axis.value(s)).collect::<Vec<_>>(),
            "y": scenarios.iter().map(cost).collect::<Vec<_>>(),
            "text": labels(scenarios), "hovertext": scenarios.iter().map(about).collect::<Vec<_>>(),
            "hoverinfo": "text", "textposition": "top center",
            "line": { "color": colour, "width": 2, "dash": "dot" }, "marker": { "color": colour, "size": 9 },
        })
    };
    let others: Vec<&ScenarioResult> = priced
        .iter()
        .filter(|s| !analysis.best.pareto.contains(&s.number))
        .copied()
        .collect();
    let words = if priced.len() <= 40 {
        "markers+text"
    } else {
        "markers"
    };
    page.open("choice", "What to choose");
    page.list(
        "findings",
        analysis.best.sentences.iter().map(String::as_str),
    );
    page.figure(&Figure {
        caption: "Time against cost of a run, each scenario a point. Left and low is better; nothing beats the points on the Pareto line in both.".to_owned(),
        height: 420,
        data: vec![
            trace(&others, "beaten in both", words, "@muted"),
            trace(&on_line, "Pareto line", "lines+markers+text", "@3"),
        ],
        layout: json!({
            "xaxis": { "title": { "text": axis.title() }, "rangemode": "tozero" },
            "yaxis": { "title": { "text": format!("cost of a run ({})", analysis.study.currency) }, "rangemode": "tozero", "exponentformat": "none" },
            "legend": { "orientation": "h", "y": 1.12, "x": 0 },
        }),
        log_switch: Some(LogSwitch::StartsLinear),
    });
    page.close();
}
