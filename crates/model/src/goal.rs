//! What a search looks for, and what it found.

use serde::{Deserialize, Serialize};

use crate::run::RunId;

/// `min cost where time < 2h`: for each task the best choice that keeps the limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// As written.
    pub text: String,
    pub is_max: bool,
    /// `time` and `cost` as in `until`, or the name of a metric.
    pub metric: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<GoalLimit>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GoalLimit {
    pub metric: String,
    /// Below the value, else above it.
    pub is_upper: bool,
    /// Seconds, percent, or the study's currency.
    pub value: f64,
}

/// Written beside the runs when a search ends; nothing is decided by it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    pub goal: String,
    pub scenarios: usize,
    /// Why each run was made, in the order in which they began.
    pub tried: Vec<Tried>,
    pub tasks: Vec<SearchedTask>,
    /// No run could add anything, or all tasks are settled.
    pub is_settled: bool,
    /// Why nothing can be found, whatever else is run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hopeless: Option<Hopeless>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hopeless {
    /// Runs succeed, and none of them has the metric.
    NoValue { metric: String },
    /// What is 5 % better than zero, or than less?
    NotPositive { metric: String },
    /// Every level was tried, and no run succeeded.
    AllFailed,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    pub run: RunId,
    pub why: String,
    /// Only its beginning was carried out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_short: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchedTask {
    /// Levels that say what is to be done; empty where a study has one task.
    pub task: String,
    pub chosen: Option<u32>,
    /// That it is within 5 % of the best of its task.
    pub probability: f64,
}
