//! From where on one way to pay is cheaper than another, in one place.

use analyse::{Analysis, BuyOrRent, Buying, Dearer, DearerMachine, format};
use serde_json::{Value, json};

use super::axis::label;
use super::page::{Figure, Page};
use super::serving;
use crate::tables::{buying_table, dearer_table, of, verdict};

/// As providers count it.
const HOURS_PER_MONTH: f64 = 730.0;
/// More are only in the table.
const MOST_LINES: usize = 12;
const MOST_ROWS: usize = 30;

pub(super) fn is_there(analysis: &Analysis) -> bool {
    let found = &analysis.money.break_even;
    let mut serving = analysis.serving.iter().flat_map(|s| &s.break_evens);
    !found.buying.is_empty()
        || !found.dearer.is_empty()
        || !found.notes.is_empty()
        || serving.next().is_some()
}

pub(super) fn break_evens(page: &mut Page, analysis: &Analysis) {
    if !is_there(analysis) {
        return;
    }
    let found = &analysis.money.break_even;
    let said = |text: &&String| !analysis.money.sentences.contains(*text);
    let more: Vec<&str> = found
        .sentences
        .iter()
        .filter(said)
        .map(String::as_str)
        .collect();
    if !more.is_empty() {
        page.list("findings", more);
    }
    for note in &found.notes {
        page.note(note);
    }
    if let Some(table) = buying_table(&found.buying) {
        page.subtitle("Break-even: buying or renting");
        page.figure(&buying_figure(&found.buying));
        page.table(&table);
        page.note("A machine that was bought costs its purchase over the months it will be used, and electricity while it works; the rented one costs its rent for the time that it takes for the same work. The rent has its discounts, charges and taxes, but not what bills round each run up by. Hours are those of the bought one. Its interval is that of the measured ratio of times; space, people and repairs are not in it.");
    }
    if let Some(table) = dearer_table(&found.dearer) {
        page.subtitle("Break-even: the dearer machine");
        page.figure(&dearer_figure(analysis, &found.dearer));
        page.table(&table);
        page.note("Two machines cost the same where the dearer one is faster by as much as an hour of it costs more. Where bills round up, or have discounts, charges or taxes, what the runs cost takes the place of the prices. Times are those that are paid. Not decided is what an interval leaves open.");
    }
    serving::break_even(page, analysis);
}

/// Costs of a month against hours of work, with the crossings.
fn buying_figure(buying: &[BuyOrRent]) -> Figure {
    let pays = buying.iter().filter(|one| one.verdict == Buying::Pays);
    let hours = pays.filter_map(|one| Some(one.hours_per_month.as_ref()?.value));
    let furthest = hours.reduce(f64::max).map_or(HOURS_PER_MONTH, |h| 2.0 * h);
    let end = furthest.min(HOURS_PER_MONTH);
    let mut data: Vec<Value> = Vec::new();
    // Each machine has a colour, whatever the combination.
    let mut machines: Vec<&str> = Vec::new();
    for one in buying.iter().take(MOST_LINES) {
        if is_new(&mut machines, &one.own_environment) {
            let title = format!("{} (bought)", one.own_environment);
            let (from, each) = (number(one.per_month), number(one.electricity_per_hour));
            let line = json!({ "width": 3, "color": colour(&machines, &one.own_environment) });
            data.push(straight(Some(&title), from, each, end, line));
        }
        let title = format!("{} (rented)", one.rented_environment);
        let title = is_new(&mut machines, &one.rented_environment).then_some(title);
        let colour = colour(&machines, &one.rented_environment);
        let each = number(one.rent_per_hour) * one.time_ratio.value;
        let line = json!({ "width": 1.5, "dash": "dash", "color": colour });
        data.push(straight(title.as_deref(), 0.0, each, end, line));
        data.extend(crossing(one, each, end, &colour));
    }
    let symbol = buying
        .first()
        .map_or("", |one| one.per_month.currency.symbol());
    let more = match buying.len() > MOST_LINES {
        true => format!(" The first {MOST_LINES} of {} pairs.", buying.len()),
        false => String::new(),
    };
    Figure {
        caption: format!(
            "What a month costs against hours of work in it, a line for each combination of levels; dots are where buying and renting cost the same, whiskers their intervals.{more}"
        ),
        height: 420,
        data,
        layout: json!({
            "xaxis": { "title": { "text": "hours of work a month" }, "range": [0.0, end] },
            "yaxis": { "title": { "text": format!("a month ({symbol})") }, "rangemode": "tozero" },
            "legend": { "orientation": "h", "y": 1.12, "x": 0 }, "showlegend": true,
        }),
        log_switch: None,
    }
}

fn is_new<'a>(machines: &mut Vec<&'a str>, name: &'a str) -> bool {
    let is_new = !machines.contains(&name);
    if is_new {
        machines.push(name);
    }
    is_new
}

fn colour(machines: &[&str], name: &str) -> String {
    let place = machines.iter().position(|known| *known == name);
    format!("@{}", place.unwrap_or(0) % 8 + 1)
}

/// Only the first line of a machine has a title.
fn straight(title: Option<&str>, from: f64, each: f64, end: f64, line: Value) -> Value {
    json!({
        "type": "scatter", "mode": "lines", "name": label(title.unwrap_or_default()),
        "showlegend": title.is_some(), "hoverinfo": "skip",
        "x": [0.0, end], "y": [from, from + each * end], "line": line,
    })
}

/// None beyond what is drawn, which it would stretch.
fn crossing(one: &BuyOrRent, each: f64, end: f64, colour: &str) -> Option<Value> {
    let hours = one.hours_per_month.as_ref().filter(|h| h.value <= end)?;
    let ends = hours.interval;
    let text = format!(
        "{} against {}: {} hours a month",
        one.own_environment,
        one.rented_environment,
        format::whole(hours.value)
    );
    let text = format!("{}<br>{}", label(&text), label(&of(&one.phrase, one.own)));
    Some(json!({
        "type": "scatter", "mode": "markers", "showlegend": false, "hoverinfo": "text",
        "x": [hours.value], "y": [each * hours.value], "text": [text],
        "marker": { "color": colour, "size": 8 },
        "error_x": {
            "type": "data", "symmetric": false, "color": colour, "thickness": 2, "width": 6,
            "array": [ends.map(|i| i.high - hours.value)],
            "arrayminus": [ends.map(|i| hours.value - i.low)],
        },
    }))
}

/// Only for drawing: sums of money are made elsewhere.
fn number(money: model::Money) -> f64 {
    use rust_decimal::prelude::ToPrimitive;
    money.amount.to_f64().unwrap_or(0.0)
}

/// A row a pair and combination: the measured speed-up against the one from which it pays.
fn dearer_figure(analysis: &Analysis, dearer: &[DearerMachine]) -> Figure {
    let shown = &dearer[..dearer.len().min(MOST_ROWS)];
    let several = shown.iter().any(|one| {
        let first = &shown[0];
        one.dear_environment != first.dear_environment
            || one.cheap_environment != first.cheap_environment
    });
    let name = |one: &DearerMachine| {
        let pair = format!("{} over {}", one.dear_environment, one.cheap_environment);
        label(&match (one.phrase.as_str(), several) {
            ("", _) => pair,
            (phrase, false) => phrase.to_owned(),
            (phrase, true) => format!("{pair}: {phrase}"),
        })
    };
    let names: Vec<String> = shown.iter().map(name).collect();
    let mut data: Vec<Value> = Vec::new();
    for (kind, colour) in [
        (Dearer::Cheaper, "@3"),
        (Dearer::Dearer, "@2"),
        (Dearer::NotDecided, "@muted"),
    ] {
        let own: Vec<&DearerMachine> = shown.iter().filter(|one| one.verdict == kind).collect();
        if own.is_empty() {
            continue;
        }
        let end = |one: &&DearerMachine, high: bool| {
            let interval = one.speed_up.interval?;
            Some(match high {
                true => interval.high - one.speed_up.value,
                false => one.speed_up.value - interval.low,
            })
        };
        data.push(json!({
            "type": "scatter", "mode": "markers", "name": verdict(kind), "hoverinfo": "text",
            "x": own.iter().map(|one| one.speed_up.value).collect::<Vec<_>>(),
            "y": own.iter().map(|one| name(one)).collect::<Vec<_>>(),
            "text": own.iter().map(|one| hover(one)).collect::<Vec<_>>(),
            "marker": { "color": colour, "size": 9 },
            "error_x": {
                "type": "data", "symmetric": false, "color": colour, "thickness": 1.5, "width": 4,
                "array": own.iter().map(|one| end(one, true)).collect::<Vec<_>>(),
                "arrayminus": own.iter().map(|one| end(one, false)).collect::<Vec<_>>(),
            },
        }));
    }
    data.push(json!({
        "type": "scatter", "mode": "markers", "name": "break-even", "hoverinfo": "skip",
        "x": shown.iter().map(|one| one.break_even).collect::<Vec<_>>(), "y": names,
        "marker": { "symbol": "line-ns", "size": 16, "line": { "color": "@ink", "width": 2.5 } },
    }));
    let pair = match (several, shown.first()) {
        (false, Some(one)) => format!(
            " of {} over {}",
            one.dear_environment, one.cheap_environment
        ),
        _ => String::new(),
    };
    let more = match dearer.len() > MOST_ROWS {
        true => format!(" The first {MOST_ROWS} of {}.", dearer.len()),
        false => String::new(),
    };
    Figure {
        caption: format!(
            "Measured speed-up{pair} (dots, with {} intervals) against the one from which the dearer machine is cheaper (strokes): right of its stroke it pays.{more}",
            format::percent(analysis.study.confidence)
        ),
        height: 140 + 26 * shown.len() as u32,
        data,
        layout: json!({
            "xaxis": { "title": { "text": "speed-up" }, "type": "log", "tickformat": "~g" },
            "yaxis": {
                "type": "category", "autorange": "reversed", "automargin": true,
                "categoryorder": "array", "categoryarray": names,
            },
            "legend": { "orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0 },
            "showlegend": true,
        }),
        log_switch: None,
    }
}

fn hover(one: &DearerMachine) -> String {
    let said = format!(
        "{} over {}: {} measured, {} needed",
        one.dear_environment,
        one.cheap_environment,
        format::ratio(one.speed_up.value),
        format::ratio(one.break_even)
    );
    format!("{}<br>{}", label(&said), label(&of(&one.phrase, one.dear)))
}
