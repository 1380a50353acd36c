//! The one source of randomness: its numbers are part of what a seed promises, so it is written
//! out here and never changes with a dependency.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Debug, Clone)]
pub(crate) struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// Streams of one seed are unrelated, so that one more block leaves the others as they are.
    pub(crate) fn stream(seed: u64, stream: u64) -> Self {
        SplitMix64 {
            state: mix(mix(seed).wrapping_add(stream)),
        }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.state)
    }

    /// Every number below `limit` alike; zero for a limit of zero.
    fn below(&mut self, limit: u64) -> u64 {
        if limit == 0 {
            return 0;
        }
        // Numbers past the last whole multiple of the limit would favour the small ones.
        let excess = (u64::MAX % limit + 1) % limit;
        loop {
            let number = self.next();
            if number <= u64::MAX - excess {
                return number % limit;
            }
        }
    }

    /// Fisher and Yates: every order alike.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}

/// The finaliser of SplitMix64.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        // First outputs of the reference implementation from state 1234567.
        let mut random = SplitMix64 { state: 1_234_567 };
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!([random.next(), random.next(), random.next()], expected);
    }

    #[test]
    fn every_order_comes_about_equally_often() {
        let mut counts = std::collections::BTreeMap::new();
        for stream in 0..6000 {
            let mut items = [1, 2, 3];
            SplitMix64::stream(7, stream).shuffle(&mut items);
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
