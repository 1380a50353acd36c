//! How often to repeat for a wanted precision.

use crate::distribution::{normal_quantile, student_quantile};

/// Repetitions so that the interval is within ± `relative_precision` of the mean (Jain 1991, section 13.9.1:
/// n = (z·s / (r·mean))²). `None` where no number can be given.
pub fn repetitions_for(
    relative_precision: f64,
    sd: f64,
    mean: f64,
    confidence: f64,
) -> Option<usize> {
    let target = Target::new(relative_precision, sd, mean, confidence)?;
    let z = normal_quantile(0.5 + confidence / 2.0);
    let count = (z * target.sd_over_margin).powi(2).ceil();
    (count < MOST_REPETITIONS).then_some((count as usize).max(1))
}

/// As [`repetitions_for`], with Student's t for the mean of that many values instead of z: honest for few
/// repetitions, and never below two.
pub fn repetitions_for_student(
    relative_precision: f64,
    sd: f64,
    mean: f64,
    confidence: f64,
) -> Option<usize> {
    let target = Target::new(relative_precision, sd, mean, confidence)?;
    let enough = |count: usize| {
        let t = student_quantile(0.5 + confidence / 2.0, (count - 1) as f64);
        t * target.sd_over_margin <= (count as f64).sqrt()
    };
    let mut count = repetitions_for(relative_precision, sd, mean, confidence)?.max(2);
    // t shrinks towards z, so the answer lies a few above the normal one.
    while !enough(count) {
        count += 1;
    }
    Some(count)
}

/// Above this, an answer is of no use to anyone.
const MOST_REPETITIONS: f64 = 1e9;

struct Target {
    sd_over_margin: f64,
}

impl Target {
    fn new(relative_precision: f64, sd: f64, mean: f64, confidence: f64) -> Option<Self> {
        let valid = relative_precision > 0.0 && sd >= 0.0 && confidence > 0.0 && confidence < 1.0;
        let sd_over_margin = sd / (relative_precision * mean.abs());
        (valid && sd_over_margin.is_finite()).then_some(Self { sd_over_margin })
    }
}
