//! How far the means of cells may be from the truth.

use crate::anova::{Cell, Cells};
use crate::error::StatsError;
use crate::precise::{mean, sum_of_squares};

#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    /// Of the cell's mean.
    pub(super) variance: f64,
    pub(super) degrees_of_freedom: f64,
}

/// A cell with one value has the spread of all others together: better than none, and said by the caller.
pub(super) fn of_cells(cells: &Cells) -> Vec<Spread> {
    let mut squares = vec![0.0; cells.cells.len()];
    for (within, cell) in cells.within().iter().zip(&cells.cell_of) {
        squares[*cell] += within * within;
    }
    let pooled = cells.within_cells();
    let of_cell = |(cell, squares): (&Cell, &f64)| match cell.count {
        0 | 1 => Spread {
            variance: pooled.mean_square(),
            degrees_of_freedom: pooled.degrees_of_freedom.max(1) as f64,
        },
        count => Spread {
            variance: squares / (count - 1) as f64 / count as f64,
            degrees_of_freedom: (count - 1) as f64,
        },
    };
    cells.cells.iter().zip(&squares).map(of_cell).collect()
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
        Ok(Spread {
            variance: squares / (kept * (kept - 1.0)),
            degrees_of_freedom: kept - 1.0,
        })
    };
    cells
        .cells
        .iter_mut()
        .zip(&mut values)
        .map(of_cell)
        .collect()
}
