//! The steady rate of a counter, the time at ends of epochs, and what both say of the rest.

use stats::Interval;
use stats::distribution::student_quantile;

use super::{CONFIDENCE, Estimate, Pair};
use crate::progress::Position;
use crate::steady::warm_up;

/// More blocks than these are joined.
const MOST_BLOCKS: usize = 20;
/// Fewer blocks behind the warm-up give a value without an interval.
const FEWEST_BLOCKS: usize = 4;
/// Of the time of a unit: speed drifts (temperature, neighbours) more than blocks beside each other
/// show.
const LEAST_SPREAD: f64 = 0.005;
/// Of the time at the end of an epoch, until three were seen.
const UNKNOWN_SPREAD: f64 = 0.1;

/// Seconds of a unit, once the warm-up is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Rate {
    pub per_unit: f64,
    /// Between blocks, as a fraction of `per_unit`; correlation of neighbours included.
    pub spread: f64,
    pub blocks: usize,
    /// Of one block.
    pub units: f64,
    /// Units left out at the beginning.
    pub warm_up_units: f64,
}

/// The steady rate behind the warm-up; none before two blocks can be told apart.
pub fn steady(pairs: &[Pair]) -> Option<Rate> {
    let blocks = blocks(pairs)?;
    let rates: Vec<f64> = blocks
        .iter()
        .map(|block| block.seconds / block.done)
        .collect();
    // The first block always: it has compilation and first steps.
    let cut = warm_up(&rates, 1, (rates.len() / 2).max(1));
    let (kept, of) = (blocks.get(cut..)?, rates.get(cut..)?);
    let seconds: f64 = kept.iter().map(|block| block.seconds).sum();
    let units: f64 = kept.iter().map(|block| block.done).sum();
    let per_unit = seconds / units;
    (per_unit.is_finite() && per_unit > 0.0).then(|| Rate {
        per_unit,
        spread: spread(of, per_unit).max(LEAST_SPREAD),
        blocks: kept.len(),
        units: units / kept.len() as f64,
        warm_up_units: blocks.iter().take(cut).map(|block| block.done).sum(),
    })
}

/// Differences between pairs, joined to at most [`MOST_BLOCKS`] of about equal units.
fn blocks(pairs: &[Pair]) -> Option<Vec<Pair>> {
    let (first, last) = (pairs.first()?, pairs.last()?);
    let least = (last.done - first.done) / MOST_BLOCKS as f64 * (1.0 - 1e-9);
    let mut blocks = Vec::new();
    let mut from = *first;
    for pair in pairs {
        if pair.done - from.done >= least && pair.done > from.done {
            blocks.push(Pair {
                seconds: pair.seconds - from.seconds,
                done: pair.done - from.done,
            });
            from = *pair;
        }
    }
    (blocks.len() >= 2).then_some(blocks)
}

/// Standard deviation over mean, widened by the correlation of neighbours.
fn spread(rates: &[f64], mean: f64) -> f64 {
    let count = rates.len() as f64;
    let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
    if rates.len() < 2 || squares == 0.0 {
        return 0.0;
    }
    let neighbours: f64 = rates
        .windows(2)
        .map(|two| (two[0] - mean) * (two[1] - mean))
        .sum();
    let correlation = (neighbours / squares).clamp(0.0, 0.9);
    let widened = (1.0 + correlation) / (1.0 - correlation);
    (squares / (count - 1.0) * widened).sqrt() / mean
}

/// Time at the end of an epoch.
pub(super) struct Ends {
    pub(super) mean: f64,
    deviation: f64,
    count: f64,
}

impl Ends {
    pub(super) fn of(seconds: &[f64], rate: &Rate) -> Self {
        let count = seconds.len() as f64;
        if seconds.is_empty() {
            return Ends {
                mean: 0.0,
                deviation: 0.0,
                count: 1.0,
            };
        }
        let mean = seconds.iter().sum::<f64>() / count;
        let squares: f64 = seconds.iter().map(|s| (s - mean).powi(2)).sum();
        let least = mean * rate.spread;
        Ends {
            mean,
            deviation: match seconds.len() < 3 {
                true => least.max(mean * UNKNOWN_SPREAD),
                false => (squares / (count - 1.0)).sqrt().max(least),
            },
            count,
        }
    }
}

/// An estimate in the making.
pub(super) struct Spent {
    pub(super) value: f64,
    margin: Option<f64>,
    below: f64,
    above: f64,
    blocks: usize,
}

impl Rate {
    /// The mean of what was seen and of what is to come both vary.
    pub(super) fn estimate(&self, left: f64, ends: &Ends, ends_left: f64) -> Spent {
        let value = left * self.per_unit + ends_left * ends.mean;
        let blocks = self.blocks as f64;
        let deviation = self.spread * self.per_unit;
        let of_steps =
            (left * deviation).powi(2) * (1.0 / blocks) + left * self.units * deviation.powi(2);
        let of_ends =
            (ends_left * ends.deviation).powi(2) / ends.count + ends_left * ends.deviation.powi(2);
        let margin = (self.blocks >= FEWEST_BLOCKS).then(|| {
            student_quantile(0.5 + CONFIDENCE / 2.0, blocks - 1.0) * (of_steps + of_ends).sqrt()
        });
        Spent {
            value,
            margin,
            below: 0.0,
            above: 0.0,
            blocks: self.blocks,
        }
    }
}

impl Spent {
    /// By what the output leaves open.
    pub(super) fn widen(&mut self, position: &Position, seconds_per_unit: f64) {
        self.below += position.ahead * seconds_per_unit;
        self.above += position.more * seconds_per_unit;
    }

    pub(super) fn into_estimate(self) -> Estimate {
        let method = "steady rate behind the warm-up, ends of epochs apart";
        let mut estimate = Estimate::bare(self.value, CONFIDENCE, self.blocks, method);
        estimate.interval = self.margin.map(|margin| Interval {
            low: (self.value - margin - self.below).max(0.0),
            high: self.value + margin + self.above,
        });
        estimate
    }
}
