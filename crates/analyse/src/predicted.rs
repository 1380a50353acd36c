//! Runs of which only the beginning was carried out: what was seen, and how far off a whole run may be.

use std::collections::BTreeMap;

use messages::message;
use model::RunRecord;
use predict::whole_run::RunSpread;

use crate::table::Table;
use crate::words::format;

/// Times of predicted runs by scenario, for how far runs differ from each other.
pub fn spread_of_predictions<'r>(records: impl IntoIterator<Item = &'r RunRecord>) -> RunSpread {
    let mut times: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for record in records {
        if record.prediction().is_some() {
            times
                .entry(record.run.scenario)
                .or_default()
                .push(record.seconds);
        }
    }
    RunSpread::pooled(times.values().map(Vec::as_slice))
}

pub(crate) fn notes(table: &Table) -> Vec<String> {
    let records: Vec<&RunRecord> = table.runs.iter().map(|row| row.record).collect();
    let predictions = records.iter().filter_map(|r| Some((*r, r.prediction()?)));
    let predictions: Vec<_> = predictions.collect();
    if predictions.is_empty() {
        return Vec::new();
    }
    let part = match predictions.len() == records.len() {
        true => "all",
        false => "some",
    };
    let seen: f64 = predictions.iter().map(|(_, p)| p.seen_seconds).sum();
    let whole: f64 = predictions.iter().map(|(record, _)| record.seconds).sum();
    let spread = spread_of_predictions(records.iter().copied());
    let errors = predictions.iter().map(|(_, p)| p.relative_error);
    let (_, high) = spread.factors(errors.fold(0.0, f64::max), 1);
    let mut notes = vec![message!(
        "note-predicted",
        part,
        predicted = predictions.len(),
        runs = records.len(),
        seen = format::duration(seen),
        whole = format::duration(whole),
        within = format!("{:.0}", 100.0 * (high - 1.0)),
        assumed = spread.is_assumed
    )];
    let unsettled = predictions.iter().filter(|(_, p)| !p.is_settled);
    let unsettled: Vec<String> = unsettled
        .map(|(record, _)| record.run.to_string())
        .collect();
    if !unsettled.is_empty() {
        let runs = format::listed(&unsettled, 3);
        notes.push(message!("note-predicted-unsettled", runs));
    }
    notes
}
