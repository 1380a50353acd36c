//! A figure for LaTeX: axes of pgfplots, as wide as the line, with the marks as paths in the units of
//! the axes, so that a person can change them. Needs `\usepackage{pgfplots}`; a PDF of it is made by
//! LaTeX.

use std::fmt::Write;

use super::layout::{
    APART_ACROSS, APART_UP, CategoryWords, LONGEST_SHORT, Layout, Slot, WIDTH, most_ticks, row_text,
};
use super::marks::{LabelPlace, place_labels};
use super::scale::{Mapping, digits, tick_text, tick_texts};
use super::text::{fitted, width};
use super::{Axis, Category, Dash, Figure, Line, Mark, Point, Range, Scale, Series, Side, Symbol};
use crate::latex::escape;

/// Points of TeX for a pixel: a figure is as wide as the text of `article`.
const PT_A_PIXEL: f64 = 345.0 / WIDTH;
/// Parts of the line that the axes take, the rest is for words beside them.
const WIDE: f64 = 0.82;
const WIDE_WITH_RIGHT: f64 = 0.7;

pub(crate) fn pgf(figure: &Figure) -> String {
    let layout = Layout::new(figure);
    let mut out = format!("% {}\n", escape(&figure.caption));
    out.push_str("\\begin{tikzpicture}[font=\\footnotesize]\n");
    for (place, series) in figure.series.iter().enumerate() {
        let colour = series.colour.on_paper().to_uppercase();
        let _ = writeln!(out, "\\definecolor{{series{place}}}{{HTML}}{{{colour}}}");
    }
    let drawing = Drawing { layout: &layout };
    drawing.axis(&mut out, Side::Left);
    if figure.right.is_some() {
        drawing.axis(&mut out, Side::Right);
    }
    out + "\\end{tikzpicture}\n"
}

struct Drawing<'a> {
    layout: &'a Layout<'a>,
}

impl Drawing<'_> {
    fn axis(&self, out: &mut String, side: Side) {
        let figure = self.layout.figure;
        let up = match (side, &self.layout.right) {
            (Side::Right, Some(right)) => right,
            _ => &self.layout.y,
        };
        let wide = match figure.right {
            Some(_) => WIDE_WITH_RIGHT,
            None => WIDE,
        };
        let high = wide * f64::from(figure.height) / WIDTH;
        let (x, y) = (self.layout.x.range, up.range);
        out.push_str("\\begin{axis}[\n");
        let _ = writeln!(
            out,
            "  scale only axis, width={wide}\\linewidth, height={high:.3}\\linewidth,\n  xmin={}, xmax={}, ymin={}, ymax={},",
            value(x.low),
            value(x.high),
            value(y.low),
            value(y.high)
        );
        for (name, mapping) in [("x", &self.layout.x), ("y", up)] {
            if mapping.logarithmic {
                let _ = writeln!(out, "  {name}mode=log,");
            }
        }
        out.push_str("  tick align=outside, minor tick style={draw=none}, scaled ticks=false,\n");
        let _ = writeln!(
            out,
            "  legend style={{at={{(0.5,1.03)}}, anchor=south, draw=none, legend columns={}, /tikz/every even column/.append style={{column sep=6pt}}}},",
            self.legend_columns()
        );
        match side {
            Side::Right => self.right_words(out, up),
            Side::Left | Side::Foot => self.left_words(out),
        }
        out.push_str("]\n");
        let labels = place_labels(self.layout);
        for (place, series) in figure.series.iter().enumerate() {
            let is_here = (series.on == Side::Right) == (side == Side::Right);
            if is_here && !series.hidden {
                let bases = &self.layout.bases[place];
                let colour = format!("series{place}");
                let marks = Marks {
                    figure,
                    series,
                    bases,
                    colour,
                    x: &self.layout.x,
                    y: up,
                };
                marks.draw(out);
                marks.labels(out, &labels[place]);
            }
        }
        if side == Side::Left {
            self.legend(out);
        }
        out.push_str("\\end{axis}\n");
    }

    fn left_words(&self, out: &mut String) {
        let figure = self.layout.figure;
        let lying = figure.is_lying();
        out.push_str("  axis x line*=bottom, axis y line*=left,\n");
        let _ = writeln!(
            out,
            "  grid style={{draw=black!12}}, {}majorgrids,",
            if lying { "x" } else { "y" }
        );
        if lying {
            out.push_str("  y dir=reverse,\n");
        }
        title(out, "x", &figure.x);
        title(out, "y", &figure.y);
        match &figure.x.scale {
            Scale::Categories(all) => self.categories(out, all),
            _ => {
                let (x, axis) = (&self.layout.x, &figure.x);
                let (ticks, texts) = match axis.ticks.is_empty() {
                    true => {
                        let ticks = x.ticks(most_ticks(x, APART_ACROSS), axis.whole);
                        let texts = tick_texts(&ticks, x);
                        (ticks, texts)
                    }
                    // Levels of a factor are written as they are.
                    false => {
                        let texts = axis.ticks.iter().copied().map(tick_text).collect();
                        (axis.ticks.clone(), texts)
                    }
                };
                self::ticks(out, "x", &ticks, texts);
            }
        }
        match &figure.y.scale {
            Scale::Categories(rows) => {
                let places: Vec<f64> = (0..rows.len()).map(|place| place as f64).collect();
                // Names may be wider than the room beside the axes.
                let texts = rows.iter().map(|row| row_text(row, 0.5 * WIDTH)).collect();
                self::ticks(out, "y", &places, texts);
            }
            _ => self.values_up(out, &figure.y, &self.layout.y),
        }
    }

    fn right_words(&self, out: &mut String, up: &Mapping) {
        let Some(axis) = &self.layout.figure.right else {
            return;
        };
        out.push_str("  axis x line=none, axis y line*=right, ylabel near ticks,\n");
        title(out, "y", axis);
        self.values_up(out, axis, up);
    }

    fn values_up(&self, out: &mut String, axis: &Axis, mapping: &Mapping) {
        let ticks = mapping.ticks(most_ticks(mapping, APART_UP), axis.whole);
        let texts = tick_texts(&ticks, mapping);
        self::ticks(out, "y", &ticks, texts);
    }

    fn categories(&self, out: &mut String, all: &[Category]) {
        let words = CategoryWords::fitting(all, self.layout.x.pixels());
        let every = match words {
            CategoryWords::Short { every } => every,
            CategoryWords::Long | CategoryWords::Turned => 1,
        };
        let shown = all.iter().enumerate().step_by(every);
        let (places, texts) = shown
            .map(|(place, category)| {
                let short = fitted(&category.short, LONGEST_SHORT);
                let long = category
                    .long
                    .iter()
                    .filter(|_| words == CategoryWords::Long);
                let lines: Vec<String> = std::iter::once(short).chain(long.cloned()).collect();
                (place as f64, lines.join("\n"))
            })
            .unzip::<f64, String, Vec<f64>, Vec<String>>();
        let style = match words {
            CategoryWords::Turned => "rotate=90, anchor=east",
            _ => "align=center",
        };
        let _ = writeln!(out, "  xticklabel style={{{style}}},");
        self::ticks(out, "x", &places, texts);
    }

    /// As many as fit beside each other.
    fn legend_columns(&self) -> usize {
        /// Of a mark and the space around it.
        const MARK: f64 = 60.0;
        let names = self
            .layout
            .figure
            .series
            .iter()
            .map(|series| width(&series.name));
        let widest = names.fold(0.0, f64::max) + MARK;
        ((WIDTH / widest) as usize).clamp(1, 4)
    }

    /// One name alone needs no legend.
    fn legend(&self, out: &mut String) {
        let all = self.layout.figure.series.iter().enumerate();
        let named = all.filter(|(_, series)| !series.name.is_empty() && !series.hidden);
        let named: Vec<(usize, &Series)> = named.collect();
        if named.len() < 2 {
            return;
        }
        for (place, series) in named {
            let look = match series.mark {
                Mark::Bars => format!("area legend, fill=series{place}, draw=series{place}"),
                Mark::Line(line) => format!("series{place}, {}", stroke(line)),
                Mark::Symbols { .. } | Mark::Words => {
                    let symbol = series.points.first().map_or(Symbol::Dot, |p| p.symbol);
                    format!("only marks, series{place}, mark={}", mark(symbol))
                }
            };
            let _ = writeln!(
                out,
                "\\addlegendimage{{{look}}}\\addlegendentry{{{}}}",
                escape(&series.name)
            );
        }
    }
}

/// The marks of a series in the units of its axes.
struct Marks<'a> {
    figure: &'a Figure,
    series: &'a Series,
    bases: &'a [f64],
    colour: String,
    x: &'a Mapping,
    y: &'a Mapping,
}

impl Marks<'_> {
    fn draw(&self, out: &mut String) {
        match self.series.mark {
            Mark::Bars => {
                self.bars(out);
                self.whiskers(out, "black");
            }
            Mark::Line(line) => self.line(out, line),
            Mark::Symbols { size } => {
                self.whiskers(out, &self.colour);
                self.symbols(out, size);
            }
            Mark::Words => self.words(out),
        }
    }

    /// Of a point of this axis; what a logarithm does not know stands at the low end.
    fn at(&self, x: f64, y: f64) -> String {
        let on = |mapping: &Mapping, v: f64| match mapping.logarithmic {
            true => value(v.max(mapping.range.low)),
            false => value(v),
        };
        format!("(axis cs:{},{})", on(self.x, x), on(self.y, y))
    }

    fn finite(&self) -> impl Iterator<Item = (&Point, f64, f64)> {
        let all = self.series.points.iter().zip(self.bases);
        all.filter_map(|(point, base)| {
            let y = point.y.filter(|y| y.is_finite() && point.x.is_finite())?;
            Some((point, y, *base))
        })
    }

    fn bars(&self, out: &mut String) {
        let Some(slot) = Slot::of(self.figure, self.series) else {
            return;
        };
        let half = slot.width / 2.0;
        for (point, y, base) in self.finite() {
            let (from, to) = match self.figure.is_lying() {
                true => {
                    let middle = y + slot.offset;
                    let ends = [base, base + point.x];
                    (
                        self.at(ends[0], middle - half),
                        self.at(ends[1], middle + half),
                    )
                }
                false => {
                    let middle = point.x + slot.offset;
                    (
                        self.at(middle - half, base),
                        self.at(middle + half, base + y),
                    )
                }
            };
            let _ = writeln!(out, "\\fill[{}] {from} rectangle {to};", self.colour);
        }
    }

    fn whiskers(&self, out: &mut String, colour: &str) {
        let offset = Slot::of(self.figure, self.series).map_or(0.0, |slot| slot.offset);
        let mut draw = |from: String, to: String| {
            let _ = writeln!(out, "\\draw[{colour}, line width=0.6pt] {from} -- {to};");
        };
        for (point, y, _) in self.finite() {
            if let Some(Range { low, high }) = point.y_ends {
                let x = point.x + offset;
                draw(self.at(x, low), self.at(x, high));
            }
            if let Some(Range { low, high }) = point.x_ends {
                draw(self.at(low, y), self.at(high, y));
            }
        }
    }

    fn line(&self, out: &mut String, line: Line) {
        let is_there = |point: &Point| point.y.is_some_and(f64::is_finite);
        let points = &self.series.points;
        if line.band {
            let banded = |point: &Point| point.y_ends.is_some();
            for stretch in points.chunk_by(|a, b| banded(a) == banded(b)) {
                self.band(out, stretch);
            }
        }
        for stretch in points.chunk_by(|a, b| is_there(a) == is_there(b)) {
            let stretch = stretch.iter().filter_map(|p| Some((p.x, p.y?)));
            let places: Vec<String> = stretch
                .map(|(x, y)| format!("({},{})", value(x), value(y)))
                .collect();
            if places.is_empty() {
                continue;
            }
            let dots = match line.dots > 0.0 || places.len() == 1 {
                true => format!(
                    ", mark=*, mark size={}",
                    points_of(line.dots.max(4.0) / 2.0)
                ),
                false => ", mark=none".to_owned(),
            };
            let _ = writeln!(
                out,
                "\\addplot[{}, {}{dots}, forget plot] coordinates {{{}}};",
                self.colour,
                stroke(line),
                places.join(" ")
            );
        }
        if !line.band {
            self.whiskers(out, &self.colour);
        }
    }

    fn band(&self, out: &mut String, stretch: &[Point]) {
        let up = stretch.iter().filter_map(|p| Some((p.x, p.y_ends?.high)));
        let back = stretch.iter().rev();
        let back = back.filter_map(|p| Some((p.x, p.y_ends?.low)));
        let places: Vec<String> = up.chain(back).map(|(x, y)| self.at(x, y)).collect();
        if !places.is_empty() {
            let _ = writeln!(
                out,
                "\\fill[{}, opacity=0.16] {} -- cycle;",
                self.colour,
                places.join(" -- ")
            );
        }
    }

    fn symbols(&self, out: &mut String, size: f64) {
        let all: Vec<(&Point, f64, f64)> = self.finite().collect();
        for alike in all.chunk_by(|a, b| a.0.symbol == b.0.symbol) {
            let Some((first, ..)) = alike.first() else {
                continue;
            };
            let places: Vec<String> = alike
                .iter()
                .map(|(point, y, _)| format!("({},{})", value(point.x), value(*y)))
                .collect();
            let _ = writeln!(
                out,
                "\\addplot[only marks, {}, mark={}, mark size={}, forget plot] coordinates {{{}}};",
                self.colour,
                mark(first.symbol),
                points_of(size / 2.0),
                places.join(" ")
            );
        }
    }

    /// Turned, from the foot upwards.
    fn words(&self, out: &mut String) {
        for point in &self.series.points {
            let _ = writeln!(
                out,
                "\\node[rotate=90, anchor=west, font=\\tiny, {}] at ({{axis cs:{},0}} |- {{rel axis cs:0,0}}) {{{}}};",
                self.colour,
                value(point.x),
                escape(&point.label)
            );
        }
    }

    fn labels(&self, out: &mut String, places: &[LabelPlace]) {
        if self.series.mark == Mark::Words {
            return;
        }
        for (point, place) in self.series.points.iter().zip(places) {
            let (Some(y), LabelPlace::At { right, down }) = (point.y, place) else {
                continue;
            };
            let _ = writeln!(
                out,
                "\\node[font=\\tiny, xshift={}, yshift={}] at {} {{{}}};",
                points_of(*right),
                points_of(-down),
                self.at(point.x, y),
                escape(&point.label)
            );
        }
    }
}

fn title(out: &mut String, name: &str, axis: &Axis) {
    if !axis.title.is_empty() {
        let _ = writeln!(out, "  {name}label={{{}}},", escape(&axis.title));
    }
}

fn ticks(out: &mut String, name: &str, ticks: &[f64], texts: Vec<String>) {
    let ticks: Vec<String> = ticks.iter().copied().map(value).collect();
    let text = |text: String| {
        let lines: Vec<String> = text.lines().map(escape).collect();
        format!("{{{}}}", lines.join("\\\\"))
    };
    let texts: Vec<String> = texts.into_iter().map(text).collect();
    let _ = writeln!(
        out,
        "  {name}tick={{{}}}, {name}ticklabels={{{}}},",
        ticks.join(","),
        texts.join(",")
    );
}

fn stroke(line: Line) -> String {
    let dash = match line.dash {
        Dash::Solid => "solid",
        Dash::Dashed => "dashed",
        Dash::Dotted => "dotted",
        Dash::Mixed => "dash dot",
    };
    format!("{dash}, line width={}", points_of(line.width))
}

fn mark(symbol: Symbol) -> &'static str {
    match symbol {
        Symbol::Dot => "*",
        Symbol::Diamond => "diamond*",
        Symbol::Triangle => "triangle*",
        Symbol::Cross => "x",
        Symbol::Stroke => "|",
    }
}

fn points_of(pixels: f64) -> String {
    format!("{:.2}pt", pixels * PT_A_PIXEL)
}

/// As pgfplots reads numbers.
fn value(value: f64) -> String {
    let value = digits(value);
    match value != 0.0 && !(1e-4..1e6).contains(&value.abs()) {
        true => format!("{value:e}"),
        false => value.to_string(),
    }
}
