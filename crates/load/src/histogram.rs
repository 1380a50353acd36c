//! Times in buckets: memory does not grow with the number of requests.

use hdrhistogram::Histogram;
use serde::{Serialize, Serializer};

use crate::quantile::{Quantile, rank};

/// The shares that a written histogram gives quantiles of.
const SHARES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

const HOUR_MICROS: u64 = 3_600_000_000;
const DIGITS: u8 = 3;

/// Times from 1 µs to 1 hour, each kept to three digits; longer ones count as 1 hour.
#[derive(Debug, Clone, PartialEq)]
pub struct Times {
    /// `None` only if the bounds above made no histogram, which a test excludes.
    buckets: Option<Histogram<u64>>,
    /// Kept beside the buckets, with all its digits.
    sum_nanos: u128,
    max_nanos: u64,
}

impl Default for Times {
    fn default() -> Self {
        Times {
            buckets: Histogram::new_with_bounds(1, HOUR_MICROS, DIGITS).ok(),
            sum_nanos: 0,
            max_nanos: 0,
        }
    }
}

impl Times {
    pub fn record_nanos(&mut self, nanos: u64) {
        let micros = (nanos + 500) / 1000;
        if let Some(buckets) = &mut self.buckets {
            buckets.saturating_record(micros.clamp(1, HOUR_MICROS));
        }
        self.sum_nanos += u128::from(nanos);
        self.max_nanos = self.max_nanos.max(nanos);
    }

    pub fn merge(&mut self, other: &Times) {
        if let (Some(mine), Some(theirs)) = (&mut self.buckets, &other.buckets) {
            // Bounds are the same, so nothing can be out of range.
            let _ = mine.add(theirs);
        }
        self.sum_nanos += other.sum_nanos;
        self.max_nanos = self.max_nanos.max(other.max_nanos);
    }

    pub fn count(&self) -> u64 {
        self.buckets.as_ref().map_or(0, Histogram::len)
    }

    pub fn mean_seconds(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum_nanos as f64 / count as f64 / 1e9)
    }

    pub fn max_seconds(&self) -> Option<f64> {
        (self.count() > 0).then_some(self.max_nanos as f64 / 1e9)
    }

    /// `None` without values.
    pub fn quantile(&self, share: f64) -> Option<Quantile> {
        Some(Quantile {
            share,
            seconds: self.at_rank(rank(self.count(), share))?,
        })
    }

    pub fn quantiles(&self) -> Vec<Quantile> {
        SHARES
            .iter()
            .filter_map(|share| self.quantile(*share))
            .collect()
    }

    /// The time of the request of that rank, from 1, as the upper edge of its bucket.
    fn at_rank(&self, rank: u64) -> Option<f64> {
        let buckets = self.buckets.as_ref()?;
        let mut seen = 0;
        for bucket in buckets.iter_recorded() {
            seen += bucket.count_at_value();
            if seen >= rank {
                let edge = bucket.value_iterated_to() as f64 / 1e6;
                return Some(edge.min(self.max_nanos as f64 / 1e9));
            }
        }
        None
    }

    fn filled(&self) -> Vec<Bucket> {
        let recorded = self
            .buckets
            .iter()
            .flat_map(|buckets| buckets.iter_recorded());
        recorded
            .map(|bucket| Bucket(bucket.value_iterated_to(), bucket.count_at_value()))
            .collect()
    }
}

/// Upper edge in microseconds, number of times.
#[derive(Serialize)]
struct Bucket(u64, u64);

/// How a histogram stands in a file: what a person asks first, then all that is known.
#[derive(Serialize)]
struct Written {
    count: u64,
    mean_seconds: Option<f64>,
    max_seconds: Option<f64>,
    quantiles: Vec<Quantile>,
    /// The buckets that are not empty: `[upper edge in microseconds, number of times]`.
    buckets: Vec<Bucket>,
}

impl Serialize for Times {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written {
            count: self.count(),
            mean_seconds: self.mean_seconds(),
            max_seconds: self.max_seconds(),
            quantiles: self.quantiles(),
            buckets: self.filled(),
        }
        .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_kept() {
        let mut times = Times::default();
        assert!(times.buckets.is_some());
        for micros in [1, 20, 999, 1500, 123_456, 59_000_000] {
            times.record_nanos(micros * 1000);
            let got = times.at_rank(times.count()).unwrap() * 1e6;
            assert!(
                (got - micros as f64).abs() <= micros as f64 / 1000.0,
                "{got} {micros}"
            );
        }
        times.record_nanos(u64::MAX / 2);
        assert_eq!(times.count(), 7);
        assert_eq!(times.quantile(0.5).unwrap().seconds, 0.0015);
    }

    #[test]
    fn quantiles_are_those_of_the_recorded_times() {
        let mut times = Times::default();
        assert!(times.quantiles().is_empty());
        (1..=100).for_each(|ms| times.record_nanos(ms * 1_000_000));
        let near =
            |got: Option<f64>, ms: f64| assert!((got.unwrap() * 1e3 - ms).abs() <= ms / 1000.0);
        let median = times.quantile(0.5).unwrap();
        near(Some(median.seconds), 50.0);
        let p99 = times.quantile(0.99).unwrap();
        near(Some(p99.seconds), 100.0);
        near(times.mean_seconds(), 50.5);
        assert_eq!(times.max_seconds(), Some(0.1));
    }

    #[test]
    fn merged_is_as_recorded_in_one() {
        let (mut one, mut a, mut b) = (Times::default(), Times::default(), Times::default());
        for n in 1..1000 {
            one.record_nanos(n * 10_000);
            if n % 3 == 0 { &mut a } else { &mut b }.record_nanos(n * 10_000);
        }
        a.merge(&b);
        assert_eq!(a, one);
    }
}
