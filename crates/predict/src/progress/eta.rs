//! The time that is left, from (seconds, units done) pairs.
//!
//! Time before the first count (imports, data) is elapsed and not extrapolated. Training is cut into
//! at most 20 blocks of equal units. The warm-up is what the marginal standard error rule cuts off
//! ([`crate::steady`]), at most half of the blocks and at least the first one. Where
//! epochs are counted, time at whole epochs (validation, checkpoints) is kept apart and added for
//! every end of an epoch that is still to come.

mod parts;
mod rate;

use serde::Serialize;
use stats::Interval;

pub use rate::{Rate, steady};
pub use stats::Estimate;

use super::{Position, Unit};
use parts::Parts;
use rate::Ends;

/// Fewer blocks behind the warm-up are not enough to end a run by: the first narrow interval may be a
/// lucky one.
const BLOCKS_TO_STOP: usize = 8;
/// Pairs kept; when there are more, every second one is dropped.
const MOST_PAIRS: usize = 1024;
const CONFIDENCE: f64 = 0.95;
/// A script is not ended before it was seen counting for so long: a shorter beginning does not show
/// how a machine varies over seconds.
pub const KNOWN_AFTER_SECONDS: f64 = 10.0;

/// What loads much at its start frees much at its end: scripts in Python took up to a quarter.
const END_OF_START: f64 = 0.25;
const LONGEST_END_SECONDS: f64 = 2.0;

/// When how much was done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    pub seconds: f64,
    pub done: f64,
}

/// The pairs of one counter.
#[derive(Debug, Default)]
pub struct Pace {
    pairs: Vec<Pair>,
    of: Option<Position>,
    /// When the first count came; the first pairs may be forgotten.
    begun_seconds: f64,
    /// Pairs between two kept ones.
    stride: usize,
    skipped: usize,
}

/// The rest of a run, at the time of the last pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Rest {
    pub seconds: Estimate,
    /// When the last count came.
    pub at_seconds: f64,
    /// Between two counts.
    pub longest_wait_seconds: f64,
    /// Since the first count.
    pub seen_seconds: f64,
    pub basis: Basis,
}

/// What a run takes, seen from a moment in it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Times {
    pub left_seconds: Estimate,
    /// From the start of the program.
    pub total_seconds: Estimate,
}

impl Rest {
    /// `now` is not before the last count. What was predicted to be over by now takes no time less
    /// than none.
    pub fn at(&self, now: f64) -> Times {
        // What takes longer than every wait before is a delay, not progress.
        let waited = (now - self.at_seconds).min(self.longest_wait_seconds);
        let shifted = |by: f64, least: f64| Estimate {
            value: (self.seconds.value + by).max(least),
            interval: self.seconds.interval.map(|interval| Interval {
                low: (interval.low + by).max(least),
                high: (interval.high + by).max(least),
            }),
            ..self.seconds.clone()
        };
        Times {
            left_seconds: shifted(-waited, 0.0),
            total_seconds: shifted(now - waited, now),
        }
    }

    /// Whether half the width of the interval of the total time is at most this part of it, and
    /// enough blocks, an end of an epoch and so many seconds of counts are behind it.
    pub fn is_known_to(&self, precision: f64, least_seconds: f64) -> bool {
        let total = self.at(self.at_seconds).total_seconds;
        self.seen_seconds >= least_seconds
            && self.basis != Basis::StepsOfEpochs
            && total.count >= BLOCKS_TO_STOP
            && total
                .relative_margin()
                .is_some_and(|margin| margin <= precision)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Steps of a counter that knows no epochs.
    Steps,
    /// No whole epoch was seen: what happens at the end of an epoch is not in it.
    StepsOfEpochs,
    /// The end of an epoch was seen, or there is none before the end of the run.
    Epochs,
}

impl Pace {
    /// A different counter, or one that starts again, is a new beginning.
    pub fn push(&mut self, seconds: f64, position: &Position) {
        let is_same = self.of.is_some_and(|of| {
            (of.scope, of.unit, of.total) == (position.scope, position.unit, position.total)
                && of.done <= position.done
        });
        if !is_same {
            *self = Pace {
                begun_seconds: seconds,
                ..Pace::default()
            };
        }
        self.of = Some(*position);
        let pair = Pair {
            seconds,
            done: position.done,
        };
        // Of pairs with the same count the first and the last are kept: time passes between them.
        let is_third = match self.pairs.as_slice() {
            [.., a, b] => a.done == pair.done && b.done == pair.done,
            _ => false,
        };
        let is_end = |pair: &Pair| is_end(pair, position.unit);
        let is_dense = self.skipped + 1 < self.stride && !is_end(&pair);
        match self.pairs.last_mut() {
            Some(last) if is_third => *last = pair,
            Some(last) if is_dense && !is_end(last) && last.done != pair.done => {
                *last = pair;
                self.skipped += 1;
            }
            _ => {
                self.pairs.push(pair);
                self.skipped = 0;
            }
        }
        if self.pairs.len() > MOST_PAIRS {
            self.thin(position.unit);
        }
    }

    /// Ends of epochs stay; if they are too many, the earlier half is forgotten.
    fn thin(&mut self, unit: Unit) {
        let mut at = 0;
        self.pairs.retain(|pair| {
            at += 1;
            at % 2 == 1 || is_end(pair, unit)
        });
        if self.pairs.len() > MOST_PAIRS / 4 * 3 {
            self.pairs.drain(..self.pairs.len() / 2);
        }
        self.stride = self.stride.saturating_mul(2).max(2);
    }

    pub fn rest(&self) -> Option<Rest> {
        let position = self.of?;
        let left = position.left()?;
        let last = self.pairs.last()?;
        let parts = Parts::of(&self.pairs, position.unit);
        let rate = steady(&parts.training)?;
        let ends_left = match position.unit {
            Unit::Epochs => (position.total? - position.done.floor()).max(0.0),
            Unit::Steps => 0.0,
        };
        let ends = Ends::of(&parts.ends, &rate);
        let mut seconds = rate.estimate(left, &ends, ends_left);
        // An end in progress is not in `ends_left`.
        let in_end = parts.end_in_progress;
        seconds.value += in_end.map_or(0.0, |so_far| (ends.mean - so_far).max(0.0));
        seconds.widen(&position, rate.per_unit + ends.mean);
        let has_ends = !parts.ends.is_empty() || parts.has_only_ends;
        let basis = match (
            position.unit,
            has_ends || (ends_left <= 1.0 && in_end.is_none()),
        ) {
            (Unit::Epochs, true) => Basis::Epochs,
            (Unit::Epochs, false) => Basis::StepsOfEpochs,
            (Unit::Steps, _) => Basis::Steps,
        };
        let mut seconds = seconds.into_estimate();
        if let Some(interval) = &mut seconds.interval {
            interval.high += end_of_program(&self.pairs);
        }
        Some(Rest {
            seconds,
            at_seconds: last.seconds,
            longest_wait_seconds: longest_wait(&self.pairs),
            seen_seconds: last.seconds - self.begun_seconds,
            basis,
        })
    }
}

/// After the last count a program saves, frees and ends, which nothing announces.
fn end_of_program(pairs: &[Pair]) -> f64 {
    let start = pairs.first().map_or(0.0, |first| first.seconds);
    (start * END_OF_START).min(LONGEST_END_SECONDS)
}

fn longest_wait(pairs: &[Pair]) -> f64 {
    let waits = pairs.windows(2).map(|two| two[1].seconds - two[0].seconds);
    waits.fold(0.0, f64::max)
}

fn is_end(pair: &Pair, unit: Unit) -> bool {
    unit == Unit::Epochs && pair.done.fract() == 0.0
}

#[cfg(test)]
#[path = "eta_tests.rs"]
mod tests;
