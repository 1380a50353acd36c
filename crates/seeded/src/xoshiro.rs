use crate::SplitMix64;

/// xoshiro256++ (Blackman and Vigna 2021, doi 10.1145/3460772), for initial weights only.
#[derive(Debug, Clone)]
pub struct Xoshiro256 {
    state: [u64; 4],
}

impl Xoshiro256 {
    /// Filled by [`SplitMix64`], as its authors advise.
    pub fn new(seed: u64) -> Self {
        let mut filler = SplitMix64::new(seed);
        Xoshiro256 {
            state: std::array::from_fn(|_| filler.next_u64()),
        }
    }

    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First outputs of the authors' reference program for this state.
    #[test]
    fn the_generator_is_the_published_one() {
        let mut xoshiro = Xoshiro256 {
            state: [1, 2, 3, 4],
        };
        let drawn: Vec<u64> = (0..4).map(|_| xoshiro.next_u64()).collect();
        assert_eq!(
            drawn,
            [
                41_943_041,
                58_720_359,
                3_588_806_011_781_223,
                3_591_011_842_654_386
            ]
        );
    }
}
