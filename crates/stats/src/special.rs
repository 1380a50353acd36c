//! The functions behind the distributions: gamma, beta and error functions.

use std::f64::consts::PI;

pub use libm::erfc;

const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_741_780_329_736_406;

/// Logarithm of the gamma function for x > 0.
pub fn ln_gamma(x: f64) -> f64 {
    match x > 0.0 {
        true => libm::lgamma(x),
        false => f64::NAN,
    }
}

/// From here the seven terms of Stirling's series are exact to the last place.
const STIRLING_FROM: f64 = 10.0;

/// ln Γ(x) less its leading part (x − ½) ln x − x + ln √2π, for x ≥ 10 (DLMF 5.11.1).
fn stirling_rest(x: f64) -> f64 {
    const TERMS: [f64; 8] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
        -3617.0 / 122_400.0,
    ];
    let inverse_square = 1.0 / (x * x);
    TERMS
        .iter()
        .rev()
        .fold(0.0, |rest, term| rest * inverse_square + term)
        / x
}

/// Logarithm of the beta function B(a, b); large arguments are handled by the difference of Stirling rests, so
/// that nothing large cancels (Didonato, Morris 1992).
pub fn ln_beta(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    let fraction = small / (small + large);
    if small >= STIRLING_FROM {
        let rest = stirling_rest(small) + stirling_rest(large) - stirling_rest(small + large);
        -0.5 * large.ln()
            + LN_SQRT_2PI
            + rest
            + (small - 0.5) * fraction.ln()
            + large * (-fraction).ln_1p()
    } else if large >= STIRLING_FROM {
        let rest = stirling_rest(large) - stirling_rest(small + large);
        ln_gamma(small) + rest + small - small * (small + large).ln()
            + (large - 0.5) * (-fraction).ln_1p()
    } else {
        ln_gamma(small) + ln_gamma(large) - ln_gamma(small + large)
    }
}

/// A share x of a whole together with its complement, so that neither end loses digits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    pub part: f64,
    pub rest: f64,
}

impl Share {
    /// From numbers in the proportion `part : rest`.
    pub fn from_ratio(part: f64, rest: f64) -> Self {
        // Scaled first, so that the sum cannot overflow.
        let largest = part.max(rest);
        let (part, rest) = (part / largest, rest / largest);
        Self {
            part: part / (part + rest),
            rest: rest / (part + rest),
        }
    }

    /// From the logit ln(part / rest).
    fn from_logit(logit: f64) -> Self {
        let ratio = (-logit.abs()).exp();
        let nearer_zero = Self {
            part: ratio / (1.0 + ratio),
            rest: 1.0 / (1.0 + ratio),
        };
        if logit < 0.0 {
            nearer_zero
        } else {
            nearer_zero.complement()
        }
    }

    fn complement(self) -> Self {
        Self {
            part: self.rest,
            rest: self.part,
        }
    }
}

/// Regularised incomplete beta function I_x(a, b) (DLMF 8.17), for a, b > 0.
pub fn beta_inc(a: f64, b: f64, x: Share) -> f64 {
    ln_beta_inc(a, b, x).exp()
}

/// Logarithm of I_x(a, b): exact far out in the tail, where I_x itself is too small for `f64`.
pub fn ln_beta_inc(a: f64, b: f64, x: Share) -> f64 {
    let valid =
        a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite() && x.part >= 0.0 && x.rest >= 0.0;
    if !valid {
        return f64::NAN;
    }
    if x.part == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x.rest == 0.0 {
        return 0.0;
    }
    // The fraction is exact below the mean; above, the symmetry I_x(a,b) = 1 − I_{1−x}(b,a) is used.
    if a * x.rest >= b * x.part {
        (ln_beta_power(a, b, x) + beta_fraction(a, b, x).ln()).min(0.0)
    } else {
        let y = x.complement();
        let upper = ln_beta_power(b, a, y) + beta_fraction(b, a, y).ln();
        (-upper.min(0.0).exp()).ln_1p()
    }
}

/// ln( x^a (1−x)^b / B(a,b) ), around the mode by the distance from it, so that large a and b do not cancel.
fn ln_beta_power(a: f64, b: f64, x: Share) -> f64 {
    if a.min(b) >= STIRLING_FROM {
        let distance = a * x.rest - b * x.part;
        if distance.abs() < 0.5 * a.min(b) {
            let rest = stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b);
            return a * (-distance / a).ln_1p()
                + b * (distance / b).ln_1p()
                + 0.5 * (a / (a + b) * b / (2.0 * PI)).ln()
                - rest;
        }
    }
    a * ln_share(x) + b * ln_share(x.complement()) - ln_beta(a, b)
}

fn ln_share(x: Share) -> f64 {
    if x.part > 0.5 {
        (-x.rest).ln_1p()
    } else {
        x.part.ln()
    }
}

/// I_x(a,b) over its leading power, for x up to the mean: the continued fraction of Didonato and Morris (1992,
/// equation 9), whose terms do not cancel, evaluated from the front by the modified Lentz method (Thompson,
/// Barnett 1986).
fn beta_fraction(a: f64, b: f64, x: Share) -> f64 {
    const MOST_STEPS: usize = 100_000;
    let below_mean = a * x.rest - b * x.part;
    let mut fraction = away_from_zero(a / (a + 1.0) * (below_mean + 1.0));
    let mut c = fraction;
    let mut d = 0.0;
    for step in 1..MOST_STEPS {
        let n = step as f64;
        let middle = a + 2.0 * n - 1.0;
        let numerator =
            (a + n - 1.0) / middle * ((a + b + n - 1.0) / middle) * n * (b - n) * x.part * x.part;
        let denominator = n
            + n * (b - n) * x.part / middle
            + (a + n) / (a + 2.0 * n + 1.0) * (below_mean + 1.0 + n * (1.0 + x.rest));
        d = away_from_zero(denominator + numerator * d).recip();
        c = away_from_zero(denominator + numerator / c);
        let factor = c * d;
        fraction *= factor;
        if (factor - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    fraction.recip()
}

fn away_from_zero(value: f64) -> f64 {
    const TINY: f64 = 1e-300;
    if value.abs() < TINY { TINY } else { value }
}

/// The x with I_x(a, b) = p, as the logit ln(x / (1−x)): both ends keep their digits.
///
/// Newton's method on ln I as a function of the logit, which is concave, so that it converges from everywhere.
pub fn beta_inc_inverse_logit(a: f64, b: f64, p: Share) -> f64 {
    const MOST_STEPS: usize = 200;
    // Beyond this, e^logit leaves the range of `f64`.
    const LARGEST_LOGIT: f64 = 700.0;
    let valid = a > 0.0 && b > 0.0 && p.part >= 0.0 && p.rest >= 0.0;
    if !valid {
        return f64::NAN;
    }
    if p.part == 0.0 {
        return f64::NEG_INFINITY;
    }
    if p.rest == 0.0 {
        return f64::INFINITY;
    }
    if p.part > p.rest {
        return -beta_inc_inverse_logit(b, a, p.complement());
    }
    let target = p.part.ln();
    let mut logit = (a / b).ln();
    for _ in 0..MOST_STEPS {
        let x = Share::from_logit(logit);
        let value = ln_beta_inc(a, b, x);
        let slope = (ln_beta_power(a, b, x) - value).exp();
        let step = (target - value) / slope;
        if !step.is_finite() {
            break;
        }
        let next = (logit + step).clamp(-LARGEST_LOGIT, LARGEST_LOGIT);
        let moved = (next - logit).abs();
        logit = next;
        if moved <= 4.0 * f64::EPSILON * logit.abs().max(1.0) {
            break;
        }
    }
    logit
}

/// Logarithm of erfc, exact where erfc itself is too small for `f64`.
pub fn ln_erfc(x: f64) -> f64 {
    // Below, erfc is far from zero.
    const FRACTION_FROM: f64 = 1.5;
    if x < FRACTION_FROM {
        return erfc(x).ln();
    }
    // √π e^{x²} erfc x = 1/(x + ½/(x + 1/(x + 3/2/(x + …)))), from the back: the number of terms needed falls
    // with x, and this many are enough for the smallest.
    const TERMS: u32 = 120;
    let fraction = (1..=TERMS)
        .rev()
        .fold(x, |tail, term| x + 0.5 * f64::from(term) / tail);
    -x * x - fraction.ln() - 0.5 * PI.ln()
}
