//! Did the machine change while the study ran? Residuals of the time against the order of the runs.

use std::collections::BTreeMap;

use messages::message;
use model::RunSequence;
use stats::distribution::{f_sf, student_two_sided};

use crate::CONFIDENCE;
use crate::analysis::Drift;
use crate::dependence::is_ordered;
use crate::table::{Row, Table};
use crate::words::format;
use crate::words::names::MetricInfo;

struct Point {
    scenario: u32,
    repetition: u32,
    /// From 0, the first run, to 1, the last.
    place: f64,
    /// Logarithm of the time.
    value: f64,
}

/// `level` is the error rate of its statement.
pub(crate) fn drift(table: &Table, column: usize, level: f64) -> Option<Drift> {
    let mut points = points(table, column)?;
    let cells = centre_within_scenarios(&mut points);
    // Each scenario's mean took a degree of freedom, the slope takes another.
    let left = points
        .len()
        .checked_sub(cells + 1)
        .filter(|left| *left >= 3)?;
    let x: Vec<f64> = points.iter().map(|p| p.place).collect();
    let y: Vec<f64> = points.iter().map(|p| p.value).collect();
    let slope = stats::slope(&x, &y, CONFIDENCE).ok()?;
    let error = slope.standard_error? * ((points.len() - 2) as f64 / left as f64).sqrt();
    let slope = slope.value;
    let p = if error > 0.0 {
        student_two_sided(slope / error, left as f64)
    } else {
        1.0
    };
    let repetition_p = repetition_p(&points, cells);
    let change = slope.exp() - 1.0;
    // Two questions share the level.
    let is_sure = |p: f64| p < level / 2.0;
    let trend = is_sure(p) && change.is_finite();
    let jumps = repetition_p.is_some_and(is_sure);
    Some(Drift {
        metric: table.columns[column].name.clone(),
        change,
        p,
        repetition_p,
        seen: trend || jumps,
        sentence: sentence(
            &table.columns[column],
            table.study.order,
            Seen {
                trend,
                jumps,
                change,
            },
        ),
    })
}

fn points(table: &Table, column: usize) -> Option<Vec<Point>> {
    let is_measured = |row: &&Row| row.is_ok() && is_ordered(row);
    let mut rows: Vec<&Row> = table
        .runs
        .iter()
        .filter(is_measured)
        .filter(|r| r.values[column].is_some())
        .collect();
    rows.sort_by_key(|row| (row.record.started, row.record.run));
    let last = rows.len().checked_sub(1).filter(|last| *last > 0)? as f64;
    let point = |(place, row): (usize, &&Row)| {
        let value = row.values[column].filter(|v| *v > 0.0)?;
        Some(Point {
            scenario: row.record.run.scenario,
            repetition: row.record.run.repetition,
            place: place as f64 / last,
            value: value.ln(),
        })
    };
    rows.iter().enumerate().map(point).collect()
}

/// Takes each scenario's mean away from time and place alike (Frisch–Waugh–Lovell), so that only
/// repetitions of the same scenario are compared. Returns the number of scenarios.
fn centre_within_scenarios(points: &mut [Point]) -> usize {
    #[derive(Default)]
    struct Sums {
        count: f64,
        place: f64,
        value: f64,
    }
    let mut sums: BTreeMap<u32, Sums> = BTreeMap::new();
    for point in points.iter() {
        let sum = sums.entry(point.scenario).or_default();
        sum.count += 1.0;
        sum.place += point.place;
        sum.value += point.value;
    }
    for point in points.iter_mut() {
        if let Some(sum) = sums.get(&point.scenario) {
            point.place -= sum.place / sum.count;
            point.value -= sum.value / sum.count;
        }
    }
    sums.len()
}

/// Whether whole repetitions differ: for equally repeated scenarios this is the block term of a
/// randomised block design (Montgomery 2012, section 4.1).
fn repetition_p(points: &[Point], cells: usize) -> Option<f64> {
    let mut groups: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for point in points {
        groups
            .entry(point.repetition)
            .or_default()
            .push(point.value);
    }
    let between = groups.len().checked_sub(1).filter(|n| *n > 0)?;
    let left = points
        .len()
        .checked_sub(cells + between)
        .filter(|left| *left > 0)?;
    let groups: Vec<Vec<f64>> = groups.into_values().collect();
    let anova = stats::one_way(&groups).ok()?;
    let term = anova.terms.first()?;
    let noise = anova.residual.sum_of_squares / left as f64;
    (noise > 0.0).then(|| {
        f_sf(
            term.sum_of_squares / between as f64 / noise,
            between as f64,
            left as f64,
        )
    })
}

struct Seen {
    trend: bool,
    jumps: bool,
    change: f64,
}

fn sentence(info: &MetricInfo, order: RunSequence, seen: Seen) -> String {
    let metric = &info.label;
    let shuffled = order != RunSequence::Listed;
    if seen.trend {
        let grew = seen.change > 0.0;
        let size = format::percent(seen.change.abs());
        message!("drift-trend", metric, grew, size, shuffled)
    } else if seen.jumps {
        message!("drift-jumps", metric, shuffled)
    } else {
        message!("drift-none", metric)
    }
}
