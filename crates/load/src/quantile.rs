//! Distribution-free intervals of quantiles.

use serde::Serialize;
use stats::distribution::binomial_cdf;

/// A quantile of times, with a 95 % interval from order statistics.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quantile {
    /// 0.99 for p99.
    pub share: f64,
    pub seconds: f64,
    /// `None` where there are too few values to bound that side.
    pub low_seconds: Option<f64>,
    pub high_seconds: Option<f64>,
}

pub(crate) const CONFIDENCE: f64 = 0.95;

/// Ranks from 1; `None` at the side where no value is far enough out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ranks {
    pub(crate) low: Option<u64>,
    pub(crate) high: Option<u64>,
}

/// The rank of a quantile among `count` values: the smallest that has that share at or below it.
pub(crate) fn rank(count: u64, share: f64) -> u64 {
    // Without the slack 0.07 × 100 would be a little more than 7, and its rank 8.
    let place = (share * count as f64 * (1.0 - 1e-12)).ceil();
    (place as u64).clamp(1, count.max(1))
}

/// The ranks whose values bound a quantile, with at most half of the error allowed on each side
/// (Conover, Practical Nonparametric Statistics, 1999, section 3.2).
///
/// The number of values below the quantile is binomial. The low rank is the highest r with
/// P(fewer than r below) ≤ tail, the high one the lowest s with P(s or more below) ≤ tail.
pub(crate) fn ranks(count: u64, share: f64, confidence: f64) -> Ranks {
    let tail = (1.0 - confidence) / 2.0;
    let fewer_than = |rank: u64| match rank {
        0 => 0.0,
        rank => binomial_cdf((rank - 1) as usize, count as usize, share),
    };
    // Both conditions change once as the rank grows, so halving finds the place.
    let low = first(0, count + 1, |rank| fewer_than(rank) > tail).saturating_sub(1);
    let high = first(1, count + 1, |rank| 1.0 - fewer_than(rank) <= tail);
    Ranks {
        low: (low >= 1).then_some(low),
        high: (high <= count).then_some(high),
    }
}

/// The first number from `low` to `high` for which it holds; `high` if for none before it.
fn first(mut low: u64, mut high: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(count: u64, share: f64, low: Option<u64>, high: Option<u64>) {
        assert_eq!(
            ranks(count, share, 0.95),
            Ranks { low, high },
            "{share} of {count}"
        );
    }

    #[test]
    fn medians_have_the_ranks_of_the_tables() {
        // Ranks of the 95 % interval of a median, as in the tables of the sign test
        // (Conover, table A3; Campbell and Gardner 1988, table for medians).
        for (count, low) in [
            (6, 1),
            (8, 1),
            (9, 2),
            (10, 2),
            (15, 4),
            (20, 6),
            (25, 8),
            (50, 18),
            (100, 40),
        ] {
            check(count, 0.5, Some(low), Some(count + 1 - low));
        }
        check(5, 0.5, None, None);
    }

    #[test]
    fn far_quantiles_need_many_values() {
        // 0.99³⁶⁷ > 0.025 ≥ 0.99³⁶⁸: 368 values are needed before the largest bounds p99 from above.
        assert_eq!(ranks(367, 0.99, 0.95).high, None);
        assert_eq!(ranks(368, 0.99, 0.95).high, Some(368));
        // 0.95⁷¹ > 0.025 ≥ 0.95⁷².
        assert_eq!(ranks(71, 0.95, 0.95).high, None);
        assert_eq!(ranks(72, 0.95, 0.95).high, Some(72));
        check(0, 0.5, None, None);
        check(1, 0.5, None, None);
    }

    #[test]
    fn large_counts_agree_with_the_normal_approximation() {
        let count = 10_000_000_u64;
        let Ranks {
            low: Some(low),
            high: Some(high),
        } = ranks(count, 0.99, 0.95)
        else {
            panic!("no interval");
        };
        let half = 1.96 * (count as f64 * 0.99 * 0.01).sqrt();
        assert!((low as f64 - (9_900_000.0 - half)).abs() < 5.0, "{low}");
        assert!((high as f64 - (9_900_000.0 + half)).abs() < 5.0, "{high}");
    }

    #[test]
    fn coverage_is_what_was_asked() {
        for count in 1..200_u64 {
            for share in [0.5, 0.9, 0.95, 0.99] {
                let below = |rank: u64| match rank {
                    0 => 0.0,
                    rank => binomial_cdf((rank - 1) as usize, count as usize, share),
                };
                let ranks = ranks(count, share, 0.95);
                if let Some(low) = ranks.low {
                    assert!(below(low) <= 0.025 && below(low + 1) > 0.025);
                }
                if let Some(high) = ranks.high {
                    assert!(1.0 - below(high) <= 0.025 && 1.0 - below(high - 1) > 0.025);
                }
            }
        }
    }

    #[test]
    fn ranks_of_quantiles() {
        assert_eq!(rank(100, 0.07), 7);
        assert_eq!(rank(100, 0.99), 99);
        assert_eq!(rank(25, 0.5), 13);
        assert_eq!(rank(1, 0.99), 1);
        assert_eq!(rank(0, 0.5), 1);
        assert_eq!(rank(10, 1.0), 10);
    }
}
