//! Metrics that are the time in other words.

use crate::decides::{Comparison, LevelEffect, Variation, VariationTerm};

/// Marks metrics whose variation is the time's in other words: the same factors, nearly the same
/// shares, and every level changes both alike. Saying it twice would help nobody.
pub(crate) fn mark_those_like_time(variations: &mut [Variation], time: &str) {
    let Some(time) = variations.iter().find(|v| v.metric == time).cloned() else {
        return;
    };
    let like = |other: &Variation| {
        let share = |term: &VariationTerm| {
            let same = time.terms.iter().find(|t| t.factors == term.factors);
            same.map_or(0.0, |t| t.share)
        };
        other.metric != time.metric
            && other.scale == time.scale
            && !other.terms.is_empty()
            && other.terms.len() == time.terms.len()
            && other
                .terms
                .iter()
                .all(|term| (share(term) - term.share).abs() < 0.03)
    };
    for variation in variations {
        let together = match variation.metric.as_str() {
            model::run::metric::COST => Together::Rise,
            model::run::metric::IMAGES_PER_SECOND => Together::Oppose,
            _ => continue,
        };
        variation.follows_time = like(variation) && together.are(&time.effects, &variation.effects);
    }
}

/// How a metric goes with the time, if it does.
#[derive(Clone, Copy)]
enum Together {
    Rise,
    Oppose,
}

impl Together {
    /// A tenth of what a level does may be rounding up, and what does next to nothing says nothing.
    const NEAR: f64 = 0.1;
    const NOTHING: f64 = 0.02;

    fn are(self, time: &[LevelEffect], other: &[LevelEffect]) -> bool {
        let sign = match self {
            Together::Rise => 1.0,
            Together::Oppose => -1.0,
        };
        let sizes = |effects: &[LevelEffect]| -> Vec<f64> { effects.iter().map(size).collect() };
        let (time, other) = (sizes(time), sizes(other));
        let largest = |all: &[f64]| all.iter().copied().map(f64::abs).fold(0.0, f64::max);
        let (most, other_most) = (largest(&time), largest(&other));
        let is_near = |(t, o): (&f64, &f64)| {
            let (t, o) = (t / most, sign * o / other_most);
            (t - o).abs() <= Self::NEAR * t.abs() + Self::NOTHING
        };
        time.len() == other.len()
            && most > 0.0
            && other_most > 0.0
            && time.iter().zip(&other).all(is_near)
    }
}

/// Nought for a level that changes nothing.
fn size(effect: &LevelEffect) -> f64 {
    match effect.comparison {
        Comparison::Ratio => effect.estimate.value.ln(),
        Comparison::Difference => effect.estimate.value,
    }
}
