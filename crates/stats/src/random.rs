//! A small seeded generator, so that resampling gives the same answer every time.

/// SplitMix64 (Steele, Lea, Flood 2014): one word of state, every seed is good.
#[derive(Debug, Clone)]
pub struct SplitMix {
    state: u64,
}

impl SplitMix {
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A whole number below `bound`, zero if `bound` is zero.
    pub fn below(&mut self, bound: usize) -> usize {
        // The product's upper half is uniform up to bound / 2^64, far below anything a resample can show.
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }
}
