//! What each level of a factor does: adjusted means, differences and ratios of levels.

use crate::anova::{Anova, Design, Observation, Options};
use crate::error::StatsError;
use crate::estimate::Estimate;

/// The additive model of all factors, from which means of levels and their differences are read.
#[derive(Debug, Clone)]
pub struct LevelFit {
    dummy: (),
}

/// Two levels of one factor, counted from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelPair {
    pub factor: usize,
    pub level: usize,
    /// What `level` is compared with.
    pub base: usize,
}

/// Fits the main effects (and blocks, where the options say so); the noise is the residual of `anova`.
pub fn level_fit(
    design: &Design,
    observations: &[Observation],
    options: Options,
    anova: &Anova,
) -> Result<LevelFit, StatsError> {
    let _ = (design, observations, options, anova);
    Ok(LevelFit { dummy: () })
}

/// Mean at one level, all other factors averaged over their levels. `None` where the level never occurs.
pub fn level_mean(
    fit: &LevelFit,
    factor: usize,
    level: usize,
    confidence: f64,
) -> Option<Estimate> {
    let _ = (fit.dummy, factor, level, confidence);
    None
}

/// Mean at `level` less mean at `base`.
pub fn level_difference(fit: &LevelFit, pair: LevelPair, confidence: f64) -> Option<Estimate> {
    let _ = (fit.dummy, pair, confidence);
    None
}

/// Geometric mean at `level` over that at `base`, where the observations hold natural logarithms.
pub fn level_ratio(fit: &LevelFit, pair: LevelPair, confidence: f64) -> Option<Estimate> {
    let _ = (fit.dummy, pair, confidence);
    None
}
