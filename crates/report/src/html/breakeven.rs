//! Break-even points.

use analyse::lists::push_new;
use analyse::{Analysis, BuyOrRent, Buying, CostVerdict, ExpensiveMachine, format};
use messages::{message, word};

use super::page::Page;
use super::serving;
use crate::figure::{
    Axis, Category, Colour, Dash, Extent, Figure, Line, Mark, Point, Range, Series, Symbol,
};
use crate::tables::{buying_table, more_expensive_table, of, verdict};

/// As providers count it.
const HOURS_PER_MONTH: f64 = 730.0;
/// More are only in the table.
const MOST_LINES: usize = 12;
const MOST_ROWS: usize = 30;

pub(super) fn is_there(analysis: &Analysis) -> bool {
    let found = &analysis.money.break_even;
    let mut serving = analysis.serving.iter().flat_map(|s| &s.break_evens);
    !found.buying.is_empty()
        || !found.more_expensive.is_empty()
        || !found.notes.is_empty()
        || serving.next().is_some()
}

pub(super) fn break_evens(page: &mut Page, analysis: &Analysis) {
    if !is_there(analysis) {
        return;
    }
    let found = &analysis.money.break_even;
    for note in &found.notes {
        page.note(note);
    }
    if let Some(table) = buying_table(&found.buying) {
        page.subtitle(word!("even-buying"));
        page.figure(&buying_figure(&found.buying));
        page.table(word!("even-buying-caption"), &table);
        page.note(word!("even-buying-note"));
    }
    if let Some(table) = more_expensive_table(&found.more_expensive) {
        page.subtitle(word!("even-machine"));
        page.figure(&more_expensive_figure(analysis, &found.more_expensive));
        page.table(word!("even-machine-caption"), &table);
        page.note(word!("even-machine-note"));
    }
    serving::break_even(page, analysis);
}

/// Costs of a month against hours of work, with the crossings.
fn buying_figure(buying: &[BuyOrRent]) -> Figure {
    let pays = buying.iter().filter(|one| one.verdict == Buying::Pays);
    let hours = pays.filter_map(|one| Some(one.hours_per_month.as_ref()?.value));
    let furthest = hours.reduce(f64::max).map_or(HOURS_PER_MONTH, |h| 2.0 * h);
    let end = furthest.min(HOURS_PER_MONTH);
    let mut series: Vec<Series> = Vec::new();
    // Each machine has a colour, whatever the combination.
    let mut machines: Vec<&str> = Vec::new();
    for one in buying.iter().take(MOST_LINES) {
        if is_new(&mut machines, &one.own_environment) {
            let title = message!("even-bought-line", environment = one.own_environment);
            let cost = [number(one.per_month), number(one.electricity_per_hour)];
            let look = Line::plain(3.0, Dash::Solid);
            let colour = colour(&machines, &one.own_environment);
            series.push(Series::new(title, colour, Mark::Line(look)).with(straight(cost, end)));
        }
        let title = message!("even-rented-line", environment = one.rented_environment);
        let title = is_new(&mut machines, &one.rented_environment).then_some(title);
        let colour = colour(&machines, &one.rented_environment);
        let each = number(one.rent_per_hour) * one.time_ratio.value;
        let look = Line::plain(1.5, Dash::Dashed);
        let grouped = |series: Series| Series {
            group: format!("rented-{}", place_of(&machines, &one.rented_environment)),
            ..series
        };
        let line = Series::new(title.unwrap_or_default(), colour, Mark::Line(look));
        series.push(grouped(line.with(straight([0.0, each], end))));
        series.extend(crossing(one, each, end).map(|point| {
            grouped(Series::new("", colour, Mark::Symbols { size: 9.0 }).with([point]))
        }));
    }
    let symbol = buying
        .first()
        .map_or("", |one| one.per_month.currency.symbol());
    let more = match buying.len() > MOST_LINES {
        true => message!("even-first-pairs", shown = MOST_LINES, all = buying.len()),
        false => String::new(),
    };
    let caption = message!("even-buying-figure", more);
    let x = Axis::linear(word!("even-hours"), Extent::Exactly(Range::new(0.0, end)));
    let cost = format!("{} ({symbol})", word!("even-month-cost"));
    let y = Axis::linear(cost, Extent::FromZero);
    Figure::new(caption, 420, x, y).with(series)
}

fn is_new<'a>(machines: &mut Vec<&'a str>, name: &'a str) -> bool {
    let before = machines.len();
    push_new(machines, name);
    machines.len() > before
}

fn place_of(machines: &[&str], name: &str) -> usize {
    let place = machines.iter().position(|known| *known == name);
    place.unwrap_or(0)
}

fn colour(machines: &[&str], name: &str) -> Colour {
    Colour::Series(place_of(machines, name))
}

/// What it costs to have it, and more with every hour.
fn straight([from, each]: [f64; 2], end: f64) -> [Point; 2] {
    [Point::new(0.0, from), Point::new(end, from + each * end)]
}

/// None beyond what is drawn, which it would stretch.
fn crossing(one: &BuyOrRent, each: f64, end: f64) -> Option<Point> {
    let hours = one.hours_per_month.as_ref().filter(|h| h.value <= end)?;
    let crossing = message!(
        "even-crossing",
        own = one.own_environment,
        rented = one.rented_environment,
        hours = format::whole(hours.value)
    );
    let says = format!("{crossing}\n{}", of(&one.phrase, one.own));
    Some(Point {
        x_ends: Range::of(hours),
        ..Point::new(hours.value, each * hours.value).says(says)
    })
}

/// Only for drawing: sums of money are made elsewhere.
fn number(money: model::Money) -> f64 {
    use rust_decimal::prelude::ToPrimitive;
    money.amount.to_f64().unwrap_or(0.0)
}

/// A row a pair and combination: the measured speed-up against the one from which it pays.
fn more_expensive_figure(analysis: &Analysis, more_expensive: &[ExpensiveMachine]) -> Figure {
    let shown = &more_expensive[..more_expensive.len().min(MOST_ROWS)];
    let several = shown.iter().any(|one| pair(one) != pair(&shown[0]));
    let name = |one: &ExpensiveMachine| match (one.phrase.as_str(), several) {
        ("", _) => pair(one),
        (phrase, false) => phrase.to_owned(),
        (phrase, true) => format!("{}: {phrase}", pair(one)),
    };
    let row = |one: &ExpensiveMachine| Category {
        short: name(one),
        long: Vec::new(),
    };
    let of = match (several, shown.first()) {
        (false, Some(one)) => message!("even-of-pair", pair = pair(one)),
        _ => String::new(),
    };
    let more = match more_expensive.len() > MOST_ROWS {
        true => message!("even-first", shown = MOST_ROWS, all = more_expensive.len()),
        false => String::new(),
    };
    let interval = format::percent(analysis.study.confidence);
    let caption = message!("even-machine-figure", of, interval, more);
    Figure::new(
        caption,
        70 + 26 * shown.len() as u32,
        Axis::logarithmic(word!("speed-up")),
        Axis::categories("", shown.iter().map(row).collect()),
    )
    .with(verdict_series(shown))
}

fn pair(one: &ExpensiveMachine) -> String {
    let (expensive, cheap) = (&one.expensive_environment, &one.cheap_environment);
    message!("speed-up-over", one = expensive, other = cheap)
}

fn verdict_series(shown: &[ExpensiveMachine]) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for (kind, colour) in [
        (CostVerdict::Cheaper, Colour::Series(2)),
        (CostVerdict::MoreExpensive, Colour::Series(1)),
        (CostVerdict::Inconclusive, Colour::Muted),
    ] {
        let own = shown.iter().enumerate();
        let own = own.filter(|(_, one)| one.verdict == kind);
        let points: Vec<Point> = own.map(|(row, one)| measured(row, one)).collect();
        if !points.is_empty() {
            let mark = Mark::Symbols { size: 9.0 };
            series.push(Series::new(verdict(kind), colour, mark).with(points));
        }
    }
    let stroke = |(row, one): (usize, &ExpensiveMachine)| Point {
        symbol: Symbol::Stroke,
        ..Point::new(one.break_even, row as f64)
    };
    let mark = Mark::Symbols { size: 16.0 };
    let strokes = shown.iter().enumerate().map(stroke);
    series.push(Series::new(word!("even-point"), Colour::Ink, mark).with(strokes));
    series
}

fn measured(row: usize, one: &ExpensiveMachine) -> Point {
    let found = message!(
        "even-says",
        pair = pair(one),
        measured = format::ratio(one.speed_up.value),
        needed = format::ratio(one.break_even)
    );
    let says = format!("{found}\n{}", of(&one.phrase, one.expensive));
    Point {
        x_ends: Range::of(&one.speed_up),
        ..Point::new(one.speed_up.value, row as f64).says(says)
    }
}
