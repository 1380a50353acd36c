//! A figure as an SVG file that needs no page: its colours and its legend are in it. Programs that
//! draw SVG outside of browsers know neither variables nor scripts.

use std::fmt::Write;

use super::colour::{INK, MUTED, paper_css};
use super::layout::WIDTH;
use super::svg::{Around, picture, swatch_marks};
use super::text::width;
use super::{Figure, Series};
use crate::html::escape;

const RULES: &str = "text{font:12px system-ui,sans-serif;stroke:none}.grid{stroke:#e3e5e8}\
.bar,.filled,.band{stroke:none}.band{fill-opacity:.16}.line,.open,.dots,.whisker{fill:none}\
.line,.open{stroke-linejoin:round}.open{stroke-width:2.5}.whisker{stroke-width:1.5}\
.dots{stroke-linecap:round}.label{text-anchor:middle}.strong{font-weight:600}.name{stroke:none}.off{display:none}";

pub(crate) fn svg_file(figure: &Figure) -> String {
    let legend = Legend::of(figure);
    let height = f64::from(figure.height) + legend.height;
    let ink = format!("fill:#{INK:06x}");
    let under = format!(
        "<style>{}text,.s text{{fill:#{MUTED:06x}}}{RULES}.base{{stroke:#{MUTED:06x}}}\
         .title,.strong,.entry,.s .label{{{ink}}}.s .bar+.whisker{{stroke:#{INK:06x}}}</style>\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"></rect>",
        paper_css()
    );
    let around = Around {
        size: format!("width=\"{WIDTH}\" height=\"{height}\" "),
        under,
        over: legend.marks,
        more_height: legend.height,
    };
    picture(figure, "figure", &around) + "\n"
}

/// Names below the figure, from left to right.
struct Legend {
    marks: String,
    height: f64,
}

const LEFT: f64 = 12.0;
const SWATCH: f64 = 32.0;
const GAP: f64 = 18.0;
const LINE: f64 = 20.0;

impl Legend {
    /// One name alone needs none.
    fn of(figure: &Figure) -> Self {
        let is_named = |series: &&Series| !series.name.is_empty() && !series.hidden;
        let named: Vec<&Series> = figure.series.iter().filter(is_named).collect();
        let mut legend = Legend {
            marks: String::new(),
            height: 0.0,
        };
        if named.len() < 2 {
            return legend;
        }
        let (mut x, mut y) = (LEFT, f64::from(figure.height) + 6.0);
        for series in named {
            let wide = SWATCH + width(&series.name) + GAP;
            if x + wide > WIDTH && x > LEFT {
                (x, y) = (LEFT, y + LINE);
            }
            let _ = write!(
                legend.marks,
                "<g transform=\"translate({x},{y})\">{}<text class=\"entry\" x=\"{SWATCH}\" y=\"10\">{}</text></g>",
                swatch_marks(series),
                escape(&series.name)
            );
            x += wide;
        }
        legend.height = y + LINE - f64::from(figure.height);
        legend
    }
}
