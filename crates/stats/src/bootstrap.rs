//! Intervals for any statistic, by resampling.

use crate::distribution::{normal_cdf, normal_quantile};
use crate::error::{StatsError, require_finite, require_probability};
use crate::estimate::{Estimate, Interval};
use crate::precise::mean;
use crate::summary::{Moments, quantile};
use seeded::SplitMix64;

/// How to resample. The same seed gives the same interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    pub resamples: usize,
    pub confidence: f64,
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self {
            resamples: 2000,
            confidence: 0.95,
            seed: 1,
        }
    }
}

/// Bias-corrected and accelerated bootstrap interval (Efron 1987) of any statistic of the values.
/// The interval is `None` where the statistic does not vary over resamples or is not finite.
pub fn bootstrap(
    values: &[f64],
    statistic: impl Fn(&[f64]) -> f64,
    options: Bootstrap,
) -> Result<Estimate, StatsError> {
    require_finite(values, 2)?;
    require_probability(options.confidence)?;
    let value = statistic(values);
    let mut replicates = resample(values, &statistic, options);
    replicates.sort_by(f64::total_cmp);
    let method = format!(
        "bootstrap BCa, {} resamples, seed {}",
        options.resamples, options.seed
    );
    let mut estimate = Estimate::bare(value, options.confidence, values.len(), method);
    if replicates.len() < 2 || replicates.first() == replicates.last() || !value.is_finite() {
        return Ok(estimate);
    }
    let correction = Correction {
        bias: bias(&replicates, value),
        acceleration: acceleration(values, &statistic),
    };
    let tail = (1.0 - options.confidence) / 2.0;
    let low = quantile(&replicates, correction.level(tail));
    let high = quantile(&replicates, correction.level(1.0 - tail));
    if let (Some(low), Some(high)) = (low, high) {
        estimate.interval = Interval::finite(low, high);
    }
    estimate.standard_error = Some(Moments::of(&replicates).sd());
    Ok(estimate)
}

fn resample(values: &[f64], statistic: impl Fn(&[f64]) -> f64, options: Bootstrap) -> Vec<f64> {
    let mut random = SplitMix64::new(options.seed);
    let mut sample = vec![0.0; values.len()];
    (0..options.resamples)
        .map(|_| {
            for place in &mut sample {
                *place = values[random.below(values.len())];
            }
            statistic(&sample)
        })
        .filter(|replicate| replicate.is_finite())
        .collect()
}

/// Normal score of the share of replicates below the value, ties counted half.
fn bias(replicates: &[f64], value: f64) -> f64 {
    let below = replicates.iter().filter(|r| **r < value).count() as f64;
    let equal = replicates.iter().filter(|r| **r == value).count() as f64;
    let count = replicates.len() as f64;
    let share = ((below + 0.5 * equal) / count).clamp(0.5 / count, 1.0 - 0.5 / count);
    normal_quantile(share)
}

/// Skewness of the statistic, from leaving out each value in turn (Efron 1987, equation 6.6).
fn acceleration(values: &[f64], statistic: impl Fn(&[f64]) -> f64) -> f64 {
    let mut rest = values[1..].to_vec();
    let mut without = Vec::with_capacity(values.len());
    for (place, value) in values.iter().enumerate() {
        // `rest` lacks the value at `place`; putting it back takes out the next.
        without.push(statistic(&rest));
        if let Some(next) = rest.get_mut(place) {
            *next = *value;
        }
    }
    let centre = mean(&without);
    let squares: f64 = without.iter().map(|v| (centre - v).powi(2)).sum();
    let cubes: f64 = without.iter().map(|v| (centre - v).powi(3)).sum();
    let acceleration = cubes / (6.0 * squares.powf(1.5));
    if acceleration.is_finite() {
        acceleration
    } else {
        0.0
    }
}

struct Correction {
    bias: f64,
    acceleration: f64,
}

impl Correction {
    /// The quantile of the replicates to take for the tail `p`.
    fn level(&self, p: f64) -> f64 {
        let shifted = self.bias + normal_quantile(p);
        let level = normal_cdf(self.bias + shifted / (1.0 - self.acceleration * shifted));
        if level.is_finite() { level } else { p }
    }
}
