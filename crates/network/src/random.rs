//! Random numbers that are the same on every machine and in every version of this program:
//! integer arithmetic only, and one multiplication that IEEE 754 fixes to the last bit.

use seeded::{Xoshiro256, fnv1a};

pub(crate) struct Stream {
    random: Xoshiro256,
}

impl Stream {
    /// Streams of different names are independent: one more layer leaves the others' weights alone.
    pub(crate) fn named(seed: u64, name: &str) -> Self {
        Stream {
            random: Xoshiro256::new(seed ^ fnv1a(name.as_bytes())),
        }
    }

    /// Evenly spread over [−bound, bound).
    pub(crate) fn symmetric(&mut self, bound: f32) -> f32 {
        // 24 bits are all that a float of this size can hold.
        let unit = (self.random.next_u64() >> 40) as f32 / (1u32 << 24) as f32;
        (2.0 * unit - 1.0) * bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
