//! Values to come: how far values of one kind lie apart on the logarithmic scale, and how well that is known.

use seeded::SplitMix64;
use serde::Serialize;

use crate::distribution::{normal_quantile, student_quantile};
use crate::error::logarithms;
use crate::summary::{Moments, quantile};

/// Standard deviation of logarithms of values of one kind: 0.05 is about 5 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LogSpread {
    pub sd: f64,
    /// `None` where it was assumed.
    pub degrees_of_freedom: Option<usize>,
}

/// Above this, values of one kind would differ by a factor of seven as a rule: nothing of the same kind does. Without a
/// limit, two values alone leave open that the next one is a thousand times as large.
const MOST: f64 = 2.0;
/// From here on Student's t is used as it is: the limit above no longer matters.
const MANY: usize = 12;
const DRAWS: usize = 2000;

impl LogSpread {
    pub fn assumed(sd: f64) -> Self {
        LogSpread {
            sd,
            degrees_of_freedom: None,
        }
    }

    /// From a sum of squared deviations; `None` where nothing was left to estimate it from.
    pub fn measured(squares: f64, degrees_of_freedom: usize) -> Option<Self> {
        (degrees_of_freedom > 0 && squares.is_finite()).then(|| LogSpread {
            sd: (squares / degrees_of_freedom as f64).sqrt(),
            degrees_of_freedom: Some(degrees_of_freedom),
        })
    }

    /// What the true standard deviation may be, given this one: drawn from its distribution with the usual prior
    /// 1/σ (Box, Tiao 1973, section 2.3), below a limit.
    pub fn drawn(&self, random: &mut SplitMix64) -> f64 {
        const TRIES: usize = 20;
        let Some(free) = self.degrees_of_freedom.filter(|_| self.sd > 0.0) else {
            return self.sd;
        };
        let mut draw = || self.sd / root_of_chi_square(free, random).max(1e-9);
        let most = self.sd.max(MOST);
        let found = (0..TRIES).map(|_| draw()).find(|sd| *sd <= most);
        found.unwrap_or(self.sd)
    }

    /// So far from its centre is the logarithm of a next value at most, with this confidence, if the centre is known.
    pub fn half_width(&self, confidence: f64) -> f64 {
        let p = 0.5 + confidence / 2.0;
        match self.degrees_of_freedom {
            None => normal_quantile(p) * self.sd,
            Some(free) if free >= MANY => student_quantile(p, free as f64) * self.sd,
            Some(_) => {
                let mut random = SplitMix64::new(1);
                let next = |_| (self.drawn(&mut random) * normal(&mut random)).abs();
                let mut sizes: Vec<f64> = (0..DRAWS).map(next).collect();
                sizes.sort_by(f64::total_cmp);
                quantile(&sizes, confidence).unwrap_or(0.0)
            }
        }
    }
}

/// Mean and sum of squared deviations of the logarithms of values above zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogMoments {
    pub mean: f64,
    pub squares: f64,
}

impl LogMoments {
    /// Values that are not above zero count as a millionth.
    pub fn of(values: &[f64]) -> Self {
        let logarithms: Vec<f64> = values.iter().map(|v| v.max(1e-6).ln()).collect();
        let moments = Moments::of(&logarithms);
        LogMoments {
            mean: moments.mean,
            squares: moments.squares,
        }
    }
}

/// So large is a next value of the same kind at most, with this confidence: the one-sided prediction limit of a normal
/// distribution, of the logarithms where all values are above zero (Hahn 1970). `None` for fewer than two values.
pub fn next_at_most(values: &[f64], confidence: f64) -> Option<f64> {
    let count = values.len() as f64;
    if values.len() < 2 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let t = student_quantile(confidence, count - 1.0);
    let limit = |values: &[f64]| {
        let moments = Moments::of(values);
        moments.mean + t * (moments.variance() * (1.0 + 1.0 / count)).sqrt()
    };
    Some(match logarithms(values) {
        Ok(logarithms) => limit(&logarithms).exp(),
        Err(_) => limit(values),
    })
}

/// The same of a value in a block to come: `means` of blocks, and the values inside those that were measured. `None` for
/// fewer than two blocks.
pub fn next_in_block_at_most(means: &[f64], blocks: &[Vec<f64>], confidence: f64) -> Option<f64> {
    let count = means.len() as f64;
    let mut all = blocks.iter().flatten().chain(means);
    if means.len() < 2 || all.any(|value| !value.is_finite()) {
        return None;
    }
    let mut all = blocks.iter().flatten().chain(means);
    let is_by_share = all.all(|value| *value > 0.0);
    let scaled = |values: &[f64]| -> Vec<f64> {
        let scaled = |value: &f64| if is_by_share { value.ln() } else { *value };
        values.iter().map(scaled).collect()
    };
    let between = Moments::of(&scaled(means));
    let inside: Vec<Moments> = blocks.iter().map(|b| Moments::of(&scaled(b))).collect();
    let free: usize = inside
        .iter()
        .map(|block| block.count.saturating_sub(1))
        .sum();
    let squares: f64 = inside.iter().map(|block| block.squares).sum();
    let within = squares / free.max(1) as f64;
    // The means of blocks have part of what is inside them already.
    let known = inside.iter().map(|block| 1.0 / block.count.max(1) as f64);
    let known = known.sum::<f64>() / inside.len().max(1) as f64;
    let parts = [
        (between.variance() * (1.0 + 1.0 / count), count - 1.0),
        (within * (1.0 - known), free.max(1) as f64),
    ];
    let variance: f64 = parts.iter().map(|(part, _)| part).sum();
    // Satterthwaite's degrees of freedom.
    let uncertain: f64 = parts.iter().map(|(part, free)| part * part / free).sum();
    let free = if uncertain > 0.0 {
        variance.powi(2) / uncertain
    } else {
        count - 1.0
    };
    let limit = between.mean + student_quantile(confidence, free) * variance.sqrt();
    Some(if is_by_share { limit.exp() } else { limit })
}

/// √(χ² / degrees of freedom).
fn root_of_chi_square(free: usize, random: &mut SplitMix64) -> f64 {
    if free < MANY {
        let squares: f64 = (0..free).map(|_| normal(random).powi(2)).sum();
        return (squares / free as f64).sqrt();
    }
    // Wilson and Hilferty 1931.
    let part = 2.0 / (9.0 * free as f64);
    (1.0 - part + part.sqrt() * normal(random))
        .max(0.05)
        .powf(1.5)
}

/// A normal deviate, by Box and Muller (1958).
pub fn normal(random: &mut SplitMix64) -> f64 {
    let mut uniform = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let (length, angle) = (1.0 - uniform(), uniform());
    (-2.0 * length.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4,000 samples: three standard deviations of a share of 95 % are 1 %.
    #[test]
    fn next_values_are_below_their_limit_19_times_in_20() {
        let mut random = SplitMix64::new(5);
        for count in [2, 3, 5, 10, 30] {
            let below = (0..4000).filter(|_| {
                let mut value = || 10.0 * (0.2 * normal(&mut random)).exp();
                let known: Vec<f64> = (0..count).map(|_| value()).collect();
                next_at_most(&known, 0.95).is_some_and(|limit| value() <= limit)
            });
            let share = below.count() as f64 / 4000.0;
            assert!((share - 0.95).abs() < 0.0105, "{count} values: {share}");
        }
        assert_eq!(next_at_most(&[1.0], 0.95), None);
    }

    /// Runs of a next day, where days differ by 10 % and runs by so much.
    #[test]
    fn values_of_next_blocks_are_below_their_limit_19_times_in_20() {
        let mut random = SplitMix64::new(5);
        for (count, runs, within) in [(2, 3, 0.01), (4, 5, 0.01), (4, 5, 0.1), (6, 1, 0.05)] {
            let below = (0..4000).filter(|_| {
                let mut day = |runs: usize| -> Vec<f64> {
                    let day = 0.1 * normal(&mut random);
                    let run = |_| (day + within * normal(&mut random)).exp();
                    (0..runs).map(run).collect()
                };
                let known: Vec<Vec<f64>> = (0..count).map(|_| day(runs)).collect();
                let means: Vec<f64> = known.iter().map(|day| crate::precise::mean(day)).collect();
                let limit = next_in_block_at_most(&means, &known, 0.95);
                limit.is_some_and(|limit| day(1)[0] <= limit)
            });
            let share = below.count() as f64 / 4000.0;
            assert!(
                (0.9395..0.975).contains(&share),
                "{count} × {runs}: {share}"
            );
        }
        assert_eq!(next_in_block_at_most(&[1.0], &[vec![1.0]], 0.95), None);
    }

    #[test]
    fn a_spread_from_few_values_is_wider() {
        let width = |free| {
            LogSpread::measured(0.01 * free as f64, free)
                .unwrap()
                .half_width(0.95)
        };
        // 0.1 times Student's t, as long as that is far from the limit.
        for (free, t) in [(4, 2.776), (8, 2.306), (30, 2.042)] {
            assert!(
                (width(free) / (0.1 * t) - 1.0).abs() < 0.1,
                "{free}: {}",
                width(free)
            );
        }
        assert!(width(1) > 0.5 && width(1) < 2.0, "{}", width(1));
        assert!((LogSpread::assumed(0.1).half_width(0.95) - 0.196).abs() < 1e-4);
        assert_eq!(LogSpread::measured(0.0, 3).unwrap().half_width(0.95), 0.0);
        assert_eq!(LogSpread::measured(0.1, 0), None);
    }
}
