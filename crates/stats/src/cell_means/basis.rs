//! An orthonormal basis of what terms can say of cell means, one cell as much as another.

use crate::anova::Cells;
use crate::anova::columns::{comparison, factors_of};

/// Columns by Gram–Schmidt, twice (Giraud, Langou, Rozložník 2005: twice is enough).
#[derive(Clone)]
pub(crate) struct Basis {
    columns: Vec<Vec<f64>>,
    /// Of every column that was added, its products with the basis; those kept end with their length.
    products: Vec<Added>,
}

#[derive(Clone)]
struct Added {
    set: u32,
    /// Which comparison of its term.
    number: usize,
    products: Vec<f64>,
    is_kept: bool,
}

/// What is left of a column, relative to its length, below which it says nothing new.
const DEPENDENT: f64 = 1e-9;

impl Basis {
    pub(crate) fn of_mean(cells: &Cells) -> Self {
        let mut basis = Basis {
            columns: Vec::new(),
            products: Vec::new(),
        };
        basis.add_column(0, 0, vec![1.0; cells.cells.len()]);
        basis
    }

    /// Cells in parts that no block links: what differs between these is a difference between blocks.
    pub(crate) fn of_parts(cells: &Cells, parts: &[usize]) -> Self {
        let mut basis = Basis::of_mean(cells);
        let numbers: std::collections::BTreeSet<usize> = parts.iter().copied().collect();
        for number in numbers {
            let is_in = |part: &usize| f64::from(u8::from(*part == number));
            basis.add_column(0, number, parts.iter().map(is_in).collect());
        }
        basis
    }

    pub(crate) fn rank(&self) -> usize {
        self.columns.len()
    }

    pub(crate) fn from(&self, first: usize) -> &[Vec<f64>] {
        &self.columns[first..]
    }

    /// The columns of a term.
    pub(crate) fn add(&mut self, cells: &Cells, set: u32) {
        let factors = factors_of(set);
        let comparisons = |factor: &usize| cells.levels[*factor].saturating_sub(1);
        let count: usize = factors.iter().map(comparisons).product();
        for number in 0..count {
            let entry = |cell: &crate::anova::Cell| {
                let mut rest = number;
                let mut entry = 1.0;
                for factor in factors.iter().rev() {
                    let levels = cells.levels[*factor];
                    entry *= comparison(levels, rest % (levels - 1), cell.levels[*factor]);
                    rest /= levels - 1;
                }
                entry
            };
            self.add_column(set, number, cells.cells.iter().map(entry).collect());
        }
    }

    fn add_column(&mut self, set: u32, number: usize, mut column: Vec<f64>) {
        let length = product(&column, &column).sqrt();
        let mut products = vec![0.0; self.columns.len()];
        for _ in 0..2 {
            for (known, product_with) in self.columns.iter().zip(&mut products) {
                let part = product(known, &column);
                *product_with += part;
                for (entry, known) in column.iter_mut().zip(known) {
                    *entry -= part * known;
                }
            }
        }
        let rest = product(&column, &column).sqrt();
        let is_kept = rest > DEPENDENT * length && rest > 0.0;
        if is_kept {
            column.iter_mut().for_each(|entry| *entry /= rest);
            self.columns.push(column);
            products.push(rest);
        }
        self.products.push(Added {
            set,
            number,
            products,
            is_kept,
        });
    }

    /// Weights of the cells that make the difference of two levels of a factor, all other terms of the basis
    /// allowed for. `None` where the cells do not determine it.
    pub(crate) fn level_weights(
        &self,
        cells: &Cells,
        factor: usize,
        high: usize,
        low: usize,
    ) -> Option<Vec<f64>> {
        let levels = cells.levels[factor];
        let wanted = |added: &Added| match added.set == 1 << factor {
            true => comparison(levels, added.number, high) - comparison(levels, added.number, low),
            false => 0.0,
        };
        let mut parts: Vec<f64> = Vec::with_capacity(self.columns.len());
        for added in &self.products {
            let known = product(
                &parts,
                &added.products[..parts.len().min(added.products.len())],
            );
            let rest = wanted(added) - known;
            match (added.is_kept, added.products.last()) {
                (true, Some(length)) => parts.push(rest / length),
                // A column that says nothing new must want nothing new.
                _ if rest.abs() > 1e-7 => return None,
                _ => {}
            }
        }
        let mut weights = vec![0.0; cells.cells.len()];
        for (part, column) in parts.iter().zip(&self.columns) {
            for (weight, entry) in weights.iter_mut().zip(column) {
                *weight += part * entry;
            }
        }
        Some(weights)
    }
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
