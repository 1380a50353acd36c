//! Resource use over time, of one run of each scenario.

use analyse::{Analysis, Timeline, UsePoint};
use messages::{message, word};

use super::axis::by_environment;
use super::page::Page;
use crate::figure::{Axis, Colour, Dash, Extent, Figure, Line, Mark, Point, Series};
use crate::text::decimal;

/// Lines that are seen at once; a reader switches the others on.
const SEEN: usize = 8;

/// What is drawn, where any run tells it.
struct Quantity {
    title: fn() -> &'static str,
    words: fn() -> &'static str,
    of: fn(&UsePoint) -> Option<f64>,
}

const QUANTITIES: [Quantity; 3] = [
    Quantity {
        title: || word!("metric-cores_used"),
        words: || word!("timeline-cores"),
        of: |point| point.cores_used,
    },
    Quantity {
        title: || word!("timeline-gpu-axis"),
        words: || word!("timeline-gpu"),
        of: |point| point.gpu_percent,
    },
    Quantity {
        title: || word!("timeline-gpu-memory-axis"),
        words: || word!("timeline-gpu-memory"),
        of: |point| point.gpu_memory_percent,
    },
];

pub(super) fn over_time(page: &mut Page, analysis: &Analysis) {
    for group in by_environment(analysis) {
        let is_here = |line: &&Timeline| group.scenarios.iter().any(|s| s.number == line.scenario);
        let lines: Vec<&Timeline> = analysis.timelines.iter().filter(is_here).collect();
        for quantity in &QUANTITIES {
            let told = lines.iter().filter_map(|l| drawn(analysis, l, quantity));
            let series: Vec<Series> = told.enumerate().map(shown).collect();
            if series.is_empty() {
                continue;
            }
            let caption = message!(
                "timeline-caption",
                what = (quantity.words)(),
                place = group.place
            );
            let x = Axis::linear(word!("timeline-axis"), Extent::FromZero);
            let y = Axis::linear((quantity.title)(), Extent::FromZero);
            page.figure(&Figure::new(caption, 340, x, y).with(series));
        }
    }
}

/// `None` if fewer than two moments tell it: a short run has no course.
fn drawn(analysis: &Analysis, line: &Timeline, quantity: &Quantity) -> Option<Series> {
    let round = |value: f64| (value * 1000.0).round() / 1000.0;
    let told = line.points.iter();
    let points: Vec<Point> = told
        .filter_map(|point| {
            let (seconds, value) = (round(point.seconds), round((quantity.of)(point)?));
            let says = message!(
                "timeline-says",
                value = decimal(value),
                seconds = decimal(seconds)
            );
            Some(Point::new(seconds, value).says(says))
        })
        .collect();
    if points.len() < 2 {
        return None;
    }
    let levels = analysis.scenario(line.scenario).map(|s| s.phrase());
    let name = match levels.unwrap_or_default() {
        none if none.is_empty() => line.run.to_string(),
        levels => format!("{}: {levels}", line.run),
    };
    let mark = Mark::Line(Line::plain(1.8, Dash::Solid));
    Some(Series {
        heading: name.clone(),
        ..Series::new(name, Colour::Ink, mark).with(points)
    })
}

fn shown((place, line): (usize, Series)) -> Series {
    Series {
        colour: Colour::Series(place),
        hidden: place >= SEEN,
        ..line
    }
}
