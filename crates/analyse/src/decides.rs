//! Results of the analysis of variance of a metric.

use messages::{message, word};
use model::RunId;
use serde::Serialize;
use stats::{Estimate, Scale};

/// What decides one metric.
#[derive(Debug, Clone, Serialize)]
pub struct Variation {
    pub metric: String,
    pub label: String,
    /// What nobody asked for is described, not tested.
    pub is_asked: bool,
    pub runs: usize,
    pub scenarios: usize,
    pub scale: Scale,
    pub scale_reason: String,
    /// The largest share first; empty when `problem` says why.
    pub terms: Vec<VariationTerm>,
    pub noise: Option<Noise>,
    /// Whether the model may be trusted, in a sentence.
    pub residuals: String,
    /// Unknown where too few runs are repeated.
    pub residuals_fine: Option<bool>,
    /// Runs far from the other repetitions of their scenario.
    pub outliers: Vec<RunId>,
    pub effects: Vec<LevelEffect>,
    /// The time's variation in other words: the same factors with nearly the same shares.
    pub follows_time: bool,
    /// What was missing or assumed: cells without runs, no repetitions.
    pub assumptions: Vec<String>,
    #[serde(skip)]
    pub tasks: usize,
    /// Of studies with several tasks; none for a task that no choice matters for.
    #[serde(skip)]
    pub first_choices: Vec<FirstChoice>,
    /// Why there is no table.
    pub problem: Option<String>,
}

impl Variation {
    /// `Logarithmic model: effects are multiplicative rather than additive (…).`
    pub fn model_sentence(&self) -> String {
        let reason = self.scale_reason.trim_end_matches('.');
        let why = if reason.is_empty() { "none" } else { "some" };
        match self.scale {
            Scale::Linear => message!("model-linear", why, reason),
            Scale::Logarithmic => message!("model-logarithmic", why, reason),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct VariationTerm {
    /// One factor, or two whose effects depend on each other; none for all larger groups together, and for those of
    /// `any_of`.
    pub factors: Vec<String>,
    /// Interactions that the measured combinations cannot tell apart: one of them, or several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub any_of: Vec<Vec<String>>,
    /// Of all variation, a fraction.
    pub share: f64,
    pub degrees_of_freedom: usize,
    pub sum_of_squares: f64,
    /// Of the usual analysis of variance (type II), uncorrected.
    pub f: Option<f64>,
    pub p: Option<f64>,
    /// Of the test behind the verdict, which does not suppose equal spread, corrected for all
    /// questions of the study: comparable with the error rate of all effects (docs/statistics.md).
    pub adjusted_p: Option<f64>,
    pub verdict: Verdict,
    /// Repetitions of every scenario that would probably decide it, where it is inconclusive.
    pub repetitions: Option<usize>,
    /// A factor with whose levels the effect changes its direction: it is stated for each of them.
    pub reversed_by: Option<String>,
    /// A choice whose levels are practically equal for every task.
    #[serde(skip)]
    pub is_free: bool,
    /// What it means: `64 px takes 2.9× as long as 32 px [2.8, 3.0]`.
    pub sentence: Option<String>,
}

impl VariationTerm {
    /// `image × network`; `batch × stack or image × network`.
    pub fn name(&self) -> String {
        match (self.factors.is_empty(), self.any_of.is_empty()) {
            (false, _) => interaction(&self.factors),
            (true, false) => one_of(&self.any_of),
            (true, true) => word!("interactions-of-three").to_owned(),
        }
    }

    /// `None` where it cannot be told whose it is.
    pub fn share(&self) -> Option<f64> {
        let is_known = self.degrees_of_freedom > 0 && self.verdict != Verdict::NotEstimable;
        is_known.then_some(self.share)
    }

    /// Whether it is, or may be, about this factor.
    pub(crate) fn may_concern(&self, factor: &str) -> bool {
        let is_nameless = self.factors.is_empty() && self.any_of.is_empty();
        let mut named = self.any_of.iter().flatten().chain(&self.factors);
        is_nameless || named.any(|name| name == factor)
    }
}

fn interaction(factors: &[String]) -> String {
    factors.join(" × ")
}

/// `batch × stack or image × network`.
pub(crate) fn one_of(interactions: &[Vec<String>]) -> String {
    /// More are a list that nobody reads.
    const MOST: usize = 4;
    if interactions.len() > MOST {
        return word!("interactions-any").to_owned();
    }
    let names = interactions.iter().map(|factors| interaction(factors));
    let or = |first: String, next: String| message!("interaction-or", first, next);
    names.reduce(or).unwrap_or_default()
}

/// What to look at first for one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstChoice {
    /// Its levels.
    pub task: String,
    pub factor: String,
}

/// What may be said of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Different,
    /// The whole interval is within the margin of the study.
    PracticallyEqual,
    /// The data leave both open.
    Inconclusive,
    /// One repetition, missing combinations, or nothing that varies.
    NotEstimable,
    /// Of a metric that nobody asked for.
    Described,
}

impl Verdict {
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Different => word!("verdict-different"),
            Verdict::PracticallyEqual => word!("verdict-equal"),
            Verdict::Inconclusive => word!("verdict-inconclusive"),
            Verdict::NotEstimable => word!("verdict-not-estimable"),
            Verdict::Described => word!("verdict-described"),
        }
    }

    pub fn is_different(self) -> bool {
        self == Verdict::Different
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct Noise {
    pub share: f64,
    pub degrees_of_freedom: usize,
    pub sum_of_squares: f64,
    /// How much repetitions of one scenario differ: a fraction on the logarithmic scale, the
    /// metric's unit on the linear one.
    pub typical: f64,
    /// Less than what counts as equal.
    #[serde(skip)]
    pub is_small: bool,
}

/// One level against the first level of its factor.
#[derive(Debug, Clone, Serialize)]
pub struct LevelEffect {
    pub factor: String,
    pub level: String,
    pub baseline: String,
    pub comparison: Comparison,
    pub estimate: Estimate,
    pub verdict: Verdict,
    pub sentence: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// Level over baseline.
    Ratio,
    /// Level minus baseline, in the metric's unit.
    Difference,
}
