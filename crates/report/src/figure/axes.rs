//! Axes: lines of the grid, marked values or categories, titles.

use std::fmt::Write;

use super::layout::{
    APART_ACROSS, APART_UP, CategoryWords, LONGEST_SHORT, Layout, WIDTH, most_ticks, row_text,
};
use super::marks::px;
use super::scale::{Mapping, tick_text, tick_texts};
use super::text::{fitted, width};
use super::{Axis, Category, Mark, Scale};
use crate::html::escape;

pub(super) fn axes(layout: &Layout) -> String {
    let mut out = String::from("<g class=\"axes\">");
    let figure = layout.figure;
    match &figure.y.scale {
        Scale::Categories(rows) => row_names(&mut out, layout, rows),
        _ => values_up(&mut out, layout, &figure.y, &layout.y, Edge::Left),
    }
    if let (Some(axis), Some(mapping)) = (&figure.right, &layout.right) {
        values_up(&mut out, layout, axis, mapping, Edge::Right);
    }
    match &figure.x.scale {
        Scale::Categories(categories) => category_names(&mut out, layout, categories),
        _ => values_across(&mut out, layout),
    }
    let (left, right) = (layout.margins.left, WIDTH - layout.margins.right);
    line(
        &mut out,
        "base",
        [left, layout.foot(), right, layout.foot()],
    );
    titles(&mut out, layout);
    out + "</g>"
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    Left,
    Right,
}

fn values_up(out: &mut String, layout: &Layout, axis: &Axis, mapping: &Mapping, edge: Edge) {
    let (left, right) = (layout.margins.left, WIDTH - layout.margins.right);
    let ticks = mapping.ticks(most_ticks(mapping, APART_UP), axis.whole);
    for (value, text) in ticks.iter().zip(tick_texts(&ticks, mapping)) {
        let y = mapping.at(*value);
        match edge {
            Edge::Left => {
                line(out, "grid", [left, y, right, y]);
                self::text(out, "end", left - 8.0, y + 4.0, &text);
            }
            Edge::Right => self::text(out, "start", right + 8.0, y + 4.0, &text),
        }
    }
}

fn values_across(out: &mut String, layout: &Layout) {
    let axis = &layout.figure.x;
    let mapping = &layout.x;
    let ticks = match axis.ticks.is_empty() {
        true => mapping.ticks(most_ticks(mapping, APART_ACROSS), axis.whole),
        false => axis.ticks.clone(),
    };
    let mut free = f64::NEG_INFINITY;
    // Levels of a factor are written as they are.
    let texts = match axis.ticks.is_empty() {
        true => tick_texts(&ticks, mapping),
        false => ticks.iter().copied().map(tick_text).collect(),
    };
    for (value, text) in ticks.iter().zip(texts) {
        let x = mapping.at(*value);
        line(out, "grid", [x, layout.margins.top, x, layout.foot()]);
        let half = width(&text) / 2.0;
        // Marked values may stand anywhere.
        if x - half >= free {
            // Whole, also at the very end of the axis.
            let middle = x.min(WIDTH - half);
            self::text(out, "middle", middle, layout.foot() + 18.0, &text);
            free = middle + half + 6.0;
        }
    }
}

fn row_names(out: &mut String, layout: &Layout, rows: &[Category]) {
    for (place, row) in rows.iter().enumerate() {
        let y = layout.y.at(place as f64) + 4.0;
        let text = row_text(row, WIDTH);
        self::text(out, "end", layout.margins.left - 8.0, y, &text);
    }
}

fn category_names(out: &mut String, layout: &Layout, categories: &[Category]) {
    let foot = layout.foot();
    let words = CategoryWords::fitting(categories, layout.x.pixels());
    for (place, category) in categories.iter().enumerate() {
        let x = layout.x.at(place as f64);
        let short = fitted(&category.short, LONGEST_SHORT);
        match words {
            CategoryWords::Long => {
                styled(out, "strong", "middle", [x, foot + 17.0], &short);
                for (line, level) in category.long.iter().enumerate() {
                    let y = foot + 32.0 + 15.0 * line as f64;
                    text(out, "middle", x, y, level);
                }
            }
            CategoryWords::Short { every } if place.is_multiple_of(every) => {
                text(out, "middle", x, foot + 17.0, &short);
            }
            CategoryWords::Short { .. } => {}
            CategoryWords::Turned => {
                let _ = write!(
                    out,
                    "<text text-anchor=\"end\" transform=\"translate({},{})rotate(-90)\">{}</text>",
                    px(x + 4.0),
                    px(foot + 8.0),
                    escape(&short)
                );
            }
        }
    }
}

fn titles(out: &mut String, layout: &Layout) {
    let figure = layout.figure;
    let (left, right) = (layout.margins.left, WIDTH - layout.margins.right);
    if !figure.y.title.is_empty() {
        let x = (left - 8.0 - width(&figure.y.title)).max(2.0);
        styled(out, "title", "start", [x, 14.0], &figure.y.title);
    }
    if let Some(title) = figure.right.as_ref().map(|axis| &axis.title) {
        styled(out, "title", "end", [WIDTH - 2.0, 14.0], title);
    }
    let is_long = match &figure.x.scale {
        Scale::Categories(all) => {
            CategoryWords::fitting(all, layout.x.pixels()) == CategoryWords::Long
        }
        _ => false,
    };
    if !figure.x.title.is_empty() && !is_long {
        let middle = (left + right) / 2.0;
        let place = [middle, layout.height - 6.0];
        styled(out, "title", "middle", place, &figure.x.title);
    }
}

/// A text of this class at these places from the left and from the top.
fn styled(out: &mut String, class: &str, anchor: &str, place: [f64; 2], text: &str) {
    let ([x, y], text) = (place.map(px), escape(text));
    let class = match class {
        "" => String::new(),
        class => format!("class=\"{class}\" "),
    };
    let _ = write!(
        out,
        "<text {class}text-anchor=\"{anchor}\" x=\"{x}\" y=\"{y}\">{text}</text>"
    );
}

fn text(out: &mut String, anchor: &str, x: f64, y: f64, text: &str) {
    styled(out, "", anchor, [x, y], text);
}

fn line(out: &mut String, class: &str, ends: [f64; 4]) {
    let [x1, y1, x2, y2] = ends.map(px);
    let _ = write!(
        out,
        "<path class=\"{class}\" d=\"M{x1},{y1}L{x2},{y2}\"></path>"
    );
}

/// The name of each line at its end, apart from each other.
pub(super) fn names_at_lines(layout: &Layout) -> String {
    let figure = layout.figure;
    if !figure.names_at_lines() {
        return String::new();
    }
    let lines = figure.series.iter().enumerate();
    let lines = lines.filter(|(_, s)| !s.name.is_empty() && matches!(s.mark, Mark::Line(_)));
    let mut ends: Vec<Name> = lines
        .filter_map(|(place, series)| {
            let y = series.points.iter().rev().find_map(|p| p.y)?;
            Some(Name {
                y: layout.up(series, y),
                text: series.name.clone(),
                attributes: series.colour.attributes("name"),
                group: figure.group(place),
            })
        })
        .collect();
    ends.sort_by(|a, b| a.y.total_cmp(&b.y));
    let places = apart(&ends.iter().map(|e| e.y).collect::<Vec<_>>(), layout.foot());
    let x = px(WIDTH - layout.margins.right + 8.0);
    let mut out = String::from("<g class=\"names\">");
    for (end, y) in ends.iter().zip(places) {
        let _ = write!(
            out,
            "<text {} data-group=\"{}\" x=\"{x}\" y=\"{}\">{}</text>",
            end.attributes,
            escape(&end.group),
            px(y + 4.0),
            escape(&end.text)
        );
    }
    out + "</g>"
}

struct Name {
    y: f64,
    text: String,
    attributes: String,
    group: String,
}

/// From top to bottom, a line's height between them, none below the foot.
fn apart(wanted: &[f64], foot: f64) -> Vec<f64> {
    const LINE: f64 = 14.0;
    let mut places = wanted.to_vec();
    for at in 1..places.len() {
        places[at] = places[at].max(places[at - 1] + LINE);
    }
    let mut lowest = foot;
    for place in places.iter_mut().rev() {
        *place = place.min(lowest);
        lowest = *place - LINE;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::apart;

    #[test]
    fn names_make_room_for_each_other() {
        assert_eq!(apart(&[10.0, 50.0], 100.0), [10.0, 50.0]);
        assert_eq!(apart(&[10.0, 12.0, 13.0], 100.0), [10.0, 24.0, 38.0]);
        assert_eq!(apart(&[98.0, 99.0], 100.0), [86.0, 100.0]);
    }
}
