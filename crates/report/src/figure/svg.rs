//! The picture.

use messages::{message, word};
use std::fmt::Write;

use super::axes::{axes, names_at_lines};
use super::layout::{Layout, WIDTH};
use super::marks::{marks, px};
use super::{Axis, Figure, Mark, Scale, Series};
use crate::html::escape;

/// `id` is a plain word that no other figure of the page has.
pub(crate) fn svg(figure: &Figure, id: &str) -> String {
    picture(figure, id, &Around::default())
}

/// What a file has beyond the picture of a page.
#[derive(Default)]
pub(super) struct Around {
    /// `width="…" height="…" `.
    pub(super) size: String,
    /// Below the marks, and above them.
    pub(super) under: String,
    pub(super) over: String,
    pub(super) more_height: f64,
}

pub(super) fn picture(figure: &Figure, id: &str, around: &Around) -> String {
    let layout = Layout::new(figure);
    let height = f64::from(figure.height) + around.more_height;
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" {}viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"{id}-title {id}-about\">\
         <title id=\"{id}-title\">{}</title><desc id=\"{id}-about\">{}</desc>{}",
        around.size,
        escape(&figure.caption),
        escape(&about(figure)),
        around.under
    );
    let margins = layout.margins;
    let _ = write!(
        out,
        "<clipPath id=\"{id}-clip\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"></rect></clipPath>",
        px(margins.left),
        px(margins.top),
        px(layout.x.pixels()),
        px(layout.foot() - margins.top)
    );
    out.push_str(&axes(&layout));
    let _ = write!(
        out,
        "<g class=\"marks\" clip-path=\"url(#{id}-clip)\">{}</g>",
        marks(&layout)
    );
    out + &names_at_lines(&layout) + &around.over + "</svg>"
}

/// What is drawn, for those who cannot see it: the axes and the names of the series.
fn about(figure: &Figure) -> String {
    let axis = |direction: &str, axis: &Axis| {
        let title = match axis.title.as_str() {
            "" => String::new(),
            title => format!(" {title}"),
        };
        match &axis.scale {
            Scale::Linear => format!("{direction}:{title}."),
            Scale::Logarithmic => message!("figure-logarithmic", direction, title),
            Scale::Categories(all) => {
                message!("figure-categories", direction, title, count = all.len())
            }
        }
    };
    let mut said = vec![
        axis(word!("figure-across"), &figure.x),
        axis(word!("figure-up"), &figure.y),
    ];
    said.extend(
        figure
            .right
            .as_ref()
            .map(|right| axis(word!("figure-right"), right)),
    );
    let names = figure.series.iter().map(|s| s.name.as_str());
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    if !names.is_empty() {
        said.push(message!("figure-shown", names = names.join(", ")));
    }
    said.join(" ")
}

/// How a series looks, small, for a legend.
pub(crate) fn swatch(series: &Series) -> String {
    format!(
        "<svg width=\"26\" height=\"12\" aria-hidden=\"true\">{}</svg>",
        swatch_marks(series)
    )
}

pub(super) fn swatch_marks(series: &Series) -> String {
    let inside = match series.mark {
        Mark::Line(line) => format!(
            "<path class=\"line\" stroke-width=\"3\" stroke-dasharray=\"{}\" d=\"M1,6L25,6\"></path>",
            line.dash.array()
        ),
        Mark::Bars => "<path class=\"bar\" d=\"M7,0L19,0L19,12L7,12Z\"></path>".to_owned(),
        Mark::Symbols { .. } | Mark::Words => symbol_swatch(series),
    };
    format!("<g {}>{inside}</g>", series.colour.attributes("s"))
}

fn symbol_swatch(series: &Series) -> String {
    let symbol = series.points.first().map(|point| point.symbol);
    match symbol.and_then(|symbol| super::marks::shape(symbol, 5.0)) {
        Some(shape) => format!(
            "<path class=\"{}\" transform=\"translate(13,6)\" d=\"{}\"></path>",
            shape.class, shape.d
        ),
        None => "<path class=\"dots\" stroke-width=\"8\" d=\"M13,6h0\"></path>".to_owned(),
    }
}
