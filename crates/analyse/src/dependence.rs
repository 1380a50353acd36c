//! Whether successive runs are alike, so that repetitions say less than their number.

use std::collections::BTreeMap;

use messages::message;
use model::RunId;
use model::run::Origin;
use serde::Serialize;
use stats::{Dependence, InOrder, Summary};

use crate::analysis::ScenarioResult;
use crate::table::{Row, Table};
use crate::words::format;

/// Of the time.
#[derive(Debug, Clone, Serialize)]
pub struct Successive {
    /// Of a run and the next; `None` where there are too few repetitions to know.
    pub correlation: Option<f64>,
    pub sentence: String,
}

/// Of every column of the table.
pub(crate) struct Dependences {
    /// In the order of starts.
    places: BTreeMap<RunId, usize>,
    columns: Vec<Dependence>,
}

impl Dependences {
    pub(crate) fn of(table: &Table) -> Self {
        let mut rows: Vec<&Row> = table.runs.iter().filter(|row| is_ordered(row)).collect();
        rows.sort_by_key(|row| (row.record.started, row.record.run));
        let columns = 0..table.columns.len();
        Dependences {
            columns: columns.map(|column| of_column(&rows, column)).collect(),
            places: places(&rows),
        }
    }

    /// Over repetitions of one scenario.
    pub(crate) fn summary(&self, ok: &[&Row], column: usize, confidence: f64) -> Option<Summary> {
        let values: Vec<f64> = ok.iter().filter_map(|row| row.values[column]).collect();
        let with_value = ok.iter().filter(|row| row.values[column].is_some());
        let places = with_value.map(|row| self.places.get(&row.record.run).copied());
        match (self.columns[column], places.collect::<Option<Vec<usize>>>()) {
            (Dependence::Alike(correlation), Some(mut places)) if places.len() > 1 => {
                places.sort_unstable();
                let widened = stats::widened(&places, correlation);
                stats::summary_of_alike(&values, confidence, widened)
            }
            _ => stats::summary(&values, confidence),
        }
    }

    pub(crate) fn of_time(
        &self,
        table: &Table,
        time: usize,
        scenarios: &[ScenarioResult],
    ) -> Option<Successive> {
        let name = &table.columns[time].name;
        let repeated = |s: &&ScenarioResult| s.metrics.get(name).is_some_and(|m| m.count > 1);
        let repeated: Vec<&ScenarioResult> = scenarios.iter().filter(repeated).collect();
        let (correlation, sentence) = match self.columns[time] {
            _ if repeated.is_empty() => return None,
            Dependence::NotSeen => return None,
            Dependence::Unknown => (None, message!("alike-unknown")),
            Dependence::Alike(correlation) => {
                let none = repeated
                    .iter()
                    .filter(|s| s.mean(name).is_none_or(|m| m.interval.is_none()));
                let none: Vec<String> = none.map(|s| s.label.clone()).collect();
                let without = none.len();
                let said = message!(
                    "alike",
                    correlation = format::significant(correlation, 2),
                    label = table.columns[time].label,
                    without,
                    names = format::listed(&none, 4)
                );
                (Some(correlation), said)
            }
        };
        Some(Successive {
            correlation,
            sentence,
        })
    }
}

/// Imported runs, too, where their file says when they were.
pub(crate) fn is_ordered(row: &Row) -> bool {
    row.record.is_dated() || matches!(row.record.origin, Origin::Measured { .. })
}

fn places(rows: &[&Row]) -> BTreeMap<RunId, usize> {
    let numbered = rows.iter().enumerate();
    numbered
        .map(|(place, row)| (row.record.run, place))
        .collect()
}

/// Of logarithms where there are any: a scenario of long runs must not drown the others.
fn of_column(rows: &[&Row], column: usize) -> Dependence {
    let known = || rows.iter().enumerate().filter(|(_, row)| row.is_ok());
    let positive = known().all(|(_, row)| row.values[column].is_none_or(|value| value > 0.0));
    let values = known().filter_map(|(place, row)| {
        let value = row.values[column]?;
        Some(InOrder {
            cell: row.record.run.scenario as usize,
            place,
            value: if positive { value.ln() } else { value },
        })
    });
    stats::dependence(&values.collect::<Vec<_>>())
}
