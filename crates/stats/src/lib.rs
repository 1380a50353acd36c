//! Numbers in, estimates out: intervals, comparisons, analysis of variance, effects, fits and Pareto sets.
//!
//! Pure functions over slices of `f64`. Nothing here knows units, files or what was measured.
//! No function panics: input that cannot be analysed gives `None` or a [`StatsError`] that says why.
//!
//! Values are taken as the decimal numbers a person or a file wrote (see [`precise`]), so that data with
//! many constant leading digits keep all their digits.

pub mod anova;
pub mod bootstrap;
pub mod compare;
pub mod distribution;
pub mod effects;
pub mod fit;
pub mod levels;
pub mod pareto;
pub mod precise;
pub mod residuals;
pub mod scale;
pub mod special;

mod error;
mod estimate;
mod proportion;
mod sample_size;
mod summary;

pub use anova::{
    Anova, Design, Observation, Options, Residual, ResidualSource, Source, Sums, Term,
};
pub use anova::{factorial, one_way};
pub use bootstrap::{Bootstrap, bootstrap};
pub use compare::{Comparison, Verdict, holm, welch_difference, welch_ratio};
pub use effects::{Effect, Effects2k, effects_2k};
pub use error::StatsError;
pub use estimate::{Estimate, Interval};
pub use fit::{Amdahl, Line, PowerLaw, amdahl, line, power_law};
pub use levels::{LevelFit, LevelPair, level_difference, level_fit, level_mean, level_ratio};
pub use pareto::{Pareto, Point, pareto};
pub use proportion::proportion;
pub use residuals::{ResidualCheck, Residuals, check_residuals, residuals};
pub use sample_size::{repetitions_for, repetitions_for_student};
pub use scale::{Scale, ScaleChoice, choose_scale, choose_scale_factorial};
pub use summary::{Summary, quantile, quantile_interval, summary};
