//! Normal, Student and F distributions: tails that keep their digits, and quantiles.

use std::f64::consts::{LN_2, PI, SQRT_2};

use crate::special::{Share, beta_inc, beta_inc_inverse_logit, erfc, ln_erfc};

/// Normal: probability below z.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z / SQRT_2)
}

/// Normal: probability above z.
pub fn normal_sf(z: f64) -> f64 {
    0.5 * erfc(z / SQRT_2)
}

/// Logarithm of [`normal_cdf`], exact in the far tail.
pub fn ln_normal_cdf(z: f64) -> f64 {
    ln_erfc(-z / SQRT_2) - LN_2
}

/// Normal: the z that has probability p below it. Newton's method on the logarithm of the tail, which is concave,
/// so that it converges from everywhere.
pub fn normal_quantile(p: f64) -> f64 {
    if p.is_nan() || !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    let tail = p.min(1.0 - p);
    if tail == 0.0 {
        return if p == 0.0 {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        };
    }
    const MOST_STEPS: usize = 60;
    let target = tail.ln();
    let mut z = (-2.0 * (2.0 * tail).ln()).sqrt();
    for _ in 0..MOST_STEPS {
        let value = ln_normal_cdf(-z);
        let slope = -(-0.5 * z * z - 0.5 * (2.0 * PI).ln() - value).exp();
        let step = (target - value) / slope;
        z += step;
        if step.abs() <= 2.0 * f64::EPSILON * z.abs().max(1e-300) || step.abs() < 1e-17 {
            break;
        }
    }
    if p < 0.5 { -z } else { z }
}

/// Student's t: probability of a value at least as far from zero (Abramowitz, Stegun 26.7.1).
pub fn student_two_sided(t: f64, degrees_of_freedom: f64) -> f64 {
    if degrees_of_freedom.is_infinite() {
        return 2.0 * normal_sf(t.abs());
    }
    if t.is_infinite() {
        return 0.0;
    }
    let share = Share::from_ratio(degrees_of_freedom / t.abs(), t.abs());
    if t == 0.0 {
        return 1.0;
    }
    beta_inc(degrees_of_freedom / 2.0, 0.5, share)
}

/// Student's t: the value that has probability p below it.
pub fn student_quantile(p: f64, degrees_of_freedom: f64) -> f64 {
    if p.is_nan()
        || !(0.0..=1.0).contains(&p)
        || degrees_of_freedom.is_nan()
        || degrees_of_freedom <= 0.0
    {
        return f64::NAN;
    }
    if degrees_of_freedom.is_infinite() {
        return normal_quantile(p);
    }
    if p == 0.5 {
        return 0.0;
    }
    let tail = p.min(1.0 - p);
    // The two-sided probability 2·tail, and its complement without the cancellation of 1 − 2·tail.
    let two_sided = Share {
        part: 2.0 * tail,
        rest: 2.0 * (0.5 - tail),
    };
    let logit = beta_inc_inverse_logit(degrees_of_freedom / 2.0, 0.5, two_sided);
    let t = (degrees_of_freedom.ln() - logit).mul_add(0.5, 0.0).exp();
    if p < 0.5 { -t } else { t }
}

/// F: probability above f (Abramowitz, Stegun 26.6.2).
pub fn f_sf(f: f64, numerator: f64, denominator: f64) -> f64 {
    if f.is_nan() || f <= 0.0 {
        return if f.is_nan() { f64::NAN } else { 1.0 };
    }
    if f.is_infinite() {
        return 0.0;
    }
    let share = Share::from_ratio(denominator / f, numerator);
    beta_inc(denominator / 2.0, numerator / 2.0, share)
}
