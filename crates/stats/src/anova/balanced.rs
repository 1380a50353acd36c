//! Balanced data: sums of squares from means, in a few passes.

use std::collections::BTreeMap;

use super::columns::{factors_of, term_sets};
use super::{Anova, Cells, Explained, Parts, RawTerm, ResidualSource, Source, Sums};
use crate::precise::{Accumulator, sum_of_squares};

/// Every cell holds equally many values, so the terms are orthogonal and each sum of squares is that of its own
/// effects (Montgomery 2012, section 5.4).
pub(super) fn analyse(cells: &Cells, max_order: usize) -> Anova {
    let sets = term_sets(cells, cells.usable_order(max_order));
    let effects = Effects::of(cells, &sets);
    let mut terms: Vec<RawTerm> = sets
        .iter()
        .map(|set| effect_term(cells, *set, effects.table(*set)))
        .collect();
    let higher = higher_order_term(cells, &effects, &terms);
    let parts = if cells.replicated {
        terms.extend((higher.explained.degrees_of_freedom > 0).then_some(higher));
        Parts {
            terms,
            residual: cells.within_cells(),
            residual_source: ResidualSource::Replication,
            sums: Sums::Balanced,
        }
    } else {
        Parts {
            terms,
            residual: higher.explained,
            residual_source: ResidualSource::HigherOrder,
            sums: Sums::Balanced,
        }
    };
    parts.finish(cells)
}

/// What the terms up to an order leave of each cell's mean.
pub(crate) fn left_over(cells: &Cells, order: usize) -> Vec<f64> {
    Effects::of(cells, &term_sets(cells, order))
        .left_over(cells)
        .collect()
}

/// Degrees of freedom of the mean and all terms up to an order.
pub(crate) fn rank(cells: &Cells, order: usize) -> usize {
    let of_terms = term_sets(cells, order)
        .into_iter()
        .map(|set| degrees_of_freedom(cells, set));
    1 + of_terms.sum::<usize>()
}

fn effect_term(cells: &Cells, set: u32, table: &[f64]) -> RawTerm {
    let each = cells.count() as f64 / table.len().max(1) as f64;
    RawTerm {
        source: Source::Effect,
        factors: factors_of(set),
        inseparable: Vec::new(),
        explained: Explained {
            degrees_of_freedom: degrees_of_freedom(cells, set),
            sum_of_squares: each * sum_of_squares(table.iter().copied()),
        },
    }
}

fn degrees_of_freedom(cells: &Cells, set: u32) -> usize {
    factors_of(set)
        .iter()
        .map(|factor| cells.levels[*factor] - 1)
        .product()
}

/// What the terms leave between the cells; nothing but rounding where they leave no degrees of freedom.
fn higher_order_term(cells: &Cells, effects: &Effects, terms: &[RawTerm]) -> RawTerm {
    let explained: usize = terms
        .iter()
        .map(|term| term.explained.degrees_of_freedom)
        .sum();
    let degrees_of_freedom = cells.cells.len() - 1 - explained;
    let each = cells.count() as f64 / cells.cells.len() as f64;
    RawTerm {
        source: Source::HigherOrder,
        factors: cells.varying(),
        inseparable: Vec::new(),
        explained: Explained {
            degrees_of_freedom,
            sum_of_squares: match degrees_of_freedom {
                0 => 0.0,
                _ => each * sum_of_squares(effects.left_over(cells)),
            },
        },
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
