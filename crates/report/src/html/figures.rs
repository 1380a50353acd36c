//! Figures as Plotly specifications. Colours are names (`@1`, `@muted`) that the script turns into
//! those of the light or the dark page; text passes [`label`], as Plotly reads tags in it.

use analyse::{Analysis, MetricInfo, ScenarioResult, format};
use model::run::metric;
use serde_json::{Value, json};

use super::axis::{Axis, hover, label, labels, ticks};
use super::page::{Figure, LogSwitch, Page};

/// Above this, single runs are a cloud and curves a tangle.
const MOST_POINTS: usize = 600;
const MOST_CURVES: usize = 48;

/// Bars of time with the cost as a line, one figure an environment (METHOD.md A).
pub(super) fn time_and_cost(page: &mut Page, analysis: &Analysis) {
    let Some(info) = analysis
        .time_metric
        .as_deref()
        .and_then(|name| analysis.metric(name))
    else {
        return;
    };
    let environments = analysis.environments();
    let several = environments.len() > 1;
    page.open(
        "time",
        if analysis.bills.is_empty() {
            "Time"
        } else {
            "Time and cost"
        },
    );
    for environment in environments {
        let scenarios: Vec<&ScenarioResult> = analysis
            .scenarios
            .iter()
            .filter(|s| s.environment == environment && s.runs.total() > 0)
            .collect();
        if scenarios.iter().any(|s| s.mean(&info.name).is_some()) {
            let place = if several {
                format!(" on {environment}")
            } else {
                String::new()
            };
            page.figure(&time_figure(analysis, info, &scenarios, &place));
        }
    }
    page.close();
}

fn time_figure(
    analysis: &Analysis,
    info: &MetricInfo,
    scenarios: &[&ScenarioResult],
    place: &str,
) -> Figure {
    let axis = Axis::new(info, scenarios);
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
        "annotations": without_a_bar(info, scenarios),
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
            "Mean {}{place} of each scenario{cost}; whiskers are 95 % intervals, dots single runs.",
            info.label
        ),
        height: 420,
        data,
        layout,
        log_switch: Some(LogSwitch::StartsLinear),
    }
}

/// Not fitting in memory is a result: it stands where the bar would.
fn without_a_bar(info: &MetricInfo, scenarios: &[&ScenarioResult]) -> Vec<Value> {
    let missing = scenarios.iter().filter(|s| s.mean(&info.name).is_none());
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
    let Some(info) = analysis
        .time_metric
        .as_deref()
        .and_then(|name| analysis.metric(name))
    else {
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

pub(super) fn resources(page: &mut Page, analysis: &Analysis) {
    let used = [
        (metric::CPU_PERCENT, "@1"),
        (metric::GPU_PERCENT, "@3"),
        (metric::MEMORY_PERCENT, "@2"),
        (metric::GPU_MEMORY_PERCENT, "@4"),
    ];
    let has = |name: &str| analysis.scenarios.iter().any(|s| s.mean(name).is_some());
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
    if !used.is_empty() {
        let bars = used
            .iter()
            .map(|(info, colour)| Axis::new(info, &all).bars(&all, colour));
        let names: Vec<String> = used.iter().map(|(info, _)| info.label.clone()).collect();
        page.figure(&Figure {
            caption: format!("{} of each scenario while training, mean of its runs; 100 % is all that a run may use.", format::listed(&names, 4)),
            height: 340,
            data: bars.collect(),
            layout: json!({
                "xaxis": ticks(&all), "yaxis": { "title": { "text": "%" }, "range": [0, 105] },
                "legend": { "orientation": "h", "y": 1.15, "x": 0 }, "barmode": "group", "showlegend": true,
            }),
            log_switch: None,
        });
    }
    if let Some(info) = memory {
        let axis = Axis::new(info, &all);
        page.figure(&Figure {
            caption: "Peak memory of the run's processes, as the kernel counted it.".to_owned(),
            height: 320,
            data: vec![axis.bars(&all, "@5")],
            layout: json!({ "xaxis": ticks(&all), "yaxis": { "title": { "text": axis.title() }, "rangemode": "tozero" }, "showlegend": false }),
            log_switch: None,
        });
    }
    page.close();
}

pub(super) fn learning(page: &mut Page, analysis: &Analysis) {
    let told: Vec<&ScenarioResult> = analysis
        .scenarios
        .iter()
        .filter(|s| s.curve.iter().any(|p| p.loss.is_some()))
        .collect();
    if told.is_empty() {
        return;
    }
    page.open("learning", "Learning");
    let shown = &told[..told.len().min(MOST_CURVES)];
    let more = match told.len() - shown.len() {
        0 => String::new(),
        left => format!(
            " The first {} of {} scenarios.",
            shown.len(),
            shown.len() + left
        ),
    };
    page.figure(&Figure {
        caption: format!("Loss after each epoch, mean over the repetitions; a logarithmic axis shows late progress.{more}"),
        height: 420,
        data: shown.iter().enumerate().map(|(place, s)| curve(place, s, |p| p.loss)).collect(),
        layout: json!({
            "xaxis": { "title": { "text": "epoch" }, "dtick": epoch_step(shown) },
            "yaxis": { "title": { "text": "loss" }, "type": "log", "tickformat": "~g" },
        }),
        log_switch: Some(LogSwitch::StartsLogarithmic),
    });
    if shown
        .iter()
        .any(|s| s.curve.iter().any(|p| p.accuracy_percent.is_some()))
    {
        page.figure(&Figure {
            caption: "Accuracy after each epoch, mean over the repetitions.".to_owned(),
            height: 380,
            data: shown
                .iter()
                .enumerate()
                .map(|(place, s)| curve(place, s, |p| p.accuracy_percent))
                .collect(),
            layout: json!({
                "xaxis": { "title": { "text": "epoch" }, "dtick": epoch_step(shown) },
                "yaxis": { "title": { "text": "accuracy (%)" } },
            }),
            log_switch: None,
        });
    }
    page.close();
}

/// Whole epochs, about ten of them.
fn epoch_step(scenarios: &[&ScenarioResult]) -> u32 {
    let last = scenarios
        .iter()
        .flat_map(|s| &s.curve)
        .map(|p| p.epoch)
        .max()
        .unwrap_or(1);
    last.div_ceil(10).max(1)
}

fn curve(
    place: usize,
    scenario: &ScenarioResult,
    value: fn(&analyse::CurvePoint) -> Option<f64>,
) -> Value {
    const DASHES: [&str; 4] = ["solid", "dash", "dot", "dashdot"];
    let points: Vec<_> = scenario
        .curve
        .iter()
        .filter(|p| value(p).is_some())
        .collect();
    let colour = format!("@{}", place % 8 + 1);
    let text: Vec<String> = points
        .iter()
        .map(|p| {
            hover(
                scenario,
                &[format!(
                    "epoch {}: {}",
                    p.epoch,
                    format::significant(value(p).unwrap_or(f64::NAN), 3)
                )],
            )
        })
        .collect();
    json!({
        "type": "scatter", "mode": "lines+markers",
        "name": label(&format!("{} {}", scenario.label, scenario.phrase())),
        "x": points.iter().map(|p| p.epoch).collect::<Vec<_>>(),
        "y": points.iter().map(|p| value(p)).collect::<Vec<_>>(),
        "text": text, "hoverinfo": "text",
        "line": { "color": colour, "width": 2, "dash": DASHES[place / 8 % 4] }, "marker": { "color": colour, "size": 6 },
    })
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
            "marker": { "color": phase_colour(name, place) },
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

/// Training is what the time figure shows, so it has that figure's colour.
fn phase_colour(name: &str, place: usize) -> String {
    if name == model::run::phase::TRAIN {
        "@1".to_owned()
    } else {
        format!("@{}", place % 7 + 2)
    }
}
