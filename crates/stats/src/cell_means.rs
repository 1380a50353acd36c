//! Tests and contrasts of the cells of a factorial, each cell with a spread of its own.
//!
//! The usual analysis of variance supposes that all cells vary alike. Runs do not: ten quiet ones beside three
//! noisy ones made it state a difference in 37 % of studies that had none. Here every cell counts once, however
//! many values it has, and its own variance goes into the test.

mod basis;
mod blocks;
mod contrast;
mod spread;

use std::collections::BTreeSet;

use crate::anova::columns::{factors_of, term_sets};
use crate::anova::{Cells, Design, Observation};
use crate::distribution::f_sf;
use crate::error::StatsError;
use crate::grid::rounding_variance;
use crate::precise::sum_of_squares;
use crate::residuals::Residuals;
pub(crate) use basis::Basis;
pub use blocks::Blocks;
use blocks::Joint;
pub use contrast::{At, Contrast, LevelPair};
use spread::Spread;

/// Means of the cells, with the variances of these means.
#[derive(Debug)]
pub struct CellMeans {
    cells: Cells,
    spreads: Vec<Spread>,
    /// Where means were adjusted for blocks.
    joint: Option<Joint>,
    /// Of each cell, where blocks link some only.
    parts: Option<Vec<usize>>,
    /// Of each cell, the declared blocks that it was measured in.
    declared: Option<Vec<BTreeSet<usize>>>,
    /// After blocks, where these were taken out.
    residuals: Option<Residuals>,
    is_complete: bool,
    count: usize,
    /// Differences between blocks were taken out of the spread.
    pub without_blocks: bool,
    /// Cells with one value, whose spread is that of the others together.
    pub unrepeated: usize,
    /// The most extreme fifth of every cell's values at either end does not count.
    pub is_trimmed: bool,
}

/// Does a term differ from nothing?
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TermTest {
    pub statistic: f64,
    pub numerator: f64,
    pub denominator: f64,
    pub p: f64,
}

impl CellMeans {
    /// Blocks are taken out where they differ; where they do not have every cell equally often, means are adjusted
    /// for them.
    pub fn new(
        design: &Design,
        observations: &[Observation],
        blocks: Option<Blocks>,
    ) -> Result<Self, StatsError> {
        let mut cells = Cells::new(design, observations)?;
        if cells.cells.iter().all(|cell| cell.count < 2) {
            return Err(StatsError::NoRepetitions);
        }
        let declared = blocks.filter(|blocks| blocks.is_declared);
        let parts = declared.and_then(|blocks| blocks::parts(&cells, &blocks));
        let found = declared.map(|blocks| blocks::of_cells(&cells, blocks.of));
        let without = match blocks {
            Some(blocks) => blocks::without(&cells, &blocks)?,
            None => None,
        };
        let Some(without) = without else {
            let spreads = spread::of_cells(&cells)?;
            return Ok(CellMeans {
                parts,
                declared: found,
                ..Self::with(cells, spreads)
            });
        };
        let mut joint = None;
        if let Some(adjusted) = without.adjusted {
            let means = cells.cells.iter_mut().zip(adjusted.means);
            means.for_each(|(cell, mean)| cell.mean = mean);
            joint = Some(adjusted.joint);
        }
        Ok(CellMeans {
            without_blocks: true,
            residuals: Some(without.residuals),
            joint,
            parts,
            declared: found,
            ..Self::with(cells, without.spreads)
        })
    }

    /// Of trimmed means, which single values far from the others do not decide (Yuen 1974).
    pub fn trimmed(design: &Design, observations: &[Observation]) -> Result<Self, StatsError> {
        let mut cells = Cells::new(design, observations)?;
        let spreads = spread::trim(&mut cells)?;
        Ok(CellMeans {
            is_trimmed: true,
            ..Self::with(cells, spreads)
        })
    }

    /// Of values that were rounded, each to this step on the scale of the values: no mean is known better than that
    /// allows. In the order of the observations.
    #[must_use]
    pub fn rounded(mut self, steps: &[f64]) -> Self {
        let mut sums = vec![0.0; self.spreads.len()];
        for (cell, step) in self.cells.cell_of.iter().zip(steps) {
            sums[*cell] += step;
        }
        let cells = self.cells.cells.iter().zip(sums);
        for (place, (spread, (cell, sum))) in self.spreads.iter_mut().zip(cells).enumerate() {
            let count = cell.count as f64;
            let extra = rounding_variance(sum / count, spread.variance * count);
            spread.variance += extra;
            if let Some(joint) = &mut self.joint {
                joint.covariance[place][place] += extra;
            }
        }
        self
    }

    fn with(cells: Cells, spreads: Vec<Spread>) -> Self {
        CellMeans {
            is_complete: cells.cells.len() == cells.levels.iter().product::<usize>(),
            count: cells.count(),
            without_blocks: false,
            unrepeated: cells.cells.iter().filter(|cell| cell.count < 2).count(),
            is_trimmed: false,
            joint: None,
            parts: None,
            declared: None,
            residuals: None,
            spreads,
            cells,
        }
    }

    /// Whether every combination of the levels that occur does.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// What the cells and their blocks leave, where blocks were taken out.
    pub fn residuals(&self) -> Option<&Residuals> {
        self.residuals.as_ref()
    }

    /// Whether means were adjusted, because blocks do not have every cell equally often.
    pub fn is_adjusted(&self) -> bool {
        self.joint.is_some()
    }

    /// Whether some cells never share a block, directly or over others.
    pub fn is_parted(&self) -> bool {
        self.parts.is_some()
    }

    fn basis(&self) -> Basis {
        match &self.parts {
            Some(parts) => Basis::of_parts(&self.cells, parts),
            None => Basis::of_mean(&self.cells),
        }
    }

    /// Covariance of two weighted sums of the means.
    fn product(&self, a: &[f64], b: &[f64]) -> f64 {
        match &self.joint {
            Some(joint) => {
                let rows = a.iter().zip(&joint.covariance);
                let row = |(a, row): (&f64, &Vec<f64>)| {
                    let entries = row.iter().zip(b);
                    a * entries.map(|(entry, b)| entry * b).sum::<f64>()
                };
                rows.map(row).sum()
            }
            None => {
                let parts = a.iter().zip(b).zip(&self.spreads);
                let part = |((a, b), spread): ((&f64, &f64), &Spread)| a * b * spread.variance;
                parts.map(part).sum()
            }
        }
    }

    /// Of a main effect or an interaction, after all terms up to `order` that do not contain it. `None` where the
    /// cells do not tell it apart from those (Brunner, Dette, Munk 1997, "Box-type approximations").
    pub fn test(&self, factors: &[usize], order: usize) -> Option<TermTest> {
        let is_simple = self.is_complete && self.joint.is_none() && self.parts.is_none();
        match is_simple {
            true => self.test_complete(factors),
            false => self.test_joint(&[factors], order),
        }
    }

    /// Whether anything can be said of any interaction up to `order`, alone or together with those that equal it.
    pub fn has_interactions(&self, order: usize) -> bool {
        let sets = term_sets(&self.cells, order).into_iter();
        let interactions = sets.filter(|set| set.count_ones() > 1);
        let all: Vec<Vec<usize>> = interactions.map(factors_of).collect();
        let all: Vec<&[usize]> = all.iter().map(Vec::as_slice).collect();
        !all.is_empty() && self.test_joint(&all, order).is_some()
    }

    /// Every combination occurs, so that the projection is a product of one small matrix per factor, and its sums
    /// are those of margins.
    fn test_complete(&self, factors: &[usize]) -> Option<TermTest> {
        let levels = &self.cells.levels;
        if factors.iter().any(|factor| levels[*factor] < 2) {
            return None;
        }
        let all = self.cells.cells.len() as f64;
        let own: f64 = factors
            .iter()
            .map(|factor| levels[*factor] as f64)
            .product();
        let others = all / own;
        let kept = |factor: &usize| 1.0 - 1.0 / levels[*factor] as f64;
        let diagonal = factors.iter().map(kept).product::<f64>() / others;
        let variances = self.spreads.iter().map(|spread| spread.variance);
        let mut squares = 0.0;
        for set in 0..1u32 << factors.len() {
            let inside: Vec<usize> = factors_of(set)
                .iter()
                .map(|place| factors[*place])
                .collect();
            let outside = factors.iter().filter(|factor| !inside.contains(factor));
            let of_inside: f64 = inside
                .iter()
                .map(|f| 1.0 - 2.0 / levels[*f] as f64)
                .product();
            let of_outside: f64 = outside.map(|f| (levels[*f] as f64).powi(-2)).product();
            let margin = self.margin(&inside, variances.clone());
            squares += of_inside * of_outside * sum_of_squares(margin);
        }
        let effects = self.effects(factors);
        Some(self.judge(Projected {
            explained: others * sum_of_squares(effects),
            trace: diagonal * variances.sum::<f64>(),
            squared_trace: squares / (others * others),
            diagonal: vec![diagonal; self.spreads.len()],
        }))
    }

    /// Effects of a term by levels: what its factors do together beyond what fewer of them do.
    fn effects(&self, factors: &[usize]) -> Vec<f64> {
        let levels = &self.cells.levels;
        let all = self.cells.cells.len();
        let mean_over = |inside: &[usize]| {
            let own: usize = inside.iter().map(|factor| levels[*factor]).product();
            let means = self.cells.cells.iter().map(|cell| cell.mean);
            let mut margin = self.margin(inside, means);
            margin
                .iter_mut()
                .for_each(|sum| *sum *= own as f64 / all as f64);
            margin
        };
        let size: usize = factors.iter().map(|factor| levels[*factor]).product();
        let mut effects = vec![0.0; size];
        for set in 0..1u32 << factors.len() {
            let places = factors_of(set);
            let inside: Vec<usize> = places.iter().map(|place| factors[*place]).collect();
            let sign = match (factors.len() - inside.len()) % 2 {
                0 => 1.0,
                _ => -1.0,
            };
            let means = mean_over(&inside);
            for (place, effect) in effects.iter_mut().enumerate() {
                let mut rest = place;
                let mut at = vec![0; factors.len()];
                for (number, factor) in factors.iter().enumerate().rev() {
                    at[number] = rest % levels[*factor];
                    rest /= levels[*factor];
                }
                let there = inside.iter().zip(&places);
                let there =
                    there.fold(0, |sum, (factor, place)| sum * levels[*factor] + at[*place]);
                *effect += sign * means[there];
            }
        }
        effects
    }

    /// Sums over all factors but these, the last of them running fastest.
    fn margin(&self, factors: &[usize], values: impl Iterator<Item = f64>) -> Vec<f64> {
        let levels = &self.cells.levels;
        let size = factors.iter().map(|factor| levels[*factor]).product();
        let mut sums = vec![0.0; size];
        for (cell, value) in self.cells.cells.iter().zip(values) {
            let place = factors.iter().fold(0, |sum, factor| {
                sum * levels[*factor] + cell.levels[*factor]
            });
            sums[place] += value;
        }
        sums
    }

    /// As [`test`](Self::test), of several terms together.
    pub fn test_joint(&self, terms: &[&[usize]], order: usize) -> Option<TermTest> {
        let set = |factors: &&[usize]| factors.iter().fold(0u32, |set, factor| set | 1 << factor);
        let own: Vec<u32> = terms.iter().map(set).collect();
        let mut basis = self.basis();
        for set in term_sets(&self.cells, order) {
            if own.iter().all(|own| set & own != *own) {
                basis.add(&self.cells, set);
            }
        }
        let before = basis.rank();
        own.iter().for_each(|own| basis.add(&self.cells, *own));
        let columns = basis.from(before);
        if columns.is_empty() {
            return None;
        }
        let mut squared_trace = 0.0;
        for a in columns {
            for b in columns {
                squared_trace += self.product(a, b).powi(2);
            }
        }
        let diagonal = |place: usize| columns.iter().map(|column| column[place].powi(2)).sum();
        let on_mean = |column: &Vec<f64>| {
            let parts = column.iter().zip(&self.cells.cells);
            parts.map(|(entry, cell)| entry * cell.mean).sum::<f64>()
        };
        Some(
            self.judge(Projected {
                explained: sum_of_squares(columns.iter().map(on_mean)),
                trace: columns
                    .iter()
                    .map(|column| self.product(column, column))
                    .sum(),
                squared_trace,
                diagonal: (0..self.spreads.len()).map(diagonal).collect(),
            }),
        )
    }

    /// Of all that terms up to `order` leave between the cells, together. `None` where they leave nothing, or there
    /// are so many cells that the test would take seconds.
    pub fn test_higher(&self, order: usize) -> Option<TermTest> {
        const MOST_CELLS: usize = 256;
        let count = self.cells.cells.len();
        if count > MOST_CELLS {
            return None;
        }
        let mut basis = self.basis();
        for set in term_sets(&self.cells, order) {
            basis.add(&self.cells, set);
        }
        if basis.rank() >= count {
            return None;
        }
        let columns = basis.from(0);
        let entry = |i: usize, j: usize| {
            let fitted: f64 = columns.iter().map(|column| column[i] * column[j]).sum();
            if i == j { 1.0 - fitted } else { -fitted }
        };
        let rows = (0..count).map(|i| (0..count).map(|j| entry(i, j)).collect());
        let projection: Vec<Vec<f64>> = rows.collect();
        // The projection times the covariance of the means.
        let times: Vec<Vec<f64>> = projection.iter().map(|row| self.times(row)).collect();
        let means: Vec<f64> = self.cells.cells.iter().map(|cell| cell.mean).collect();
        let mut explained = 0.0;
        let mut squared_trace = 0.0;
        for i in 0..count {
            for j in 0..count {
                explained += projection[i][j] * means[i] * means[j];
                squared_trace += times[i][j] * times[j][i];
            }
        }
        Some(self.judge(Projected {
            explained,
            trace: (0..count).map(|i| times[i][i]).sum(),
            squared_trace,
            diagonal: (0..count).map(|i| projection[i][i]).collect(),
        }))
    }

    /// A row times the covariance of the means.
    fn times(&self, row: &[f64]) -> Vec<f64> {
        match &self.joint {
            Some(joint) => {
                let column = |place: usize| {
                    let entries = row.iter().zip(&joint.covariance);
                    entries.map(|(entry, row)| entry * row[place]).sum()
                };
                (0..row.len()).map(column).collect()
            }
            None => {
                let parts = row.iter().zip(&self.spreads);
                parts
                    .map(|(entry, spread)| entry * spread.variance)
                    .collect()
            }
        }
    }

    fn judge(&self, found: Projected) -> TermTest {
        // Below this the spread is rounding of the values, not noise.
        const ROUNDING: f64 = 1e-28;
        let scale = sum_of_squares(self.cells.cells.iter().map(|cell| cell.mean));
        if found.trace <= ROUNDING * scale {
            let differs = found.explained > ROUNDING * scale;
            return TermTest {
                statistic: if differs { f64::INFINITY } else { 0.0 },
                numerator: 1.0,
                denominator: f64::INFINITY,
                p: if differs { 0.0 } else { 1.0 },
            };
        }
        let uncertainty = match &self.joint {
            Some(joint) => found.trace.powi(2) / joint.degrees_of_freedom,
            None => spread::uncertainty(&self.spreads, found.diagonal.iter().copied()),
        };
        let statistic = found.explained / found.trace;
        let numerator = found.trace.powi(2) / found.squared_trace;
        let denominator = found.trace.powi(2) / uncertainty;
        TermTest {
            statistic,
            numerator,
            denominator,
            p: f_sf(statistic, numerator, denominator),
        }
    }
}

/// A projection of the cell means, and what their variances make of it.
struct Projected {
    explained: f64,
    /// Of the projection times the variances.
    trace: f64,
    /// Of its square.
    squared_trace: f64,
    diagonal: Vec<f64>,
}
