//! The steady state of a training: where the warm-up ends, and the time of a step with its interval.
//!
//! The warm-up ends where leaving out more steps no longer makes the mean of the rest better known:
//! the marginal standard error rule (White 1997), over the first half of the steps. The rest is
//! averaged in batches, because steps near each other are alike (Law and Carson 1979): the interval
//! comes from the batches' means.

use stats::distribution::student_quantile;

/// With fewer steps nothing is said.
pub const FEWEST_STEPS: usize = 12;
/// Of the means that the interval is made from.
const MOST_BATCHES: usize = 10;
const FEWEST_BATCHES: usize = 3;
const STEPS_IN_A_BATCH: usize = 4;

/// Steps after the warm-up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steady {
    /// Steps that were left out.
    pub warm_up: usize,
    /// After it.
    pub steps: usize,
    /// Mean of a step.
    pub seconds: f64,
    /// Of the mean.
    pub standard_error: f64,
    pub degrees_of_freedom: f64,
    /// Whether the warm-up ended before the half of what was seen: else it may still go on.
    pub is_settled: bool,
}

impl Steady {
    /// Of the 95 % interval of the mean, relative to it.
    pub fn precision(&self) -> f64 {
        let quantile = student_quantile(0.975, self.degrees_of_freedom);
        quantile * self.standard_error / self.seconds
    }
}

/// `None` for too few steps, or times that are none.
pub fn steady(steps: &[f64]) -> Option<Steady> {
    let is_time = |seconds: &f64| seconds.is_finite() && *seconds > 0.0;
    if steps.len() < FEWEST_STEPS || !steps.iter().all(is_time) {
        return None;
    }
    let latest = steps.len() / 2;
    let warm_up = warm_up(steps, 0, latest);
    let rest = &steps[warm_up..];
    let means = batch_means(rest);
    let count = means.len() as f64;
    // Of all steps, not of the batches, whose sizes differ by one.
    let seconds = mean(rest);
    let centre = mean(&means);
    let squares: f64 = means.iter().map(|mean| (mean - centre).powi(2)).sum();
    Some(Steady {
        warm_up,
        steps: rest.len(),
        seconds,
        standard_error: (squares / (count - 1.0) / count).sqrt(),
        degrees_of_freedom: count - 1.0,
        is_settled: warm_up < latest,
    })
}

/// How many of the first values to leave out, from `earliest` to `latest`: as many as give the mean of
/// the rest its smallest standard error.
pub(crate) fn warm_up(values: &[f64], earliest: usize, latest: usize) -> usize {
    // From the end: sums of what is kept.
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
    // Against the mean of the later part, so that squares of large numbers are not subtracted.
    let centre = mean(&values[latest..]);
    let mut best = (f64::INFINITY, latest);
    for (left_out, value) in values.iter().enumerate().skip(earliest).rev() {
        let from_centre = value - centre;
        sum += from_centre;
        squares += from_centre * from_centre;
        count += 1.0;
        if left_out > latest {
            continue;
        }
        let spread: f64 = squares - sum * sum / count;
        let error = spread.max(0.0) / (count * count);
        // Of equals the earlier: more values are kept.
        if error <= best.0 {
            best = (error, left_out);
        }
    }
    best.1
}

fn batch_means(steps: &[f64]) -> Vec<f64> {
    let count = (steps.len() / STEPS_IN_A_BATCH).clamp(FEWEST_BATCHES, MOST_BATCHES);
    let bound = |number: usize| number * steps.len() / count;
    let batches = (0..count).map(|number| &steps[bound(number)..bound(number + 1)]);
    batches.map(mean).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uniform in 0..1, by a generator of fixed numbers.
    struct Noise(seeded::SplitMix64);

    impl Noise {
        fn new(seed: u64) -> Self {
            Noise(seeded::SplitMix64::new(seed))
        }

        fn next(&mut self) -> f64 {
            (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    #[test]
    fn slow_first_steps_are_left_out() {
        let mut noise = Noise::new(1);
        let mut steps = vec![3.0, 0.9, 0.3];
        steps.extend((0..60).map(|_| 0.1 + 0.004 * noise.next()));
        let found = steady(&steps).unwrap();
        assert!((3..=12).contains(&found.warm_up), "{found:?}");
        assert!((found.seconds - 0.102).abs() < 0.001, "{found:?}");
        assert!(found.is_settled && found.precision() < 0.02, "{found:?}");
    }

    #[test]
    fn a_warm_up_that_goes_on_is_not_settled() {
        let steps: Vec<f64> = (0..40).map(|step| 2.0 - 0.04 * f64::from(step)).collect();
        let found = steady(&steps).unwrap();
        assert!(!found.is_settled, "{found:?}");
    }

    #[test]
    fn too_few_steps_or_no_times_say_nothing() {
        assert_eq!(steady(&[0.1; 11]), None);
        let mut steps = [0.1; 30];
        steps[7] = f64::NAN;
        assert_eq!(steady(&steps), None);
        steps[7] = 0.0;
        assert_eq!(steady(&steps), None);
    }

    /// 95 % intervals of the mean of steps, neighbours of which are alike.
    #[test]
    fn intervals_hold_for_dependent_steps() {
        let mut covered = 0;
        let studies = 600;
        for study in 0..studies {
            let mut noise = Noise::new(study);
            let mut last = 0.0;
            let steps: Vec<f64> = (0..120)
                .map(|_| {
                    last = 0.5 * last + (noise.next() - 0.5);
                    0.1 + 0.01 * last
                })
                .collect();
            let found = steady(&steps).unwrap();
            let half = found.precision() * found.seconds;
            covered += usize::from((found.seconds - 0.1).abs() <= half);
        }
        let share = covered as f64 / studies as f64;
        assert!(share > 0.90, "{share}");
    }
}
