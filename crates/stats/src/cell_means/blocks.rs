//! Blocks: repetitions that were made at another time, or on another day, and differ as a whole.

use super::spread::Spread;
use crate::anova::Cells;
use crate::distribution::f_sf;

/// Blocks that differ less than this by chance are taken out. Leaving real ones in costs power and no false
/// statement, so the limit may be generous.
const DIFFER: f64 = 0.10;
/// A cell's share of the spread is never believed to be smaller than this part of the mean one: what is left after
/// blocks are taken out of few cells says little about each of them.
const LEAST: f64 = 0.1;

/// Variances of the cell means without the differences between blocks. `None` where a block does not have every
/// cell once, or blocks do not differ.
pub(super) fn spreads(cells: &Cells, blocks: &[usize]) -> Option<Vec<Spread>> {
    let count = cells.cells.len();
    let numbers: std::collections::BTreeSet<usize> = blocks.iter().copied().collect();
    let repetitions = numbers.len();
    if count < 2 || repetitions < 2 || blocks.len() != cells.count() {
        return None;
    }
    let is_full = cells.count() == count * repetitions;
    let mut seen = std::collections::BTreeSet::new();
    let pairs = cells.cell_of.iter().zip(blocks);
    let is_once = pairs
        .map(|(cell, block)| (*cell, *block))
        .all(|pair| seen.insert(pair));
    if !is_full || !is_once {
        return None;
    }
    let place = |block: &usize| numbers.iter().position(|number| number == block);
    let within = cells.within();
    let mut means = vec![0.0; repetitions];
    let mut block_of = Vec::with_capacity(blocks.len());
    for (value, block) in within.iter().zip(blocks) {
        let place = place(block)?;
        block_of.push(place);
        means[place] += value / count as f64;
    }
    let mut squares = vec![0.0; count];
    for ((value, cell), block) in within.iter().zip(&cells.cell_of).zip(&block_of) {
        squares[*cell] += (value - means[*block]).powi(2);
    }
    let between = count as f64 * means.iter().map(|mean| mean * mean).sum::<f64>();
    let rest: f64 = squares.iter().sum();
    let free = (
        (repetitions - 1) as f64,
        ((count - 1) * (repetitions - 1)) as f64,
    );
    let ratio = (between / free.0) / (rest / free.1);
    if rest <= 0.0 || f_sf(ratio, free.0, free.1) > DIFFER {
        return None;
    }
    Some(each(&squares, repetitions))
}

/// E[Σ (value − cell − block)²] / (R − 1) = σᵢ² (1 − 2/k) + Σσ² / k², solved for each σᵢ².
fn each(squares: &[f64], repetitions: usize) -> Vec<Spread> {
    let (count, repeated) = (squares.len() as f64, repetitions as f64);
    let found: Vec<f64> = squares.iter().map(|sum| sum / (repeated - 1.0)).collect();
    let total = found.iter().sum::<f64>() / (1.0 - 1.0 / count);
    let mean = total / count;
    let own = 1.0 - 2.0 / count;
    let variance = |found: &f64| match own > 0.0 {
        true => ((found - total / (count * count)) / own).max(LEAST * mean),
        // Two cells tell only their difference.
        false => mean,
    };
    // Together they have (k − 1)(R − 1) degrees of freedom.
    let degrees_of_freedom = (repeated - 1.0) * (count - 1.0) / count;
    let spread = |found| Spread {
        variance: variance(found) / repeated,
        degrees_of_freedom,
    };
    found.iter().map(spread).collect()
}
