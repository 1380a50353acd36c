//! Blocks: repetitions that were made at another time, or on another day, and differ as a whole.

use std::collections::BTreeSet;

use super::spread::{FEWEST_TO_LEND, Spread};
use crate::anova::Cells;
use crate::distribution::f_sf;
use crate::error::StatsError;
use crate::residuals::Residuals;

/// Repetitions that differ less than this by chance are taken out; blocks that the study declares always are. Leaving real ones in costs power and no false
/// statement where every block has every cell equally often, so the limit may be generous.
const DIFFER: f64 = 0.10;
/// A cell's share of the spread is never believed to be smaller than this part of the mean one: what is left after
/// blocks are taken out of few cells says little about each of them.
const LEAST: f64 = 0.1;

/// When, or where, each observation was made.
#[derive(Debug, Clone, Copy)]
pub struct Blocks<'b> {
    /// The number of each observation's block.
    pub of: &'b [usize],
    /// The study says that they differ: a difference between cells that never share a block is then one between blocks.
    pub is_declared: bool,
}

/// Cell means after blocks.
pub(super) struct WithoutBlocks {
    pub(super) spreads: Vec<Spread>,
    pub(super) residuals: Residuals,
    /// Where blocks do not have every cell equally often: then means are adjusted, and no longer independent.
    pub(super) adjusted: Option<Adjusted>,
}

pub(super) struct Adjusted {
    pub(super) means: Vec<f64>,
    pub(super) joint: Joint,
}

/// Means whose errors depend on each other, of cells that vary alike.
#[derive(Debug)]
pub(super) struct Joint {
    pub(super) covariance: Vec<Vec<f64>>,
    pub(super) degrees_of_freedom: f64,
}

/// Values of cells in blocks, counted.
struct Table<'c> {
    cells: &'c Cells,
    block_of: Vec<usize>,
    blocks: usize,
    /// By cell, then block.
    counts: Vec<Vec<f64>>,
    /// Each value less its cell's mean.
    within: Vec<f64>,
}

/// Cells that are linked by common blocks have the same number. `None` where all are.
pub(super) fn parts(cells: &Cells, blocks: &Blocks) -> Option<Vec<usize>> {
    let table = Table::new(cells, blocks.of)?;
    let parts = table.parts();
    let first = *parts.first()?;
    parts.iter().any(|part| *part != first).then_some(parts)
}

/// The blocks of each cell.
pub(super) fn of_cells(cells: &Cells, blocks: &[usize]) -> Vec<BTreeSet<usize>> {
    let mut found = vec![BTreeSet::new(); cells.cells.len()];
    for (cell, block) in cells.cell_of.iter().zip(blocks) {
        found[*cell].insert(*block);
    }
    found
}

/// `None` where blocks do not differ, or there is nothing to tell them by.
pub(super) fn without(cells: &Cells, blocks: &Blocks) -> Result<Option<WithoutBlocks>, StatsError> {
    let Some(table) = Table::new(cells, blocks.of) else {
        return Ok(None);
    };
    match table.each() {
        Some(each) => Ok(table.equal(each, blocks.is_declared)),
        None => table.unequal(blocks.is_declared),
    }
}

impl<'c> Table<'c> {
    fn new(cells: &'c Cells, blocks: &[usize]) -> Option<Self> {
        let numbers: BTreeSet<usize> = blocks.iter().copied().collect();
        if cells.cells.len() < 2 || numbers.len() < 2 || blocks.len() != cells.count() {
            return None;
        }
        let place = |block: &usize| numbers.iter().position(|number| number == block);
        let block_of: Vec<usize> = blocks.iter().map(place).collect::<Option<_>>()?;
        let mut counts = vec![vec![0.0; numbers.len()]; cells.cells.len()];
        for (cell, block) in cells.cell_of.iter().zip(&block_of) {
            counts[*cell][*block] += 1.0;
        }
        Some(Table {
            blocks: numbers.len(),
            within: cells.within(),
            cells,
            block_of,
            counts,
        })
    }

    /// How often every block has every cell, where that is one number.
    fn each(&self) -> Option<f64> {
        let first = self.counts[0][0];
        let mut all = self.counts.iter().flatten();
        (first > 0.0 && all.all(|count| *count == first)).then_some(first)
    }

    fn parts(&self) -> Vec<usize> {
        let mut parts: Vec<usize> = (0..self.counts.len()).collect();
        for block in 0..self.blocks {
            let inside = |cell: &usize| self.counts[*cell][block] > 0.0;
            let linked: Vec<usize> = (0..parts.len()).filter(inside).collect();
            let numbers: Vec<usize> = linked.iter().map(|cell| parts[*cell]).collect();
            let Some(first) = numbers.iter().min().copied() else {
                continue;
            };
            let joins = |part: &&mut usize| numbers.contains(part);
            parts
                .iter_mut()
                .filter(joins)
                .for_each(|part| *part = first);
        }
        parts
    }

    /// Sums of the deviations by block.
    fn sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.blocks];
        for (value, block) in self.within.iter().zip(&self.block_of) {
            sums[*block] += value;
        }
        sums
    }

    /// Every block has every cell `each` times: means need no adjustment, and cells keep spreads of their own.
    fn equal(&self, each: f64, is_declared: bool) -> Option<WithoutBlocks> {
        let (count, blocks) = (self.counts.len() as f64, self.blocks as f64);
        let of_block = each * count;
        let effects: Vec<f64> = self.sums().iter().map(|sum| sum / of_block).collect();
        let between = of_block * effects.iter().map(|effect| effect * effect).sum::<f64>();
        let values: Vec<f64> = self.left(&effects);
        let mut squares = vec![0.0; self.counts.len()];
        for (value, cell) in values.iter().zip(&self.cells.cell_of) {
            squares[*cell] += value * value;
        }
        let rest: f64 = squares.iter().sum();
        let inside = blocks * (each - 1.0);
        let free = (
            blocks - 1.0,
            count * inside + (count - 1.0) * (blocks - 1.0),
        );
        let differ = || f_sf((between / free.0) / (rest / free.1), free.0, free.1) <= DIFFER;
        if rest <= 0.0 || !(is_declared || differ()) {
            return None;
        }
        let leverage = 1.0 / (blocks * each) + 1.0 / of_block - 1.0 / (blocks * of_block);
        Some(WithoutBlocks {
            spreads: spreads(&squares, blocks, each),
            residuals: Residuals {
                leverages: vec![leverage; values.len()],
                values,
                cells: self.cells.cell_of.clone(),
                degrees_of_freedom: free.1.round() as usize,
            },
            adjusted: None,
        })
    }

    fn left(&self, effects: &[f64]) -> Vec<f64> {
        let values = self.within.iter().zip(&self.block_of);
        values
            .map(|(value, block)| value - effects[*block])
            .collect()
    }

    /// Cells and blocks as additive terms by least squares (intra-block analysis: Montgomery 2012, section 4.4). All
    /// cells are taken to vary alike.
    fn unequal(&self, is_declared: bool) -> Result<Option<WithoutBlocks>, StatsError> {
        let shares = self.shares();
        let inverse = self.inverse(&shares);
        let sums = self.sums();
        let effects: Vec<f64> = inverse.iter().map(|row| product(row, &sums)).collect();
        let mut parts = self.parts();
        parts.sort_unstable();
        parts.dedup();
        let used = self.blocks - parts.len();
        let known = self.counts.len() + used;
        let free = self.cells.count().saturating_sub(known);
        let between = product(&effects, &sums);
        let all: f64 = self.within.iter().map(|value| value * value).sum();
        let rest = (all - between).max(0.0);
        let differ = || {
            let ratio = (between / used as f64) / (rest / free as f64);
            used > 0 && free > 0 && f_sf(ratio, used as f64, free as f64) <= DIFFER
        };
        if used == 0 || !(is_declared || differ()) {
            return Ok(None);
        }
        // Two cells have nothing but their differences within blocks, which lend nothing.
        let is_pair = is_declared && self.counts.len() == 2;
        if free < if is_pair { 1 } else { FEWEST_TO_LEND } {
            return match is_declared {
                true => Err(StatsError::FewRepetitions),
                false => Ok(None),
            };
        }
        let variance = rest / free as f64;
        let adjust = |share: &Vec<f64>| product(share, &effects);
        let shifts: Vec<f64> = shares.iter().map(adjust).collect();
        let means = self.cells.cells.iter().zip(&shifts);
        let left = self.left(&effects).into_iter().zip(&self.cells.cell_of);
        let spread =
            |cell: &crate::anova::Cell| Spread::own(variance, cell.count as f64, free as f64);
        Ok(Some(WithoutBlocks {
            spreads: self.cells.cells.iter().map(spread).collect(),
            residuals: Residuals {
                values: left.map(|(value, cell)| value + shifts[*cell]).collect(),
                leverages: self.leverages(&shares, &inverse),
                cells: self.cells.cell_of.clone(),
                degrees_of_freedom: free,
            },
            adjusted: Some(Adjusted {
                means: means.map(|(cell, shift)| cell.mean - shift).collect(),
                joint: Joint {
                    covariance: self.covariance(&shares, &inverse, variance),
                    degrees_of_freedom: free as f64,
                },
            }),
        }))
    }

    /// What part of each cell's values is in each block.
    fn shares(&self) -> Vec<Vec<f64>> {
        let share = |counts: &Vec<f64>| {
            let all: f64 = counts.iter().sum();
            counts.iter().map(|count| count / all).collect()
        };
        self.counts.iter().map(share).collect()
    }

    /// Of the normal equations of the blocks, after cells. Blocks of one part have effects that add up to nothing.
    fn inverse(&self, shares: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut equations = vec![vec![0.0; self.blocks]; self.blocks];
        for (counts, shares) in self.counts.iter().zip(shares) {
            for (block, count) in counts.iter().enumerate() {
                equations[block][block] += count;
                for (other, share) in shares.iter().enumerate() {
                    equations[block][other] -= count * share;
                }
            }
        }
        let parts = self.parts();
        let part = |block: usize| {
            let place = self.counts.iter().position(|counts| counts[block] > 0.0);
            place.map_or(0, |cell| parts[cell])
        };
        let parts: Vec<usize> = (0..self.blocks).map(part).collect();
        let size = |part: usize| parts.iter().filter(|other| **other == part).count() as f64;
        let same = |a: usize, b: usize| match parts[a] == parts[b] {
            true => 1.0 / size(parts[a]),
            false => 0.0,
        };
        for (a, row) in equations.iter_mut().enumerate() {
            (0..row.len()).for_each(|b| row[b] += same(a, b));
        }
        let mut inverse = inverted(equations);
        for (a, row) in inverse.iter_mut().enumerate() {
            (0..row.len()).for_each(|b| row[b] -= same(a, b));
        }
        inverse
    }

    fn covariance(
        &self,
        shares: &[Vec<f64>],
        inverse: &[Vec<f64>],
        variance: f64,
    ) -> Vec<Vec<f64>> {
        let times = |share: &Vec<f64>| inverse.iter().map(|row| product(row, share)).collect();
        let products: Vec<Vec<f64>> = shares.iter().map(times).collect();
        let entry = |a: usize, b: usize| {
            let own = if a == b {
                1.0 / self.cells.cells[a].count as f64
            } else {
                0.0
            };
            variance * (own + product(&shares[a], &products[b]))
        };
        let row = |a: usize| (0..shares.len()).map(|b| entry(a, b)).collect();
        (0..shares.len()).map(row).collect()
    }

    fn leverages(&self, shares: &[Vec<f64>], inverse: &[Vec<f64>]) -> Vec<f64> {
        let leverage = |(cell, block): (&usize, &usize)| {
            let mut apart: Vec<f64> = shares[*cell].iter().map(|share| -share).collect();
            apart[*block] += 1.0;
            let times: Vec<f64> = inverse.iter().map(|row| product(row, &apart)).collect();
            1.0 / self.cells.cells[*cell].count as f64 + product(&apart, &times)
        };
        let all = self.cells.cell_of.iter().zip(&self.block_of);
        all.map(leverage).collect()
    }
}

/// E[Σ (value − cell − block)²] = σᵢ² (B (r − 1) + (B − 1) (1 − 2/k)) + (B − 1) Σσ² / k², solved for each σᵢ²: k cells,
/// each r times in each of B blocks.
fn spreads(squares: &[f64], blocks: f64, each: f64) -> Vec<Spread> {
    let count = squares.len() as f64;
    let inside = blocks * (each - 1.0);
    let free = inside + (blocks - 1.0) * (1.0 - 1.0 / count);
    let total = squares.iter().sum::<f64>() / free;
    let mean = total / count;
    let own = inside + (blocks - 1.0) * (1.0 - 2.0 / count);
    let lent = (blocks - 1.0) * total / (count * count);
    let variance = |squares: &f64| match own > 0.0 {
        true => ((squares - lent) / own).max(LEAST * mean),
        // Two cells tell only their difference.
        false => mean,
    };
    let spread = |squares| Spread::own(variance(squares), blocks * each, free);
    squares.iter().map(spread).collect()
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// By Gauss and Jordan, of a symmetric matrix that is positive definite: pivots need no search.
fn inverted(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    let unit = |row: usize| (0..size).map(move |column| f64::from(u8::from(row == column)));
    let mut inverse: Vec<Vec<f64>> = (0..size).map(|row| unit(row).collect()).collect();
    for pivot in 0..size {
        let length = matrix[pivot][pivot];
        for row in [&mut matrix[pivot], &mut inverse[pivot]] {
            row.iter_mut().for_each(|entry| *entry /= length);
        }
        let (own, own_inverse) = (matrix[pivot].clone(), inverse[pivot].clone());
        for other in (0..size).filter(|other| *other != pivot) {
            let times = matrix[other][pivot];
            let pairs = matrix[other].iter_mut().zip(&own);
            pairs.for_each(|(entry, own)| *entry -= times * own);
            let pairs = inverse[other].iter_mut().zip(&own_inverse);
            pairs.for_each(|(entry, own)| *entry -= times * own);
        }
    }
    inverse
}
