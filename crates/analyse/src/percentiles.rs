//! Percentiles of few requests: the 99th of 25 is the largest of them, and says little about the 99th.

use messages::message;
use model::run::metric;

use crate::table::{Row, Table};

/// A percentile that runs have too few requests for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooFew {
    pub(crate) needed: u64,
    /// Of the run with the fewest.
    pub(crate) requests: u64,
}

/// So many that one of them is beyond the percentile in 95 of 100 runs: with fewer, even the largest is likely to be
/// below it, and no interval covers it (Conover 1999, section 3.2).
fn needed(name: &str) -> Option<u64> {
    let share: f64 = match name {
        metric::LATENCY_P90_SECONDS => 0.90,
        metric::LATENCY_P95_SECONDS => 0.95,
        metric::LATENCY_P99_SECONDS => 0.99,
        _ => return None,
    };
    Some((0.05_f64.ln() / share.ln()).ceil() as u64)
}

/// Runs that do not say how many requests they made are not judged.
pub(crate) fn too_few<'r>(name: &str, rows: impl Iterator<Item = &'r Row<'r>>) -> Option<TooFew> {
    let needed = needed(name)?;
    let served = rows.filter_map(|row| row.record.serving.as_ref());
    let requests = served
        .map(|serving| serving.requests() - serving.failed())
        .min()?;
    (requests < needed).then_some(TooFew { needed, requests })
}

/// For the report: which percentiles are no more than the largest of a few.
pub(crate) fn notes(table: &Table) -> Vec<String> {
    let columns = table.columns.iter();
    let said = columns.filter_map(|column| {
        let ok = table.runs.iter().filter(|row| row.is_ok());
        let TooFew { needed, requests } = too_few(&column.name, ok)?;
        let label = &column.label;
        Some(message!("note-percentile", label, needed, requests))
    });
    said.collect()
}
