//! Use of the machine over time, of one run of each scenario.

use analyse::{Analysis, Timeline, UsePoint};
use serde_json::{Value, json};

use super::axis::{by_environment, label};
use super::page::{Figure, Page};
use crate::tables::scenario;

/// Lines that are seen at once; a reader switches the others on.
const SEEN: usize = 8;

/// What is drawn, where any run tells it.
struct Quantity {
    title: &'static str,
    words: &'static str,
    of: fn(&UsePoint) -> Option<f64>,
}

const QUANTITIES: [Quantity; 3] = [
    Quantity {
        title: "cores used",
        words: "Cores used",
        of: |point| point.cores_used,
    },
    Quantity {
        title: "GPU use (%)",
        words: "Use of the GPUs, their mean,",
        of: |point| point.gpu_percent,
    },
    Quantity {
        title: "GPU memory use (%)",
        words: "Use of the GPUs' memory, their mean,",
        of: |point| point.gpu_memory_percent,
    },
];

pub(super) fn over_time(page: &mut Page, analysis: &Analysis) {
    for group in by_environment(analysis) {
        let is_here = |line: &&Timeline| group.scenarios.iter().any(|s| s.number == line.scenario);
        let lines: Vec<&Timeline> = analysis.timelines.iter().filter(is_here).collect();
        for quantity in &QUANTITIES {
            let data: Vec<Value> = lines
                .iter()
                .filter_map(|line| drawn(analysis, line, quantity))
                .collect();
            if data.is_empty() {
                continue;
            }
            let data = data.into_iter().enumerate().map(shown).collect();
            page.figure(&Figure {
                caption: format!(
                    "{} over time{}, of one run of each scenario. Names in the legend switch lines on and off.",
                    quantity.words, group.place
                ),
                height: 340,
                data,
                layout: json!({
                    "xaxis": { "title": { "text": "s since the start of the run" }, "rangemode": "tozero" },
                    "yaxis": { "title": { "text": quantity.title }, "rangemode": "tozero" },
                    "showlegend": true,
                }),
                log_switch: None,
            });
        }
    }
}

/// None where fewer than two moments tell it: a short run has no course.
fn drawn(analysis: &Analysis, line: &Timeline, quantity: &Quantity) -> Option<Value> {
    let told = line.points.iter();
    let told = told.filter_map(|point| Some((point.seconds, (quantity.of)(point)?)));
    let (x, y): (Vec<f64>, Vec<f64>) = told.unzip();
    if x.len() < 2 {
        return None;
    }
    let levels = scenario(analysis, line.scenario).map(|s| s.phrase());
    let name = match levels.unwrap_or_default() {
        none if none.is_empty() => line.run.to_string(),
        levels => format!("{}: {levels}", line.run),
    };
    let round = |value: f64| (value * 1000.0).round() / 1000.0;
    Some(json!({
        "type": "scatter", "mode": "lines", "name": label(&name),
        "x": x.into_iter().map(round).collect::<Vec<f64>>(),
        "y": y.into_iter().map(round).collect::<Vec<f64>>(),
    }))
}

fn shown((place, mut line): (usize, Value)) -> Value {
    line["line"] = json!({ "color": format!("@{}", place % 8 + 1), "width": 1.8 });
    if place >= SEEN {
        line["visible"] = json!("legendonly");
    }
    line
}
