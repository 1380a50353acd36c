//! Loss and accuracy epoch by epoch, over the repetitions of a scenario.

use std::collections::BTreeMap;

use model::{RunRecord, Status, Warning};
use serde::Serialize;

use crate::table::Row;

/// Means over the repetitions that told this epoch.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CurvePoint {
    pub epoch: u32,
    pub runs: usize,
    /// Of the runs whose loss was still a number.
    pub loss: Option<f64>,
    /// The lowest and the highest of them.
    pub loss_low: Option<f64>,
    pub loss_high: Option<f64>,
    /// Runs whose loss is NaN.
    pub diverged: usize,
    pub accuracy_percent: Option<f64>,
    pub seconds: Option<f64>,
}

/// A run that was cut short, by its time, its memory or by hand, learned until then, so its epochs
/// count.
pub(crate) fn curve(rows: &[Row]) -> Vec<CurvePoint> {
    let mut epochs: BTreeMap<u32, EpochMeans> = BTreeMap::new();
    let counts = |row: &&Row| row.status().is_some_and(|status| status != Status::Failed);
    for record in rows.iter().filter(counts).map(|row| row.record) {
        let tells = tells_losses(record);
        for told in &record.epochs {
            let means = epochs.entry(told.epoch).or_default();
            means.runs += 1;
            let loss = told.loss.filter(|loss| loss.is_finite());
            means.diverged += usize::from(tells && loss.is_none());
            means.loss.add(loss);
            let percent = told.accuracy.map(|fraction| fraction * 100.0);
            means.accuracy.add(percent);
            means.seconds.add(told.seconds);
        }
    }
    let point = |(epoch, means): (u32, EpochMeans)| CurvePoint {
        epoch,
        runs: means.runs,
        loss: means.loss.value(),
        loss_low: means.loss.low,
        loss_high: means.loss.high,
        diverged: means.diverged,
        accuracy_percent: means.accuracy.value(),
        seconds: means.seconds.value(),
    };
    epochs.into_iter().map(point).collect()
}

/// Only where losses are reported at all does a missing one mean something.
fn tells_losses(record: &RunRecord) -> bool {
    let diverged = |w: &Warning| matches!(w, Warning::Diverged { .. });
    record.epochs.iter().any(|e| e.loss.is_some()) || record.warnings.iter().any(diverged)
}

#[derive(Default)]
struct EpochMeans {
    runs: usize,
    diverged: usize,
    loss: Mean,
    accuracy: Mean,
    seconds: Mean,
}

#[derive(Default)]
struct Mean {
    sum: f64,
    count: usize,
    low: Option<f64>,
    high: Option<f64>,
}

impl Mean {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value.filter(|v| v.is_finite()) {
            self.sum += value;
            self.count += 1;
            self.low = Some(self.low.map_or(value, |low| low.min(value)));
            self.high = Some(self.high.map_or(value, |high| high.max(value)));
        }
    }

    fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}
