//! Numbers in, estimates out: intervals, comparisons, analysis of variance, fits and Pareto sets.
//!
//! Pure functions over slices of `f64`. Nothing here knows units, files or what was measured.
//! No function panics: input that cannot be analysed gives `None` or a [`StatsError`] that says why.
//!
//! Values are taken as the decimal numbers a person or a file wrote (see [`precise`]), so that data with
//! many constant leading digits keep all their digits.

pub mod anova;
pub mod cell_means;
pub mod compare;
pub mod dependence;
pub mod distribution;
pub mod family;
pub mod fit;
pub mod pareto;
pub mod precise;
pub mod residuals;
pub mod scale;
pub mod special;

mod blocked;
mod error;
mod estimate;
mod grid;
mod interleaving;
mod prediction;
mod proportion;
mod ranking;
mod rounding;
mod sample_size;
mod stability;
mod summary;

pub use anova::{Anova, Design, Observation, Residual, ResidualSource, Source, Sums, Term};
pub use anova::{factorial, one_way};
pub use blocked::{InBlock, Samples, blocks_differ, paired_contrast};
pub use cell_means::{At, Blocks, CellMeans, Contrast, LevelPair, TermTest};
pub use compare::{Comparison, Sample, Verdict};
pub use compare::{
    welch_contrast, welch_difference, welch_difference_of, welch_ratio, welch_ratio_of,
};
pub use dependence::{Dependence, InOrder, Widened, dependence, widened};
pub use error::StatsError;
pub use estimate::{Estimate, Interval};
pub use family::{Answer, Question, weighted_holm};
pub use fit::slope;
pub use grid::{rounding_variance, step_of};
pub use interleaving::Interleaving;
pub use pareto::pareto;
pub use prediction::{LogMoments, LogSpread, next_at_most, next_in_block_at_most, normal};
pub use proportion::{chance_of_so_many, proportion};
pub use ranking::{Ranked, RankedBehind, rank_lowest, rank_lowest_of};
pub use residuals::{ResidualCheck, Residuals, check_residuals, residuals};
pub use rounding::{Steps, billed_mean};
pub use sample_size::{Decision, Spread, repetitions_for, repetitions_to_decide};
pub use scale::{Scale, ScaleChoice, ScaleReason, choose_scale};
pub use stability::{chance_of_lowest, chance_of_lowest_of};
pub use summary::{Summary, percentile, quantile, summary, summary_of_alike};
