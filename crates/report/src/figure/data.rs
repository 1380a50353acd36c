//! The numbers of a figure as JSON, beside its picture: the script reads from them what a point
//! says, writes them as CSV, and draws axes anew when a reader zooms.

use serde_json::{Value, json};

use super::layout::{Layout, Margins, Slot, WIDTH};
use super::scale::{Range, Reach, digits};
use super::{Axis, Figure, Mark, Point, Scale, Series, Side};

pub(crate) fn data(figure: &Figure) -> Value {
    let layout = Layout::new(figure);
    let Margins {
        top,
        right,
        bottom,
        left,
    } = layout.margins;
    let margins = [top, right, bottom, left].map(number);
    let reach = &layout.reach;
    let series = figure.series.iter().zip(&layout.bases);
    let right = figure.right.as_ref().zip(reach.right);
    json!({
        "width": WIDTH,
        "height": figure.height,
        "margins": margins,
        "x": axis(&figure.x, &reach.x),
        "y": axis(&figure.y, &reach.y),
        "right": right.map(|(own, reach)| axis(own, &reach)),
        "lying": figure.is_lying(),
        "names": figure.names_at_lines(),
        "series": series.map(|(one, bases)| of_series(figure, one, bases)).collect::<Vec<_>>(),
    })
}

fn axis(axis: &Axis, reach: &Reach) -> Value {
    let ends = |range: Range| [number(range.low), number(range.high)];
    let mut out = json!({
        "title": axis.title,
        "log": axis.is_logarithmic() && reach.logarithmic.is_some(),
        "linear": ends(reach.linear),
        "logarithmic": reach.logarithmic.map(ends),
    });
    if let Scale::Categories(categories) = &axis.scale {
        let words = categories.iter().map(|c| json!([c.short, c.long]));
        out["categories"] = words.collect();
    }
    if !axis.ticks.is_empty() {
        out["ticks"] = axis.ticks.iter().copied().map(number).collect();
    }
    if axis.whole {
        out["whole"] = json!(true);
    }
    if axis.switchable {
        out["switchable"] = json!(true);
    }
    out
}

fn of_series(figure: &Figure, series: &Series, bases: &[f64]) -> Value {
    let points = &series.points;
    let mut out = json!({
        "name": series.name,
        "mark": match series.mark {
            Mark::Bars => "bars",
            Mark::Line(_) => "line",
            Mark::Symbols { .. } => "symbols",
            Mark::Words => "words",
        },
        "x": points.iter().map(|p| number(p.x)).collect::<Vec<_>>(),
        "y": points.iter().map(|p| p.y.map(number)).collect::<Vec<_>>(),
    });
    // What says nothing is not written: pages are to be small.
    let mut add = |name: &str, is_there: bool, value: Value| {
        if is_there {
            out[name] = value;
        }
    };
    add("heading", !series.heading.is_empty(), json!(series.heading));
    let side = match series.on {
        Side::Left => "left",
        Side::Right => "right",
        Side::Foot => "foot",
    };
    add("side", series.on != Side::Left, json!(side));
    let texts = |of: fn(&Point) -> &String| points.iter().map(of).collect::<Vec<_>>();
    let any = |of: fn(&Point) -> &String| points.iter().any(|p| !of(p).is_empty());
    add("says", any(|p| &p.says), json!(texts(|p| &p.says)));
    add("labels", any(|p| &p.label), json!(texts(|p| &p.label)));
    type Ends = fn(&Point) -> Option<Range>;
    let ends: [(Ends, &str, &str); 2] = [
        (|p| p.x_ends, "x_low", "x_high"),
        (|p| p.y_ends, "low", "high"),
    ];
    for (of, low, high) in ends {
        let is_there = points.iter().any(|p| of(p).is_some());
        let pick = |end: fn(Range) -> f64| {
            let all = points.iter().map(|p| of(p).map(|r| number(end(r))));
            json!(all.collect::<Vec<_>>())
        };
        add(low, is_there, pick(|r| r.low));
        add(high, is_there, pick(|r| r.high));
    }
    if let Some(slot) = Slot::of(figure, series) {
        add(
            "slot",
            true,
            json!([number(slot.offset), number(slot.width)]),
        );
        let stacked = bases.iter().any(|base| *base != 0.0);
        let bases: Vec<Value> = bases.iter().copied().map(number).collect();
        add("bases", stacked, json!(bases));
    }
    out
}

/// Whole ones without a point, as pages are to be small.
fn number(value: f64) -> Value {
    let value = digits(value);
    match value.fract() == 0.0 && value.abs() < 1e15 {
        true => json!(value as i64),
        false => json!(value),
    }
}
