//! The one source of randomness: generators and a hash whose numbers never change with a library's
//! version, so that the order of a published study, its images and its weights can be made again.
//!
//! [`SplitMix64`] is the one to use. Initial weights are drawn by [`Xoshiro256`], and have been since
//! the first published ones: another generator would change every one of them.
//!
//! How a position (a block, an image, a parameter) becomes a state is up to the crate that draws.

mod xoshiro;

pub use xoshiro::Xoshiro256;

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014):
/// one word of state, every state is good.
#[derive(Debug, Clone)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    pub const fn new(state: u64) -> Self {
        SplitMix64 { state }
    }

    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.state)
    }

    /// A whole number below `limit`, zero for a limit of zero, by Lemire's multiplication (2019):
    /// uneven by less than limit / 2⁶⁴.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next_u64()) * limit as u128) >> 64) as usize
    }
}

/// The finaliser of SplitMix64: neighbouring words become unlike.
pub fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// FNV-1a, 64 bits (Fowler, Noll and Vo): stable across versions and machines, unlike the standard
/// library's hasher. Nobody forges what is hashed.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        // First outputs of the reference implementation from state 1234567.
        let mut random = SplitMix64::new(1_234_567);
        let drawn: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
        assert_eq!(random.below(0), 0);
        assert!((0..1000).all(|limit| SplitMix64::new(limit).below(7) < 7));
    }

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv1a(b""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_F739_67E8);
    }
}
