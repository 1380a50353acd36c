//! Analysis of variance: which factors explain how much, and is it more than noise?

use crate::distribution::f_sf;
use crate::error::StatsError;

pub(crate) mod alias;
pub(crate) mod balanced;
mod cells;
pub(crate) mod columns;
mod general;
pub(crate) mod reduce;

pub(crate) use cells::{Cell, Cells};
use reduce::Explained;

/// One value, with the level of every factor it was observed at, counted from zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    pub levels: Vec<usize>,
    pub value: f64,
}

/// How many levels each factor has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Design {
    pub levels: Vec<usize>,
}

/// The variation of the values, taken apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Anova {
    /// Main effects in the order of the factors, interactions by order, and last all higher interactions together.
    pub terms: Vec<Term>,
    pub residual: Residual,
    pub total_sum_of_squares: f64,
    /// Mean of all values.
    pub mean: f64,
    pub count: usize,
    /// Every combination of levels has the same number of values.
    pub balanced: bool,
    /// Combinations are repeated, so that the residual is noise and not interaction.
    pub replicated: bool,
    pub sums: Sums,
    /// Share of the variation that the terms explain together.
    pub r_squared: f64,
    /// What of the variation the shares leave over: zero for balanced data. Otherwise terms overlap, and this part
    /// belongs to several of them at once (or is counted twice, where negative).
    pub overlap: f64,
}

/// What one factor, or several together, explain.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    pub source: Source,
    /// The factors, counted from zero: one for a main effect, two for a two-way interaction.
    pub factors: Vec<usize>,
    /// Other interactions that the combinations cannot tell from it: this term is all of them together.
    pub inseparable: Vec<Vec<usize>>,
    pub degrees_of_freedom: usize,
    pub sum_of_squares: f64,
    pub mean_square: f64,
    /// `None` where there is no residual to compare with.
    pub f: Option<f64>,
    pub p: Option<f64>,
    /// Share of the total sum of squares.
    pub share: f64,
}

/// What a term stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Effect,
    /// All interactions above the highest order requested, together.
    HigherOrder,
}

/// What is left.
#[derive(Debug, Clone, PartialEq)]
pub struct Residual {
    pub degrees_of_freedom: usize,
    pub sum_of_squares: f64,
    /// Zero without degrees of freedom.
    pub mean_square: f64,
    pub share: f64,
    pub source: ResidualSource,
}

/// What the residual is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResidualSource {
    /// Differences between repetitions of the same combination.
    Replication,
    /// Nothing, or too little, was repeated: the higher interactions stand in for noise, with what repetitions
    /// there are. F-tests are then too cautious if those interactions are real.
    HigherOrder,
}

/// How the sums of squares were obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sums {
    /// From means: the terms are orthogonal and the sums add up to the total.
    Balanced,
    /// By least squares, each term after all others that do not contain it (type II; Langsrud 2003).
    TypeII,
}

/// Fixed-effects analysis of variance of any factorial, complete or not (Montgomery 2012, chapters 5 and 15).
/// Interactions of up to `max_order` factors get terms of their own; those above are one term together, and so are
/// those that the combinations cannot tell apart.
pub fn factorial(
    design: &Design,
    observations: &[Observation],
    max_order: usize,
) -> Result<Anova, StatsError> {
    let cells = Cells::new(design, observations)?;
    Ok(if cells.balanced {
        balanced::analyse(&cells, max_order)
    } else {
        general::analyse(&cells, max_order)
    })
}

/// As [`factorial`], by least squares even where the data are balanced: the slower way to the same numbers.
pub fn least_squares(
    design: &Design,
    observations: &[Observation],
    max_order: usize,
) -> Result<Anova, StatsError> {
    let cells = Cells::new(design, observations)?;
    Ok(general::analyse(&cells, max_order))
}

/// Analysis of variance of one factor, whose levels are the groups.
pub fn one_way(groups: &[Vec<f64>]) -> Result<Anova, StatsError> {
    let observations: Vec<Observation> = groups
        .iter()
        .enumerate()
        .flat_map(|(level, values)| {
            values.iter().map(move |value| Observation {
                levels: vec![level],
                value: *value,
            })
        })
        .collect();
    let design = Design {
        levels: vec![groups.len()],
    };
    factorial(&design, &observations, 1)
}

impl Anova {
    /// The term of exactly these factors, and no others that it cannot be told from.
    pub fn term(&self, factors: &[usize]) -> Option<&Term> {
        let is_it = |term: &&Term| {
            term.source == Source::Effect && term.factors == factors && term.inseparable.is_empty()
        };
        self.terms.iter().find(is_it)
    }
}

/// A term before it is compared with the residual.
struct RawTerm {
    source: Source,
    factors: Vec<usize>,
    inseparable: Vec<Vec<usize>>,
    explained: Explained,
}

/// Everything the two ways of computing agree on.
struct Parts {
    terms: Vec<RawTerm>,
    residual: Explained,
    residual_source: ResidualSource,
    sums: Sums,
}

impl Parts {
    fn finish(self, cells: &Cells) -> Anova {
        let total = cells.total_sum_of_squares;
        let share = |squares: f64| if total > 0.0 { squares / total } else { 0.0 };
        let Explained {
            degrees_of_freedom,
            sum_of_squares,
        } = self.residual;
        let residual = Residual {
            degrees_of_freedom,
            sum_of_squares,
            mean_square: self.residual.mean_square(),
            share: share(sum_of_squares),
            source: self.residual_source,
        };
        // Below this the residual is rounding of the values, not noise, and F would be noise itself.
        const ROUNDING: f64 = 1e-28;
        let testable =
            residual.degrees_of_freedom > 0 && residual.sum_of_squares > ROUNDING * total;
        let terms: Vec<Term> = self
            .terms
            .into_iter()
            .map(|raw| {
                let Explained {
                    degrees_of_freedom,
                    sum_of_squares,
                } = raw.explained;
                let mean_square = raw.explained.mean_square();
                let f = (testable && degrees_of_freedom > 0)
                    .then(|| mean_square / residual.mean_square);
                let (own, rest) = (degrees_of_freedom, residual.degrees_of_freedom);
                Term {
                    source: raw.source,
                    factors: raw.factors,
                    inseparable: raw.inseparable,
                    degrees_of_freedom,
                    sum_of_squares,
                    mean_square,
                    f,
                    p: f.map(|f| f_sf(f, own as f64, rest as f64)),
                    share: share(sum_of_squares),
                }
            })
            .collect();
        let overlap = match self.sums {
            Sums::TypeII if total > 0.0 => {
                1.0 - residual.share - terms.iter().map(|t| t.share).sum::<f64>()
            }
            _ => 0.0,
        };
        Anova {
            terms,
            r_squared: if total > 0.0 {
                (1.0 - residual.share).max(0.0)
            } else {
                0.0
            },
            residual,
            total_sum_of_squares: total,
            mean: cells.mean,
            count: cells.count(),
            balanced: cells.balanced,
            replicated: cells.replicated,
            sums: self.sums,
            overlap,
        }
    }
}
