//! Balanced data: sums of squares from means, in a few passes.

use std::collections::BTreeMap;

use super::columns::{factors_of, term_sets};
use super::{Anova, Cells, Parts, RawTerm, ResidualSource, Source, Sums};
use crate::precise::{Accumulator, sum_of_squares};

/// Every cell holds equally many values, so the terms are orthogonal and each sum of squares is that of its own
/// effects (Montgomery 2012, section 5.4).
pub(super) fn analyse(cells: &Cells, max_order: usize) -> Anova {
    let order = cells.usable_order(max_order);
    let count = cells.count() as f64;
    let sets = term_sets(cells, order);
    let mut terms = Vec::new();
    let block_effects = cells.block_means();
    if cells.blocks > 1 {
        let each = count / cells.blocks as f64;
        terms.push(RawTerm {
            source: Source::Block,
            factors: Vec::new(),
            degrees_of_freedom: cells.blocks - 1,
            sum_of_squares: each * sum_of_squares(block_effects.iter().copied()),
        });
    }
    let effects = Effects::of(cells, &sets);
    for set in &sets {
        let table = effects.table(*set);
        let each = count / table.len() as f64;
        let factors = factors_of(*set);
        terms.push(RawTerm {
            source: Source::Effect,
            degrees_of_freedom: factors
                .iter()
                .map(|factor| cells.levels[*factor] - 1)
                .product(),
            sum_of_squares: each * sum_of_squares(table.iter().copied()),
            factors,
        });
    }
    let explained: usize = terms
        .iter()
        .filter(|term| term.source == Source::Effect)
        .map(|term| term.degrees_of_freedom)
        .sum();
    let each = count / cells.cells.len() as f64;
    let higher_squares = each * sum_of_squares(effects.left_over(cells));
    let higher_degrees = cells.cells.len() - 1 - explained;
    let within_squares = within_squares(cells, &block_effects);
    let within_degrees = cells.count() - cells.cells.len() - cells.blocks.saturating_sub(1);
    if cells.replicated {
        if higher_degrees > 0 {
            terms.push(RawTerm {
                source: Source::HigherOrder,
                factors: cells.varying(),
                degrees_of_freedom: higher_degrees,
                sum_of_squares: higher_squares,
            });
        }
        Parts {
            terms,
            residual_degrees_of_freedom: within_degrees,
            residual_sum_of_squares: within_squares,
            residual_source: ResidualSource::Replication,
            sums: Sums::Balanced,
        }
    } else {
        Parts {
            terms,
            residual_degrees_of_freedom: higher_degrees,
            residual_sum_of_squares: if higher_degrees > 0 {
                higher_squares
            } else {
                0.0
            },
            residual_source: ResidualSource::HigherOrder,
            sums: Sums::Balanced,
        }
    }
    .finish(cells)
}

fn within_squares(cells: &Cells, block_effects: &[f64]) -> f64 {
    let within = cells.within();
    if cells.blocks > 1 {
        sum_of_squares(
            within
                .iter()
                .zip(&cells.block_of)
                .map(|(value, block)| value - block_effects[*block]),
        )
    } else {
        sum_of_squares(within)
    }
}

/// Effects of every term: what its factors do together beyond what fewer of them do.
struct Effects {
    /// For each set of factors, its effects by levels, the last factor running fastest.
    tables: BTreeMap<u32, Vec<f64>>,
    grand: f64,
}

impl Effects {
    fn of(cells: &Cells, sets: &[u32]) -> Self {
        let mut grand = Accumulator::default();
        for cell in &cells.cells {
            grand.add(cell.mean);
        }
        let mut effects = Self {
            tables: BTreeMap::new(),
            grand: grand.total() / cells.cells.len() as f64,
        };
        // Smaller sets come first, so all that lie within a set are known when it is reached.
        for set in sets {
            let means = marginal_means(cells, *set);
            let inside: Vec<u32> = effects
                .tables
                .keys()
                .copied()
                .filter(|other| other & set == *other)
                .collect();
            let mut table = means;
            let factors = factors_of(*set);
            for (place, entry) in table.iter_mut().enumerate() {
                let levels = levels_at(cells, &factors, place);
                *entry -= effects.grand;
                for other in &inside {
                    *entry -= effects.at(cells, *other, &levels);
                }
            }
            effects.tables.insert(*set, table);
        }
        effects
    }

    fn table(&self, set: u32) -> &[f64] {
        self.tables.get(&set).map_or(&[], Vec::as_slice)
    }

    /// Effect of a set at the given levels of all factors.
    fn at(&self, cells: &Cells, set: u32, levels: &[usize]) -> f64 {
        self.table(set)[place_of(cells, set, levels)]
    }

    /// What all effects together leave of each cell's mean.
    fn left_over<'a>(&'a self, cells: &'a Cells) -> impl Iterator<Item = f64> + 'a {
        cells.cells.iter().map(move |cell| {
            let mut rest = cell.mean - self.grand;
            for set in self.tables.keys() {
                rest -= self.at(cells, *set, &cell.levels);
            }
            rest
        })
    }
}

fn marginal_means(cells: &Cells, set: u32) -> Vec<f64> {
    let size: usize = factors_of(set)
        .iter()
        .map(|factor| cells.levels[*factor])
        .product();
    let mut sums = vec![Accumulator::default(); size];
    for cell in &cells.cells {
        sums[place_of(cells, set, &cell.levels)].add(cell.mean);
    }
    let each = cells.cells.len() as f64 / size as f64;
    sums.iter().map(|sum| sum.total() / each).collect()
}

fn place_of(cells: &Cells, set: u32, levels: &[usize]) -> usize {
    let mut place = 0;
    for (factor, level) in levels.iter().enumerate() {
        if set >> factor & 1 == 1 {
            place = place * cells.levels[factor] + level;
        }
    }
    place
}

/// Levels of all factors at a place of a table; those of other factors are zero.
fn levels_at(cells: &Cells, factors: &[usize], mut place: usize) -> Vec<usize> {
    let mut levels = vec![0; cells.levels.len()];
    for factor in factors.iter().rev() {
        levels[*factor] = place % cells.levels[*factor];
        place /= cells.levels[*factor];
    }
    levels
}
