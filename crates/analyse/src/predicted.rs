//! Runs of which only the beginning was carried out: what was seen, and how far off a whole run may be.

use std::collections::BTreeMap;

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
    let of_all = match predictions.len() == records.len() {
        true => format::counted(predictions.len(), "run is", "runs are"),
        false => format!("{} of {} runs are", predictions.len(), records.len()),
    };
    let seen: f64 = predictions.iter().map(|(_, p)| p.seen_seconds).sum();
    let whole: f64 = predictions.iter().map(|(record, _)| record.seconds).sum();
    let spread = spread_of_predictions(records.iter().copied());
    let errors = predictions.iter().map(|(_, p)| p.relative_error);
    let (_, high) = spread.factors(errors.fold(0.0, f64::max), 1);
    let from = match spread.is_assumed {
        true => "assuming that whole runs of one scenario differ by 5 % (one standard deviation)",
        false => "by how far the predictions of repetitions differ",
    };
    let mut notes = vec![format!(
        "{of_all} predicted from the beginning: {} of machine time instead of {}. A whole run takes the predicted time within ±{:.0} % in 95 of 100 cases, {from}. Loss and accuracy are not predicted.",
        format::duration(seen),
        format::duration(whole),
        100.0 * (high - 1.0)
    )];
    let unsettled = predictions.iter().filter(|(_, p)| !p.is_settled);
    let unsettled: Vec<String> = unsettled
        .map(|(record, _)| record.run.to_string())
        .collect();
    if !unsettled.is_empty() {
        notes.push(format!(
            "The steps of {} still became faster or slower in the second half of what was seen: these predictions may be off by more.",
            format::listed(&unsettled, 3)
        ));
    }
    notes
}
