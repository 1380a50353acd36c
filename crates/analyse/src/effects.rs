//! Effects of levels, and interactions of two factors, in sentences.

use stats::{Estimate, LevelFit, LevelPair, Observation};

use crate::decides::{Comparison, LevelEffect, Scale};
use crate::design::PresentFactor;
use crate::words::comparison::{Pair, amount};
use crate::words::format;
use crate::words::names::MetricInfo;

/// A fitted model with what its numbers are called.
pub(crate) struct Fit<'a> {
    pub(crate) info: &'a MetricInfo,
    pub(crate) factors: &'a [PresentFactor],
    pub(crate) scale: Scale,
    /// Logarithms on the logarithmic scale.
    pub(crate) data: &'a [Observation],
    pub(crate) fit: Option<LevelFit>,
    pub(crate) confidence: f64,
}

impl Fit<'_> {
    fn comparison(&self) -> Comparison {
        match self.scale {
            Scale::Linear => Comparison::Difference,
            Scale::Logarithmic => Comparison::Ratio,
        }
    }

    fn compare(&self, pair: LevelPair) -> Option<Estimate> {
        let fit = self.fit.as_ref()?;
        match self.scale {
            Scale::Linear => stats::level_difference(fit, pair, self.confidence),
            Scale::Logarithmic => stats::level_ratio(fit, pair, self.confidence),
        }
    }

    /// An effect alone: `2.5×`, `+3 %`, `1.20 s`.
    fn short(&self, effect: f64) -> String {
        match self.scale {
            Scale::Linear => amount(self.info, effect),
            Scale::Logarithmic if (0.8..1.25).contains(&effect.exp()) => {
                let sign = if effect < 0.0 { "−" } else { "+" };
                format!("{sign}{}", format::percent((effect.exp() - 1.0).abs()))
            }
            Scale::Logarithmic => format::ratio(effect.exp()),
        }
    }

    fn sentence(&self, pair: LevelPair, estimate: &Estimate) -> String {
        let factor = &self.factors[pair.factor];
        let said = Pair {
            metric: self.info,
            level: &factor.levels[pair.level].phrase,
            baseline: &factor.levels[pair.base].phrase,
            comparison: self.comparison(),
            estimate,
        };
        said.sentence()
    }
}

/// Every level against the first of its factor.
pub(crate) fn level_effects(fit: &Fit) -> Vec<LevelEffect> {
    let mut effects = Vec::new();
    for (place, factor) in fit.factors.iter().enumerate() {
        for level in 1..factor.levels.len() {
            let pair = LevelPair {
                factor: place,
                level,
                base: 0,
            };
            let Some(estimate) = fit.compare(pair) else {
                continue;
            };
            effects.push(LevelEffect {
                factor: factor.name.clone(),
                level: factor.levels[level].text.clone(),
                baseline: factor.levels[0].text.clone(),
                comparison: fit.comparison(),
                sentence: fit.sentence(pair, &estimate),
                estimate,
            });
        }
    }
    effects
}

/// The one sentence for a factor: its second level against the first, or its extremes.
pub(crate) fn headline(fit: &Fit, factor: usize) -> Option<String> {
    let levels = fit.factors.get(factor)?.levels.len();
    if levels == 2 {
        let pair = LevelPair {
            factor,
            level: 1,
            base: 0,
        };
        return fit
            .compare(pair)
            .map(|estimate| fit.sentence(pair, &estimate));
    }
    let extremes = extremes(fit, factor)?;
    let pair = LevelPair {
        factor,
        level: extremes.high,
        base: extremes.low,
    };
    let estimate = fit.compare(pair)?;
    Some(format!(
        "{} (the extremes of {levels} levels)",
        fit.sentence(pair, &estimate)
    ))
}

pub(crate) struct Extremes {
    pub(crate) low: usize,
    pub(crate) high: usize,
}

/// The levels with the lowest and the highest value, all else equal.
pub(crate) fn extremes(fit: &Fit, factor: usize) -> Option<Extremes> {
    let levels = fit.factors.get(factor)?.levels.len();
    let neutral = if fit.scale == Scale::Linear { 0.0 } else { 1.0 };
    let value = |level: usize| match level {
        0 => Some(neutral),
        level => fit
            .compare(LevelPair {
                factor,
                level,
                base: 0,
            })
            .map(|e| e.value),
    };
    let values: Vec<(usize, f64)> = (0..levels).filter_map(|l| Some((l, value(l)?))).collect();
    let low = values.iter().min_by(|a, b| a.1.total_cmp(&b.1))?.0;
    let high = values.iter().max_by(|a, b| a.1.total_cmp(&b.1))?.0;
    (low != high).then_some(Extremes { low, high })
}

/// How the effect of one factor changes with the other: where it is weakest and where strongest.
pub(crate) fn interaction(fit: &Fit, a: usize, b: usize) -> String {
    let general = || {
        let name = |factor: usize| fit.factors.get(factor).map_or("?", |f| f.name.as_str());
        format!("the effect of {} depends on {}", name(a), name(b))
    };
    // The factor with the larger effect is the one a reader thinks of as acting.
    let (acting, other) = if span(fit, a) >= span(fit, b) {
        (a, b)
    } else {
        (b, a)
    };
    let (Some(extremes), Some(others)) = (extremes(fit, acting), fit.factors.get(other)) else {
        return general();
    };
    let mut effects: Vec<Within> = (0..others.levels.len())
        .filter_map(|level| {
            let high = mean(fit.data, [(acting, extremes.high), (other, level)])?;
            let low = mean(fit.data, [(acting, extremes.low), (other, level)])?;
            Some(Within {
                level,
                effect: high - low,
            })
        })
        .collect();
    effects.sort_by(|x, y| x.effect.total_cmp(&y.effect));
    let (Some(least), Some(most)) = (effects.first(), effects.last()) else {
        return general();
    };
    if effects.len() < 2 {
        return general();
    }
    let pair = LevelPair {
        factor: acting,
        level: extremes.high,
        base: extremes.low,
    };
    let value = if fit.scale == Scale::Linear {
        most.effect
    } else {
        most.effect.exp()
    };
    let strongest = fit.sentence(
        pair,
        &Estimate::bare(value, fit.confidence, fit.data.len(), "means"),
    );
    let with = |within: &Within| others.levels[within.level].phrase.as_str();
    format!(
        "with {}, {strongest}; with {}, {}",
        with(most),
        with(least),
        fit.short(least.effect)
    )
}

struct Within {
    level: usize,
    effect: f64,
}

/// How far apart the levels of a factor lie.
fn span(fit: &Fit, factor: usize) -> f64 {
    let Some(found) = extremes(fit, factor) else {
        return 0.0;
    };
    let pair = LevelPair {
        factor,
        level: found.high,
        base: found.low,
    };
    fit.compare(pair).map_or(0.0, |estimate| estimate.value)
}

fn mean(data: &[Observation], fixed: [(usize, usize); 2]) -> Option<f64> {
    let fits = |o: &&Observation| {
        fixed
            .iter()
            .all(|(factor, level)| o.levels.get(*factor) == Some(level))
    };
    let (mut sum, mut count) = (0.0, 0usize);
    for observation in data.iter().filter(fits) {
        sum += observation.value;
        count += 1;
    }
    (count > 0).then(|| sum / count as f64)
}
