//! Loss and accuracy against epochs: small figures side by side, so that eighty scenarios stay
//! readable (study D of docs/studies.md).

use analyse::lists::entry;
use analyse::{Analysis, CurvePoint, ScenarioResult, format};
use messages::{message, word};

use super::arrange::{Arrangement, Placed};
use super::axis::heading;
use super::page::{LegendEntry, Page};
use super::pieces::{ONLY_PANEL_HEIGHT, PANEL_HEIGHT, Panel, Panels};
use crate::figure::{
    Axis, Extent, Figure, Line, Mark, Point, Range, Scale, Series, Symbol, swatch,
};

/// Two points make a line; one is a dot that says nothing of learning.
const LEAST_EPOCHS: usize = 2;
/// More cannot be looked at; the export has all.
const MOST_PANELS: usize = 36;
/// More points are a line by themselves.
const MOST_DOTS: usize = 40;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Curve {
    Loss,
    Accuracy,
}

impl Curve {
    fn of(self, point: &CurvePoint) -> Option<f64> {
        match self {
            Curve::Loss => point.loss,
            Curve::Accuracy => point.accuracy_percent,
        }
    }
}

pub(super) fn learning(page: &mut Page, analysis: &Analysis) {
    let losses = told(analysis, Curve::Loss);
    let accuracies = told(analysis, Curve::Accuracy);
    if losses.is_empty() && accuracies.is_empty() {
        return;
    }
    page.open("learning", word!("section-learning"));
    if !losses.is_empty() {
        page.panels(&loss_panels(&losses));
        if let Some(sentence) = diverged(&losses) {
            page.callout(word!("learning-diverged"), [sentence.as_str()]);
        }
    }
    if !accuracies.is_empty() {
        let first = losses.is_empty();
        if !first {
            page.html(&format!(
                "<details>\n<summary>{}</summary>",
                word!("learning-accuracy")
            ));
        }
        page.panels(&accuracy_panels(&accuracies));
        if !first {
            page.html("</details>");
        }
    }
    page.note(word!("learning-note"));
    page.close();
}

fn told(analysis: &Analysis, what: Curve) -> Vec<&ScenarioResult> {
    let enough = |s: &&ScenarioResult| {
        s.curve.len() >= LEAST_EPOCHS && s.curve.iter().any(|p| what.of(p).is_some())
    };
    let any = analysis.scenarios.iter().any(|s| {
        let told = s.curve.iter().filter(|p| what.of(p).is_some());
        told.count() >= LEAST_EPOCHS
    });
    match any {
        true => analysis.scenarios.iter().filter(enough).collect(),
        false => Vec::new(),
    }
}

fn loss_panels(scenarios: &[&ScenarioResult]) -> Panels {
    let points = || scenarios.iter().flat_map(|s| &s.curve);
    let values = points().flat_map(|p| [p.loss, p.loss_low, p.loss_high]);
    let axis = value_axis(word!("learning-loss"), values.flatten());
    let bands = points().any(|p| p.loss_low < p.loss_high);
    let about = message!("learning-loss-caption", bands);
    panels(scenarios, &axis, Curve::Loss, &about)
}

fn accuracy_panels(scenarios: &[&ScenarioResult]) -> Panels {
    let points = scenarios.iter().flat_map(|s| &s.curve);
    let values = points.filter_map(|p| p.accuracy_percent);
    let axis = Axis {
        scale: Scale::Linear,
        switchable: false,
        ..value_axis(word!("learning-accuracy-axis"), values)
    };
    let about = word!("learning-accuracy-caption");
    panels(scenarios, &axis, Curve::Accuracy, about)
}

fn panels(scenarios: &[&ScenarioResult], axis: &Axis, what: Curve, about: &str) -> Panels {
    let arrangement = Arrangement::new(scenarios);
    let mut groups: Vec<(&str, Vec<&Placed>)> = Vec::new();
    for placed in &arrangement.placed {
        let title = placed.panel.as_str();
        let new = || (title, Vec::new());
        entry(&mut groups, |(known, _)| *known == title, new)
            .1
            .push(placed);
    }
    let height = match groups.len() {
        1 => ONLY_PANEL_HEIGHT,
        _ => PANEL_HEIGHT,
    };
    let panel = |(title, lines): &(&str, Vec<&Placed>)| {
        let epochs = Axis {
            whole: true,
            ..Axis::linear(word!("learning-epoch"), Extent::Points)
        };
        let caption = format!("{title} {about}").trim_start().to_owned();
        Panel {
            title: (*title).to_owned(),
            figure: Figure {
                legend: false,
                ..Figure::new(caption, height, epochs, axis.clone())
                    .with(lines.iter().flat_map(|line| series(line, what)).collect())
            },
        }
    };
    let more = match groups.len() > MOST_PANELS {
        true => message!("learning-first", shown = MOST_PANELS, all = groups.len()),
        false => String::new(),
    };
    Panels {
        caption: format!("{about}{}{more}", arrangement.sentence),
        panels: groups.iter().take(MOST_PANELS).map(panel).collect(),
        legend: arrangement.legend(),
    }
}

impl Arrangement<'_> {
    fn legend(&self) -> Vec<LegendEntry> {
        let mut entries: Vec<LegendEntry> = Vec::new();
        for placed in &self.placed {
            let new = || LegendEntry {
                group: placed.group.clone(),
                name: placed.name.clone(),
                swatch: swatch(&line(placed)),
                shown: true,
            };
            entry(&mut entries, |e| e.group == placed.group, new);
        }
        entries
    }
}

fn line(placed: &Placed) -> Series {
    let line = Line {
        dots: match placed.scenario.curve.len() <= MOST_DOTS {
            true => Line::DOTS,
            false => 0.0,
        },
        band: true,
        ..Line::plain(2.0, placed.dash)
    };
    Series {
        group: placed.group.clone(),
        heading: heading(placed.scenario),
        ..Series::new(placed.name.clone(), placed.colour, Mark::Line(line))
    }
}

/// A line with the band of its repetitions, and a cross where it stops being a number.
fn series(placed: &Placed, what: Curve) -> Vec<Series> {
    let curve = &placed.scenario.curve;
    let of_loss = what == Curve::Loss;
    let point = |p: &CurvePoint| {
        let ends = p.loss_low.zip(p.loss_high).filter(|_| of_loss);
        let ends = ends.filter(|(low, high)| high > low);
        let write = |v: f64| format::significant(v, 3);
        let spread = ends.map(|(low, high)| format!(" {}", format::interval(low, high, write)));
        let value = what.of(p);
        let says = value.map(|v| {
            let spread = spread.unwrap_or_default();
            message!("learning-says", epoch = p.epoch, value = write(v), spread)
        });
        Point {
            y_ends: ends.map(|(low, high)| Range::new(low, high)),
            ..Point::new(f64::from(p.epoch), value).says(says.unwrap_or_default())
        }
    };
    let mut all = vec![line(placed).with(curve.iter().map(point))];
    let end = curve
        .iter()
        .zip(curve.iter().skip(1))
        .find(|(_, next)| next.diverged > 0);
    if let Some((last, next)) = end.filter(|(last, _)| of_loss && last.loss.is_some()) {
        let says = message!("learning-nan", epoch = next.epoch);
        let cross = Point {
            symbol: Symbol::Cross,
            ..Point::new(f64::from(last.epoch), last.loss).says(says)
        };
        all.push(Series {
            name: String::new(),
            mark: Mark::Symbols { size: 10.0 },
            ..line(placed).with([cross])
        });
    }
    all
}

/// What the values of all figures of a group share.
fn value_axis(title: &str, values: impl Iterator<Item = f64>) -> Axis {
    let over = Range::over(values).unwrap_or(Range::new(0.0, 1.0));
    let positive = over.low > 0.0;
    Axis {
        // More than a decade does not fit on a linear axis.
        scale: match positive && over.high > 10.0 * over.low {
            true => Scale::Logarithmic,
            false => Scale::Linear,
        },
        switchable: positive,
        ..Axis::linear(title, Extent::Over(over))
    }
}

fn diverged(scenarios: &[&ScenarioResult]) -> Option<String> {
    let lost: Vec<String> = scenarios
        .iter()
        .filter_map(|s| {
            let first = s.curve.iter().find(|p| p.diverged > 0)?;
            let part = match first.diverged < first.runs {
                true => message!(
                    "learning-diverged-part",
                    diverged = first.diverged,
                    runs = first.runs
                ),
                false => String::new(),
            };
            Some(message!(
                "learning-diverged-at",
                label = s.label,
                phrase = s.phrase(),
                epoch = first.epoch,
                part
            ))
        })
        .collect();
    (!lost.is_empty()).then(|| message!("learning-diverged-note", names = format::listed(&lost, 6)))
}
