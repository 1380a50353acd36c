//! What runs cost on average that are billed in steps.

use crate::distribution::normal_cdf;
use crate::estimate::{Estimate, Interval};
use crate::precise::mean;
use crate::summary::summary;

/// How a quantity is billed: in whole steps, and this much at least.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steps {
    pub step: f64,
    pub minimum: f64,
}

impl Steps {
    pub fn billed(&self, value: f64) -> f64 {
        let steps = (value / self.step).ceil() * self.step;
        steps.max(self.minimum)
    }

    /// Mean of what is billed for normal values: of every step, how often it is begun.
    fn billed_mean(&self, mean: f64, sd: f64) -> f64 {
        // Beyond so many standard deviations nothing happens; over many steps half a step is added on average.
        const REACH: f64 = 6.0;
        const MANY: f64 = 20.0;
        if sd > MANY * self.step {
            return at_least(self.minimum, mean + self.step / 2.0, sd);
        }
        let exceeds = |value: f64| match sd > 0.0 {
            true => normal_cdf((mean - value) / sd),
            false => f64::from(u8::from(mean > value)),
        };
        let first = ((mean - REACH * sd).max(self.minimum) / self.step).floor() * self.step;
        let first = first.max(self.billed(self.minimum));
        let mut sum = first;
        let mut at = first;
        while at < mean + REACH * sd {
            sum += self.step * exceeds(at);
            at += self.step;
        }
        sum
    }
}

/// Mean of the larger of this minimum and a normal value.
fn at_least(minimum: f64, mean: f64, sd: f64) -> f64 {
    let z = (mean - minimum) / sd;
    let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
    minimum + (mean - minimum) * normal_cdf(z) + sd * density
}

/// Mean of what is billed for these values. Few of them may all be billed alike, although another one is not: so the
/// interval reaches over what is billed for the ends of the interval of the values themselves. `None` where
/// [`summary`] has none.
pub fn billed_mean(values: &[f64], steps: Steps, confidence: f64) -> Option<Estimate> {
    let billed: Vec<f64> = values.iter().map(|value| steps.billed(*value)).collect();
    let mut estimate = summary(&billed, confidence)?.mean;
    let known = summary(values, confidence)?;
    if let (Some(own), Some(times)) = (estimate.interval, known.mean.interval) {
        let at = |end: f64| steps.billed_mean(end, known.sd);
        let value = mean(&billed);
        estimate.interval = Interval::finite(
            own.low.min(at(times.low)).min(value),
            own.high.max(at(times.high)).max(value),
        );
        estimate.method = format!(
            "{}; at least what the interval of the times is billed",
            estimate.method
        );
    }
    Some(estimate)
}
