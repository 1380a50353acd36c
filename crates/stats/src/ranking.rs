//! Which of several means is the lowest, and which cannot be told from it.

use crate::compare::{Sample, welch_difference_of};
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
    /// By how much of the lowest mean, with its interval.
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
    let samples: Vec<Sample> = lists.iter().map(|list| Sample::from(*list)).collect();
    rank_lowest_of(&samples, level, equal_within)
}

/// The same of values that may have been rounded.
pub fn rank_lowest_of(lists: &[Sample], level: f64, equal_within: f64) -> Option<Ranked> {
    let mut order: Vec<usize> = (0..lists.len()).collect();
    let means: Vec<f64> = lists.iter().map(|list| mean(list.values)).collect();
    order.sort_by(|a, b| means[*a].total_cmp(&means[*b]));
    let (&best, others) = order.split_first()?;
    if others.is_empty() || lists.iter().any(|list| list.values.len() < 2) {
        return None;
    }
    // Every other one is a question; which of them is the lowest was picked from the data.
    let level = level / others.len() as f64;
    let margin = equal_within * means[best].abs();
    let mut ranked = Ranked {
        first: vec![best],
        behind: Vec::new(),
        open: Vec::new(),
    };
    for &other in others {
        let compared = welch_difference_of(lists[other], lists[best], 1.0 - level).ok()?;
        let interval = compared.estimate.interval;
        if compared.p <= level && compared.estimate.value > 0.0 {
            let part = |value: f64| value / means[best].abs();
            ranked.behind.push(RankedBehind {
                place: other,
                by: part(compared.estimate.value),
                low: part(interval.map_or(f64::NAN, |i| i.low)),
                high: part(interval.map_or(f64::NAN, |i| i.high)),
            });
            continue;
        }
        ranked.first.push(other);
        // Equal means of values that vary show nothing.
        let has_no_spread = interval.is_none_or(|i| i.low >= i.high);
        let is_same = compared.estimate.value == 0.0 && has_no_spread;
        let is_equal = interval.is_some_and(|i| i.low >= -margin && i.high <= margin);
        if !is_equal && !is_same {
            ranked.open.push(other);
        }
    }
    Some(ranked)
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
