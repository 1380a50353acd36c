//! The columns of the linear model.

use super::Cells;

/// The terms of the model up to an order, as sets of factors, one bit each; smaller sets first. Main effects of
/// factors that do not vary are kept, so that every factor has a term.
pub(crate) fn term_sets(cells: &Cells, order: usize) -> Vec<u32> {
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
        sets.extend(&next);
        previous = next;
    }
    sets
}
