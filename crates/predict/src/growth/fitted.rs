//! A law with the shapes that the data allow, and what it says along the levels.

use stats::Interval;
use stats::distribution::student_quantile;

use super::fit::{Best, Fitter};
use super::law::Law;

#[derive(Debug, Clone)]
pub(crate) struct Fitted {
    pub(crate) law: Law,
    pub(crate) best: Best,
    pub(crate) spread: Spread,
    pub(crate) quantile: f64,
    region: Vec<Best>,
    limit: f64,
    weight: f64,
}

/// How runs and levels lie about a law.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    /// Of a run about the law, and what it is known by.
    pub(crate) variance: f64,
    pub(crate) freedom: f64,
    /// Of a level's mean about the law, beyond what the spread of runs explains.
    pub(crate) level_sd: f64,
    /// Of one more run.
    pub(crate) run_sd: f64,
    pub(crate) confidence: f64,
}

impl Fitted {
    pub(crate) fn new(fitter: &Fitter, best: Best, spread: Spread) -> Self {
        let quantile = student_quantile(0.5 + spread.confidence / 2.0, spread.freedom);
        let limit = best.squares + spread.variance * quantile.powi(2);
        Fitted {
            law: fitter.law,
            best,
            region: fitter.region(&best, limit),
            limit,
            weight: fitter.means.iter().map(|mean| mean.count).sum(),
            quantile,
            spread,
        }
    }

    pub(crate) fn ln_at(&self, u: f64) -> f64 {
        self.best.ln_scale + self.law.ln_shape(self.best.shape, u)
    }

    /// The lowest and the highest value of any law within the limit: given the shape, the scale is free within what
    /// the shape leaves of it.
    pub(crate) fn ln_interval(&self, u: f64) -> Interval {
        let value = self.ln_at(u);
        let mut ends = Interval {
            low: value,
            high: value,
        };
        for point in &self.region {
            let there = point.ln_scale + self.law.ln_shape(point.shape, u);
            let free = ((self.limit - point.squares).max(0.0) / self.weight).sqrt();
            ends.low = ends.low.min(there - free);
            ends.high = ends.high.max(there + free);
        }
        let level = self.quantile * self.spread.level_sd;
        Interval {
            low: value - (value - ends.low).hypot(level),
            high: value + (ends.high - value).hypot(level),
        }
    }

    /// Of one parameter of the shape.
    pub(crate) fn parameter(&self, place: usize) -> Interval {
        let values = || self.region.iter().map(|point| point.shape[place]);
        Interval {
            low: values().fold(f64::INFINITY, f64::min),
            high: values().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}
