//! Do the residuals look like noise? Normality, equal spread, outliers.

use crate::anova::balanced;
use crate::anova::columns::{Model, comparison, factors_of, term_sets};
use crate::anova::{Cells, Design, Observation, one_way};
use crate::distribution::{ln_normal_cdf, student_two_sided};
use crate::error::StatsError;
use crate::precise::sum_of_squares;
use crate::summary::{Moments, quantile};

/// What the model leaves of each observation, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Residuals {
    pub values: Vec<f64>,
    /// How strongly each observation pulls the model to itself, from 0 to 1.
    pub leverages: Vec<f64>,
    /// Observations with the same number share a combination of levels.
    pub cells: Vec<usize>,
    pub degrees_of_freedom: usize,
}

/// Whether the residuals look like noise.
#[derive(Debug, Clone, PartialEq)]
pub struct ResidualCheck {
    /// Probability of such a departure from normal if they were normal (Anderson–Darling); needs 8 values.
    pub normality_p: Option<f64>,
    /// Probability of such differences of spread between cells if there were none (Brown–Forsythe); needs cells
    /// of three or more values.
    pub spread_p: Option<f64>,
    /// Observations that the rest of the data make incredible, by index: studentised residual beyond the 1 %
    /// point for the largest of all.
    pub outliers: Vec<usize>,
    /// Nothing above speaks against the model at 1 %.
    pub fine: bool,
}

/// Residuals of the model that [`crate::factorial`] fits: from the mean of each cell where these are replicated,
/// else from the terms.
pub fn residuals(
    design: &Design,
    observations: &[Observation],
    max_order: usize,
) -> Result<Residuals, StatsError> {
    let cells = Cells::new(design, observations)?;
    Ok(if cells.replicated {
        from_cell_means(&cells)
    } else if cells.balanced {
        from_effects(&cells, max_order)
    } else {
        from_terms(&cells, max_order)
    })
}

/// How far the residuals are from what normal noise of one size would leave.
pub fn check_residuals(residuals: &Residuals) -> ResidualCheck {
    let standardised: Vec<f64> = residuals
        .values
        .iter()
        .zip(&residuals.leverages)
        .filter(|(_, leverage)| **leverage < NEARLY_ONE)
        .map(|(value, leverage)| value / (1.0 - leverage).sqrt())
        .collect();
    let normality_p = anderson_darling(&standardised);
    let spread_p = brown_forsythe(residuals);
    let outliers = outliers(residuals);
    let passes = |p: Option<f64>| p.is_none_or(|p| p >= LEVEL);
    ResidualCheck {
        fine: passes(normality_p) && passes(spread_p) && outliers.is_empty(),
        normality_p,
        spread_p,
        outliers,
    }
}

/// Many studies are checked; at 1 % few sound ones are called unsound.
const LEVEL: f64 = 0.01;

/// An observation with this leverage has no residual of its own.
const NEARLY_ONE: f64 = 1.0 - 1e-9;

fn from_cell_means(cells: &Cells) -> Residuals {
    Residuals {
        values: cells.within(),
        leverages: cells
            .cell_of
            .iter()
            .map(|cell| 1.0 / cells.cells[*cell].count as f64)
            .collect(),
        cells: cells.cell_of.clone(),
        degrees_of_freedom: cells.count() - cells.cells.len(),
    }
}

/// One value in every cell: what the effects leave of it.
fn from_effects(cells: &Cells, max_order: usize) -> Residuals {
    let order = cells.usable_order(max_order);
    let left = balanced::left_over(cells, order);
    let rank = balanced::rank(cells, order);
    Residuals {
        values: cells.cell_of.iter().map(|cell| left[*cell]).collect(),
        leverages: vec![rank as f64 / cells.count() as f64; cells.count()],
        cells: cells.cell_of.clone(),
        degrees_of_freedom: cells.count() - rank,
    }
}

fn from_terms(cells: &Cells, max_order: usize) -> Residuals {
    let mut order = cells.usable_order(max_order);
    let mut model = Model::new(cells, &term_sets(cells, order));
    while order > 1 && model.lack_of_fit_degrees(cells) == 0 {
        order -= 1;
        model = Model::new(cells, &term_sets(cells, order));
    }
    let coefficients = model.reduced.coefficients();
    let values = (0..cells.count())
        .map(|place| cells.values[place] - fitted(cells, &model, &coefficients, place))
        .collect();
    // The exact leverages of a balanced design; on average right for any other.
    let leverage = model.reduced.rank() as f64 / cells.count() as f64;
    Residuals {
        values,
        leverages: vec![leverage.min(1.0); cells.count()],
        cells: cells.cell_of.clone(),
        degrees_of_freedom: cells.count() - model.reduced.rank(),
    }
}

/// What the model says of one observation.
fn fitted(cells: &Cells, model: &Model, coefficients: &[f64], place: usize) -> f64 {
    let mut value = coefficients[0];
    let levels = &cells.cells[cells.cell_of[place]].levels;
    for term in &model.terms {
        for (number, column) in term.columns.clone().enumerate() {
            value += coefficients[column] * term_entry(cells, term.set, number, levels);
        }
    }
    value
}

/// The entry of a term's `number`-th column at the given levels: the last factor's comparisons run fastest.
fn term_entry(cells: &Cells, set: u32, mut number: usize, levels: &[usize]) -> f64 {
    let mut entry = 1.0;
    for factor in factors_of(set).into_iter().rev() {
        let comparisons = cells.levels[factor] - 1;
        entry *= comparison(cells.levels[factor], number % comparisons, levels[factor]);
        number /= comparisons;
    }
    entry
}

/// Anderson–Darling test of normality, mean and spread estimated (D'Agostino, Stephens 1986, table 4.9).
fn anderson_darling(values: &[f64]) -> Option<f64> {
    const FEWEST: usize = 8;
    let moments = Moments::of(values);
    if values.len() < FEWEST || moments.sd() <= 0.0 {
        return None;
    }
    let mut scores: Vec<f64> = values
        .iter()
        .map(|value| (value - moments.mean) / moments.sd())
        .collect();
    scores.sort_by(f64::total_cmp);
    let count = scores.len() as f64;
    let sum: f64 = scores
        .iter()
        .zip(scores.iter().rev())
        .enumerate()
        .map(|(place, (low, high))| {
            (2.0 * place as f64 + 1.0) * (ln_normal_cdf(*low) + ln_normal_cdf(-high))
        })
        .sum();
    let distance = (-count - sum / count) * (1.0 + 0.75 / count + 2.25 / (count * count));
    let a = distance;
    let p = if a >= 0.6 {
        // The fitted parabola turns upwards again beyond 150, where p is far below any use.
        (1.2937 - 5.709 * a.min(150.0) + 0.0186 * a.min(150.0).powi(2)).exp()
    } else if a >= 0.34 {
        (0.9177 - 4.279 * a - 1.38 * a * a).exp()
    } else if a >= 0.2 {
        1.0 - (-8.318 + 42.796 * a - 59.938 * a * a).exp()
    } else {
        1.0 - (-13.436 + 101.14 * a - 223.73 * a * a).exp()
    };
    Some(p.clamp(0.0, 1.0))
}

/// Analysis of variance of the distances from each cell's median (Brown, Forsythe 1974).
fn brown_forsythe(residuals: &Residuals) -> Option<f64> {
    const FEWEST: usize = 3;
    let cells = residuals.cells.iter().max()? + 1;
    let mut groups: Vec<Vec<f64>> = vec![Vec::new(); cells];
    for (value, cell) in residuals.values.iter().zip(&residuals.cells) {
        groups[*cell].push(*value);
    }
    groups.retain(|group| group.len() >= FEWEST);
    if groups.len() < 2 {
        return None;
    }
    for group in &mut groups {
        group.sort_by(f64::total_cmp);
        let median = quantile(group, 0.5)?;
        for value in group.iter_mut() {
            *value = (*value - median).abs();
        }
    }
    one_way(&groups).ok()?.terms.first()?.p
}

/// Externally studentised residuals against the 1 % point for the largest of all (Cook, Weisberg 1982,
/// section 2.2).
fn outliers(residuals: &Residuals) -> Vec<usize> {
    if residuals.degrees_of_freedom < 2 {
        return Vec::new();
    }
    let squares = sum_of_squares(residuals.values.iter().copied());
    let rest_degrees = (residuals.degrees_of_freedom - 1) as f64;
    let count = residuals.values.len() as f64;
    residuals
        .values
        .iter()
        .zip(&residuals.leverages)
        .enumerate()
        .filter(|(_, (value, leverage))| {
            if **leverage >= NEARLY_ONE || squares <= 0.0 {
                return false;
            }
            let own = *value * *value / (1.0 - *leverage);
            // All of the variation in one value: nothing else varies at all.
            let rest = (squares - own).max(f64::EPSILON * squares);
            let t = (own * rest_degrees / rest).sqrt();
            student_two_sided(t, rest_degrees) * count < LEVEL
        })
        .map(|(place, _)| place)
        .collect()
}
