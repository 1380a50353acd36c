//! Differences of cell means, with their errors.

use super::CellMeans;
use super::spread::uncertainty;
use crate::anova::Cell;
use crate::distribution::student_two_sided;
use crate::estimate::{Estimate, StudentParts};

/// A weighted sum of cell means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contrast {
    pub value: f64,
    pub standard_error: f64,
    /// Satterthwaite's.
    pub degrees_of_freedom: f64,
    /// How many values it rests on.
    pub count: usize,
}

impl Contrast {
    /// Probability of a value at least as far from zero if the true one were zero.
    pub fn p(&self) -> f64 {
        match self.standard_error > 0.0 {
            true => student_two_sided(self.value / self.standard_error, self.degrees_of_freedom),
            // Without any spread, equal is equal and different is different.
            false if self.value.abs() <= f64::EPSILON => 1.0,
            false => 0.0,
        }
    }

    /// Value and interval pass through an increasing function, such as the exponential of logarithms.
    pub fn estimate(&self, confidence: f64, method: &str, map: impl Fn(f64) -> f64) -> Estimate {
        let parts = StudentParts {
            value: self.value,
            standard_error: self.standard_error,
            degrees_of_freedom: self.degrees_of_freedom,
            confidence,
            count: self.count,
        };
        parts.mapped(method, map)
    }
}

/// Two levels of one factor, counted from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelPair {
    pub factor: usize,
    pub level: usize,
    /// What `level` is compared with.
    pub base: usize,
}

/// A factor that is kept at a level, counted from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    pub factor: usize,
    pub level: usize,
}

impl CellMeans {
    /// Mean at one level less mean at another, over the cells with these other levels. Combinations count equally;
    /// where some are missing, levels are adjusted for the others that they were seen with. `None` where that
    /// cannot be told.
    pub fn difference(&self, pair: LevelPair, within: &[At]) -> Option<Contrast> {
        let place =
            |factor: usize, level: usize| *self.cells.place_of_level.get(factor)?.get(level)?;
        let (high, low) = (
            place(pair.factor, pair.level)?,
            place(pair.factor, pair.base)?,
        );
        let fixed: Vec<At> = within
            .iter()
            .map(|at| {
                let level = place(at.factor, at.level)?;
                Some(At { level, ..*at })
            })
            .collect::<Option<_>>()?;
        let inside = |cell: &Cell| fixed.iter().all(|at| cell.levels[at.factor] == at.level);
        let of_level = |level: usize| {
            let cells = self.cells.cells.iter().enumerate();
            let there = cells.filter(|(_, c)| inside(c) && c.levels[pair.factor] == level);
            there.map(|(place, _)| place).collect::<Vec<usize>>()
        };
        let (highs, lows) = (of_level(high), of_level(low));
        let others = |place: &usize| {
            let mut levels = self.cells.cells[*place].levels.clone();
            levels[pair.factor] = 0;
            levels
        };
        let is_matched = !highs.is_empty()
            && highs.len() == lows.len()
            && highs.iter().map(others).eq(lows.iter().map(others));
        let mut weights = vec![0.0; self.cells.cells.len()];
        if is_matched {
            highs
                .iter()
                .for_each(|place| weights[*place] = 1.0 / highs.len() as f64);
            lows.iter()
                .for_each(|place| weights[*place] = -1.0 / lows.len() as f64);
        } else if fixed.is_empty() {
            let mut basis = self.basis();
            for factor in self.cells.varying() {
                basis.add(&self.cells, 1 << factor);
            }
            weights = basis.level_weights(&self.cells, pair.factor, high, low)?;
        } else {
            return None;
        }
        let is_told = match fixed.is_empty() {
            true => self.is_told(&weights),
            false => self.are_linked(&highs, &lows),
        };
        is_told.then(|| self.contrast(&weights))
    }

    /// Whether declared blocks link each cell with its opposite, by these cells alone: what others say of the blocks holds
    /// for those.
    fn are_linked(&self, highs: &[usize], lows: &[usize]) -> bool {
        let Some(blocks) = &self.declared else {
            return true;
        };
        let both = || highs.iter().chain(lows);
        let is_linked = |(high, low): (&usize, &usize)| {
            let mut reached = blocks[*high].clone();
            for _ in both() {
                let near = both().filter(|cell| !blocks[**cell].is_disjoint(&reached));
                let near: Vec<usize> = near.flat_map(|cell| blocks[*cell].clone()).collect();
                reached.extend(near);
            }
            !blocks[*low].is_disjoint(&reached)
        };
        highs.iter().zip(lows).all(is_linked)
    }

    /// Whether the weights compare nothing that only blocks link.
    fn is_told(&self, weights: &[f64]) -> bool {
        const ROUNDING: f64 = 1e-9;
        let parts = self.parts.iter().flatten();
        let mut sums = std::collections::BTreeMap::new();
        for (weight, part) in weights.iter().zip(parts) {
            *sums.entry(part).or_insert(0.0) += weight;
        }
        sums.values().all(|sum: &f64| sum.abs() < ROUNDING)
    }

    fn contrast(&self, weights: &[f64]) -> Contrast {
        let parts = || weights.iter().zip(&self.spreads).zip(&self.cells.cells);
        let value = parts().map(|((weight, _), cell)| weight * cell.mean).sum();
        let used = parts().filter(|((weight, _), _)| **weight != 0.0);
        let count = used.map(|(_, cell)| cell.count).sum();
        let variance = self.product(weights, weights);
        let squares = weights.iter().map(|weight| weight * weight);
        let uncertainty = match &self.joint {
            Some(joint) => variance.powi(2) / joint.degrees_of_freedom,
            None => uncertainty(&self.spreads, squares),
        };
        Contrast {
            value,
            standard_error: variance.sqrt(),
            degrees_of_freedom: match uncertainty > 0.0 {
                true => variance.powi(2) / uncertainty,
                false => self.count as f64,
            },
            count,
        }
    }
}
