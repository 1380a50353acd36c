//! Numbers drawn by a seed: the order of runs, and designs; both are part of what a seed promises.

use seeded::{SplitMix64, mix};

#[derive(Debug, Clone)]
pub struct Shuffler {
    random: SplitMix64,
}

impl Shuffler {
    /// Streams of one seed are unrelated, so that one more block leaves the others as they are.
    pub fn stream(seed: u64, stream: u64) -> Self {
        Shuffler {
            random: SplitMix64::new(mix(mix(seed).wrapping_add(stream))),
        }
    }

    /// Every number below `limit` alike; zero for a limit of zero.
    pub fn below(&mut self, limit: u64) -> u64 {
        if limit == 0 {
            return 0;
        }
        // Numbers past the last whole multiple of the limit would favour the small ones.
        let excess = (u64::MAX % limit + 1) % limit;
        loop {
            let number = self.random.next_u64();
            if number <= u64::MAX - excess {
                return number % limit;
            }
        }
    }

    /// Fisher and Yates: every order alike.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_comes_about_equally_often() {
        let mut counts = std::collections::BTreeMap::new();
        for stream in 0..6000 {
            let mut items = [1, 2, 3];
            Shuffler::stream(7, stream).shuffle(&mut items);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        // Chi-squared with 5 degrees of freedom is below 20.5 in 999 of 1000 cases.
        let square = |count: &i32| f64::from(count - 1000).powi(2) / 1000.0;
        assert!(
            counts.values().map(square).sum::<f64>() < 20.5,
            "{counts:?}"
        );
    }
}
