//! A line through points.

use crate::error::{StatsError, require_finite, require_probability};
use crate::estimate::{Estimate, StudentParts};
use crate::precise::{Accumulator, centre, sum, sum_of_squares};

/// The slope of y over x by ordinary least squares (Draper, Smith 1998, chapter 1). Needs two points; an interval
/// needs three.
pub fn slope(x: &[f64], y: &[f64], confidence: f64) -> Result<Estimate, StatsError> {
    if x.len() != y.len() {
        return Err(StatsError::LengthMismatch {
            first: x.len(),
            second: y.len(),
        });
    }
    require_finite(x, 2)?;
    require_finite(y, 2)?;
    require_probability(confidence)?;
    let (x, y) = (deviations(x), deviations(y));
    let x_squares = sum_of_squares(x.iter().copied());
    if x_squares <= 0.0 {
        return Err(StatsError::NoSpread);
    }
    let mut products = Accumulator::default();
    for (x, y) in x.iter().zip(&y) {
        products.add(x * y);
    }
    let slope = products.total() / x_squares;
    let residual = sum_of_squares(x.iter().zip(&y).map(|(x, y)| y - slope * x));
    let count = x.len();
    let degrees_of_freedom = count - 2;
    let residual_sd = (residual / degrees_of_freedom.max(1) as f64).sqrt();
    let parts = StudentParts {
        value: slope,
        standard_error: residual_sd * (1.0 / x_squares).sqrt(),
        degrees_of_freedom: degrees_of_freedom as f64,
        confidence,
        count,
    };
    Ok(parts.estimate("least squares"))
}

/// Values less their mean.
fn deviations(values: &[f64]) -> Vec<f64> {
    let centred = centre(values).values;
    let rest = sum(&centred) / values.len().max(1) as f64;
    centred.iter().map(|value| value - rest).collect()
}
