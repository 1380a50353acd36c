//! How often to repeat for a wanted precision.

use crate::cell_means::Contrast;
use crate::distribution::{normal_quantile, student_quantile};

/// How sure a number of repetitions is to be enough: a spread that was seen in few runs may well be larger.
const ASSURANCE: f64 = 0.9;

/// What is known of a list of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub mean: f64,
    pub sd: f64,
    pub count: usize,
}

/// The factor by which a standard deviation with so many degrees of freedom is at most too small, with a
/// probability (Wilson, Hilferty 1931, for the quantile of chi-square).
fn too_small_by(degrees_of_freedom: f64, probability: f64) -> f64 {
    let part = 2.0 / (9.0 * degrees_of_freedom);
    let root = 1.0 - part - normal_quantile(probability) * part.sqrt();
    root.max(0.05).powf(-1.5)
}

/// What would settle a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    /// Differences within it count as none.
    pub margin: f64,
    pub level: f64,
    /// Of every cell, now.
    pub repetitions: usize,
}

/// Repetitions of every cell after which the interval of the contrast probably leaves out zero, or stays within the
/// margin. `None` where that is beyond all use.
pub fn repetitions_to_decide(contrast: &Contrast, wanted: Decision) -> Option<usize> {
    const MOST: usize = 10_000;
    let size = contrast.value.abs();
    let target = match size > wanted.margin {
        true => size,
        false => (wanted.margin - size).max(wanted.margin / 4.0),
    };
    let now = wanted.repetitions.max(1) as f64;
    let free = contrast.degrees_of_freedom.max(1.0);
    let each = contrast.standard_error * now.sqrt() * too_small_by(free, ASSURANCE);
    let is_enough = |repetitions: &usize| {
        let repetitions = *repetitions as f64;
        let free = free * (repetitions - 1.0).max(1.0) / (now - 1.0).max(1.0);
        let t = student_quantile(1.0 - wanted.level / 2.0, free);
        t * each / repetitions.sqrt() <= target
    };
    let first = (wanted.repetitions + 1).max(2);
    if !is_enough(&MOST) {
        return None;
    }
    // Enough stays enough: the smallest by halving.
    let (mut low, mut high) = (first, MOST);
    while low < high {
        let middle = low + (high - low) / 2;
        match is_enough(&middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Some(low)
}

/// Repetitions so that the interval is probably within ± `relative_precision` of the mean, with Student's t for the
/// mean of that many values; never below two. `None` where no number can be given.
pub fn repetitions_for(relative_precision: f64, known: Spread, confidence: f64) -> Option<usize> {
    let Spread { mean, sd, count } = known;
    let valid = relative_precision > 0.0 && sd >= 0.0 && confidence > 0.0 && confidence < 1.0;
    let sd = match count {
        0 | 1 => return None,
        _ => sd * too_small_by((count - 1) as f64, ASSURANCE),
    };
    let sd_over_margin = sd / (relative_precision * mean.abs());
    if !valid || !sd_over_margin.is_finite() {
        return None;
    }
    // With the normal distribution, n = (z·s / (r·mean))² (Jain 1991, section 13.9.1). t shrinks towards z, so the
    // answer lies a few above.
    let z = normal_quantile(0.5 + confidence / 2.0);
    let normal = (z * sd_over_margin).powi(2).ceil();
    if normal >= MOST_REPETITIONS {
        return None;
    }
    let enough = |count: &usize| {
        let t = student_quantile(0.5 + confidence / 2.0, (count - 1) as f64);
        t * sd_over_margin <= (*count as f64).sqrt()
    };
    ((normal as usize).max(2)..).find(enough)
}

/// Above this, an answer is of no use to anyone.
const MOST_REPETITIONS: f64 = 1e9;
