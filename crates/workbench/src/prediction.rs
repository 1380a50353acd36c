//! Predictions held against whole runs.

use std::collections::{BTreeMap, BTreeSet};

use model::{RunId, RunRecord, Status};
use serde::Serialize;

/// Whole runs beside what was predicted of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckedPredictions {
    pub runs: Vec<CheckedRun>,
    /// Repetitions were too few to show how far runs differ.
    pub spread_is_assumed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CheckedRun {
    pub run: RunId,
    pub predicted_seconds: f64,
    /// Between which 95 of 100 whole runs are expected.
    pub low_seconds: f64,
    pub high_seconds: f64,
    pub measured_seconds: f64,
}

impl CheckedRun {
    /// Of the prediction, relative to what was measured.
    pub fn error(&self) -> f64 {
        self.predicted_seconds / self.measured_seconds - 1.0
    }

    pub fn is_within(&self) -> bool {
        (self.low_seconds..=self.high_seconds).contains(&self.measured_seconds)
    }
}

impl CheckedPredictions {
    /// Of the errors without their signs; `None` where nothing was checked.
    pub fn median_error(&self) -> Option<f64> {
        let mut errors: Vec<f64> = self.runs.iter().map(|run| run.error().abs()).collect();
        errors.sort_by(f64::total_cmp);
        let middle = errors.len() / 2;
        match errors.len() {
            0 => None,
            odd if odd % 2 == 1 => Some(errors[middle]),
            _ => Some((errors[middle - 1] + errors[middle]) / 2.0),
        }
    }
}

/// The first repetition of so many scenarios, from the shortest to the longest as predicted.
pub fn runs_to_check(predicted: &[RunRecord], count: usize) -> BTreeSet<RunId> {
    let means = predicted_means(predicted);
    let mut scenarios: Vec<(u32, f64)> = means.iter().map(|(s, mean)| (*s, mean.seconds)).collect();
    scenarios.sort_by(|a, b| a.1.total_cmp(&b.1));
    let count = count.min(scenarios.len());
    let last = scenarios.len().saturating_sub(1);
    let place = |number: usize| match count {
        1 => last / 2,
        _ => number * last / (count - 1),
    };
    let chosen = (0..count).map(|number| scenarios[place(number)].0);
    chosen.map(|scenario| RunId::new(scenario, 1)).collect()
}

pub fn check_predictions(predicted: &[RunRecord], measured: &[RunRecord]) -> CheckedPredictions {
    let means = predicted_means(predicted);
    let spread = analyse::spread_of_predictions(predicted);
    let whole = |record: &&RunRecord| {
        record.outcome.status == Status::Ok && record.prediction().is_none() && record.seconds > 0.0
    };
    let runs = measured.iter().filter(whole).filter_map(|record| {
        let mean = means.get(&record.run.scenario)?;
        let (low, high) = spread.factors(mean.relative_error, mean.runs);
        Some(CheckedRun {
            run: record.run,
            predicted_seconds: mean.seconds,
            low_seconds: mean.seconds * low,
            high_seconds: mean.seconds * high,
            measured_seconds: record.seconds,
        })
    });
    CheckedPredictions {
        runs: runs.collect(),
        spread_is_assumed: spread.is_assumed,
    }
}

#[derive(Default)]
struct PredictedMean {
    seconds: f64,
    relative_error: f64,
    runs: usize,
}

/// By scenario.
fn predicted_means(records: &[RunRecord]) -> BTreeMap<u32, PredictedMean> {
    let mut means: BTreeMap<u32, PredictedMean> = BTreeMap::new();
    for record in records.iter().filter(|r| r.outcome.status == Status::Ok) {
        let Some(prediction) = record.prediction() else {
            continue;
        };
        let mean = means.entry(record.run.scenario).or_default();
        mean.seconds += record.seconds;
        mean.relative_error = mean.relative_error.max(prediction.relative_error);
        mean.runs += 1;
    }
    for mean in means.values_mut() {
        mean.seconds /= mean.runs as f64;
    }
    means
}
