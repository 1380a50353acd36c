//! How far the means of cells may be from the truth.

use crate::anova::{Cell, Cells};
use crate::error::StatsError;
use crate::precise::{mean, sum_of_squares};

#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    /// Of the cell's mean.
    pub(super) variance: f64,
    pub(super) degrees_of_freedom: f64,
    /// Of one value.
    value_variance: f64,
    /// Borrowed from the repeated cells together.
    is_pooled: bool,
}

impl Spread {
    pub(super) fn own(value_variance: f64, count: f64, degrees_of_freedom: f64) -> Self {
        Spread {
            variance: value_variance / count,
            degrees_of_freedom,
            value_variance,
            is_pooled: false,
        }
    }
}

/// What the variance of a weighted sum of cell means is uncertain by (Satterthwaite): its own variance is 2 times this.
/// `weights` are those of the variances. Cells that borrow the pooled variance borrow one and the same: it is the sum of
/// what each repeated cell contributed to it, and those know no more for being asked twice.
pub(super) fn uncertainty(spreads: &[Spread], weights: impl Iterator<Item = f64> + Clone) -> f64 {
    let borrowed = spreads.iter().zip(weights.clone());
    let borrowed: f64 = borrowed
        .filter(|(spread, _)| spread.is_pooled)
        .map(|(_, weight)| weight)
        .sum();
    let sources = || spreads.iter().zip(weights.clone());
    let sources = || sources().filter(|(spread, _)| !spread.is_pooled);
    let pooled: f64 = sources().map(|(spread, _)| spread.degrees_of_freedom).sum();
    let part = |(spread, weight): (&Spread, f64)| {
        let lent = borrowed * spread.value_variance * spread.degrees_of_freedom / pooled;
        (weight * spread.variance + lent).powi(2) / spread.degrees_of_freedom
    };
    sources().map(part).sum()
}

/// Below this a spread is not known well enough to be lent to a cell without one: with 2, a study in which nothing
/// differs states a difference several times as often as it says.
pub(super) const FEWEST_TO_LEND: usize = 4;

/// A cell with one value has the spread of all others together: better than none, and said by the caller.
pub(super) fn of_cells(cells: &Cells) -> Result<Vec<Spread>, StatsError> {
    let mut squares = vec![0.0; cells.cells.len()];
    for (within, cell) in cells.within().iter().zip(&cells.cell_of) {
        squares[*cell] += within * within;
    }
    let pooled = cells.within_cells();
    let is_lent = cells.cells.iter().any(|cell| cell.count < 2);
    if is_lent && pooled.degrees_of_freedom < FEWEST_TO_LEND {
        return Err(StatsError::FewRepetitions);
    }
    let of_cell = |(cell, squares): (&Cell, &f64)| match cell.count {
        0 | 1 => Spread {
            is_pooled: true,
            ..Spread::own(pooled.mean_square(), 1.0, pooled.degrees_of_freedom as f64)
        },
        count => {
            let free = (count - 1) as f64;
            Spread::own(squares / free, count as f64, free)
        }
    };
    Ok(cells.cells.iter().zip(&squares).map(of_cell).collect())
}

/// With fewer values, so few are left that the test says too often that they differ.
const FEWEST_TO_TRIM: usize = 10;

/// Puts the means of every cell's middle three fifths in the place of its mean. Their variance is that of the values with
/// the extreme ones drawn in to the middle ones (Yuen 1974, with 20 % as Wilcox 2012, section 5.3 recommends).
pub(super) fn trim(cells: &mut Cells) -> Result<Vec<Spread>, StatsError> {
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); cells.cells.len()];
    for (value, cell) in cells.values.iter().zip(&cells.cell_of) {
        values[*cell].push(*value);
    }
    let of_cell = |(cell, values): (&mut Cell, &mut Vec<f64>)| {
        let (needed, given) = (FEWEST_TO_TRIM, values.len());
        if given < needed {
            return Err(StatsError::TooFew { needed, given });
        }
        values.sort_by(f64::total_cmp);
        let cut = given / 5;
        let middle = &values[cut..given - cut];
        cell.mean = mean(middle);
        let (low, high) = (values[cut], values[given - cut - 1]);
        let drawn_in: Vec<f64> = values.iter().map(|value| value.clamp(low, high)).collect();
        let centre = mean(&drawn_in);
        let squares = sum_of_squares(drawn_in.iter().map(|value| value - centre));
        let kept = middle.len() as f64;
        Ok(Spread::own(squares / (kept - 1.0), kept, kept - 1.0))
    };
    cells
        .cells
        .iter_mut()
        .zip(&mut values)
        .map(of_cell)
        .collect()
}
