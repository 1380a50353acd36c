//! The linear model as columns: one for the mean, then the terms.

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

/// The model, reduced. Rows are cells, weighted by the square root of their size.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) reduced: Reduced,
    /// Columns of each term, after column 0, which is the mean.
    pub(crate) terms: Vec<TermColumns>,
}

#[derive(Debug, Clone)]
pub(crate) struct TermColumns {
    pub(crate) set: u32,
    pub(crate) columns: Range<usize>,
}

impl Model {
    pub(crate) fn new(cells: &Cells, sets: &[u32]) -> Self {
        let roots: Vec<f64> = cells
            .cells
            .iter()
            .map(|cell| (cell.count as f64).sqrt())
            .collect();
        let mut columns = vec![roots.clone()];
        let mut terms = Vec::with_capacity(sets.len());
        for set in sets {
            let first = columns.len();
            columns.extend(term_columns(cells, *set, &roots));
            terms.push(TermColumns {
                set: *set,
                columns: first..columns.len(),
            });
        }
        let right = cells
            .cells
            .iter()
            .zip(&roots)
            .map(|(cell, root)| cell.mean * root)
            .collect();
        Self {
            reduced: reduce(columns, right),
            terms,
        }
    }

    /// Degrees of freedom that the terms leave between the cells.
    pub(crate) fn lack_of_fit_degrees(&self, cells: &Cells) -> usize {
        cells.cells.len().saturating_sub(self.reduced.rank())
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
