//! Do the residuals look like noise? Normality, equal spread, outliers.

use serde::{Deserialize, Serialize};

use crate::anova::{Design, Observation, Options};
use crate::error::StatsError;

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResidualCheck {
    /// Probability of such a departure from normal if they were normal (Anderson–Darling); needs 8 values.
    pub normality_p: Option<f64>,
    /// Probability of such differences of spread between cells if there were none (Brown–Forsythe); needs
    /// replication.
    pub spread_p: Option<f64>,
    /// Observations that the rest of the data make incredible, by index.
    pub outliers: Vec<usize>,
    /// Nothing above speaks against the model at 1 %.
    pub fine: bool,
    pub method: String,
}

/// Residuals of the model that [`crate::factorial`] fits.
pub fn residuals(
    design: &Design,
    observations: &[Observation],
    options: Options,
) -> Result<Residuals, StatsError> {
    let _ = (design, observations, options);
    Err(StatsError::NoSpread)
}

pub fn check_residuals(residuals: &Residuals) -> ResidualCheck {
    let _ = residuals;
    ResidualCheck {
        normality_p: None,
        spread_p: None,
        outliers: Vec::new(),
        fine: true,
        method: String::new(),
    }
}
