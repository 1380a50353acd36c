//! Lines and curves through points.

use serde::{Deserialize, Serialize};

use crate::error::{StatsError, logarithms, require_finite, require_probability};
use crate::estimate::{Estimate, StudentParts};
use crate::precise::{Accumulator, centre, sum, sum_of_squares};

/// y = intercept + slope · x.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub intercept: Estimate,
    pub slope: Estimate,
    /// Share of the variation of y that the line explains.
    pub r_squared: f64,
    pub residual_sd: f64,
    pub degrees_of_freedom: usize,
    x_mean: f64,
    y_mean: f64,
    x_squares: f64,
}

/// y = factor · x^exponent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PowerLaw {
    pub factor: Estimate,
    pub exponent: Estimate,
    /// On logarithms.
    pub r_squared: f64,
}

/// time = fixed + shared / workers (Amdahl 1967).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Amdahl {
    /// Time that workers do not shorten.
    pub fixed: Estimate,
    /// Time that is divided among the workers.
    pub shared: Estimate,
    /// fixed / (fixed + shared).
    pub serial_fraction: Estimate,
    pub r_squared: f64,
}

/// Ordinary least squares (Draper, Smith 1998, chapter 1). Needs two points; intervals need three.
pub fn line(x: &[f64], y: &[f64], confidence: f64) -> Result<Line, StatsError> {
    if x.len() != y.len() {
        return Err(StatsError::LengthMismatch {
            first: x.len(),
            second: y.len(),
        });
    }
    require_finite(x, 2)?;
    require_finite(y, 2)?;
    require_probability(confidence)?;
    let (x, y) = (Deviations::of(x), Deviations::of(y));
    let x_squares = sum_of_squares(x.values.iter().copied());
    let y_squares = sum_of_squares(y.values.iter().copied());
    if x_squares <= 0.0 {
        return Err(StatsError::NoSpread);
    }
    let mut products = Accumulator::default();
    for (x, y) in x.values.iter().zip(&y.values) {
        products.add(x * y);
    }
    let slope = products.total() / x_squares;
    let residual = sum_of_squares(x.values.iter().zip(&y.values).map(|(x, y)| y - slope * x));
    let count = x.values.len();
    let degrees_of_freedom = count - 2;
    let residual_sd = (residual / degrees_of_freedom.max(1) as f64).sqrt();
    let parts = |value: f64, leverage: f64| StudentParts {
        value,
        standard_error: residual_sd * leverage.sqrt(),
        degrees_of_freedom: degrees_of_freedom as f64,
        confidence,
        count,
    };
    let at_zero = 1.0 / count as f64 + x.mean * x.mean / x_squares;
    Ok(Line {
        intercept: parts(y.mean - slope * x.mean, at_zero).estimate("least squares"),
        slope: parts(slope, 1.0 / x_squares).estimate("least squares"),
        r_squared: if y_squares > 0.0 {
            (1.0 - residual / y_squares).max(0.0)
        } else {
            1.0
        },
        residual_sd,
        degrees_of_freedom,
        x_mean: x.mean,
        y_mean: y.mean,
        x_squares,
    })
}

/// Power law by least squares on logarithms. All values must be above zero.
pub fn power_law(x: &[f64], y: &[f64], confidence: f64) -> Result<PowerLaw, StatsError> {
    let line = line(&logarithms(x)?, &logarithms(y)?, confidence)?;
    let mut factor = line.intercept;
    factor.value = factor.value.exp();
    if let Some(interval) = &mut factor.interval {
        interval.low = interval.low.exp();
        interval.high = interval.high.exp();
    }
    factor.method = "least squares on logarithms".into();
    let mut exponent = line.slope;
    exponent.method = "least squares on logarithms".into();
    Ok(PowerLaw {
        factor,
        exponent,
        r_squared: line.r_squared,
    })
}

/// Amdahl's law by least squares on 1 / workers; the interval of the serial fraction by the delta method.
pub fn amdahl(workers: &[f64], times: &[f64], confidence: f64) -> Result<Amdahl, StatsError> {
    require_finite(workers, 2)?;
    if let Some(index) = workers.iter().position(|workers| *workers <= 0.0) {
        return Err(StatsError::NotPositive { index });
    }
    let inverse: Vec<f64> = workers.iter().map(|workers| 1.0 / workers).collect();
    let line = line(&inverse, times, confidence)?;
    let (fixed, shared) = (line.intercept.value, line.slope.value);
    let whole = fixed + shared;
    let fraction = if whole == 0.0 { 0.0 } else { fixed / whole };
    let serial = StudentParts {
        value: fraction,
        standard_error: line.combination_error(shared / (whole * whole), -fixed / (whole * whole)),
        degrees_of_freedom: line.degrees_of_freedom as f64,
        confidence,
        count: workers.len(),
    };
    Ok(Amdahl {
        serial_fraction: serial.estimate("least squares on 1 / workers, delta method"),
        fixed: line.intercept,
        shared: line.slope,
        r_squared: line.r_squared,
    })
}

impl Line {
    /// Mean of y at x, with its interval.
    pub fn at(&self, x: f64) -> Estimate {
        let away = x - self.x_mean;
        let count = self.slope.count;
        let leverage = 1.0 / count as f64 + away * away / self.x_squares;
        StudentParts {
            value: self.y_mean + self.slope.value * away,
            standard_error: self.residual_sd * leverage.sqrt(),
            degrees_of_freedom: self.degrees_of_freedom as f64,
            confidence: self.slope.confidence,
            count,
        }
        .estimate("least squares, mean at a point")
    }

    /// Standard error of `a · intercept + b · slope`.
    fn combination_error(&self, a: f64, b: f64) -> f64 {
        // intercept = mean − slope · x̄, and mean and slope are independent.
        let of_slope = b - a * self.x_mean;
        let variance = a * a / self.slope.count as f64 + of_slope * of_slope / self.x_squares;
        self.residual_sd * variance.sqrt()
    }
}

/// Values less their mean.
struct Deviations {
    mean: f64,
    values: Vec<f64>,
}

impl Deviations {
    fn of(values: &[f64]) -> Self {
        let centred = centre(values);
        let rest = sum(&centred.values) / values.len().max(1) as f64;
        Self {
            mean: centred.shift + rest,
            values: centred.values.iter().map(|value| value - rest).collect(),
        }
    }
}
