//! How much faster several are than one, and a GPU than a CPU.

use std::collections::BTreeMap;

use analyse::{Analysis, LevelFacts, SpeedUp, SpeedUpKind, SpeedUpLine, SpeedUpPoint, format};
use serde_json::{Value, json};

use super::axis::label;
use super::lines::{Look, Looks, level_axis};
use super::page::{Figure, LogSwitch, Page};
use crate::tables::{pivot, speed_up_table};

pub(super) fn speed_ups(page: &mut Page, analysis: &Analysis) {
    if analysis.speed_ups.is_empty() {
        return;
    }
    page.open("speed-up", "Speed-up");
    let several = analysis.speed_ups.len() > 1;
    for speed_up in &analysis.speed_ups {
        if several {
            page.subtitle(&format!("Of {}", speed_up.factor));
        }
        page.list("findings", speed_up.sentences.iter().map(String::as_str));
        let figure = match speed_up.kind {
            SpeedUpKind::Count => Some(count_figure(analysis, speed_up)),
            SpeedUpKind::Device => device_figure(analysis, speed_up),
        };
        if let Some(figure) = figure {
            page.figure(&figure);
        }
        page.table(&speed_up_table(analysis, speed_up));
        page.note(&explanation(analysis, speed_up));
    }
    page.close();
}

fn explanation(analysis: &Analysis, speed_up: &SpeedUp) -> String {
    let time = analysis
        .metric(&speed_up.metric)
        .map_or("time", |info| info.label.as_str());
    let interval = format::percent(analysis.study.confidence);
    match speed_up.kind {
        SpeedUpKind::Count => format!(
            "Speed-up is the {time} with the lowest number over that with more, with its {interval} interval; efficiency is the speed-up over how many times as many there are. 100 % loses nothing."
        ),
        SpeedUpKind::Device => format!(
            "Speed-up is the {time} without the accelerator over that with it, all else equal, with its {interval} interval."
        ),
    }
}

fn count_figure(analysis: &Analysis, speed_up: &SpeedUp) -> Figure {
    let looks = Looks::new(speed_up.lines.iter().map(|l| l.phrase.as_str()));
    let mut data = Vec::new();
    let mut values: Vec<f64> = Vec::new();
    for (line, look) in speed_up.lines.iter().zip(&looks.looks) {
        let mut points = vec![Point::base(line)];
        points.extend(
            line.points
                .iter()
                .filter_map(|p| Point::of(line, p, &p.level)),
        );
        values.extend(points.iter().map(|p| p.x));
        data.push(trace(look, &points));
    }
    values.sort_by(f64::total_cmp);
    values.dedup();
    if let (Some(low), Some(high)) = (values.first(), values.last()) {
        data.push(json!({
            "type": "scatter", "mode": "lines", "name": "ideal", "x": [low, high], "y": [1.0, high / low],
            "hoverinfo": "skip", "line": { "color": "@muted", "width": 1.5, "dash": "dash" },
        }));
    }
    Figure {
        caption: format!(
            "Speed-up against {}; the dashed line is what it would be if nothing were lost, whiskers are {} intervals.{}",
            speed_up.factor,
            format::percent(analysis.study.confidence),
            looks.sentence()
        ),
        height: 420,
        data,
        layout: json!({
            "xaxis": level_axis(&speed_up.factor, &values),
            "yaxis": { "title": { "text": "speed-up" }, "type": "log", "tickformat": "~g" },
            "showlegend": true,
        }),
        log_switch: Some(LogSwitch::StartsLogarithmic),
    }
}

/// Along the numeric factor with the most levels; without one the table says it all.
fn device_figure(analysis: &Analysis, speed_up: &SpeedUp) -> Option<Figure> {
    let sweep = pivot(analysis, speed_up)?;
    let mut lines: BTreeMap<usize, (String, Vec<Point>)> = BTreeMap::new();
    let mut names: Vec<String> = Vec::new();
    for line in &speed_up.lines {
        let own = line.levels.iter().find(|l| l.factor == sweep.factor)?;
        for point in &line.points {
            let name = device_name(line, point, &sweep.factor);
            let place = names.iter().position(|n| *n == name).unwrap_or_else(|| {
                names.push(name.clone());
                names.len() - 1
            });
            let (_, points) = lines.entry(place).or_insert_with(|| (name, Vec::new()));
            points.extend(Point::of(line, point, own));
        }
    }
    let looks = Looks::new(names.iter().map(String::as_str));
    let mut data = Vec::new();
    for ((_, points), look) in lines.values_mut().zip(&looks.looks) {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        data.push(trace(look, points));
    }
    let values: Vec<f64> = sweep.levels.iter().map(|l| l.value).collect();
    Some(Figure {
        caption: format!(
            "Speed-up by the accelerator against {}; above 1 it is the faster one. Combinations without a result on either side are left out.{}",
            sweep.factor,
            looks.sentence()
        ),
        height: 420,
        data,
        layout: json!({
            "xaxis": level_axis(&sweep.factor, &values),
            "yaxis": { "title": { "text": "speed-up" }, "type": "log", "tickformat": "~g" },
            "showlegend": true,
        }),
        log_switch: Some(LogSwitch::StartsLogarithmic),
    })
}

fn device_name(line: &SpeedUpLine, point: &SpeedUpPoint, pivot: &str) -> String {
    let others = line.levels.iter().filter(|l| l.factor != pivot);
    let mut parts: Vec<&str> = others.map(|l| l.phrase.as_str()).collect();
    let pair = format!("{} over {}", point.level.phrase, line.baseline.phrase);
    parts.push(&pair);
    parts.join(" · ")
}

struct Point {
    x: f64,
    y: f64,
    above: Option<f64>,
    below: Option<f64>,
    text: String,
}

impl Point {
    fn base(line: &SpeedUpLine) -> Self {
        Point {
            x: line.baseline.level.parse().unwrap_or(f64::NAN),
            y: 1.0,
            above: None,
            below: None,
            text: label(&format!(
                "{} (what others are compared with)",
                line.baseline.phrase
            )),
        }
    }

    fn of(line: &SpeedUpLine, point: &SpeedUpPoint, at: &LevelFacts) -> Option<Self> {
        let speed_up = &point.speed_up;
        let efficiency = point.efficiency.as_ref();
        let efficiency = efficiency.map(|e| format!(", efficiency {}", format::percent(e.value)));
        let said = format!(
            "C{}: {} {} over {}{}",
            point.scenario,
            point.level.phrase,
            format::ratio(speed_up.value),
            line.baseline.phrase,
            efficiency.unwrap_or_default()
        );
        Some(Point {
            x: at.level.parse().ok()?,
            y: speed_up.value,
            above: speed_up.interval.map(|i| i.high - speed_up.value),
            below: speed_up.interval.map(|i| speed_up.value - i.low),
            text: format!("{}<br>{}", label(&said), label(&line.phrase)),
        })
    }
}

fn trace(look: &Look, points: &[Point]) -> Value {
    json!({
        "type": "scatter", "mode": "lines+markers", "name": look.name, "visible": look.visible(),
        "showlegend": !look.name.is_empty(), "hoverinfo": "text",
        "x": points.iter().map(|p| p.x).collect::<Vec<_>>(),
        "y": points.iter().map(|p| p.y).collect::<Vec<_>>(),
        "text": points.iter().map(|p| &p.text).collect::<Vec<_>>(),
        "error_y": {
            "type": "data", "symmetric": false, "color": look.colour, "thickness": 1.2, "width": 3,
            "array": points.iter().map(|p| p.above).collect::<Vec<_>>(),
            "arrayminus": points.iter().map(|p| p.below).collect::<Vec<_>>(),
        },
        "line": { "color": look.colour, "width": 2, "dash": look.dash },
        "marker": { "color": look.colour, "size": 6 },
    })
}
