//! Series as paths. Every place is written as `x,y`, or as a translation, so that the script can
//! move all of them when a reader zooms.

use std::fmt::Write;

use super::layout::{Layout, Slot};
use super::text::width;
use super::{Line, Mark, Point, Range, Series, Symbol};
use crate::html::escape;

/// Hundredths of a pixel, no digits that say nothing.
pub(super) fn px(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    // Minus zero would be written.
    (rounded + 0.0).to_string()
}

/// All series, with their labels where these do not cover each other.
pub(super) fn marks(layout: &Layout) -> String {
    let labels = place_labels(layout);
    let mut out = String::new();
    for (place, series) in layout.figure.series.iter().enumerate() {
        let off = if series.hidden { " off" } else { "" };
        let _ = write!(
            out,
            "<g {} data-series=\"{place}\" data-group=\"{}\">",
            series.colour.attributes(&format!("s{off}")),
            escape(&layout.figure.group(place))
        );
        let drawn = Drawn {
            layout,
            series,
            bases: &layout.bases[place],
        };
        drawn.draw(&mut out);
        drawn.labels(&mut out, &labels[place]);
        out.push_str("</g>");
    }
    out
}

struct Drawn<'a> {
    layout: &'a Layout<'a>,
    series: &'a Series,
    bases: &'a [f64],
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Position {
    x: f64,
    y: f64,
}

impl Drawn<'_> {
    fn draw(&self, out: &mut String) {
        match self.series.mark {
            Mark::Bars => {
                self.path(out, "bar", "", self.bars());
                self.path(out, "whisker", "", self.whiskers());
            }
            Mark::Line(line) => self.line(out, line),
            Mark::Symbols { size } => {
                self.path(out, "whisker", "", self.whiskers());
                self.symbols(out, size);
            }
            Mark::Words => self.words(out),
        }
    }

    fn path(&self, out: &mut String, class: &str, more: &str, d: String) {
        if !d.is_empty() {
            let _ = write!(out, "<path class=\"{class}\"{more} d=\"{d}\"></path>");
        }
    }

    fn place(&self, point: &Point) -> Option<Position> {
        let y = self.layout.up(self.series, point.y?);
        let x = self.layout.x.at(point.x);
        (x.is_finite() && y.is_finite()).then_some(Position { x, y })
    }

    fn bars(&self) -> String {
        let (figure, layout) = (self.layout.figure, self.layout);
        let Some(slot) = Slot::of(figure, self.series) else {
            return String::new();
        };
        let around = |middle: f64| {
            let middle = middle + slot.offset;
            [middle - slot.width / 2.0, middle + slot.width / 2.0]
        };
        let mut d = String::new();
        for (point, base) in self.series.points.iter().zip(self.bases) {
            let Some(y) = point.y else { continue };
            let (xs, ys) = match figure.is_lying() {
                true => (
                    [*base, base + point.x].map(|v| layout.x.at(v)),
                    around(y).map(|v| layout.y.at(v)),
                ),
                false => (
                    around(point.x).map(|v| layout.x.at(v)),
                    [*base, base + y].map(|v| layout.up(self.series, v)),
                ),
            };
            if xs.iter().chain(&ys).all(|v| v.is_finite()) {
                let ([x0, x1], [y0, y1]) = (xs.map(px), ys.map(px));
                let _ = write!(d, "M{x0},{y0}L{x0},{y1}L{x1},{y1}L{x1},{y0}Z");
            }
        }
        d
    }

    fn whiskers(&self) -> String {
        let layout = self.layout;
        let slot = Slot::of(layout.figure, self.series);
        let offset = slot.map_or(0.0, |slot| slot.offset);
        let mut d = String::new();
        for point in &self.series.points {
            let Some(place) = self.place(point) else {
                continue;
            };
            if let Some(Range { low, high }) = point.y_ends {
                let x = px(layout.x.at(point.x + offset));
                let ends = [low, high].map(|v| px(layout.up(self.series, v)));
                let _ = write!(d, "M{x},{}L{x},{}", ends[0], ends[1]);
            }
            if let Some(Range { low, high }) = point.x_ends {
                let ends = [low, high].map(|v| px(layout.x.at(v)));
                let y = px(place.y);
                let _ = write!(d, "M{},{y}L{},{y}", ends[0], ends[1]);
            }
        }
        d
    }

    fn line(&self, out: &mut String, line: Line) {
        if line.band {
            self.path(out, "band", "", self.band());
        }
        let mut d = String::new();
        let mut dots = String::new();
        let mut pen = 'M';
        for point in &self.series.points {
            let Some(Position { x, y }) = self.place(point) else {
                pen = 'M';
                continue;
            };
            let (x, y) = (px(x), px(y));
            let _ = write!(d, "{pen}{x},{y}");
            let _ = write!(dots, "M{x},{y}h0");
            pen = 'L';
        }
        let dash = match line.dash.array() {
            "" => String::new(),
            dash => format!(" stroke-dasharray=\"{dash}\""),
        };
        let more = format!(" stroke-width=\"{}\"{dash}", line.width);
        self.path(out, "line", &more, d);
        if !line.band {
            self.path(out, "whisker", "", self.whiskers());
        }
        if line.dots > 0.0 {
            let more = format!(" stroke-width=\"{}\"", px(line.dots));
            self.path(out, "dots", &more, dots);
        }
    }

    /// Between the ends of the points, one outline for each stretch without a gap.
    fn band(&self) -> String {
        let mut d = String::new();
        for stretch in self
            .series
            .points
            .chunk_by(|a, b| a.y_ends.is_some() == b.y_ends.is_some())
        {
            let up = stretch.iter().filter_map(|p| Some((p.x, p.y_ends?.high)));
            let back = stretch.iter().rev();
            let back = back.filter_map(|p| Some((p.x, p.y_ends?.low)));
            let mut pen = 'M';
            for (x, y) in up.chain(back) {
                let (x, y) = (self.layout.x.at(x), self.layout.up(self.series, y));
                let _ = write!(d, "{pen}{},{}", px(x), px(y));
                pen = 'L';
            }
            if pen == 'L' {
                d.push('Z');
            }
        }
        d
    }

    fn symbols(&self, out: &mut String, size: f64) {
        let mut dots = String::new();
        for point in &self.series.points {
            let Some(Position { x, y }) = self.place(point) else {
                continue;
            };
            let (x, y) = (px(x), px(y));
            match shape(point.symbol, size / 2.0) {
                None => {
                    let _ = write!(dots, "M{x},{y}h0");
                }
                Some(shape) => {
                    let _ = write!(
                        out,
                        "<path class=\"{}\" transform=\"translate({x},{y})\" d=\"{}\"></path>",
                        shape.class, shape.d
                    );
                }
            }
        }
        // A point is the round end of a line without length: one path for all of them.
        self.path(
            out,
            "dots",
            &format!(" stroke-width=\"{}\"", px(size)),
            dots,
        );
    }

    fn words(&self, out: &mut String) {
        for point in &self.series.points {
            if let Some(Position { x, y }) = self.place(point) {
                let _ = write!(
                    out,
                    "<text class=\"word\" transform=\"translate({},{})rotate(-90)\" y=\"4\">{}</text>",
                    px(x),
                    px(y),
                    escape(&point.label)
                );
            }
        }
    }

    fn labels(&self, out: &mut String, places: &[LabelPlace]) {
        if self.series.mark == Mark::Words {
            return;
        }
        for (point, place) in self.series.points.iter().zip(places) {
            let Some(Position { x, y }) = self.place(point).filter(|_| !point.label.is_empty())
            else {
                continue;
            };
            let (off, right, dy) = match place {
                LabelPlace::At { right, down } => ("", *right, *down),
                LabelPlace::Nowhere => (" off", 0.0, ABOVE),
            };
            // Whole inside the axes.
            let half = width(&point.label) / 2.0;
            let ends = [self.layout.x.from + half, self.layout.x.to - half];
            let dx = (x + right).min(ends[1]).max(ends[0]) - x;
            let mark = match point.y_ends {
                Some(_) => " data-beside=\"\"",
                None => "",
            };
            let _ = write!(
                out,
                "<text class=\"label{off}\"{mark} transform=\"translate({},{})\" x=\"{}\" y=\"{dy}\">{}</text>",
                px(x),
                px(y),
                px(dx),
                escape(&point.label)
            );
        }
    }
}

pub(super) struct Shape {
    pub(super) class: &'static str,
    pub(super) d: String,
}

/// Around 0,0; `None` for a dot.
pub(super) fn shape(symbol: Symbol, r: f64) -> Option<Shape> {
    let (class, d) = match symbol {
        Symbol::Dot => return None,
        Symbol::Diamond => ("filled", format!("M0,-{r}L{r},0L0,{r}L-{r},0Z")),
        Symbol::Triangle => ("filled", format!("M0,-{r}L{r},{r}L-{r},{r}Z")),
        Symbol::Cross => ("open", format!("M-{r},-{r}L{r},{r}M-{r},{r}L{r},-{r}")),
        Symbol::Stroke => ("open", format!("M0,-{r}L0,{r}")),
    };
    Some(Shape { class, d })
}

const ABOVE: f64 = -9.0;
const BELOW: f64 = 18.0;

/// Of the middle of a label, from its point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum LabelPlace {
    At { right: f64, down: f64 },
    Nowhere,
}

#[derive(Clone, Copy)]
struct Taken {
    left: f64,
    right: f64,
    middle: f64,
}

impl Taken {
    fn meets(&self, other: &Taken) -> bool {
        const LINE: f64 = 12.0;
        self.left < other.right
            && other.left < self.right
            && (self.middle - other.middle).abs() < LINE
    }
}

/// Where a label may stand, the best place first: beside a whisker, not on it.
fn possible(point: &Point) -> Vec<LabelPlace> {
    const GAP: f64 = 5.0;
    let sides: &[f64] = match point.y_ends {
        Some(_) => &[1.0, -1.0],
        None => &[0.0],
    };
    let beside = width(&point.label) / 2.0 + GAP;
    let at = |down: f64| {
        let sides = sides.iter();
        sides.map(move |side| LabelPlace::At {
            right: side * beside,
            down,
        })
    };
    at(ABOVE).chain(at(BELOW)).collect()
}

/// Points with whiskers, which no label may cover.
fn with_whiskers(layout: &Layout) -> Vec<Taken> {
    let mut taken = Vec::new();
    for (series, bases) in layout.figure.series.iter().zip(&layout.bases) {
        let drawn = Drawn {
            layout,
            series,
            bases,
        };
        let labelled = |point: &&Point| point.y_ends.is_some() && !point.label.is_empty();
        let places = series.points.iter().filter(labelled);
        taken.extend(
            places
                .filter_map(|point| drawn.place(point))
                .map(|at| Taken {
                    left: at.x - HALF_POINT,
                    right: at.x + HALF_POINT,
                    // A label's middle is above its foot.
                    middle: at.y + HALF_POINT,
                }),
        );
    }
    taken
}

const HALF_POINT: f64 = 4.0;

/// Later series are more important, and labelled first.
pub(super) fn place_labels(layout: &Layout) -> Vec<Vec<LabelPlace>> {
    let mut taken = with_whiskers(layout);
    let series = layout.figure.series.iter().zip(&layout.bases);
    let mut places: Vec<Vec<LabelPlace>> = series
        .rev()
        .map(|(series, bases)| {
            let drawn = Drawn {
                layout,
                series,
                bases,
            };
            let mut free = |point: &Point| {
                let Some(Position { x, y }) =
                    drawn.place(point).filter(|_| !point.label.is_empty())
                else {
                    return LabelPlace::Nowhere;
                };
                let half = width(&point.label) / 2.0 + 2.0;
                for place in possible(point) {
                    let LabelPlace::At { right, down } = place else {
                        continue;
                    };
                    let own = Taken {
                        left: x + right - half,
                        right: x + right + half,
                        middle: y + down,
                    };
                    if taken.iter().all(|other| !own.meets(other)) {
                        taken.push(own);
                        return place;
                    }
                }
                LabelPlace::Nowhere
            };
            series.points.iter().map(&mut free).collect()
        })
        .collect();
    places.reverse();
    places
}
