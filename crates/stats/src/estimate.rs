//! One type for every figure a person reads: a value, its interval and how it was obtained.

use serde::{Deserialize, Serialize};

use crate::distribution::student_quantile;

/// A value with its interval and how it was obtained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub value: f64,
    /// `None` where the data cannot give one, as with a single value.
    pub interval: Option<Interval>,
    pub standard_error: Option<f64>,
    /// The confidence requested, as a fraction: 0.95.
    pub confidence: f64,
    /// How many values it rests on.
    pub count: usize,
    /// How it was obtained, in words.
    pub method: String,
}

/// From `low` to `high`, both finite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Estimate {
    /// A value of which nothing more is known.
    pub fn bare(value: f64, confidence: f64, count: usize, method: impl Into<String>) -> Self {
        Self {
            value,
            interval: None,
            standard_error: None,
            confidence,
            count,
            method: method.into(),
        }
    }

    /// The estimate and its interval divided by a number above zero. The standard error stays as it was.
    pub fn over(&self, divisor: f64, method: &str) -> Self {
        Self {
            value: self.value / divisor,
            interval: self.interval.map(|i| Interval {
                low: i.low / divisor,
                high: i.high / divisor,
            }),
            method: method.to_owned(),
            ..self.clone()
        }
    }

    /// Half the width of the interval: the ± of a symmetric one.
    pub fn margin(&self) -> Option<f64> {
        self.interval.map(|interval| interval.half_width())
    }

    /// The margin as a fraction of the value.
    pub fn relative_margin(&self) -> Option<f64> {
        let margin = self.margin()?;
        (self.value != 0.0).then(|| margin / self.value.abs())
    }
}

impl Interval {
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The interval, unless an end is not a finite number.
    pub(crate) fn finite(low: f64, high: f64) -> Option<Self> {
        (low.is_finite() && high.is_finite()).then_some(Self { low, high })
    }
}

/// What a Student interval is made of.
#[derive(Clone, Copy)]
pub(crate) struct StudentParts {
    pub(crate) value: f64,
    pub(crate) standard_error: f64,
    pub(crate) degrees_of_freedom: f64,
    pub(crate) confidence: f64,
    pub(crate) count: usize,
}

impl StudentParts {
    /// value ± t · standard error.
    pub(crate) fn estimate(&self, method: impl Into<String>) -> Estimate {
        self.mapped(method, |value| value)
    }

    /// As [`estimate`](Self::estimate), but value and ends pass through an increasing function.
    /// The standard error stays on the scale before it.
    pub(crate) fn mapped(&self, method: impl Into<String>, map: impl Fn(f64) -> f64) -> Estimate {
        let usable = self.degrees_of_freedom > 0.0
            && self.standard_error.is_finite()
            && self.confidence > 0.0
            && self.confidence < 1.0;
        let mut estimate = Estimate::bare(map(self.value), self.confidence, self.count, method);
        if usable {
            let t = student_quantile(0.5 + self.confidence / 2.0, self.degrees_of_freedom);
            let margin = t * self.standard_error;
            estimate.interval =
                Interval::finite(map(self.value - margin), map(self.value + margin));
            estimate.standard_error = Some(self.standard_error);
        }
        estimate
    }
}
