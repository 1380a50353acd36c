//! Laws of the time against cores, workers, batch and image size: what was measured, the law with its
//! band, and, dashed, what it predicts beyond.

use analyse::{
    Analysis, GrowthLine, GrowthPoint, GrowthResult, MOST_EXTRAPOLATION, Predicted, format,
};
use messages::{message, word};

use super::lines::{Look, Looks, level_axis};
use super::page::Page;
use crate::figure::{Axis, Dash, Figure, Line, Mark, Point, Range, Series};
use crate::tables::growth_table;
use crate::view::{typical, unit_of};

pub(super) fn growths(page: &mut Page, analysis: &Analysis) {
    let stated = |growth: &&GrowthResult| {
        !growth.sentences.is_empty() || growth.lines.iter().any(|line| line.law.is_some())
    };
    let stated: Vec<&GrowthResult> = analysis.growths.iter().filter(stated).collect();
    if stated.is_empty() {
        return;
    }
    page.open("growth", word!("section-growth"));
    for growth in &stated {
        if stated.len() > 1 {
            page.subtitle(&message!("growth-title", factor = growth.factor));
        }
        page.list("findings", &growth.sentences);
        if growth.lines.iter().any(|line| line.law.is_some()) {
            page.figure(&figure(analysis, growth));
            page.table(
                &message!("growth-caption", factor = growth.factor),
                &growth_table(analysis, growth),
            );
            if growth.left_out > 0 {
                let (more, lines) = (growth.left_out, growth.lines.len());
                page.note(&message!("growth-left-out", more, lines));
            }
        }
    }
    page.note(&explanation(analysis));
    page.close();
}

fn explanation(analysis: &Analysis) -> String {
    message!(
        "growth-note",
        interval = format::percent(analysis.study.confidence),
        most = MOST_EXTRAPOLATION.to_string()
    )
}

fn figure(analysis: &Analysis, growth: &GrowthResult) -> Figure {
    let info = analysis.metric(&growth.metric);
    let means = growth.lines.iter().flat_map(|line| &line.points);
    let means = typical(means.map(|point| point.mean.value)).unwrap_or(0.0);
    let unit = info.map(|info| unit_of(info, means));
    let scale = unit.as_ref().map_or(1.0, |unit| unit.scale);
    let label = info.map_or(word!("noun-time"), |info| info.label.as_str());
    let title = match unit.as_ref().map(|unit| unit.name) {
        Some(symbol) if !symbol.is_empty() => format!("{label} ({symbol})"),
        _ => label.to_owned(),
    };
    let looks = Looks::new(growth.lines.iter().map(|line| line.phrase.as_str()));
    let mut series = Vec::new();
    let mut values: Vec<f64> = Vec::new();
    for (line, look) in growth.lines.iter().zip(&looks.looks) {
        values.extend(line.points.iter().map(|point| point.at));
        series.extend(of_line(line, look, scale));
    }
    let furthest = growth.lines.iter().filter_map(|line| line.law.as_ref());
    values.extend(furthest.filter_map(|law| Some(law.furthest()?.at)));
    values.sort_by(f64::total_cmp);
    values.dedup();
    let caption = message!(
        "growth-figure",
        what = crate::markdown::capital(label),
        factor = growth.factor,
        interval = format::percent(analysis.study.confidence),
        more = looks.sentence()
    );
    let y = Axis::logarithmic(title).switchable();
    Figure::new(caption, 420, level_axis(&growth.factor, &values), y).with(series)
}

/// The law below, its continuation, and the measured points on top.
fn of_line(line: &GrowthLine, look: &Look, scale: f64) -> Vec<Series> {
    let mut series = Vec::new();
    if let Some(law) = &line.law {
        let predicted = |p: &Predicted| predicted_point(p, scale);
        let inside = law.curve.iter().filter(|p| !p.extrapolated);
        let inside: Vec<&Predicted> = inside.collect();
        let last = inside.last().copied();
        let beyond = law.curve.iter().filter(|p| p.extrapolated);
        series.push(
            look.marks(band(Dash::Solid))
                .with(inside.iter().map(|p| predicted(p))),
        );
        let beyond = last.into_iter().chain(beyond).map(predicted);
        series.push(look.marks(band(Dash::Dashed)).with(beyond));
    }
    let dots = Mark::Symbols { size: 7.0 };
    let measured = line.points.iter().map(|p| measured_point(line, p, scale));
    series.push(Series {
        name: look.line().name,
        ..look.marks(dots).with(measured)
    });
    series
}

fn band(dash: Dash) -> Mark {
    Mark::Line(Line {
        band: true,
        ..Line::plain(1.8, dash)
    })
}

fn predicted_point(predicted: &Predicted, scale: f64) -> Point {
    let estimate = &predicted.typical;
    let ends = estimate.interval;
    Point {
        y_ends: ends.map(|i| Range::new(i.low / scale, i.high / scale)),
        ..Point::new(predicted.at, estimate.value / scale)
    }
}

fn measured_point(line: &GrowthLine, point: &GrowthPoint, scale: f64) -> Point {
    let said = format!(
        "C{}: {}, {}\n{}",
        point.scenario,
        point.level.phrase,
        format::duration(point.mean.value),
        line.phrase
    );
    let ends = point.mean.interval;
    Point {
        y_ends: ends.map(|i| Range::new(i.low / scale, i.high / scale)),
        ..Point::new(point.at, point.mean.value / scale).says(said.trim_end())
    }
}
