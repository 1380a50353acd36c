//! Whether successive runs are alike, so that repetitions say less than their number.

use std::collections::BTreeMap;

use messages::message;
use model::RunId;
use serde::Serialize;
use stats::{Dependence, InOrder, Interleaving, Summary};

use crate::analysis::ScenarioResult;
use crate::rounded;
use crate::scenarios::ok_rows;
use crate::sequence::{InOrderOfStarts, Sequence};
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
#[derive(Debug, Clone, Default)]
pub(crate) struct Dependences {
    /// In the order of starts; empty where that is not known.
    places: BTreeMap<RunId, usize>,
    columns: Vec<Dependence>,
    /// Whether any run says when it was.
    is_dated: bool,
    /// Of all successful runs, where too many do not say it.
    undated: Option<(usize, usize)>,
}

/// Variances of differences that are so many times what the spreads within scenarios say make a test at 5 % wrong 17 times
/// in 100. Repetitions in blocks stay below 1, those of runs in random order nearly always below this.
const TOO_MUCH: f64 = 2.0;

impl Dependences {
    pub(crate) fn of(table: &Table) -> Self {
        let order = InOrderOfStarts::of(&table.runs);
        let rows = match order.is_known() {
            true => order.rows.as_slice(),
            false => &[],
        };
        let columns = 0..table.columns.len();
        Dependences {
            columns: columns.map(|column| of_column(rows, column)).collect(),
            places: places(rows),
            is_dated: !order.rows.is_empty(),
            undated: order.has_gaps().then(|| {
                let all = table.runs.iter().filter(|row| row.is_ok()).count();
                (order.undated, all)
            }),
        }
    }

    /// How the groups of rows were measured in turn; `None` unless successive runs are alike.
    pub(crate) fn interleaving(&self, groups: &[&[&Row]], column: usize) -> Option<Interleaving> {
        let runs = |rows: &&[&Row]| -> Vec<RunId> {
            let known = rows.iter().filter(|row| row.values[column].is_some());
            known.map(|row| row.record.run).collect()
        };
        let groups: Vec<Vec<RunId>> = groups.iter().map(runs).collect();
        self.interleaving_of(&groups, column)
    }

    /// The same of runs that have a value.
    pub(crate) fn interleaving_of(
        &self,
        groups: &[Vec<RunId>],
        column: usize,
    ) -> Option<Interleaving> {
        let Some(Dependence::Alike(correlation)) = self.columns.get(column) else {
            return None;
        };
        let mut placed = Vec::new();
        for (group, runs) in groups.iter().enumerate() {
            let known = runs.iter().filter_map(|run| self.places.get(run));
            placed.extend(known.map(|place| (group, *place)));
        }
        placed.sort_by_key(|(_, place)| *place);
        Some(Interleaving::of(&placed, groups.len(), *correlation))
    }

    /// Whether a difference of two scenarios may be one of two times instead.
    pub(crate) fn are_apart(&self, table: &Table, column: usize, pair: [&[u32]; 2]) -> bool {
        let rows = |number: &u32| ok_rows(table, *number);
        let [one, other] = pair.map(|group| group.iter().flat_map(rows).collect::<Vec<_>>());
        let interleaving = self.interleaving(&[&one, &other], column);
        interleaving.is_some_and(|found| is_apart(&found, &[1.0, -1.0]))
    }

    /// Over repetitions of one scenario.
    pub(crate) fn summary(&self, ok: &[&Row], column: usize, confidence: f64) -> Option<Summary> {
        let values: Vec<f64> = ok.iter().filter_map(|row| row.values[column]).collect();
        let with_value = ok.iter().filter(|row| row.values[column].is_some());
        let places = with_value.filter_map(|row| self.places.get(&row.record.run).copied());
        let mut places: Vec<usize> = places.collect();
        let summary = match self.columns[column] {
            Dependence::Alike(correlation) if places.len() > 1 => {
                places.sort_unstable();
                let widened = stats::widened(&places, correlation);
                stats::summary_of_alike(&values, confidence, widened)
            }
            _ => stats::summary(&values, confidence),
        };
        Some(summary?.rounded_to(rounded::step(ok, column), confidence))
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
        let is_one = repeated.len() < 2;
        let (correlation, sentence) = match self.columns[time] {
            _ if repeated.is_empty() => return None,
            _ if !self.is_dated => (None, message!("order-no-starts", is_one)),
            _ if let Some((undated, runs)) = self.undated => {
                let said = message!("order-few-starts", undated, runs, is_one);
                (None, said)
            }
            _ if self.places.is_empty() => (None, message!("order-same-starts", is_one)),
            Dependence::NotSeen => return None,
            Dependence::Unknown => {
                let apart = Sequence::of(&table.runs) == Sequence::Apart;
                (None, message!("alike-unknown", apart))
            }
            Dependence::Alike(correlation) => {
                let label = &table.columns[time].label;
                let pairs = repeated
                    .windows(2)
                    .map(|two| [[two[0].number], [two[1].number]]);
                let apart = pairs
                    .into_iter()
                    .any(|[a, b]| self.are_apart(table, time, [&a, &b]));
                let said = alike(&repeated, name, label, correlation);
                (Some(correlation), message!("alike-and-order", said, apart))
            }
        };
        Some(Successive {
            correlation,
            sentence,
        })
    }
}

fn alike(repeated: &[&ScenarioResult], name: &str, label: &str, correlation: f64) -> String {
    let none = repeated
        .iter()
        .filter(|s| s.mean(name).is_none_or(|m| m.interval.is_none()));
    let none: Vec<String> = none.map(|s| s.label.clone()).collect();
    message!(
        "alike",
        correlation = format::significant(correlation, 2),
        label,
        without = none.len(),
        names = format::listed(&none, 4)
    )
}

/// Whether the error of a weighted sum of means is much larger than it seems.
pub(crate) fn is_apart(found: &Interleaving, weights: &[f64]) -> bool {
    found.error_ratio(weights) > TOO_MUCH
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
