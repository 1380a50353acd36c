//! Columns of steps that count from the start of the run: found, and taken apart.

use model::run::metric;

use crate::rows::Row;
use crate::{ColumnMetric, Counted, ImportSpec, RowKind, RowProblem};

/// Fewer rows may rise by chance: four do once in 24 times, and doubling meanwhile is rarer yet.
const FEWEST_ROWS: usize = 4;
/// Steps alike, counted from the start, rise as much as there are steps; a set-up before the first
/// makes it less.
const LEAST_RISE: f64 = 2.0;

/// Rows of one run, in their order. Cumulative columns become numbers of each row. Times of steps
/// that look cumulative without being said to be so are left out: summing them would bill hours
/// that nobody used.
pub(crate) fn settle(rows: &mut [Row], spec: &ImportSpec, problems: &mut Vec<RowProblem>) {
    if spec.row() != RowKind::Step {
        return;
    }
    for (place, column) in spec.metrics.iter().enumerate() {
        match column.counted {
            Some(Counted::Cumulative) => take_apart(rows, place, column, problems),
            None if column.metric == metric::STEP_SECONDS => {
                refuse_cumulative(rows, place, column, problems);
            }
            Some(Counted::Each) | None => {}
        }
    }
}

fn take_apart(
    rows: &mut [Row],
    place: usize,
    column: &ColumnMetric,
    problems: &mut Vec<RowProblem>,
) {
    let mut before = 0.0;
    for row in rows {
        let Some(Some(value)) = row.metrics.get_mut(place) else {
            continue;
        };
        let now = *value;
        if now < before {
            let what = format!(
                "`{}` is cumulative but falls from {before} to {now}: it is assumed to restart from zero",
                column.column
            );
            problems.push(RowProblem::new(&row.file, row.line, what));
            before = 0.0;
        }
        *value = now - before;
        before = now;
    }
}

fn refuse_cumulative(
    rows: &mut [Row],
    place: usize,
    column: &ColumnMetric,
    problems: &mut Vec<RowProblem>,
) {
    let value = |row: &Row| row.metrics.get(place).copied().flatten();
    let values: Vec<f64> = rows.iter().filter_map(value).collect();
    let (Some(first), Some(last)) = (values.first(), values.last()) else {
        return;
    };
    let rises = values.is_sorted_by(|a, b| a < b);
    if values.len() < FEWEST_ROWS || !rises || *last < LEAST_RISE * first {
        return;
    }
    if let Some(row) = rows.first() {
        let ColumnMetric {
            column,
            metric,
            unit,
            ..
        } = column;
        problems.push(row.problem(format!(
            "`{column}` rises with every row of the run, from {first} s to {last} s, like a time since the start: write {column}={metric}:{unit}:cumulative if it is one, or {column}={metric}:{unit}:each if it is the time of each step; the column is ignored"
        )));
    }
    for row in rows {
        if let Some(value) = row.metrics.get_mut(place) {
            *value = None;
        }
    }
}
