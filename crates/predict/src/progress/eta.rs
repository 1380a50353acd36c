//! The time that is left, from (seconds, units done) pairs.
//!
//! Time before the first count (imports, data) is elapsed and not extrapolated. Training is cut into
//! at most 20 blocks of equal units. The warm-up is what the marginal standard error rule cuts off
//! (MSER; White, 1997): as many first blocks, at most half of them, as give the mean of the rest its
//! smallest standard error; the first block always, since it has compilation and first steps. Where
//! epochs are counted, time at whole epochs (validation, checkpoints) is kept apart and added for
//! every end of an epoch that is still to come.

use serde::Serialize;
use stats::Interval;
use stats::distribution::student_quantile;

pub use stats::Estimate;

use super::{Position, Unit};

/// More blocks than these are joined.
const MOST_BLOCKS: usize = 20;
/// Fewer blocks behind the warm-up give a value without an interval.
const FEWEST_BLOCKS: usize = 4;
/// Fewer are not enough to end a run by: the first narrow interval may be a lucky one.
const BLOCKS_TO_STOP: usize = 8;
/// Pairs kept; when there are more, every second one is dropped.
const MOST_PAIRS: usize = 1024;
const CONFIDENCE: f64 = 0.95;
/// Of the time of a unit: speed drifts (temperature, neighbours) more than blocks beside each other
/// show.
const LEAST_SPREAD: f64 = 0.005;

/// What loads much at its start frees much at its end: scripts in Python took up to a quarter.
const END_OF_START: f64 = 0.25;
const LONGEST_END_SECONDS: f64 = 2.0;
/// Of the time at the end of an epoch, until three were seen.
const UNKNOWN_SPREAD: f64 = 0.1;

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
    /// enough blocks and an end of an epoch are behind it.
    pub fn is_known_to(&self, precision: f64) -> bool {
        let total = self.at(self.at_seconds).total_seconds;
        self.basis != Basis::StepsOfEpochs
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
            *self = Pace::default();
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

/// Pairs taken apart: the training, with the time at ends of epochs taken out, and these times.
struct Parts {
    training: Vec<Pair>,
    ends: Vec<f64>,
    /// Seconds since the last epoch was counted out, where none goes on yet.
    end_in_progress: Option<f64>,
    /// Nothing is counted inside epochs: their ends are part of them.
    has_only_ends: bool,
}

impl Parts {
    fn of(pairs: &[Pair], unit: Unit) -> Self {
        let mut parts = Parts {
            training: Vec::with_capacity(pairs.len()),
            ends: Vec::new(),
            end_in_progress: None,
            has_only_ends: unit == Unit::Epochs
                && pairs.iter().all(|pair| pair.done.fract() == 0.0),
        };
        if unit == Unit::Steps || parts.has_only_ends {
            parts.training.extend_from_slice(pairs);
            parts.training.dedup_by(|later, first| {
                let is_same = later.done == first.done;
                is_same && unit == Unit::Epochs
            });
            return parts;
        }
        if let Some(last) = pairs
            .last()
            .filter(|last| last.done > 0.0 && last.done.fract() == 0.0)
        {
            let begun = pairs
                .iter()
                .rev()
                .take_while(|pair| pair.done == last.done)
                .last();
            parts.end_in_progress = begun.map(|begun| last.seconds - begun.seconds);
        }
        let per_unit = rate_inside(pairs);
        let (mut taken_out, mut was_end) = (0.0, true);
        for (at, pair) in pairs.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| pairs.get(at));
            // The next epoch's first count came without a sign of its beginning.
            if let Some(before) = before
                && is_crossing(before, pair)
                && !was_end
            {
                let step = per_unit * (pair.done - before.done);
                let seconds = (pair.seconds - before.seconds - step).max(0.0);
                taken_out += seconds;
                parts.ends.push(seconds);
            }
            was_end = before.is_none_or(|before| before.done == pair.done);
            if let Some(before) = before
                && before.done == pair.done
                && pair.done.fract() == 0.0
            {
                let seconds = pair.seconds - before.seconds;
                taken_out += seconds;
                // Before the first step there is a start, not an end; the last one may go on.
                if at > 1 && at + 1 < pairs.len() {
                    parts.ends.push(seconds);
                }
                continue;
            }
            parts.training.push(Pair {
                seconds: pair.seconds - taken_out,
                done: pair.done,
            });
        }
        parts
    }
}

/// From one epoch into the next one.
fn is_crossing(before: &Pair, pair: &Pair) -> bool {
    let units = pair.done - before.done;
    units > 0.0 && units < 1.0 && pair.done.ceil() - 1.0 >= before.done
}

/// Seconds of a unit inside epochs, without their ends.
fn rate_inside(pairs: &[Pair]) -> f64 {
    let (mut seconds, mut units) = (0.0, 0.0);
    for two in pairs.windows(2) {
        if two[0].done < two[1].done && !is_crossing(&two[0], &two[1]) {
            seconds += two[1].seconds - two[0].seconds;
            units += two[1].done - two[0].done;
        }
    }
    if units > 0.0 { seconds / units } else { 0.0 }
}

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
    let cut = warm_up(&rates);
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

/// How many first blocks to leave out.
fn warm_up(rates: &[f64]) -> usize {
    let criterion = |cut: &usize| {
        let rest = &rates[*cut..];
        let count = rest.len() as f64;
        let mean = rest.iter().sum::<f64>() / count;
        rest.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (count * count)
    };
    let candidates = 1..=(rates.len() / 2).max(1);
    candidates
        .map(|cut| (criterion(&cut), cut))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(1, |(_, cut)| cut)
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
struct Ends {
    mean: f64,
    deviation: f64,
    count: f64,
}

impl Ends {
    fn of(seconds: &[f64], rate: &Rate) -> Self {
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
struct Spent {
    value: f64,
    margin: Option<f64>,
    below: f64,
    above: f64,
    blocks: usize,
}

impl Rate {
    /// The mean of what was seen and of what is to come both vary.
    fn estimate(&self, left: f64, ends: &Ends, ends_left: f64) -> Spent {
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
    fn widen(&mut self, position: &Position, seconds_per_unit: f64) {
        self.below += position.ahead * seconds_per_unit;
        self.above += position.more * seconds_per_unit;
    }

    fn into_estimate(self) -> Estimate {
        let method = "steady rate behind the warm-up, ends of epochs apart";
        let mut estimate = Estimate::bare(self.value, CONFIDENCE, self.blocks, method);
        estimate.interval = self.margin.map(|margin| Interval {
            low: (self.value - margin - self.below).max(0.0),
            high: self.value + margin + self.above,
        });
        estimate
    }
}

#[cfg(test)]
#[path = "eta_tests.rs"]
mod tests;
