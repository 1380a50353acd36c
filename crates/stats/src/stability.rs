//! How often the lowest of several means would be the lowest again.

use seeded::SplitMix64;

use crate::blocked::Samples;
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
    let means: Vec<Mean> = lists
        .iter()
        .take(MOST_RIVALS)
        .map(|list| Mean::of(list, 0.0))
        .collect();
    chance(&means, seed)
}

fn chance(means: &[Mean], seed: u64) -> Option<f64> {
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

/// The same of what was measured in blocks: the first is the lowest where every other one, drawn from what is known of
/// its difference from the first, is higher.
pub fn chance_of_lowest_of(samples: &Samples, seed: u64) -> Option<f64> {
    if !samples.is_paired {
        let places = 0..samples.lists.len().min(MOST_RIVALS);
        let means = places.map(|n| Mean::of(&samples.values(n), samples.step(n)));
        return chance(&means.collect::<Vec<_>>(), seed);
    }
    let rivals = 1..samples.lists.len().min(MOST_RIVALS);
    let rivals = rivals.map(|place| {
        let contrast = samples.contrast(place, 0)?;
        Some(Mean {
            value: contrast.value,
            standard_error: contrast.standard_error,
            count: contrast.degrees_of_freedom.round() as usize + 1,
        })
    });
    let rivals: Vec<Mean> = rivals.collect::<Option<_>>()?;
    let mut random = SplitMix64::new(seed);
    let is_lowest = |_: &usize| rivals.iter().all(|rival| rival.drawn(&mut random) >= 0.0);
    let wins = (0..RESAMPLES).filter(is_lowest).count();
    Some(wins as f64 / RESAMPLES as f64)
}

struct Mean {
    value: f64,
    standard_error: f64,
    count: usize,
}

impl Mean {
    fn of(values: &[f64], step: f64) -> Self {
        let moments = Moments::of(values);
        let rounding = rounding_variance(step, moments.variance());
        Mean {
            value: moments.mean,
            standard_error: moments.standard_error().hypot(rounding.sqrt()),
            count: values.len(),
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
