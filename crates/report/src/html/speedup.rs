//! How much faster several are than one, and a GPU than a CPU.

use analyse::lists::entry;
use analyse::{Analysis, LevelFacts, SpeedUp, SpeedUpKind, SpeedUpLine, SpeedUpPoint, format};
use messages::{message, word};

use super::lines::{Looks, level_axis};
use super::page::Page;
use crate::figure::{Axis, Colour, Dash, Figure, Line, Mark, Point, Range, Series};
use crate::tables::{pivot, speed_up_table};

pub(super) fn speed_ups(page: &mut Page, analysis: &Analysis) {
    if analysis.speed_ups.is_empty() {
        return;
    }
    page.open("speed-up", word!("section-speed-up"));
    let several = analysis.speed_ups.len() > 1;
    for speed_up in &analysis.speed_ups {
        if several {
            page.subtitle(&message!("speed-up-by", factor = speed_up.factor));
        }
        page.list("findings", &speed_up.sentences);
        let figure = match speed_up.kind {
            SpeedUpKind::Count => Some(count_figure(analysis, speed_up)),
            SpeedUpKind::Device => device_figure(analysis, speed_up),
        };
        if let Some(figure) = figure {
            page.figure(&figure);
        }
        page.table(
            &message!("speed-up-caption", factor = speed_up.factor),
            &speed_up_table(analysis, speed_up),
        );
        page.note(&explanation(analysis, speed_up));
    }
    page.close();
}

fn explanation(analysis: &Analysis, speed_up: &SpeedUp) -> String {
    let time = analysis
        .metric(&speed_up.metric)
        .map_or(word!("noun-time"), |info| info.label.as_str());
    let interval = format::percent(analysis.study.confidence);
    match speed_up.kind {
        SpeedUpKind::Count => message!("speed-up-of-counts", time, interval),
        SpeedUpKind::Device => message!("speed-up-of-devices", time, interval),
    }
}

fn count_figure(analysis: &Analysis, speed_up: &SpeedUp) -> Figure {
    let looks = Looks::new(speed_up.lines.iter().map(|l| l.phrase.as_str()));
    let mut series = Vec::new();
    let mut values: Vec<f64> = Vec::new();
    for (line, look) in speed_up.lines.iter().zip(&looks.looks) {
        let mut points = vec![base(line)];
        let measured = line.points.iter();
        points.extend(measured.filter_map(|p| measured_point(line, p, &p.level)));
        values.extend(points.iter().map(|p| p.x));
        series.push(look.line().with(points));
    }
    values.sort_by(f64::total_cmp);
    values.dedup();
    if let (Some(low), Some(high)) = (values.first(), values.last()) {
        let mark = Mark::Line(Line::plain(1.5, Dash::Dashed));
        let ends = [Point::new(*low, 1.0), Point::new(*high, high / low)];
        series.push(Series::new(word!("speed-up-ideal"), Colour::Muted, mark).with(ends));
    }
    let caption = message!(
        "speed-up-counts-figure",
        factor = speed_up.factor,
        interval = format::percent(analysis.study.confidence),
        more = looks.sentence()
    );
    let y = Axis::logarithmic(word!("speed-up")).switchable();
    Figure::new(caption, 420, level_axis(&speed_up.factor, &values), y).with(series)
}

/// Along the numeric factor with the most levels; without one the table says it all.
fn device_figure(analysis: &Analysis, speed_up: &SpeedUp) -> Option<Figure> {
    let sweep = pivot(analysis, speed_up)?;
    let mut lines: Vec<(String, Vec<Point>)> = Vec::new();
    for line in &speed_up.lines {
        let own = line.levels.iter().find(|l| l.factor == sweep.factor)?;
        for point in &line.points {
            let name = device_name(line, point, &sweep.factor);
            let new = || (name.clone(), Vec::new());
            let (_, points) = entry(&mut lines, |(known, _)| *known == name, new);
            points.extend(measured_point(line, point, own));
        }
    }
    let looks = Looks::new(lines.iter().map(|(name, _)| name.as_str()));
    let mut series = Vec::new();
    for ((_, mut points), look) in lines.into_iter().zip(&looks.looks) {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        series.push(look.line().with(points));
    }
    let values: Vec<f64> = sweep.levels.iter().map(|l| l.value).collect();
    let caption = message!(
        "speed-up-devices-figure",
        factor = sweep.factor,
        more = looks.sentence()
    );
    let y = Axis::logarithmic(word!("speed-up")).switchable();
    Some(Figure::new(caption, 420, level_axis(&sweep.factor, &values), y).with(series))
}

fn device_name(line: &SpeedUpLine, point: &SpeedUpPoint, pivot: &str) -> String {
    let others = line.levels.iter().filter(|l| l.factor != pivot);
    let mut parts: Vec<&str> = others.map(|l| l.phrase.as_str()).collect();
    let pair = message!(
        "speed-up-over",
        one = point.level.phrase,
        other = line.baseline.phrase
    );
    parts.push(&pair);
    parts.join(" · ")
}

fn base(line: &SpeedUpLine) -> Point {
    let at = line.baseline.level.parse().unwrap_or(f64::NAN);
    let said = message!("speed-up-baseline", level = line.baseline.phrase);
    Point::new(at, 1.0).says(said)
}

fn measured_point(line: &SpeedUpLine, point: &SpeedUpPoint, at: &LevelFacts) -> Option<Point> {
    let speed_up = &point.speed_up;
    let efficiency = point.efficiency.as_ref();
    let efficiency =
        efficiency.map(|e| message!("speed-up-efficiency", percent = format::percent(e.value)));
    let found = message!(
        "speed-up-over",
        one = format!("{} {}", point.level.phrase, format::ratio(speed_up.value)),
        other = line.baseline.phrase
    );
    let said = format!(
        "C{}: {found}{}\n{}",
        point.scenario,
        efficiency.unwrap_or_default(),
        line.phrase
    );
    Some(Point {
        y_ends: Range::of(speed_up),
        ..Point::new(at.level.parse().ok()?, speed_up.value).says(said.trim_end())
    })
}
