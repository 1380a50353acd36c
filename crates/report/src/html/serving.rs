//! Answers: what they take, what they cost, and where.

use analyse::{Analysis, BreakEven, ServedScenario, Serving};
use serde_json::{Value, json};

use super::axis::label;
use super::page::{Figure, LogSwitch, Page};
use crate::tables::{answers_table, break_even_table, currency_symbol};

pub(super) fn serving(page: &mut Page, analysis: &Analysis) {
    let Some(serving) = &analysis.serving else {
        return;
    };
    page.open("serving", "Answers");
    if !serving.sentences.is_empty() {
        page.list("findings", serving.sentences.iter().map(String::as_str));
    }
    page.figure(&latency_figure(serving));
    if let Some(figure) = cost_figure(analysis, serving) {
        page.figure(&figure);
    }
    page.table(&answers_table(analysis, serving));
    page.note(
        "Latency is the client's: from the time a request was meant to be sent to its whole answer. Prediction is the model alone, by the server's own clock. The cost of an answer is the time billed for it, or, of a machine that is always on, its share of the time that a load lasted, without the pauses of a series: a machine that waits longer costs more.",
    );
    let services: Vec<&str> = services(serving);
    if !services.is_empty() {
        page.note(&format!(
            "What stood between client and server: {}.",
            services.join("; ")
        ));
    }
    if !serving.break_evens.is_empty() {
        page.html("<p class=\"note\">From which rate on a machine that is always on is cheaper: <a href=\"#money\">Money</a>.</p>");
    }
    page.close();
}

/// On demand against always on, beside the other ways to pay.
pub(super) fn break_even(page: &mut Page, analysis: &Analysis) {
    let Some(serving) = &analysis.serving else {
        return;
    };
    if let Some(table) = break_even_table(serving) {
        page.subtitle("Break-even: on demand or always on");
        page.figure(&break_even_figure(analysis, serving));
        page.table(&table);
        page.note(
            "A machine that is always on costs the same with and without requests; on demand each answer has its price. They cost the same at the rate given. Several machines, and cold starts of workers that wait longer than their idle time, are not in it.",
        );
    }
}

fn services(serving: &Serving) -> Vec<&str> {
    let mut known: Vec<&str> = Vec::new();
    for service in serving
        .scenarios
        .iter()
        .filter_map(|s| s.service.as_deref())
    {
        if !known.contains(&service) {
            known.push(service);
        }
    }
    known
}

/// What of the latency is the model, and what is around it.
fn latency_figure(serving: &Serving) -> Figure {
    let names: Vec<String> = serving.scenarios.iter().map(name).collect();
    let milliseconds = |seconds: f64| 1e3 * seconds;
    let prediction = |s: &ServedScenario| s.prediction_seconds.as_ref().map(|e| e.value);
    let model: Vec<Option<f64>> = serving
        .scenarios
        .iter()
        .map(|s| prediction(s).map(milliseconds))
        .collect();
    let rest: Vec<Option<f64>> = serving
        .scenarios
        .iter()
        .map(|s| {
            let total = s.latency_seconds.as_ref()?.value;
            Some(milliseconds(
                (total - prediction(s).unwrap_or(0.0)).max(0.0),
            ))
        })
        .collect();
    let margins: Vec<f64> = serving
        .scenarios
        .iter()
        .map(|s| {
            let margin = s.latency_seconds.as_ref().and_then(|e| e.margin());
            milliseconds(margin.unwrap_or(0.0))
        })
        .collect();
    let bar = |title: &str, values: &[Option<f64>], colour: &str| json!({ "type": "bar", "name": title, "x": names, "y": values, "marker": { "color": colour } });
    let mut around = bar("everything around it", &rest, "@2");
    around["error_y"] =
        json!({ "type": "data", "array": margins, "color": "@muted", "thickness": 1.5 });
    Figure {
        caption: "Mean latency of each scenario: the model itself and everything around it; whiskers are 95 % intervals of the whole.".to_owned(),
        height: 420,
        data: vec![bar("the model", &model, "@1"), around],
        layout: json!({
            "barmode": "stack",
            "xaxis": { "type": "category" },
            "yaxis": { "title": { "text": "latency (ms)" }, "rangemode": "tozero" },
            "legend": { "orientation": "h", "y": 1.12, "x": 0 },
        }),
        log_switch: Some(LogSwitch::StartsLinear),
    }
}

fn name(scenario: &ServedScenario) -> String {
    label(&scenario.label)
}

/// Latency against the cost of an answer: near the corner is good.
fn cost_figure(analysis: &Analysis, serving: &Serving) -> Option<Figure> {
    let priced: Vec<&ServedScenario> = serving
        .scenarios
        .iter()
        .filter(|s| s.cost_per_inference.is_some() && s.latency_seconds.is_some())
        .collect();
    if priced.len() < 2 {
        return None;
    }
    let symbol = currency_symbol(analysis);
    let mut data: Vec<Value> = Vec::new();
    for (kind, title, colour) in [(true, "on demand", "@1"), (false, "always on", "@2")] {
        let own: Vec<&&ServedScenario> = priced
            .iter()
            .filter(|s| matches!(s.place, analyse::Place::OnDemand { .. }) == kind)
            .collect();
        if own.is_empty() {
            continue;
        }
        let value = |e: &Option<analyse::Estimate>| e.as_ref().map(|e| e.value);
        let x: Vec<Option<f64>> = own
            .iter()
            .map(|s| value(&s.latency_seconds).map(|v| 1e3 * v))
            .collect();
        let y: Vec<Option<f64>> = own
            .iter()
            .map(|s| value(&s.cost_per_inference).map(|v| 1e6 * v))
            .collect();
        let text: Vec<String> = own.iter().map(|s| name(s)).collect();
        let hover: Vec<String> = own
            .iter()
            .map(|s| label(&format!("{}: {}", s.label, s.phrase)))
            .collect();
        data.push(json!({
            "type": "scatter", "mode": "markers+text", "name": title, "x": x, "y": y, "text": text,
            "hovertext": hover, "hoverinfo": "text", "textposition": "top center",
            "marker": { "color": colour, "size": 10 },
        }));
    }
    Some(Figure {
        caption: "What an answer costs against how long it takes; towards the corner is better."
            .to_owned(),
        height: 420,
        data,
        layout: json!({
            "xaxis": { "title": { "text": "latency (ms)" }, "rangemode": "tozero" },
            "yaxis": { "title": { "text": format!("a million answers ({symbol})") }, "rangemode": "tozero" },
            "legend": { "orientation": "h", "y": 1.12, "x": 0 },
        }),
        log_switch: Some(LogSwitch::StartsLinear),
    })
}

/// Costs of a day against requests a day, of the first few pairs.
fn break_even_figure(analysis: &Analysis, serving: &Serving) -> Figure {
    const MOST_LINES: usize = 6;
    let symbol = currency_symbol(analysis);
    let cost_of = |number: u32| {
        let found = serving.scenarios.iter().find(|s| s.scenario == number);
        found
            .and_then(|s| s.cost_per_inference.as_ref())
            .map(|e| e.value)
    };
    let highest = serving
        .break_evens
        .iter()
        .map(|even| 2.0 * even.requests_per_day.value)
        .fold(0.0, f64::max);
    let mut data: Vec<Value> = Vec::new();
    let mut drawn: Vec<u32> = Vec::new();
    let mut line = |number: u32, title: String, y: [f64; 2], dash: &str| {
        if drawn.contains(&number) || drawn.len() >= MOST_LINES {
            return;
        }
        drawn.push(number);
        data.push(json!({
            "type": "scatter", "mode": "lines", "name": label(&title), "x": [0.0, highest], "y": y,
            "line": { "width": 2, "dash": dash, "color": format!("@{}", drawn.len()) },
        }));
    };
    for even in &serving.break_evens {
        let BreakEven {
            on_demand,
            always_on,
            ..
        } = even;
        if let Some(each) = cost_of(*on_demand) {
            let title = format!("{} (C{on_demand})", even.on_demand_environment);
            line(*on_demand, title, [0.0, each * highest], "solid");
        }
        let day = even.requests_per_day.value * cost_of(*on_demand).unwrap_or(0.0);
        let title = format!("{} (C{always_on})", even.always_on_environment);
        line(*always_on, title, [day, day], "dash");
    }
    Figure {
        caption:
            "What a day costs against requests a day; where the lines meet, both cost the same."
                .to_owned(),
        height: 420,
        data,
        layout: json!({
            "xaxis": { "title": { "text": "requests a day" }, "rangemode": "tozero" },
            "yaxis": { "title": { "text": format!("a day ({symbol})") }, "rangemode": "tozero" },
            "legend": { "orientation": "h", "y": 1.15, "x": 0 },
        }),
        log_switch: None,
    }
}
