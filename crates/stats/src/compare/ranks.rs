//! Comparison by ranks, which supposes no distribution.

use super::{Comparison, two_sided};
use crate::distribution::normal_quantile;
use crate::error::{StatsError, require_finite, require_probability};
use crate::estimate::{Estimate, Interval};
use crate::summary::quantile;

/// Mann–Whitney U: is one of the two usually higher? The estimate is the Hodges–Lehmann shift, the median of all
/// pairwise differences. The probability is exact, ties included, up to 60 values; beyond, normal with correction
/// for ties and continuity (Hollander, Wolfe 1999, sections 4.1 to 4.3).
pub fn mann_whitney(
    first: &[f64],
    second: &[f64],
    confidence: f64,
) -> Result<Comparison, StatsError> {
    require_finite(first, 1)?;
    require_finite(second, 1)?;
    require_probability(confidence)?;
    let ranks = doubled_ranks(first, second);
    let exact = first.len() + second.len() <= MOST_EXACT;
    let p = if exact {
        exact_p(&ranks, first.len())
    } else {
        normal_p(&ranks, first.len())
    };
    let method = format!(
        "Hodges–Lehmann shift, Mann–Whitney test ({})",
        if exact { "exact" } else { "normal" }
    );
    Ok(Comparison::new(
        shift(first, second, confidence, method),
        p,
        0.0,
    ))
}

/// Up to this many values all together the exact distribution is counted out.
const MOST_EXACT: usize = 60;

/// Twice the mid-ranks in the joined list, so that ties stay whole numbers; those of `first` come first.
fn doubled_ranks(first: &[f64], second: &[f64]) -> Vec<usize> {
    let all: Vec<f64> = first.iter().chain(second).copied().collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|a, b| all[*a].total_cmp(&all[*b]));
    let mut ranks = vec![0; all.len()];
    let mut below = 0;
    for run in order.chunk_by(|a, b| all[*a] == all[*b]) {
        for index in run {
            ranks[*index] = 2 * below + run.len() + 1;
        }
        below += run.len();
    }
    ranks
}

/// Share of all ways to choose `chosen` of the ranks whose sum is at least as far from its mean as the observed.
fn exact_p(ranks: &[usize], chosen: usize) -> f64 {
    let largest: usize = ranks.iter().sum();
    // ways[k][s]: ways to choose k of the ranks seen so far with sum s.
    let mut ways = vec![vec![0.0f64; largest + 1]; chosen + 1];
    ways[0][0] = 1.0;
    for (seen, rank) in ranks.iter().enumerate() {
        for k in (0..chosen.min(seen + 1)).rev() {
            let (lower, upper) = ways.split_at_mut(k + 1);
            for (sum, count) in lower[k]
                .iter()
                .enumerate()
                .filter(|(_, count)| **count > 0.0)
            {
                upper[0][sum + rank] += count;
            }
        }
    }
    let observed: usize = ranks[..chosen].iter().sum();
    let mean = (chosen * (ranks.len() + 1)) as f64;
    let far = (observed as f64 - mean).abs();
    let mut all = 0.0;
    let mut extreme = 0.0;
    for (sum, count) in ways[chosen].iter().enumerate() {
        all += count;
        if (sum as f64 - mean).abs() >= far {
            extreme += count;
        }
    }
    (extreme / all).min(1.0)
}

fn normal_p(ranks: &[usize], chosen: usize) -> f64 {
    let total = ranks.len() as f64;
    let (n, m) = (chosen as f64, total - chosen as f64);
    let mean = n * (total + 1.0) / 2.0;
    let middle = (total + 1.0) / 2.0;
    // The variance of the mid-ranks themselves carries the correction for ties.
    let squares: f64 = ranks
        .iter()
        .map(|rank| (*rank as f64 / 2.0 - middle).powi(2))
        .sum();
    let variance = n * m / (total * (total - 1.0)) * squares;
    if variance <= 0.0 {
        return 1.0;
    }
    let observed: usize = ranks[..chosen].iter().sum();
    let far = ((observed as f64 / 2.0 - mean).abs() - 0.5).max(0.0);
    two_sided(far / variance.sqrt())
}

/// The median pairwise difference, with the interval between its order statistics by the normal approximation.
fn shift(first: &[f64], second: &[f64], confidence: f64, method: String) -> Estimate {
    let mut differences: Vec<f64> = first
        .iter()
        .flat_map(|a| second.iter().map(move |b| a - b))
        .collect();
    differences.sort_by(f64::total_cmp);
    let value = quantile(&differences, 0.5).unwrap_or(0.0);
    let (n, m) = (first.len() as f64, second.len() as f64);
    let mut estimate = Estimate::bare(value, confidence, first.len() + second.len(), method);
    let z = normal_quantile(0.5 + confidence / 2.0);
    let rank = (n * m / 2.0 - z * (n * m * (n + m + 1.0) / 12.0).sqrt()).floor();
    if rank >= 1.0 {
        let rank = rank as usize;
        estimate.interval =
            Interval::finite(differences[rank - 1], differences[differences.len() - rank]);
    }
    estimate
}
