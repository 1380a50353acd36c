//! Least squares by Householder reflections.

use crate::precise::sum_of_squares;

/// A least-squares problem turned upper triangular (Golub, Van Loan 2013, section 5.2). Columns that depend on
/// earlier ones are passed over, so that any set of columns can be given.
#[derive(Debug, Clone)]
pub(crate) struct Reduced {
    /// Each column down to its last entry that is not zero.
    pub(crate) columns: Vec<Vec<f64>>,
    /// The columns that do not depend on earlier ones; the n-th of them ends in row n.
    pub(crate) kept: Vec<usize>,
    pub(crate) right: Vec<f64>,
}

/// What is left of a column, relative to its length, below which it counts as dependent on those before it.
const DEPENDENT: f64 = 1e-9;

/// Columns may be shorter than the right-hand side: what is missing below is zero, and costs nothing.
pub(crate) fn reduce(mut columns: Vec<Vec<f64>>, mut right: Vec<f64>) -> Reduced {
    let mut kept = Vec::new();
    for index in 0..columns.len() {
        let row = kept.len();
        let (done, later) = columns.split_at_mut(index + 1);
        let column = &mut done[index];
        let length = squared(column).sqrt();
        let rest = squared(column.get(row..).unwrap_or(&[])).sqrt();
        if rest <= DEPENDENT * length || rest == 0.0 {
            column.truncate(row);
            continue;
        }
        let mirror = Mirror::new(&column[row..], rest);
        column.truncate(row);
        column.push(mirror.end);
        for other in later.iter_mut() {
            if other.len() > row {
                let bottom = row + mirror.direction.len();
                if other.len() < bottom {
                    other.resize(bottom, 0.0);
                }
                mirror.apply(&mut other[row..]);
            }
        }
        mirror.apply(&mut right[row..]);
        kept.push(index);
    }
    Reduced {
        columns,
        kept,
        right,
    }
}

impl Reduced {
    pub(crate) fn rank(&self) -> usize {
        self.kept.len()
    }

    /// What the columns do not explain.
    pub(crate) fn residual_squares(&self) -> f64 {
        sum_of_squares(self.right.iter().skip(self.rank()).copied())
    }

    /// What the columns from `first` on explain beyond the earlier ones.
    pub(crate) fn explained_from(&self, first: usize) -> Explained {
        let rows: Vec<usize> = (0..self.rank())
            .filter(|row| self.kept[*row] >= first)
            .collect();
        Explained {
            degrees_of_freedom: rows.len(),
            sum_of_squares: sum_of_squares(rows.iter().map(|row| self.right[*row])),
        }
    }

    /// The coefficients of all columns, zero for those passed over.
    pub(crate) fn coefficients(&self) -> Vec<f64> {
        let mut coefficients = vec![0.0; self.columns.len()];
        let mut rest = self.right[..self.rank()].to_vec();
        for (row, index) in self.kept.iter().enumerate().rev() {
            let column = &self.columns[*index];
            let coefficient = rest[row] / column[row];
            coefficients[*index] = coefficient;
            for (rest, entry) in rest.iter_mut().zip(&column[..row]) {
                *rest -= coefficient * entry;
            }
        }
        coefficients
    }
}

/// A part of the variation. The default is none of it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Explained {
    pub(crate) degrees_of_freedom: usize,
    pub(crate) sum_of_squares: f64,
}

impl Explained {
    /// Zero without degrees of freedom.
    pub(crate) fn mean_square(self) -> f64 {
        match self.degrees_of_freedom {
            0 => 0.0,
            degrees => self.sum_of_squares / degrees as f64,
        }
    }
}

struct Mirror {
    direction: Vec<f64>,
    factor: f64,
    end: f64,
}

impl Mirror {
    /// The reflection that turns `column`, of the given length, into its first axis.
    fn new(column: &[f64], length: f64) -> Self {
        let end = -length.copysign(column[0]);
        let mut direction = column.to_vec();
        direction[0] -= end;
        Self {
            factor: 1.0 / (length * (length + column[0].abs())),
            direction,
            end,
        }
    }

    fn apply(&self, column: &mut [f64]) {
        let scale = self.factor * product(&self.direction, column);
        for (entry, part) in column.iter_mut().zip(&self.direction) {
            *entry -= scale * part;
        }
    }
}

fn squared(values: &[f64]) -> f64 {
    product(values, values)
}

/// Four sums side by side: the compiler keeps them in one register, and the error grows more slowly.
fn product(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (mut chunks_a, mut chunks_b) = (a.chunks_exact(4), b.chunks_exact(4));
    for (a, b) in chunks_a.by_ref().zip(chunks_b.by_ref()) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let done = 4 * (a.len().min(b.len()) / 4);
    let rest: f64 = a[done..].iter().zip(&b[done..]).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod nist;
