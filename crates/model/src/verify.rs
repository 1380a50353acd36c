//! What one framework says of the first steps of a training: what `bancada verify` compares.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerifyReport {
    pub framework: String,
    pub version: String,
    /// Numbers that are kept: trained ones, and what batch normalisation gathers.
    pub parameters: u64,
    /// Loss of each step's batch before the step; the first is that of the initial weights.
    pub losses: Vec<f64>,
    /// Loss of the first batch after all steps.
    pub last_loss: f64,
    /// Euclidean norm of the first batch's gradient, by name of the parameter.
    pub gradient_norms: BTreeMap<String, f64>,
    /// Euclidean norm of every layer's output on the first batch, in the order of the graph. Empty
    /// where the framework does not let them be seen.
    #[serde(default)]
    pub activation_norms: Vec<LayerNorm>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LayerNorm {
    pub layer: String,
    pub norm: f64,
}
