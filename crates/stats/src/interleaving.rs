//! Were the things that are compared measured in turn, or one after the other?
//!
//! Where successive runs are alike, the spread within a cell that was measured in one go says little about how far its
//! mean is from that of a cell that was measured later. In turn, what drifts is in both means alike. The process that
//! the correlation describes tells how large the error of a difference is, whatever the order was.

/// Cells and the places at which their values were measured.
#[derive(Debug, Clone)]
pub struct Interleaving {
    /// Cell and place of every value, by growing place.
    values: Vec<(usize, usize)>,
    correlation: f64,
    counts: Vec<f64>,
    /// What the spread within each cell lets expect for the variance of its mean, in variances of one value.
    expected: Vec<f64>,
}

impl Interleaving {
    /// Cell and place of every value, by growing place; `correlation` is that of a run and the next.
    pub fn of(values: &[(usize, usize)], cells: usize, correlation: f64) -> Self {
        let mut places: Vec<Vec<usize>> = vec![Vec::new(); cells];
        values
            .iter()
            .for_each(|(cell, place)| places[*cell].push(*place));
        let expected = places.iter().map(|places| {
            let count = places.len() as f64;
            let weighed = places.iter().map(|place| (1.0 / count, *place));
            let own = variance(weighed, correlation);
            match places.len() {
                0 | 1 => 1.0,
                // E s² = σ² (n − n · own) / (n − 1), and s² / n is what a test takes for the variance.
                _ => ((1.0 - own) / (count - 1.0)).max(f64::MIN_POSITIVE),
            }
        });
        Interleaving {
            expected: expected.collect(),
            counts: places.iter().map(|places| places.len() as f64).collect(),
            values: values.to_vec(),
            correlation,
        }
    }

    /// By how much the variance of a weighted sum of the cells' means is larger than the spreads within the cells say.
    pub fn error_ratio(&self, weights: &[f64]) -> f64 {
        let weight = |cell: usize| weights[cell] / self.counts[cell];
        let values = self.values.iter();
        let weighed = values.map(|(cell, place)| (weight(*cell), *place));
        // What has no place is not free of error: it is taken for independent of all others.
        let unplaced = weights.iter().zip(&self.counts).zip(&self.expected);
        let unplaced = unplaced.filter(|((_, count), _)| **count == 0.0);
        let unplaced: f64 = unplaced.map(|((w, _), part)| w * w * part).sum();
        let said = weights.iter().zip(&self.expected);
        let said: f64 = said.map(|(weight, part)| weight * weight * part).sum();
        (variance(weighed, self.correlation) + unplaced) / said
    }
}

/// Of a weighted sum of values of the process at growing places: each with itself, and twice with all before it.
fn variance(weighed: impl Iterator<Item = (f64, usize)>, correlation: f64) -> f64 {
    let (mut sum, mut before, mut last) = (0.0, 0.0, 0);
    for (weight, place) in weighed {
        before *= correlation.powf((place - last) as f64);
        sum += weight * (weight + 2.0 * before);
        before += weight;
        last = place;
    }
    sum
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

    /// One of the two has no places: its error is there all the same.
    #[test]
    fn a_cell_without_places_has_an_error() {
        let placed = [(0, 0), (0, 5), (0, 10), (0, 15)];
        let found = Interleaving::of(&placed, 2, 1e-9).error_ratio(&[1.0, -1.0]);
        assert!((found - 1.0).abs() < 1e-6, "{found}");
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
