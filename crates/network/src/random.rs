//! Random numbers that are the same on every machine and in every version of this program:
//! integer arithmetic only, and one multiplication that IEEE 754 fixes to the last bit.

use seeded::SplitMix64;

/// xoshiro256++ (Blackman and Vigna 2021, doi 10.1145/3460772), filled by SplitMix64.
pub(crate) struct Stream {
    state: [u64; 4],
}

impl Stream {
    /// Streams of different names are independent: one more layer leaves the others' weights alone.
    pub(crate) fn named(seed: u64, name: &str) -> Self {
        let mut filler = SplitMix64::new(seed ^ fnv1a(name));
        Stream {
            state: std::array::from_fn(|_| filler.next_u64()),
        }
    }

    pub(crate) fn next(&mut self) -> u64 {
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

    /// Evenly spread over [−bound, bound).
    pub(crate) fn symmetric(&mut self, bound: f32) -> f32 {
        // 24 bits are all that a float of this size can hold.
        let unit = (self.next() >> 40) as f32 / (1u32 << 24) as f32;
        (2.0 * unit - 1.0) * bound
    }
}

/// Fowler, Noll and Vo's hash, 64 bits, variant 1a.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First outputs of the authors' reference programs for these states.
    #[test]
    fn generators_agree_with_their_reference() {
        let mut xoshiro = Stream {
            state: [1, 2, 3, 4],
        };
        let got: Vec<u64> = (0..4).map(|_| xoshiro.next()).collect();
        assert_eq!(
            got,
            [
                41_943_041,
                58_720_359,
                3_588_806_011_781_223,
                3_591_011_842_654_386
            ]
        );
        assert_eq!(fnv1a("foobar"), 0x85944171f73967e8);
    }

    #[test]
    fn symmetric_numbers_stay_inside_and_spread() {
        let mut stream = Stream::named(7, "conv1.weight");
        let values: Vec<f32> = (0..20_000).map(|_| stream.symmetric(0.5)).collect();
        assert!(values.iter().all(|v| (-0.5..0.5).contains(v)));
        let mean = values.iter().sum::<f32>() / 20_000.0;
        let variance = values.iter().map(|v| v * v).sum::<f32>() / 20_000.0;
        assert!(mean.abs() < 0.01, "{mean}");
        assert!((variance - 1.0 / 12.0).abs() < 0.003, "{variance}");
    }
}
