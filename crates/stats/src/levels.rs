//! What each level of a factor does: adjusted means, differences and ratios of levels.

use crate::anova::columns::{Model, comparison, term_sets};
use crate::anova::{Anova, Cells, Design, Observation, Options};
use crate::error::StatsError;
use crate::estimate::{Estimate, StudentParts};

/// The additive model of all factors, from which means of levels and their differences are read.
///
/// Balanced data give the plain means of each level; where cells are missing, each level is adjusted for the
/// others it happened to be seen with.
#[derive(Debug, Clone)]
pub struct LevelFit {
    model: Model,
    levels: Vec<usize>,
    place_of_level: Vec<Vec<Option<usize>>>,
    /// For each factor and place, how many observations it has.
    counts: Vec<Vec<usize>>,
    mean: f64,
    residual_mean_square: f64,
    residual_degrees_of_freedom: usize,
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
    let cells = Cells::new(design, observations, options.blocks)?;
    let mut counts: Vec<Vec<usize>> = cells.levels.iter().map(|levels| vec![0; *levels]).collect();
    for cell in &cells.cells {
        for (counts, level) in counts.iter_mut().zip(&cell.levels) {
            counts[*level] += cell.count;
        }
    }
    Ok(LevelFit {
        model: Model::new(&cells, &term_sets(&cells, 1)),
        counts,
        mean: cells.mean,
        levels: cells.levels,
        place_of_level: cells.place_of_level,
        residual_mean_square: anova.residual.mean_square,
        residual_degrees_of_freedom: anova.residual.degrees_of_freedom,
    })
}

/// Mean at one level, all other factors averaged over their levels. `None` where the level never occurs, or
/// always together with levels of others that it cannot be told from.
pub fn level_mean(
    fit: &LevelFit,
    factor: usize,
    level: usize,
    confidence: f64,
) -> Option<Estimate> {
    let place = fit.place(factor, level)?;
    let mut combination = vec![0.0; fit.model.reduced.columns.len()];
    combination[0] = 1.0;
    fit.add(&mut combination, factor, place, 1.0);
    let mut parts = fit.student(&combination, confidence, fit.counts[factor][place])?;
    parts.value += fit.mean;
    Some(parts.estimate(fit.method("mean of a level")))
}

/// Mean at `level` less mean at `base`.
pub fn level_difference(fit: &LevelFit, pair: LevelPair, confidence: f64) -> Option<Estimate> {
    let parts = fit.pair(pair, confidence)?;
    Some(parts.estimate(fit.method("difference of two levels")))
}

/// Geometric mean at `level` over that at `base`, where the observations hold natural logarithms.
pub fn level_ratio(fit: &LevelFit, pair: LevelPair, confidence: f64) -> Option<Estimate> {
    let parts = fit.pair(pair, confidence)?;
    Some(parts.mapped(
        fit.method("ratio of geometric means of two levels"),
        f64::exp,
    ))
}

impl LevelFit {
    fn place(&self, factor: usize, level: usize) -> Option<usize> {
        *self.place_of_level.get(factor)?.get(level)?
    }

    fn pair(&self, pair: LevelPair, confidence: f64) -> Option<StudentParts> {
        let (level, base) = (
            self.place(pair.factor, pair.level)?,
            self.place(pair.factor, pair.base)?,
        );
        let mut combination = vec![0.0; self.model.reduced.columns.len()];
        self.add(&mut combination, pair.factor, level, 1.0);
        self.add(&mut combination, pair.factor, base, -1.0);
        let counts = &self.counts[pair.factor];
        self.student(&combination, confidence, counts[level] + counts[base])
    }

    fn add(&self, combination: &mut [f64], factor: usize, place: usize, sign: f64) {
        let columns = self.model.terms[factor].columns.clone();
        for (number, entry) in combination[columns].iter_mut().enumerate() {
            *entry += sign * comparison(self.levels[factor], number, place);
        }
    }

    fn student(&self, combination: &[f64], confidence: f64, count: usize) -> Option<StudentParts> {
        let weights = self.model.reduced.weights(combination)?;
        let value = weights
            .iter()
            .zip(&self.model.reduced.right)
            .map(|(weight, right)| weight * right)
            .sum();
        let variance: f64 = weights.iter().map(|weight| weight * weight).sum();
        Some(StudentParts {
            value,
            standard_error: (self.residual_mean_square * variance).sqrt(),
            degrees_of_freedom: self.residual_degrees_of_freedom as f64,
            confidence,
            count,
        })
    }

    fn method(&self, what: &str) -> String {
        format!(
            "{what}, Student interval from the residual with {} degrees of freedom",
            self.residual_degrees_of_freedom
        )
    }
}
