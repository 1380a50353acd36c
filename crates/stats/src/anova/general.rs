//! Data with missing or unequal cells: type II sums of squares by least squares.

use super::alias;
use super::columns::{Model, factors_of, term_sets};
use super::reduce::reduce;
use super::{Anova, Cells, Explained, Parts, RawTerm, ResidualSource, Source, Sums};
use crate::precise::sum_of_squares;

/// Each term after all terms that do not contain it (Langsrud 2003). The big matrix is reduced once; every
/// term then needs only its small triangle.
pub(super) fn analyse(cells: &Cells, max_order: usize) -> Anova {
    if cells.varying().len() <= 1 {
        return single_factor(cells);
    }
    let mut order = cells.usable_order(max_order);
    // The interaction of all factors is whatever the others leave between the cells: its columns, which may be
    // thousands, are not needed.
    let is_saturated = cells.replicated && order > 1 && order == cells.varying().len();
    let fitted = if is_saturated { order - 1 } else { order };
    let mut model = Model::new(cells, &term_sets(cells, fitted));
    // Incomplete cells may leave nothing to test against: the highest interactions then stand in.
    while !cells.replicated && order > 1 && model.lack_of_fit_degrees(cells) == 0 {
        order -= 1;
        model = Model::new(cells, &term_sets(cells, order));
    }
    let sets: Vec<u32> = model.terms.iter().map(|term| term.set).collect();
    let mut terms: Vec<RawTerm> = alias::terms(cells, &sets)
        .iter()
        .map(|sets| {
            let explained = explained_after_others(&model, sets);
            let mut factors = sets.iter().map(|set| factors_of(*set));
            let own = factors.next().unwrap_or_default();
            RawTerm {
                inseparable: factors.collect(),
                ..raw(Source::Effect, own, explained)
            }
        })
        .collect();
    let lack_of_fit = Explained {
        degrees_of_freedom: model.lack_of_fit_degrees(cells),
        sum_of_squares: model.reduced.residual_squares(),
    };
    let within = cells.within_cells();
    let (mut residual, residual_source) = if cells.replicated {
        if is_saturated {
            terms.push(raw(Source::Effect, cells.varying(), lack_of_fit));
        } else if lack_of_fit.degrees_of_freedom > 0 {
            terms.push(raw(Source::HigherOrder, cells.varying(), lack_of_fit));
        }
        (within, ResidualSource::Replication)
    } else {
        let both = Explained {
            degrees_of_freedom: lack_of_fit.degrees_of_freedom + within.degrees_of_freedom,
            sum_of_squares: lack_of_fit.sum_of_squares + within.sum_of_squares,
        };
        (both, ResidualSource::HigherOrder)
    };
    if residual.degrees_of_freedom == 0 {
        residual.sum_of_squares = 0.0;
    }
    Parts {
        terms,
        residual,
        residual_source,
        sums: Sums::TypeII,
    }
    .finish(cells)
}

/// One factor needs no fit, however unequal its groups are.
fn single_factor(cells: &Cells) -> Anova {
    let between = Explained {
        degrees_of_freedom: cells.cells.len() - 1,
        sum_of_squares: sum_of_squares(
            cells
                .cells
                .iter()
                .map(|cell| (cell.count as f64).sqrt() * cell.mean),
        ),
    };
    let mut between = Some(between);
    let terms = (0..cells.levels.len())
        .map(|factor| {
            let explained = match cells.levels[factor] > 1 {
                true => between.take().unwrap_or_default(),
                false => Explained::default(),
            };
            raw(Source::Effect, vec![factor], explained)
        })
        .collect();
    Parts {
        terms,
        residual: cells.within_cells(),
        residual_source: ResidualSource::Replication,
        sums: Sums::TypeII,
    }
    .finish(cells)
}

fn raw(source: Source, factors: Vec<usize>, explained: Explained) -> RawTerm {
    RawTerm {
        source,
        factors,
        inseparable: Vec::new(),
        explained,
    }
}

/// What a term, of one set of factors or several, explains after the mean and all terms that do not contain it.
fn explained_after_others(model: &Model, sets: &[u32]) -> Explained {
    let mut others = vec![0];
    let mut own = Vec::new();
    for term in &model.terms {
        if sets.contains(&term.set) {
            own.extend(term.columns.clone());
        } else if sets.iter().all(|set| term.set & set != *set) {
            others.extend(term.columns.clone());
        }
    }
    let first = others.len();
    let columns = others
        .into_iter()
        .chain(own)
        .map(|column| model.reduced.columns[column].clone())
        .collect();
    let right = model.reduced.right[..model.reduced.rank()].to_vec();
    reduce(columns, right).explained_from(first)
}
