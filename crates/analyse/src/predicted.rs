//! Runs of which only the beginning was carried out: what was seen, and how far off a whole run may be.

use std::collections::BTreeMap;

use messages::message;
use model::RunRecord;
use predict::whole_run::RunSpread;

use crate::table::Table;
use crate::words::format;

/// An interval of factors that is wider has sides that are too different for one margin.
const WIDEST_MARGIN: f64 = 0.3;

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
    let (low, high) = spread.factors(errors.fold(0.0, f64::max), 1);
    let mut notes = vec![message!(
        "note-predicted",
        part,
        predicted = predictions.len(),
        runs = records.len(),
        seen = format::duration(seen),
        whole = format::duration(whole),
        form = form(high),
        within = format!("{:.0}", 100.0 * (high - 1.0)),
        low = format::significant(low, 2),
        high = format::significant(high, 2),
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

/// How the factors of an interval are written, by the higher one.
fn form(high: f64) -> &'static str {
    match high - 1.0 > WIDEST_MARGIN {
        true => "factors",
        false => "margin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_interval_is_no_margin() {
        let check = |times: &[f64], expected: &str| {
            let (_, high) = RunSpread::pooled([times]).factors(0.0, 1);
            assert_eq!(form(high), expected, "{times:?}: {high}");
        };
        check(&[1.0, 1.0, 1.0], "margin");
        check(&[1.0, 1.08, 0.92, 1.0, 1.08, 0.92], "margin");
        check(&[1.0, 2.0, 0.6], "factors");
    }
}
