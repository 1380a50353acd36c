//! How often the lowest of several means would be the lowest again.

use seeded::SplitMix64;

use crate::compare::Sample;
use crate::grid::rounding_variance;
use crate::prediction::normal;
use crate::summary::Moments;

const RESAMPLES: usize = 1000;
/// Those further behind do not become the lowest.
const MOST_RIVALS: usize = 20;
/// From here on Student's t is the normal distribution for this purpose.
const NEARLY_NORMAL: usize = 30;

/// Share of resamplings in which the first list has the lowest mean: every mean is drawn anew from what is known of it.
/// Lists are given by growing mean. `None` where one has fewer than two values.
pub fn chance_of_lowest(lists: &[&[f64]], seed: u64) -> Option<f64> {
    let samples: Vec<Sample> = lists.iter().map(|list| Sample::from(*list)).collect();
    chance_of_lowest_of(&samples, seed)
}

/// The same of values that may have been rounded.
pub fn chance_of_lowest_of(lists: &[Sample], seed: u64) -> Option<f64> {
    let means = lists.iter().take(MOST_RIVALS).map(Mean::of);
    let means: Vec<Mean> = means.collect();
    let (first, others) = means.split_first()?;
    if means.iter().any(|mean| mean.count < 2) {
        return None;
    }
    let mut random = SplitMix64::new(seed);
    let mut wins = 0;
    for _ in 0..RESAMPLES {
        let own = first.drawn(&mut random);
        wins += usize::from(others.iter().all(|other| own <= other.drawn(&mut random)));
    }
    Some(wins as f64 / RESAMPLES as f64)
}

struct Mean {
    value: f64,
    standard_error: f64,
    count: usize,
}

impl Mean {
    fn of(sample: &Sample) -> Self {
        let moments = Moments::of(sample.values);
        let rounding = rounding_variance(sample.step, moments.variance());
        Mean {
            value: moments.mean,
            standard_error: moments.standard_error().hypot(rounding.sqrt()),
            count: sample.values.len(),
        }
    }

    fn drawn(&self, random: &mut SplitMix64) -> f64 {
        let free = self.count - 1;
        let spread = match free {
            free if free < NEARLY_NORMAL => {
                let squares: f64 = (0..free).map(|_| normal(random).powi(2)).sum();
                (squares / free as f64).sqrt()
            }
            _ => 1.0,
        };
        self.value + self.standard_error * normal(random) / spread.max(1e-9)
    }
}
