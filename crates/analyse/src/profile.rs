//! Time by operator, from the framework's own profiler: the mean over the runs of a scenario.

use std::collections::BTreeMap;

use messages::message;
use model::run::Origin;
use model::{Level, Workload};
use serde::Serialize;

use crate::frameworks::name_of;
use crate::table::{Row, Table};
use crate::words::format;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProfileResult {
    /// That were profiled.
    pub runs: usize,
    /// In all operators, mean of the runs.
    pub seconds: f64,
    /// In the order of [`OPERATOR_KINDS`]; those that took no time are left out.
    pub kinds: Vec<KindTime>,
    /// The largest first, at most [`MOST_OPERATORS`].
    pub operators: Vec<OperatorMean>,
    pub operators_in_all: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindTime {
    pub kind: String,
    pub seconds: f64,
    /// Of the profiled time, a fraction.
    pub share: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OperatorMean {
    pub name: String,
    pub kind: String,
    /// A run.
    pub calls: f64,
    pub seconds: f64,
    pub share: f64,
}

/// In the order they are drawn in; whatever else a run calls a kind counts as `other`.
pub const OPERATOR_KINDS: [&str; 8] = [
    "convolution",
    "matrix-product",
    "pooling",
    "normalisation",
    "activation",
    "copy",
    "optimiser",
    "other",
];

pub const MOST_OPERATORS: usize = 15;

/// A profile that was requested and is not there is said.
pub(crate) fn notes(table: &Table) -> Option<String> {
    let Workload::Train(train) = &table.study.workload else {
        return None;
    };
    let was_asked = |row: &&Row| match row.record.scenario.level("profile") {
        Some(level) => *level == Level::Bool(true),
        None => train.profile,
    };
    let is_without = |row: &&Row| {
        row.is_ok()
            && matches!(row.record.origin, Origin::Measured { .. })
            && row.record.profile.is_empty()
    };
    let rows = table.runs.iter().filter(was_asked).filter(is_without);
    let mut names: Vec<String> = rows.filter_map(|row| name_of(table.study, row)).collect();
    names.sort();
    names.dedup();
    (!names.is_empty()).then(|| message!("note-no-profile", names = format::listed(&names, 6)))
}

pub(crate) fn profile(ok: &[&Row]) -> Option<ProfileResult> {
    let profiled = ok.iter().filter(|row| !row.record.profile.is_empty());
    let runs = profiled.clone().count();
    let mut kinds: BTreeMap<usize, f64> = BTreeMap::new();
    let mut operators: BTreeMap<(&str, usize), Sum> = BTreeMap::new();
    for told in profiled.flat_map(|row| &row.record.profile) {
        if !told.seconds.is_finite() || told.seconds < 0.0 {
            continue;
        }
        let kind = kind_place(&told.kind);
        *kinds.entry(kind).or_default() += told.seconds;
        let sum = operators.entry((&told.name, kind)).or_default();
        sum.calls += told.calls as f64;
        sum.seconds += told.seconds;
    }
    let total: f64 = kinds.values().sum();
    if total <= 0.0 {
        return None;
    }
    let mean = |sum: f64| sum / runs as f64;
    let mut means: Vec<OperatorMean> = operators
        .into_iter()
        .map(|((name, kind), sum)| OperatorMean {
            name: name.to_owned(),
            kind: OPERATOR_KINDS[kind].to_owned(),
            calls: mean(sum.calls),
            seconds: mean(sum.seconds),
            share: sum.seconds / total,
        })
        .collect();
    // Stable, so that equals stay in the order of their names.
    means.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let operators_in_all = means.len();
    means.truncate(MOST_OPERATORS);
    Some(ProfileResult {
        runs,
        seconds: mean(total),
        kinds: kinds
            .into_iter()
            .filter(|(_, seconds)| *seconds > 0.0)
            .map(|(kind, seconds)| KindTime {
                kind: OPERATOR_KINDS[kind].to_owned(),
                seconds: mean(seconds),
                share: seconds / total,
            })
            .collect(),
        operators: means,
        operators_in_all,
    })
}

#[derive(Default)]
struct Sum {
    calls: f64,
    seconds: f64,
}

fn kind_place(kind: &str) -> usize {
    let known = OPERATOR_KINDS.iter().position(|known| *known == kind);
    known.unwrap_or(OPERATOR_KINDS.len() - 1)
}
