//! Random numbers that are the same on every machine, today and later.

use seeded::SplitMix64;

/// A generator is made for a place (seed, purpose, index), so that what is drawn there does not
/// depend on what was drawn before.
#[derive(Debug, Clone)]
pub struct Random {
    random: SplitMix64,
}

impl Random {
    pub fn at(place: &[u64]) -> Self {
        let mut state = 0;
        for &part in place {
            state = SplitMix64::new(state).next_u64() ^ part;
        }
        // One more step, so that places that differ only in their last part do not lie side by side.
        let state = SplitMix64::new(state).next_u64();
        Random {
            random: SplitMix64::new(state),
        }
    }

    pub fn next_u64(&mut self) -> u64 {
        self.random.next_u64()
    }

    /// From 0 up to but not including 1, in steps of 2⁻²⁴.
    pub fn unit(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 / (1u32 << 24) as f32
    }

    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.random.below(limit)
    }

    /// Fisher and Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

const ORDER: u64 = 0x6F_72_64_65_72;

/// The order of `count` images in an epoch: sorted by the numbers drawn at (seed, "order", epoch),
/// the lower index first among equals. Frameworks compute it for themselves with NumPy, which has
/// no quick Fisher and Yates over given numbers but sorts well.
pub fn epoch_order(seed: u64, epoch: u32, count: usize) -> Vec<usize> {
    let mut random = Random::at(&[seed, ORDER, epoch.into()]);
    let mut rows: Vec<(u64, usize)> = (0..count).map(|row| (random.next_u64(), row)).collect();
    rows.sort_unstable();
    rows.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
