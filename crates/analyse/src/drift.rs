//! Did the machine change while the study ran? Residuals of the time against the order of the runs.

use std::collections::BTreeMap;

use messages::message;
use model::RunSequence;
use stats::distribution::{f_sf, student_two_sided};

use crate::CONFIDENCE;
use crate::analysis::Drift;
use crate::sequence::{InOrderOfStarts, Sequence, is_imported};
use crate::table::Table;
use crate::words::format;
use crate::words::names::MetricInfo;

struct Point {
    scenario: u32,
    /// Of its scenario, in the order of starts.
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
    // Runs of one day have no order among them.
    let is_known = InOrderOfStarts::of(&table.runs).is_known();
    let repetition_p = is_known.then(|| repetition_p(&points, cells)).flatten();
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
            order_words(table),
            Seen {
                trend,
                jumps,
                change,
            },
        ),
    })
}

fn points(table: &Table, column: usize) -> Option<Vec<Point>> {
    let order = InOrderOfStarts::of(&table.runs);
    let mut repetitions: BTreeMap<u32, u32> = BTreeMap::new();
    let mut points = Vec::new();
    for (row, place) in order.rows.iter().zip(order.places()) {
        if !row.is_ok() {
            continue;
        }
        let Some(value) = row.values[column] else {
            continue;
        };
        let scenario = row.record.run.scenario;
        let so_far = repetitions.entry(scenario).or_default();
        *so_far += 1;
        let repetition = match is_imported(row) {
            true => *so_far,
            false => row.record.run.repetition,
        };
        points.push(Point {
            scenario,
            repetition,
            place,
            value: Some(value).filter(|value| *value > 0.0)?.ln(),
        });
    }
    (points.len() > 1).then_some(points)
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

/// What the order of the runs makes of a machine that changes, as messages know it.
fn order_words(table: &Table) -> &'static str {
    let is_measured = !table.runs.iter().any(is_imported);
    match (table.study.order, Sequence::of(&table.runs)) {
        (RunSequence::Listed, _) if is_measured => "listed",
        (RunSequence::Blocks | RunSequence::Random, _) if is_measured => "random",
        (_, Sequence::InTurn) => "in-turn",
        (_, Sequence::Apart) => "apart",
        (_, Sequence::Unknown) => "unknown",
    }
}

fn sentence(info: &MetricInfo, order: &str, seen: Seen) -> String {
    let metric = &info.label;
    if seen.trend {
        let grew = seen.change > 0.0;
        let size = format::percent(seen.change.abs());
        message!("drift-trend", metric, grew, size, order)
    } else if seen.jumps {
        message!("drift-jumps", metric, order)
    } else {
        message!("drift-none", metric)
    }
}
