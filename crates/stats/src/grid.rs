//! Values that were written down in whole steps: seconds without a fraction say nothing of what is within a second.
//!
//! Rounding adds two errors. One is fresh for every value and is in their spread. The other is common to all values of a
//! cell: where they vary by less than a step they are all rounded the same way, and no number of them takes that away.
//! Over all places that a mean may have between two steps, its variance is step²/12 for values that do not vary at all,
//! and the part exp(−4π²σ²/step²) of it for normal ones (the first term of the Fourier series of the rounding error;
//! Widrow, Kollár 2008, section 4.3): nothing from half a step on.

use std::f64::consts::TAU;

use crate::distribution::student_quantile;
use crate::estimate::Interval;
use crate::summary::Summary;

/// Finer steps than this are how numbers are written, not what is known of them.
const FINEST: i32 = -9;
/// Coarser than one unit: by chance alone, one of ten, or of sixty, such values is a multiple.
const COARSE: [f64; 5] = [3600.0, 1000.0, 100.0, 60.0, 10.0];
/// So many different values that are all multiples of a coarse step are no chance.
const FEWEST_OF_COARSE: usize = 3;
/// One value may be whole by chance. That two are whole seconds, although they were known better, is one chance in a
/// million where they had three more digits; a step that is ten times too coarse by chance is still a fine one.
const FEWEST: usize = 2;

/// The coarsest step that all values are multiples of: a decimal place, tens, hundreds, minutes or hours. `None` where
/// there is none, or too few values to know.
pub fn step_of(values: &[f64]) -> Option<f64> {
    let largest = values
        .iter()
        .fold(0.0_f64, |most, value| most.max(value.abs()));
    if values.len() < FEWEST || largest <= 0.0 || !largest.is_finite() {
        return None;
    }
    let mut distinct = values.to_vec();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    let coarse = COARSE
        .iter()
        .copied()
        .filter(|_| distinct.len() >= FEWEST_OF_COARSE);
    let decimals = (FINEST..=0).rev().map(|places| 10_f64.powi(places));
    let mut steps = coarse.chain(decimals);
    steps.find(|step| is_grid(&distinct, *step, largest))
}

/// Whether the step is large beside the noise of floating numbers, and all values are multiples.
fn is_grid(values: &[f64], step: f64, largest: f64) -> bool {
    /// Of a value, in steps.
    const MOST_STEPS: f64 = 1e9;
    const NOISE: f64 = 1e-5;
    let is_multiple = |value: &f64| (value / step - (value / step).round()).abs() <= NOISE;
    largest / step <= MOST_STEPS && values.iter().all(is_multiple)
}

/// What rounding alone makes of the variance of a mean of values with this sample variance, beside what their spread
/// says.
pub fn rounding_variance(step: f64, variance: f64) -> f64 {
    if step <= 0.0 {
        return 0.0;
    }
    let uniform = step * step / 12.0;
    // The spread of rounded values has the fresh error in it (Sheppard).
    let own = (variance - uniform).max(0.0);
    uniform * (-TAU * TAU * own / (step * step)).exp()
}

impl Summary {
    /// Of values that were rounded to this step: the interval of the mean is no narrower than that allows.
    #[must_use]
    pub fn rounded_to(mut self, step: f64, confidence: f64) -> Self {
        let extra = rounding_variance(step, self.sd * self.sd);
        let Some(interval) = self.mean.interval.filter(|_| extra > 0.0 && self.count > 1) else {
            return self;
        };
        let quantile = student_quantile(0.5 + confidence / 2.0, self.count as f64 - 1.0);
        let own = quantile * extra.sqrt();
        let value = self.mean.value;
        let low = value - (value - interval.low).hypot(own);
        let high = value + (interval.high - value).hypot(own);
        let is_positive = self.min > 0.0;
        self.mean.interval = Interval::finite(if is_positive { low.max(0.0) } else { low }, high);
        self.mean.method += ", with the error of rounding";
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_seen_in_values() {
        let check = |values: &[f64], expected: Option<f64>| assert_eq!(step_of(values), expected);
        check(&[10.0, 10.0, 11.0, 11.0], Some(1.0));
        check(&[10.0, 10.0, 10.0, 10.0], Some(1.0));
        check(&[0.3, 0.1 + 0.2, 0.5, 0.7], Some(0.1));
        check(&[9.87, 10.02, 10.11, 9.95], Some(0.01));
        check(&[120.0, 180.0, 240.0, 300.0], Some(60.0));
        // Two different values that are whole tens may well be whole seconds.
        check(&[10.0, 10.0, 20.0, 20.0], Some(1.0));
        check(&[10.0, 20.0, 30.0, 70.0], Some(10.0));
        check(&[1.234_567_890_12, 2.345_678_901_23, 3.1, 4.0], None);
        check(&[10.0, 10.0], Some(1.0));
        check(&[10.1, 10.2, 10.2], Some(0.1));
        check(&[10.0], None);
        check(&[0.0; 4], None);
    }

    #[test]
    fn rounding_is_nothing_beside_a_wide_spread() {
        assert!((rounding_variance(1.0, 0.0) - 1.0 / 12.0).abs() < 1e-15);
        assert!(rounding_variance(1.0, 0.5) < 1e-6);
        assert_eq!(rounding_variance(0.0, 1.0), 0.0);
    }

    /// The error of the mean of many rounded values over all places between two steps.
    #[test]
    fn the_common_error_is_that_of_rounded_normal_values() {
        let cdf = crate::distribution::normal_cdf;
        for sd in [0.05, 0.1, 0.2, 0.3] {
            let places = 200;
            let squares = (0..places).map(|place| {
                let mean = f64::from(place) / f64::from(places);
                let part = |whole: i32| {
                    let whole = f64::from(whole);
                    whole * (cdf((whole + 0.5 - mean) / sd) - cdf((whole - 0.5 - mean) / sd))
                };
                let rounded: f64 = (-4..6).map(part).sum();
                (rounded - mean).powi(2)
            });
            let truth: f64 = squares.sum::<f64>() / f64::from(places);
            // What rounding adds to the variance itself is taken off again.
            let found = rounding_variance(1.0, sd * sd + 1.0 / 12.0);
            assert!(found >= 0.6 * truth, "{sd}: {found} {truth}");
            assert!(found <= 2.0 * truth, "{sd}: {found} {truth}");
        }
    }
}
