//! Everything that is written for people: numbers, names, and sentences about results.

pub(crate) mod answer;
pub(crate) mod billing;
pub(crate) mod breakeven;
pub(crate) mod comparison;
pub(crate) mod energy;
pub mod format;
pub(crate) mod growth;
pub(crate) mod names;
pub(crate) mod pareto;
pub(crate) mod ranking;
pub(crate) mod serving;
pub(crate) mod speedup;
pub(crate) mod target;
mod verbs;
