//! Serving: latency and cost per response.

use analyse::lists::unique;
use analyse::{Analysis, Estimate, ServedScenario, Serving, format};
use messages::{message, word};

use super::day_costs::day_costs;
use super::memory;
use super::page::Page;
use crate::figure::{Axis, BarMode, Category, Colour, Extent, Figure, Mark, Point, Range, Series};
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
        page.panels(&day_costs(analysis, serving));
        page.table(word!("serving-even-caption"), &table);
        page.note(word!("serving-even-note"));
    }
}

fn services(serving: &Serving) -> Vec<&str> {
    let scenarios = serving.scenarios.iter();
    unique(scenarios.filter_map(|s| s.service.as_deref()))
}

/// What of the latency is the model, and what is around it, as far as the model's part is known.
fn latency_figure(serving: &Serving) -> Figure {
    let all = || serving.scenarios.iter().enumerate();
    let divided = || all().filter(|(_, s)| s.prediction_seconds.is_some());
    let whole = || all().filter(|(_, s)| s.prediction_seconds.is_none());
    let is_divided = divided().next().is_some();
    let bars = |name: &str, place| Series::new(name, Colour::Series(place), Mark::Bars);
    let latency = word!("metric-latency_seconds");
    let series = [
        bars(word!("serving-model"), 0).with(divided().map(model_part)),
        bars(word!("serving-rest"), 1).with(divided().map(other_part)),
        bars(latency, if is_divided { 2 } else { 0 }).with(whole().map(other_part)),
    ];
    let series = series.into_iter().filter(|one| !one.points.is_empty());
    let category = |s: &ServedScenario| Category {
        short: s.label.clone(),
        long: match s.phrase.as_str() {
            "" => Vec::new(),
            phrase => phrase.split(" · ").map(str::to_owned).collect(),
        },
    };
    let categories = serving.scenarios.iter().map(category).collect();
    Figure {
        bars: BarMode::Stacked,
        ..Figure::new(
            message!("serving-latency-caption", is_divided),
            420,
            Axis::categories(word!("head-scenario"), categories),
            Axis::linear(latency_title(), Extent::FromZero).switchable(),
        )
        .with(series.collect())
    }
}

fn milliseconds(estimate: &Estimate) -> f64 {
    1e3 * estimate.value
}

fn model_part((place, served): (usize, &ServedScenario)) -> Point {
    let value = served.prediction_seconds.as_ref().map(milliseconds);
    Point::new(place as f64, value).says(said(word!("serving-model"), value))
}

/// The latency without the model, or all of it where the model's part is not known.
fn other_part((place, served): (usize, &ServedScenario)) -> Point {
    let total = served.latency_seconds.as_ref();
    let model = served.prediction_seconds.as_ref().map(milliseconds);
    let whole = total.map(milliseconds);
    let rest = whole.map(|whole| (whole - model.unwrap_or(0.0)).max(0.0));
    let ends = total.and_then(|e| {
        let (middle, margin) = (milliseconds(e), 1e3 * e.margin()?);
        Some(Range::new(middle - margin, middle + margin))
    });
    let says = [
        said(word!("serving-rest"), rest.filter(|_| model.is_some())),
        said(word!("metric-latency_seconds"), whole),
    ];
    Point {
        y_ends: ends,
        ..Point::new(place as f64, rest).says(says.join("\n").trim())
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
