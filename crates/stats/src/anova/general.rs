//! Data with missing or unequal cells: type II sums of squares by least squares.

use super::columns::{Model, factors_of, term_sets};
use super::reduce::{Explained, reduce};
use super::{Anova, Cells, Parts, RawTerm, ResidualSource, Source, Sums};
use crate::precise::sum_of_squares;

/// Each term after all terms that do not contain it (Langsrud 2003). The big matrix is reduced once; every
/// term then needs only its small triangle.
pub(super) fn analyse(cells: &Cells, max_order: usize) -> Anova {
    if cells.varying().len() <= 1 && cells.blocks < 2 {
        return single_factor(cells);
    }
    let mut order = cells.usable_order(max_order);
    let mut model = Model::new(cells, &term_sets(cells, order));
    // Incomplete cells may leave nothing to test against: the highest interactions then stand in.
    while !cells.replicated && order > 1 && model.lack_of_fit_degrees(cells) == 0 {
        order -= 1;
        model = Model::new(cells, &term_sets(cells, order));
    }
    let mut terms = Vec::new();
    if cells.blocks > 1 {
        terms.push(raw(Source::Block, Vec::new(), block_term(cells, &model)));
    }
    for term in &model.terms {
        let explained = explained_after_others(&model, term.set);
        terms.push(raw(Source::Effect, factors_of(term.set), explained));
    }
    let lack_of_fit = Explained {
        degrees_of_freedom: model.lack_of_fit_degrees(cells),
        sum_of_squares: model.reduced.residual_squares(),
    };
    let within = Explained {
        degrees_of_freedom: model.within_degrees(cells),
        sum_of_squares: model.within.residual_squares(),
    };
    let (residual, source) = if cells.replicated {
        if lack_of_fit.degrees_of_freedom > 0 {
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
    let residual_sum_of_squares = if residual.degrees_of_freedom > 0 {
        residual.sum_of_squares
    } else {
        0.0
    };
    Parts {
        terms,
        residual_degrees_of_freedom: residual.degrees_of_freedom,
        residual_sum_of_squares,
        residual_source: source,
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
    let varies = |factor: usize| cells.levels[factor] > 1;
    let nothing = || Explained {
        degrees_of_freedom: 0,
        sum_of_squares: 0.0,
    };
    let mut between = Some(between);
    let terms = (0..cells.levels.len())
        .map(|factor| {
            let explained = if varies(factor) { between.take() } else { None };
            raw(
                Source::Effect,
                vec![factor],
                explained.unwrap_or_else(nothing),
            )
        })
        .collect();
    Parts {
        terms,
        residual_degrees_of_freedom: cells.count() - cells.cells.len(),
        residual_sum_of_squares: sum_of_squares(cells.within()),
        residual_source: ResidualSource::Replication,
        sums: Sums::TypeII,
    }
    .finish(cells)
}

fn raw(source: Source, factors: Vec<usize>, explained: Explained) -> RawTerm {
    RawTerm {
        source,
        factors,
        degrees_of_freedom: explained.degrees_of_freedom,
        sum_of_squares: explained.sum_of_squares,
    }
}

/// Blocks after everything else: after all cells if these are replicated, else after the terms.
fn block_term(cells: &Cells, model: &Model) -> Explained {
    if cells.replicated {
        return model.within.explained_from(0);
    }
    let others: Vec<usize> = (0..model.reduced.columns.len())
        .filter(|column| !model.blocks.contains(column))
        .collect();
    explained_last(model, others, model.blocks.clone())
}

fn explained_after_others(model: &Model, set: u32) -> Explained {
    let mut others: Vec<usize> = (0..model.blocks.end).collect();
    let mut own = 0..0;
    for term in &model.terms {
        if term.set == set {
            own = term.columns.clone();
        } else if term.set & set != set {
            others.extend(term.columns.clone());
        }
    }
    explained_last(model, others, own)
}

fn explained_last(model: &Model, others: Vec<usize>, own: std::ops::Range<usize>) -> Explained {
    let first = others.len();
    let columns = others
        .into_iter()
        .chain(own)
        .map(|column| model.reduced.columns[column].clone())
        .collect();
    let right = model.reduced.right[..model.reduced.rank()].to_vec();
    reduce(columns, right).explained_from(first)
}
