//! Were the things that are compared measured in turn, or one after the other?
//!
//! Where successive runs are alike, the spread within a cell that was measured in one go says little about how far its
//! mean is from that of a cell that was measured later. In turn, what drifts is in both means alike. The process that
//! the correlation describes tells how large the error of a difference is, whatever the order was.

use std::collections::BTreeMap;

use crate::dependence::Powers;

/// Cells and the places at which their values were measured.
#[derive(Debug, Clone)]
pub struct Interleaving {
    /// Covariances of the cells' means, in variances of one value; pairs that are far apart have none.
    shared: BTreeMap<(usize, usize), f64>,
    /// What the spread within each cell lets expect for the variance of its mean.
    expected: Vec<f64>,
}

impl Interleaving {
    /// Cell and place of every value, by growing place; `correlation` is that of a run and the next.
    pub fn of(values: &[(usize, usize)], cells: usize, correlation: f64) -> Self {
        let powers = Powers::of(correlation);
        let mut counts = vec![0.0; cells];
        values.iter().for_each(|(cell, _)| counts[*cell] += 1.0);
        let mut shared: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for (number, (cell, place)) in values.iter().enumerate() {
            let near = values[..=number].iter().rev();
            let near = near.map(|(other, at)| (other, powers.at(place - at)));
            for (before, (other, power)) in near.take_while(|(_, p)| p.is_some()).enumerate() {
                let both = power.unwrap_or(0.0) / (counts[*cell] * counts[*other]);
                *shared.entry((*cell, *other)).or_default() += both;
                if before > 0 {
                    *shared.entry((*other, *cell)).or_default() += both;
                }
            }
        }
        let expected = counts.iter().enumerate().map(|(cell, count)| {
            let own = shared.get(&(cell, cell)).copied().unwrap_or(1.0);
            match *count > 1.0 {
                // E s² = σ² (n − n · own) / (n − 1), and s² / n is what a test takes for the variance.
                true => ((1.0 - own) / (count - 1.0)).max(f64::MIN_POSITIVE),
                false => 1.0,
            }
        });
        let expected = expected.collect();
        Interleaving { shared, expected }
    }

    /// By how much the variance of a weighted sum of the cells' means is larger than the spreads within the cells say.
    pub fn error_ratio(&self, weights: &[f64]) -> f64 {
        let shared = self.shared.iter();
        let variance: f64 = shared
            .map(|((a, b), part)| weights[*a] * weights[*b] * part)
            .sum();
        let said = weights.iter().zip(&self.expected);
        let said: f64 = said.map(|(weight, part)| weight * weight * part).sum();
        variance / said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(order: &[usize], correlation: f64) -> f64 {
        let values: Vec<(usize, usize)> = order.iter().copied().zip(0..).collect();
        Interleaving::of(&values, 2, correlation).error_ratio(&[1.0, -1.0])
    }

    #[test]
    fn one_after_the_other_says_less_than_in_turn() {
        let apart = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1];
        let in_turn = [0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0];
        assert!(ratio(&apart, 0.9) > 4.0, "{}", ratio(&apart, 0.9));
        assert!(ratio(&in_turn, 0.9) < 1.0, "{}", ratio(&in_turn, 0.9));
        // Runs that are independent may be measured in any order.
        for order in [apart, in_turn] {
            assert!((ratio(&order, 0.0) - 1.0).abs() < 1e-9);
        }
    }

    /// Of a difference of two means of two values each, written out.
    #[test]
    fn the_variance_is_that_of_the_process() {
        let r: f64 = 0.5;
        // 1/4 Σ w w r^|i − j| with weights + + − −, over what (1 − r) σ² within each cell lets expect.
        let variance = (4.0 + 4.0 * r - 2.0 * (r + 2.0 * r * r + r * r * r)) / 4.0;
        assert!((ratio(&[0, 0, 1, 1], r) - variance / (1.0 - r)).abs() < 1e-12);
    }
}
