//! Values of imported files that were written down in whole steps. What Bancada measures comes from clocks of nanoseconds.

use messages::message;
use model::run::metric;
use stats::Sample;

use crate::scenarios::ok_rows;
use crate::sequence::is_imported;
use crate::table::{Row, Table};
use crate::words::names::metric_value;

/// What is counted, and has no unit or bytes, is exact.
const COUNTED: [&str; 2] = ["", "B"];

/// Sets the steps of all rows.
pub(crate) fn find(table: &mut Table) {
    if !table.runs.iter().any(is_imported) {
        return;
    }
    let is_of_bills = |name: &str| metric::is_of_bills(name);
    for column in 0..table.columns.len() {
        let info = &table.columns[column];
        if is_of_bills(&info.name) || COUNTED.contains(&info.unit.as_str()) {
            continue;
        }
        let values = table.runs.iter().filter(|row| is_imported(row));
        let values: Vec<f64> = values.filter_map(|row| row.values[column]).collect();
        let step = stats::step_of(&values).unwrap_or(0.0);
        for row in table.runs.iter_mut().filter(|row| is_imported(row)) {
            row.steps[column] = step;
        }
    }
    // What is billed is as rounded as the time that is paid.
    let Some(paid) = table.column(metric::TOTAL_SECONDS) else {
        return;
    };
    for column in 0..table.columns.len() {
        if !is_of_bills(&table.columns[column].name) {
            continue;
        }
        for row in &mut table.runs {
            if let (Some(cost), Some(seconds)) = (row.values[column], row.values[paid]) {
                row.steps[column] = (cost * row.steps[paid] / seconds).abs();
            }
        }
    }
}

/// Of several rows, on average.
pub(crate) fn step(rows: &[&Row], column: usize) -> f64 {
    let steps = rows.iter().map(|row| row.steps[column]);
    steps.sum::<f64>() / rows.len().max(1) as f64
}

/// That times are rounded, where that is much of what is not known of them.
pub(crate) fn note(table: &Table, time: usize) -> Option<String> {
    /// Of the variance of a mean.
    const MUCH: f64 = 0.1;
    let info = &table.columns[time];
    let mut numbers: Vec<u32> = table
        .runs
        .iter()
        .map(|row| row.record.run.scenario)
        .collect();
    numbers.dedup();
    let is_much = |number: &u32| {
        let rows = ok_rows(table, *number);
        let values: Vec<f64> = rows.iter().filter_map(|row| row.values[time]).collect();
        let Some(found) = stats::summary(&values, crate::CONFIDENCE).filter(|s| s.count > 1) else {
            return false;
        };
        let variance = found.sd * found.sd;
        let extra = stats::rounding_variance(step(&rows, time), variance);
        extra > MUCH * variance / found.count as f64
    };
    let step = table
        .runs
        .iter()
        .map(|row| row.steps[time])
        .fold(0.0, f64::max);
    numbers.iter().any(is_much).then(|| {
        let step = metric_value(info, step);
        message!("note-rounded", label = info.label, step)
    })
}

/// With the step of its rows.
pub(crate) fn sample<'v>(values: &'v [f64], step: f64) -> Sample<'v> {
    Sample { values, step }
}
