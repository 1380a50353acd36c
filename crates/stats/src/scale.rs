//! Linear or logarithmic: on which scale do the data fit a simple model?

use serde::{Deserialize, Serialize};

use crate::anova::{Design, Observation};
use crate::error::StatsError;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    Linear,
    Log,
}

/// The scale to analyse on, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScaleChoice {
    pub scale: Scale,
    /// One sentence part for a reader: "values span a factor of 12, and …".
    pub reason: String,
    /// By how much the logarithm is the more likely scale, in natural-log likelihood; `None` where it cannot be
    /// compared.
    pub log_likelihood_gain: Option<f64>,
    /// Largest over smallest cell mean, where all values are above zero.
    pub ratio: Option<f64>,
}

/// From the values of each cell alone.
pub fn choose_scale(cells: &[Vec<f64>]) -> ScaleChoice {
    let _ = cells;
    ScaleChoice {
        scale: Scale::Linear,
        reason: String::new(),
        log_likelihood_gain: None,
        ratio: None,
    }
}

/// From the additive model of all factors: effects that multiply become additive on the logarithm.
pub fn choose_scale_factorial(
    design: &Design,
    observations: &[Observation],
) -> Result<ScaleChoice, StatsError> {
    let _ = (design, observations);
    Ok(choose_scale(&[]))
}
