use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::LanguageArgs;
use crate::completion;

/// Two sides.
#[derive(Debug, ClapArgs)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    /// A study file or a results folder; with a scenario, PATH:C1 or PATH:batch=32
    #[arg(value_name = "A", add = completion::sides())]
    pub(crate) first: PathBuf,
    /// The same; `C2` or `batch=64` alone is a scenario of A
    #[arg(value_name = "B", add = completion::second_sides())]
    pub(crate) second: PathBuf,
    /// After a study and a scenario of it: the other scenario
    #[arg(value_name = "SCENARIO", add = completion::second_sides())]
    pub(crate) third: Option<PathBuf>,
    /// What to compare: time, cost, accuracy, p99, or a metric of the workload's own
    #[arg(long, value_name = "NAME")]
    pub(crate) metric: Option<String>,
    /// Percentage within which a difference counts as none [default: that of A's study, or 2]
    #[arg(long, value_name = "PERCENT")]
    pub(crate) margin: Option<f64>,
    /// Exit with code 7 if B is worse or fails more often; `unproven`: also if the data leave it open
    #[arg(long, value_name = "WHEN", num_args = 0..=1, default_missing_value = "worse")]
    pub(crate) gate: Option<Gate>,
    /// How to print the answer
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    pub(crate) format: CompareFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Gate {
    Worse,
    Unproven,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    Text,
    /// For a pull request
    Markdown,
    Json,
}
