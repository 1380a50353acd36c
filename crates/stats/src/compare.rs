//! Is the difference real?

use crate::cell_means::Contrast;
use crate::distribution::student_two_sided;
use crate::error::{StatsError, logarithms, require_finite, require_probability};
use crate::estimate::{Estimate, StudentParts};
use crate::grid::rounding_variance;
use crate::precise::mean;
use crate::summary::Moments;

/// Two lists of values compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// First less second, or first over second.
    pub estimate: Estimate,
    /// Probability of a difference at least as large if there were none.
    pub p: f64,
    pub verdict: Verdict,
    /// The value of no difference: 0 for differences, 1 for ratios.
    pub neutral: f64,
}

/// What a comparison shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The first is higher.
    Higher,
    /// The first is lower.
    Lower,
    /// The difference is not significant, which does not prove that there is no difference.
    NotShown,
}

/// Values that were rounded to this step; zero for values that were not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample<'a> {
    pub values: &'a [f64],
    pub step: f64,
}

impl<'a> From<&'a [f64]> for Sample<'a> {
    fn from(values: &'a [f64]) -> Self {
        Sample { values, step: 0.0 }
    }
}

/// First mean less second mean, variances not supposed equal (Welch 1947).
pub fn welch_difference(
    first: &[f64],
    second: &[f64],
    confidence: f64,
) -> Result<Comparison, StatsError> {
    welch_difference_of(first.into(), second.into(), confidence)
}

/// The same of values that may have been rounded.
pub fn welch_difference_of(
    first: Sample,
    second: Sample,
    confidence: f64,
) -> Result<Comparison, StatsError> {
    let welch = Welch::of(first, second, confidence)?;
    let estimate = welch.parts.estimate(format!(
        "difference of means, Welch interval with {:.1} degrees of freedom",
        welch.parts.degrees_of_freedom
    ));
    Ok(Comparison::new(estimate, welch.p, 0.0))
}

/// The same without an interval, for questions by the thousand: a quantile costs more than a probability.
pub fn welch_contrast(first: Sample, second: Sample) -> Result<Contrast, StatsError> {
    let StudentParts {
        value,
        standard_error,
        degrees_of_freedom,
        count,
        ..
    } = Welch::of(first, second, ANY_CONFIDENCE)?.parts;
    Ok(Contrast {
        value,
        standard_error,
        degrees_of_freedom,
        count,
    })
}

/// Of parts that no interval is made of.
const ANY_CONFIDENCE: f64 = 0.95;

/// First geometric mean over second: Welch's comparison of the logarithms. All values must be above zero.
pub fn welch_ratio(
    first: &[f64],
    second: &[f64],
    confidence: f64,
) -> Result<Comparison, StatsError> {
    welch_ratio_of(first.into(), second.into(), confidence)
}

/// The same of values that may have been rounded.
pub fn welch_ratio_of(
    first: Sample,
    second: Sample,
    confidence: f64,
) -> Result<Comparison, StatsError> {
    let (a, b) = (logarithms(first.values)?, logarithms(second.values)?);
    let scaled = |values, of: Sample| {
        let step = of.step / mean(of.values).abs();
        Sample { values, step }
    };
    let welch = Welch::of(scaled(&a, first), scaled(&b, second), confidence)?;
    let method = format!(
        "ratio of geometric means, Welch interval of logarithms with {:.1} degrees of freedom",
        welch.parts.degrees_of_freedom
    );
    let estimate = welch.parts.mapped(method, f64::exp);
    Ok(Comparison::new(estimate, welch.p, 1.0))
}

impl Comparison {
    pub(crate) fn new(estimate: Estimate, p: f64, neutral: f64) -> Self {
        let mut comparison = Self {
            estimate,
            p,
            verdict: Verdict::NotShown,
            neutral,
        };
        comparison.verdict = comparison.judge(p);
        comparison
    }

    fn judge(&self, p: f64) -> Verdict {
        let significant = p < 1.0 - self.estimate.confidence;
        if significant && self.estimate.value > self.neutral {
            Verdict::Higher
        } else if significant && self.estimate.value < self.neutral {
            Verdict::Lower
        } else {
            Verdict::NotShown
        }
    }
}

struct Welch {
    parts: StudentParts,
    p: f64,
}

impl Welch {
    fn of(first: Sample, second: Sample, confidence: f64) -> Result<Self, StatsError> {
        require_finite(first.values, 2)?;
        require_finite(second.values, 2)?;
        require_probability(confidence)?;
        let (a, b) = (Moments::of(first.values), Moments::of(second.values));
        let part = |of: &Moments, step: f64| {
            of.variance() / of.count as f64 + rounding_variance(step, of.variance())
        };
        let (part_a, part_b) = (part(&a, first.step), part(&b, second.step));
        let variance = part_a + part_b;
        let spread = part_a.powi(2) / (a.count - 1) as f64 + part_b.powi(2) / (b.count - 1) as f64;
        let degrees_of_freedom = if spread > 0.0 {
            variance.powi(2) / spread
        } else {
            (a.count + b.count - 2) as f64
        };
        let difference = a.mean - b.mean;
        let parts = StudentParts {
            value: difference,
            standard_error: variance.sqrt(),
            degrees_of_freedom,
            confidence,
            count: a.count + b.count,
        };
        // Without any spread, equal is equal and different is different.
        let p = if variance > 0.0 {
            student_two_sided(difference / parts.standard_error, degrees_of_freedom)
        } else if difference == 0.0 {
            1.0
        } else {
            0.0
        };
        Ok(Self { parts, p })
    }
}
