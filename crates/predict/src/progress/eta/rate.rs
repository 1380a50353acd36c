//! The steady rate of a counter, the time at ends of epochs, and what both say of the rest.

use stats::Interval;
use stats::distribution::{normal_quantile, student_quantile};

use super::{CONFIDENCE, Estimate, Pair};
use crate::progress::Position;
use crate::steady::warm_up;
use crate::whole_run::ASSUMED_SPREAD;

/// More blocks than these are joined.
const MOST_BLOCKS: usize = 20;
/// Fewer blocks behind the warm-up give a value without an interval.
const FEWEST_BLOCKS: usize = 4;
/// Of the time of a unit: speed drifts (temperature, neighbours) more than blocks beside each other
/// show.
const LEAST_SPREAD: f64 = 0.005;
/// Blocks are joined by so many, too: where the speed varies slowly, long ones show it.
const JOINED_BY: [usize; 3] = [1, 2, 4];
/// Of fewer blocks the correlation is hardly known, and is not corrected.
const CORRELATED_BLOCKS: usize = 8;
/// A machine's speed is assumed to vary by [`ASSUMED_SPREAD`] and to stay alike for about so long: a
/// beginning that is not much longer cannot show that it does.
const ASSUMED_CORRELATION_SECONDS: f64 = 60.0;
/// Degrees of freedom of the spread of such a speed: one for so many seconds.
const ASSUMED_INDEPENDENT_SECONDS: f64 = 40.0;
const FEWEST_INDEPENDENT: f64 = 1.0;
/// Of the time at the end of an epoch, until three were seen.
const UNKNOWN_SPREAD: f64 = 0.1;

/// Seconds of a unit, once the warm-up is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Rate {
    pub per_unit: f64,
    pub blocks: usize,
    /// How much blocks differ.
    pub spread: Spread,
    /// Standard deviation between the shortest blocks, relative, as if they were independent.
    of_blocks: f64,
    /// That were seen behind the warm-up, and in how many seconds.
    pub units: f64,
    pub seconds: f64,
    /// Units left out at the beginning.
    pub warm_up_units: f64,
}

/// Of blocks of the length that shows most of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Standard deviation between blocks, as a fraction of their mean; correlation of neighbours included.
    pub relative: f64,
    pub blocks: usize,
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
        blocks: kept.len(),
        spread: widest_spread(of, per_unit),
        of_blocks: deviation(of, per_unit),
        seconds,
        units,
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

/// Of those lengths of blocks of which enough are there, the one by which the mean is known least.
fn widest_spread(rates: &[f64], mean: f64) -> Spread {
    let joined = JOINED_BY.iter().map(|by| {
        let rates: Vec<f64> = rates
            .rchunks_exact(*by)
            .map(|chunk| chunk.iter().sum::<f64>() / *by as f64)
            .collect();
        Spread {
            relative: spread(&rates, mean).max(LEAST_SPREAD),
            blocks: rates.len(),
        }
    });
    let enough = joined.filter(|spread| spread.blocks >= FEWEST_BLOCKS);
    let widest = enough.max_by(|a, b| a.margin().total_cmp(&b.margin()));
    widest.unwrap_or(Spread {
        relative: spread(rates, mean).max(LEAST_SPREAD),
        blocks: rates.len(),
    })
}

impl Spread {
    fn quantile(&self) -> f64 {
        student_quantile(0.5 + CONFIDENCE / 2.0, self.blocks as f64 - 1.0)
    }

    /// Of the mean, relative.
    fn margin(&self) -> f64 {
        self.quantile() * self.relative / (self.blocks as f64).sqrt()
    }
}

/// Share of a variance that is left in the mean over some seconds, where values stay alike for
/// [`ASSUMED_CORRELATION_SECONDS`] (exponentially correlated).
fn left_in_mean(seconds: f64) -> f64 {
    let lengths = seconds / ASSUMED_CORRELATION_SECONDS;
    match lengths > 1e-3 {
        true => 2.0 / lengths * (1.0 - (1.0 - (-lengths).exp()) / lengths),
        false => 1.0,
    }
}

/// Standard deviation over mean.
fn deviation(rates: &[f64], mean: f64) -> f64 {
    let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
    (squares / (rates.len() as f64 - 1.0).max(1.0)).sqrt() / mean
}

/// Widened by the correlation of neighbours.
fn spread(rates: &[f64], mean: f64) -> f64 {
    let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
    if squares == 0.0 {
        return 0.0;
    }
    let neighbours: f64 = rates
        .windows(2)
        .map(|two| (two[0] - mean) * (two[1] - mean))
        .sum();
    let seen = neighbours / squares;
    let count = rates.len() as f64;
    let correlation = match rates.len() >= CORRELATED_BLOCKS {
        // So few values about their own mean look less alike than they are (Marriott and Pope 1954).
        true => seen + (1.0 + 4.0 * seen) / count,
        false => seen,
    };
    let correlation = correlation.clamp(0.0, 0.9);
    deviation(rates, mean) * ((1.0 + correlation) / (1.0 - correlation)).sqrt()
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
        let least = mean * rate.spread.relative;
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
        let margin = (self.blocks >= FEWEST_BLOCKS).then(|| {
            let blocks = self.spread.blocks as f64;
            let deviation = self.spread.relative * self.per_unit;
            let of_steps = (left * deviation).powi(2) / blocks
                + left * self.units / blocks * deviation.powi(2);
            let of_ends = (ends_left * ends.deviation).powi(2) / ends.count
                + ends_left * ends.deviation.powi(2);
            let seen = self.spread.quantile() * (of_steps + of_ends).sqrt();
            seen.hypot(self.assumed_margin(value))
        });
        Spent {
            value,
            margin,
            below: 0.0,
            above: 0.0,
            blocks: self.blocks,
        }
    }

    /// What is assumed of a machine, for the seconds that were seen and for those to come.
    fn assumed_margin(&self, left_seconds: f64) -> f64 {
        let share = left_in_mean(self.seconds) + left_in_mean(left_seconds);
        // What differs less than it does by chance is no evidence that it does not.
        let independent = (self.seconds / ASSUMED_INDEPENDENT_SECONDS).max(FEWEST_INDEPENDENT);
        let seen = student_quantile(0.5 + CONFIDENCE / 2.0, independent) * self.of_blocks;
        let assumed = normal_quantile(0.5 + CONFIDENCE / 2.0) * ASSUMED_SPREAD;
        left_seconds * seen.max(assumed) * share.sqrt()
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
