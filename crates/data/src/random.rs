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

    fn check_order(seed: u64, epoch: u32, expected: &[usize]) {
        let order = epoch_order(seed, epoch, expected.len());
        assert_eq!(order, expected, "seed {seed}, epoch {epoch}");
    }

    #[test]
    fn epochs_are_ordered_as_the_adapters_order_them() {
        // Computed with `order` of protocol.py.
        check_order(0, 1, &[1, 5, 2, 3, 9, 6, 7, 8, 0, 4]);
        check_order(1, 1, &[0, 4, 5, 6, 8, 7, 2, 3, 9, 1]);
        check_order(2024, 3, &[2, 0, 10, 11, 6, 7, 8, 4, 1, 9, 3, 5]);
        check_order(u64::MAX, 1, &[4, 7, 0, 6, 3, 9, 1, 5, 2, 8]);
        check_order(u64::MAX - 1, u32::MAX, &[1, 0, 3, 4, 5, 2, 6]);
        check_order(1 << 63, 0, &[1, 2, 4, 3, 0]);
        check_order(7, 2, &[0]);
        check_order(7, 2, &[]);
    }

    #[test]
    fn long_epochs_are_ordered_as_the_adapters_order_them() {
        // FNV-1a of the rows as 32-bit numbers, computed with `order` of protocol.py.
        let check = |seed, epoch, first: [usize; 3], expected: u64| {
            let order = epoch_order(seed, epoch, 60_000);
            let bytes = order.iter().flat_map(|&row| (row as u32).to_le_bytes());
            let fingerprint = bytes.fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
            });
            assert_eq!(order[..3], first);
            assert_eq!(fingerprint, expected);
        };
        check(2024, 1, [47215, 46678, 23936], 0xC6B2_CF5B_1650_B435);
        check(u64::MAX, 7, [33896, 15832, 39190], 0x0DDC_E094_2722_6795);
    }

    proptest! {
        #[test]
        fn an_order_has_every_row_once(seed: u64, epoch: u32, count in 0usize..300) {
            let mut order = epoch_order(seed, epoch, count);
            order.sort_unstable();
            prop_assert_eq!(order, (0..count).collect::<Vec<_>>());
        }

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
