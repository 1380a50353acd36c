//! Which of several means is the lowest, and which cannot be told from it.

use crate::blocked::Samples;
use crate::cell_means::Contrast;
use crate::precise::mean;

/// Places are those of the lists.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The lowest mean, then those that cannot be told from it, lowest first.
    pub first: Vec<usize>,
    /// Higher ones, the nearest first.
    pub behind: Vec<RankedBehind>,
    /// Of `first`, those that are neither shown to be higher than the lowest nor equal to it.
    pub open: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedBehind {
    pub place: usize,
    /// By how much of the lowest mean, with its interval; over the blocks that both have, where blocks are compared.
    pub by: f64,
    pub low: f64,
    pub high: f64,
}

impl Ranked {
    /// Whether there is one lowest, or all that share its place are equal.
    pub fn is_settled(&self) -> bool {
        self.first.len() == 1 || self.open.is_empty()
    }
}

/// `level` is the error rate of the whole ranking; means within `equal_within` of the lowest one (a share of it) count
/// as equal. `None` for fewer than two lists, or lists of fewer than two values.
pub fn rank_lowest(lists: &[&[f64]], level: f64, equal_within: f64) -> Option<Ranked> {
    rank_lowest_of(&Samples::unpaired(lists), level, equal_within)
}

/// The same of what was measured in blocks.
pub fn rank_lowest_of(samples: &Samples, level: f64, equal_within: f64) -> Option<Ranked> {
    let count = samples.lists.len();
    if count < 2 || samples.lists.iter().any(|list| list.len() < 2) {
        return None;
    }
    let best = lowest(samples)?;
    let rivals = (0..count).filter(|place| *place != best);
    let rivals = rivals.map(|place| Some((place, samples.contrast(place, best)?)));
    let mut rivals: Vec<(usize, Contrast)> = rivals.collect::<Option<_>>()?;
    rivals.sort_by(|a, b| a.1.value.total_cmp(&b.1.value));
    // Every other one is a question; which of them is the lowest was picked from the data.
    let level = level / rivals.len() as f64;
    let mut ranked = Ranked {
        first: vec![best],
        behind: Vec::new(),
        open: Vec::new(),
    };
    for (other, contrast) in rivals {
        let estimate = contrast.estimate(1.0 - level, "", |value| value);
        let interval = estimate.interval;
        let base = samples.base(best, other).abs();
        let margin = equal_within * base;
        if contrast.p() <= level && contrast.value > 0.0 {
            ranked.behind.push(RankedBehind {
                place: other,
                by: contrast.value / base,
                low: interval.map_or(f64::NAN, |i| i.low) / base,
                high: interval.map_or(f64::NAN, |i| i.high) / base,
            });
            continue;
        }
        ranked.first.push(other);
        // Equal means of values that vary show nothing.
        let has_no_spread = interval.is_none_or(|i| i.low >= i.high);
        let is_same = contrast.value == 0.0 && has_no_spread;
        let is_equal = interval.is_some_and(|i| i.low >= -margin && i.high <= margin);
        if !is_equal && !is_same {
            ranked.open.push(other);
        }
    }
    Some(ranked)
}

/// The lowest mean, unless the blocks that it shares with another one say the opposite: a fast day is no merit.
fn lowest(samples: &Samples) -> Option<usize> {
    let means = samples.lists.iter().enumerate();
    let means = means.map(|(place, _)| (place, mean(&samples.values(place))));
    let mut order: Vec<(usize, f64)> = means.collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (&(first, _), others) = order.split_first()?;
    let lower = |best: usize, other: usize| {
        let contrast = samples.contrast(other, best);
        match contrast.is_some_and(|contrast| contrast.value < 0.0) {
            true => other,
            false => best,
        }
    };
    let others = others.iter().map(|(place, _)| *place);
    Some(others.fold(first, lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_lowest_and_one_is_not_told_from_it() {
        let lists: [&[f64]; 3] = [
            &[2.0, 2.01, 1.99, 2.0],
            &[1.0, 1.01, 0.99, 1.0],
            &[1.0, 1.3, 0.9, 1.1],
        ];
        let ranked = rank_lowest(&lists, 0.05, 0.02);
        let found = ranked.as_ref().map(|r| (r.first.clone(), r.open.clone()));
        assert_eq!(found, Some((vec![1, 2], vec![2])));
        assert!(!ranked.is_some_and(|ranked| ranked.is_settled()));
        let settled = rank_lowest(&lists[..2], 0.05, 0.02);
        assert!(settled.is_some_and(|ranked| ranked.is_settled() && ranked.first == [1]));
    }

    #[test]
    fn equal_means_of_values_that_vary_are_not_settled() {
        let ranked = rank_lowest(&[&[1.0, 2.0, 3.0], &[3.0, 1.0, 2.0]], 0.05, 0.02);
        assert!(!ranked.is_some_and(|ranked| ranked.is_settled()));
        let ranked = rank_lowest(&[&[2.0, 2.0], &[2.0, 2.0]], 0.05, 0.02);
        assert!(ranked.is_some_and(|ranked| ranked.is_settled()));
    }

    #[test]
    fn one_value_is_no_ranking() {
        assert_eq!(rank_lowest(&[&[1.0], &[2.0, 2.1]], 0.05, 0.02), None);
        assert_eq!(rank_lowest(&[&[1.0, 1.1]], 0.05, 0.02), None);
    }
}
