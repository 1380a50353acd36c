//! Random numbers that are the same on every machine, today and later.

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
///
/// A generator is made for a place (seed, purpose, index), so that what is drawn there does not
/// depend on what was drawn before.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    pub fn at(place: &[u64]) -> Self {
        let mut random = Random { state: 0 };
        for &part in place {
            random.state = random.next_u64() ^ part;
        }
        // One more step, so that places that differ only in their last part do not lie side by side.
        random.state = random.next_u64();
        random
    }

    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// From 0 up to but not including 1, in steps of 2⁻²⁴.
    pub fn unit(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 / (1u32 << 24) as f32
    }

    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// A whole number below `limit` (0 for 0), by Lemire's multiplication; the bias is below 2⁻³².
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next_u64()) * limit as u128) >> 64) as usize
    }

    /// Fisher and Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn first_numbers_are_those_of_the_paper() {
        // Reference values of SplitMix64 from state 1234567 (Rosetta Code).
        let mut random = Random { state: 1_234_567 };
        let drawn: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    proptest! {
        #[test]
        fn below_stays_below(seed: u64, limit in 1usize..1000) {
            prop_assert!(Random::at(&[seed]).below(limit) < limit);
        }

        #[test]
        fn shuffling_keeps_every_item(seed: u64, count in 0usize..200) {
            let mut items: Vec<usize> = (0..count).collect();
            Random::at(&[seed]).shuffle(&mut items);
            items.sort_unstable();
            prop_assert_eq!(items, (0..count).collect::<Vec<_>>());
        }

        #[test]
        fn places_are_unlike(a: [u64; 2], b: [u64; 2]) {
            prop_assume!(a != b);
            prop_assert_ne!(Random::at(&a).next_u64(), Random::at(&b).next_u64());
        }
    }
}
