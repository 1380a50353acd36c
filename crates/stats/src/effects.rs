//! Effects of factors with two levels, by the sign table.

use crate::error::{StatsError, require_finite, require_probability};
use crate::estimate::{Estimate, StudentParts};
use crate::summary::Moments;

/// Effects of k two-level factors (Jain 1991, chapters 17 and 18).
#[derive(Debug, Clone, PartialEq)]
pub struct Effects2k {
    /// q0 first, then A, B, AB, C, AC, BC, ABC …
    pub effects: Vec<Effect>,
    pub residual_sum_of_squares: f64,
    pub residual_degrees_of_freedom: usize,
    pub residual_share: f64,
    pub total_sum_of_squares: f64,
}

/// One effect: half the change from the low to the high level.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The factors, counted from zero; none for the mean q0.
    pub factors: Vec<usize>,
    /// Without replication it has no interval.
    pub effect: Estimate,
    pub sum_of_squares: f64,
    /// Share of the total variation; zero for the mean.
    pub share: f64,
}

/// `cells[i]` holds the values of the combination whose binary digits are the levels, factor A the lowest digit:
/// (1), a, b, ab, c, … Every cell has equally many values.
pub fn effects_2k(cells: &[Vec<f64>], confidence: f64) -> Result<Effects2k, StatsError> {
    require_probability(confidence)?;
    if cells.len() < 2 || !cells.len().is_power_of_two() {
        return Err(StatsError::NotPowerOfTwo { given: cells.len() });
    }
    let replications = cells[0].len();
    for values in cells {
        require_finite(values, 1)?;
        if values.len() != replications {
            return Err(StatsError::UnequalReplication);
        }
    }
    let moments: Vec<Moments> = cells.iter().map(|values| Moments::of(values)).collect();
    let count = cells.len() * replications;
    let residual: f64 = moments.iter().map(|cell| cell.squares).sum();
    let degrees_of_freedom = cells.len() * (replications - 1);
    let standard_error = (residual / degrees_of_freedom.max(1) as f64 / count as f64).sqrt();
    let mut effects: Vec<Effect> = sign_table(moments.iter().map(|cell| cell.mean).collect())
        .into_iter()
        .enumerate()
        .map(|(set, value)| Effect {
            factors: factors_of(set),
            effect: StudentParts {
                value,
                standard_error,
                degrees_of_freedom: degrees_of_freedom as f64,
                confidence,
                count,
            }
            .estimate("effect from the sign table"),
            sum_of_squares: count as f64 * value * value,
            share: 0.0,
        })
        .collect();
    let total = residual
        + effects
            .iter()
            .skip(1)
            .map(|e| e.sum_of_squares)
            .sum::<f64>();
    let share = |squares: f64| if total > 0.0 { squares / total } else { 0.0 };
    for effect in effects.iter_mut().skip(1) {
        effect.share = share(effect.sum_of_squares);
    }
    Ok(Effects2k {
        effects,
        residual_sum_of_squares: residual,
        residual_degrees_of_freedom: degrees_of_freedom,
        residual_share: share(residual),
        total_sum_of_squares: total,
    })
}

/// Sums and differences level by level (Yates 1937), divided by the number of cells.
fn sign_table(mut means: Vec<f64>) -> Vec<f64> {
    let count = means.len();
    let mut stride = 1;
    while stride < count {
        for start in (0..count).step_by(2 * stride) {
            for place in start..start + stride {
                let (low, high) = (means[place], means[place + stride]);
                means[place] = low + high;
                means[place + stride] = high - low;
            }
        }
        stride *= 2;
    }
    means
        .iter()
        .map(|contrast| contrast / count as f64)
        .collect()
}

fn factors_of(set: usize) -> Vec<usize> {
    (0..usize::BITS as usize)
        .filter(|factor| set >> factor & 1 == 1)
        .collect()
}
