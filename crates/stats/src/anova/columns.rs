//! The linear model as columns: one for the mean, then blocks, then the terms.

use std::ops::Range;

use super::Cells;
use super::reduce::{Reduced, reduce};

/// The terms of the model up to an order, as sets of factors, one bit each; smaller sets first. Main effects of
/// factors that do not vary are kept, so that every factor has a term.
pub(crate) fn term_sets(cells: &Cells, order: usize) -> Vec<u32> {
    // More terms than this are of no use to a reader, and each is a fit of its own.
    const MOST_TERMS: usize = 2000;
    let mut sets: Vec<u32> = (0..cells.levels.len()).map(|factor| 1 << factor).collect();
    let varying = cells.varying();
    let mut previous: Vec<u32> = varying.iter().map(|factor| 1 << factor).collect();
    for _ in 1..order {
        let mut next = Vec::new();
        for set in &previous {
            let last = u32::BITS - 1 - set.leading_zeros();
            next.extend(
                varying
                    .iter()
                    .filter(|factor| **factor as u32 > last)
                    .map(|factor| set | 1 << factor),
            );
        }
        if sets.len() + next.len() > MOST_TERMS {
            break;
        }
        sets.extend(&next);
        previous = next;
    }
    sets
}

pub(crate) fn factors_of(set: u32) -> Vec<usize> {
    (0..u32::BITS as usize)
        .filter(|factor| set >> factor & 1 == 1)
        .collect()
}

/// The model, reduced. Rows are cells, weighted by the square root of their size, and below them what the
/// differences within cells say of the blocks; both together are an orthogonal picture of all observations.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) reduced: Reduced,
    /// Columns of the blocks, after column 0, which is the mean.
    pub(crate) blocks: Range<usize>,
    /// Columns of each term.
    pub(crate) terms: Vec<TermColumns>,
    /// Blocks after cells; what it leaves is noise of replication.
    pub(crate) within: Reduced,
}

#[derive(Debug, Clone)]
pub(crate) struct TermColumns {
    pub(crate) set: u32,
    pub(crate) columns: Range<usize>,
}

impl Model {
    pub(crate) fn new(cells: &Cells, sets: &[u32]) -> Self {
        let within = reduce(within_block_columns(cells), cells.within());
        let roots: Vec<f64> = cells
            .cells
            .iter()
            .map(|cell| (cell.count as f64).sqrt())
            .collect();
        let mut columns = vec![roots.clone()];
        for (mean, below) in block_cell_means(cells).into_iter().zip(&within.columns) {
            let mut column: Vec<f64> = mean
                .iter()
                .zip(&roots)
                .map(|(mean, root)| mean * root)
                .collect();
            column.extend(below);
            columns.push(column);
        }
        let blocks = 1..columns.len();
        let mut terms = Vec::with_capacity(sets.len());
        for set in sets {
            let first = columns.len();
            columns.extend(term_columns(cells, *set, &roots));
            terms.push(TermColumns {
                set: *set,
                columns: first..columns.len(),
            });
        }
        let mut right: Vec<f64> = cells
            .cells
            .iter()
            .zip(&roots)
            .map(|(cell, root)| cell.mean * root)
            .collect();
        right.extend(&within.right[..within.rank()]);
        Self {
            reduced: reduce(columns, right),
            blocks,
            terms,
            within,
        }
    }

    /// Degrees of freedom that the terms leave between the cells.
    pub(crate) fn lack_of_fit_degrees(&self, cells: &Cells) -> usize {
        (cells.cells.len() + self.within.rank()).saturating_sub(self.reduced.rank())
    }

    /// Degrees of freedom within cells, after blocks.
    pub(crate) fn within_degrees(&self, cells: &Cells) -> usize {
        (cells.count() - cells.cells.len()).saturating_sub(self.within.rank())
    }
}

/// The `column`-th of the L − 1 orthogonal comparisons of L levels: a level against the mean of those before
/// (Helmert), so that balanced data give orthogonal columns.
pub(crate) fn comparison(levels: usize, column: usize, level: usize) -> f64 {
    let place = (column + 1) as f64;
    let unit = (levels as f64 / (place * (place + 1.0))).sqrt();
    match level.cmp(&(column + 1)) {
        std::cmp::Ordering::Less => unit,
        std::cmp::Ordering::Equal => -place * unit,
        std::cmp::Ordering::Greater => 0.0,
    }
}

fn term_columns(cells: &Cells, set: u32, roots: &[f64]) -> Vec<Vec<f64>> {
    let mut columns = vec![roots.to_vec()];
    for factor in factors_of(set) {
        let levels = cells.levels[factor];
        columns = columns
            .iter()
            .flat_map(|column| {
                (0..levels.saturating_sub(1)).map(move |number| {
                    column
                        .iter()
                        .zip(&cells.cells)
                        .map(|(entry, cell)| {
                            entry * comparison(levels, number, cell.levels[factor])
                        })
                        .collect()
                })
            })
            .collect();
    }
    columns
}

/// For each comparison of blocks, its mean over the observations of each cell.
fn block_cell_means(cells: &Cells) -> Vec<Vec<f64>> {
    (0..cells.blocks.saturating_sub(1))
        .map(|number| {
            let mut means = vec![0.0; cells.cells.len()];
            for (cell, block) in cells.cell_of.iter().zip(&cells.block_of) {
                means[*cell] +=
                    comparison(cells.blocks, number, *block) / cells.cells[*cell].count as f64;
            }
            means
        })
        .collect()
}

/// For each comparison of blocks, each observation's less the mean over its cell.
fn within_block_columns(cells: &Cells) -> Vec<Vec<f64>> {
    block_cell_means(cells)
        .iter()
        .enumerate()
        .map(|(number, means)| {
            cells
                .cell_of
                .iter()
                .zip(&cells.block_of)
                .map(|(cell, block)| comparison(cells.blocks, number, *block) - means[*cell])
                .collect()
        })
        .collect()
}
