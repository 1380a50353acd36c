//! Serving: latency and cost per response.

use analyse::lists::unique;
use analyse::{Analysis, BreakEven, ServedScenario, Serving, format};
use messages::{message, word};

use super::memory;
use super::page::Page;
use crate::figure::{
    Axis, BarMode, Category, Colour, Dash, Extent, Figure, Line, Mark, Point, Range, Series,
};
use crate::tables::{answers_table, break_even_table, currency_symbol};

pub(super) fn serving(page: &mut Page, analysis: &Analysis) {
    let Some(serving) = &analysis.serving else {
        return;
    };
    page.open("serving", word!("section-serving"));
    page.list("findings", &serving.sentences);
    page.figure(&latency_figure(serving));
    memory::memory_sizes(page, analysis, serving);
    if let Some(figure) = cost_figure(analysis, serving) {
        page.figure(&figure);
    }
    page.table(word!("serving-caption"), &answers_table(analysis, serving));
    page.note(word!("serving-note"));
    let services: Vec<&str> = services(serving);
    if !services.is_empty() {
        page.note(&message!("serving-service", services = services.join("; ")));
    }
    if !serving.break_evens.is_empty() {
        let link = format!("<a href=\"#money\">{}</a>", word!("section-money"));
        page.html(&format!(
            "<p class=\"note\">{}</p>",
            message!("serving-see-money", link)
        ));
    }
    page.close();
}

/// On demand against always on, beside the other ways to pay.
pub(super) fn break_even(page: &mut Page, analysis: &Analysis) {
    let Some(serving) = &analysis.serving else {
        return;
    };
    if let Some(table) = break_even_table(serving) {
        page.subtitle(word!("serving-even"));
        page.figure(&break_even_figure(analysis, serving));
        page.table(word!("serving-even-caption"), &table);
        page.note(word!("serving-even-note"));
    }
}

fn services(serving: &Serving) -> Vec<&str> {
    let scenarios = serving.scenarios.iter();
    unique(scenarios.filter_map(|s| s.service.as_deref()))
}

/// What of the latency is the model, and what is around it.
fn latency_figure(serving: &Serving) -> Figure {
    let milliseconds = |seconds: f64| 1e3 * seconds;
    let prediction = |s: &ServedScenario| s.prediction_seconds.as_ref().map(|e| e.value);
    let model = |(place, s): (usize, &ServedScenario)| {
        let value = prediction(s).map(milliseconds);
        Point::new(place as f64, value).says(said(word!("serving-model"), value))
    };
    let around = |(place, s): (usize, &ServedScenario)| {
        let total = s.latency_seconds.as_ref();
        let rest = total.map(|e| (e.value - prediction(s).unwrap_or(0.0)).max(0.0));
        let rest = rest.map(milliseconds);
        let whole = total.map(|e| milliseconds(e.value));
        let ends = total.and_then(|e| {
            let margin = e.margin()?;
            Some(Range::new(
                milliseconds(e.value - margin),
                milliseconds(e.value + margin),
            ))
        });
        let says = [
            said(word!("serving-rest"), rest),
            said(word!("metric-latency_seconds"), whole),
        ];
        Point {
            y_ends: ends,
            ..Point::new(place as f64, rest).says(says.join("\n").trim())
        }
    };
    let scenarios = || serving.scenarios.iter().enumerate();
    let category = |s: &ServedScenario| Category {
        short: s.label.clone(),
        long: match s.phrase.as_str() {
            "" => Vec::new(),
            phrase => phrase.split(" · ").map(str::to_owned).collect(),
        },
    };
    Figure {
        bars: BarMode::Stacked,
        ..Figure::new(
            word!("serving-latency-caption"),
            420,
            Axis::categories(
                word!("head-scenario"),
                serving.scenarios.iter().map(category).collect(),
            ),
            Axis::linear(latency_title(), Extent::FromZero).switchable(),
        )
        .with(vec![
            Series::new(word!("serving-model"), Colour::Series(0), Mark::Bars)
                .with(scenarios().map(model)),
            Series::new(word!("serving-rest"), Colour::Series(1), Mark::Bars)
                .with(scenarios().map(around)),
        ])
    }
}

pub(super) fn latency_title() -> String {
    let (what, unit) = (word!("metric-latency_seconds"), word!("unit-ms"));
    format!("{what} ({unit})")
}

fn said(what: &str, milliseconds: Option<f64>) -> String {
    match milliseconds {
        Some(value) => {
            let value = format::significant(value, 3);
            format!("{what} {value} {}", word!("unit-ms"))
        }
        None => String::new(),
    }
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
    let mut series: Vec<Series> = Vec::new();
    for (on_demand, title, colour) in [
        (true, word!("serving-on-demand"), Colour::Series(0)),
        (false, word!("serving-always-on"), Colour::Series(1)),
    ] {
        let own = priced
            .iter()
            .filter(|s| matches!(s.place, analyse::ServedBy::OnDemand { .. }) == on_demand);
        let points: Vec<Point> = own.filter_map(|s| cost_point(s)).collect();
        if !points.is_empty() {
            let mark = Mark::Symbols { size: 10.0 };
            series.push(Series::new(title, colour, mark).with(points));
        }
    }
    let cost = format!("{} ({symbol})", word!("head-cost-per-million"));
    Some(
        Figure::new(
            word!("serving-cost-caption"),
            420,
            Axis::linear(latency_title(), Extent::FromZero).switchable(),
            Axis::linear(cost, Extent::FromZero).switchable(),
        )
        .with(series),
    )
}

fn cost_point(scenario: &ServedScenario) -> Option<Point> {
    let latency = 1e3 * scenario.latency_seconds.as_ref()?.value;
    let million = 1e6 * scenario.cost_per_inference.as_ref()?.value;
    let says = format!(
        "{}: {}\n{}",
        scenario.label,
        scenario.phrase,
        said(word!("metric-latency_seconds"), Some(latency))
    );
    Some(Point {
        label: scenario.label.clone(),
        ..Point::new(latency, million).says(says)
    })
}

/// Costs of a day against requests per day, of the first few pairs.
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
    let mut series: Vec<Series> = Vec::new();
    let mut drawn: Vec<u32> = Vec::new();
    let mut line = |number: u32, title: String, ends: [f64; 2], dash: Dash| {
        if drawn.contains(&number) || drawn.len() >= MOST_LINES {
            return;
        }
        drawn.push(number);
        let mark = Mark::Line(Line::plain(2.0, dash));
        let points = [Point::new(0.0, ends[0]), Point::new(highest, ends[1])];
        series.push(Series::new(title, Colour::Series(drawn.len() - 1), mark).with(points));
    };
    for even in &serving.break_evens {
        let BreakEven {
            on_demand,
            always_on,
            ..
        } = even;
        if let Some(each) = cost_of(*on_demand) {
            let title = format!("{} (C{on_demand})", even.on_demand_environment);
            line(*on_demand, title, [0.0, each * highest], Dash::Solid);
        }
        let day = even.requests_per_day.value * cost_of(*on_demand).unwrap_or(0.0);
        let title = format!("{} (C{always_on})", even.always_on_environment);
        line(*always_on, title, [day, day], Dash::Dashed);
    }
    Figure::new(
        word!("serving-day-caption"),
        420,
        Axis::linear(word!("serving-rate"), Extent::FromZero),
        Axis::linear(
            format!("{} ({symbol})", word!("serving-day-cost")),
            Extent::FromZero,
        ),
    )
    .with(series)
}
