//! What one framework says of the first steps of a training: what `bancada verify` compares.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerifyReport {
    pub framework: String,
    pub version: String,
    /// Numbers that are trained.
    pub parameters: u64,
    /// Loss of each step's batch before the step; the first is that of the initial weights.
    #[serde(deserialize_with = "numbers")]
    pub losses: Vec<f64>,
    /// Loss of the first batch after all steps.
    #[serde(deserialize_with = "number")]
    pub last_loss: f64,
    /// Euclidean norms; empty where the framework does not show them.
    #[serde(default)]
    pub norms: Magnitudes,
    /// Means of absolute values, which Caffe logs and others need not report.
    #[serde(default)]
    pub mean_absolutes: Magnitudes,
}

/// How large gradients and outputs of the first batch are, by one measure. The layout of a tensor,
/// which differs between frameworks, does not matter to it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Magnitudes {
    /// Of every trained parameter's gradient, by name of the parameter.
    #[serde(deserialize_with = "named_numbers")]
    pub gradients: BTreeMap<String, f64>,
    /// Of every layer's output, in the order of the graph. Empty where the framework does not let
    /// them be seen.
    #[serde(default)]
    pub layers: Vec<LayerMagnitude>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LayerMagnitude {
    pub layer: String,
    #[serde(deserialize_with = "number")]
    pub value: f64,
}

/// JSON has no word for what is not a number, and says `null`.
fn number<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Option::deserialize(from).map(or_none)
}

fn numbers<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    let told: Vec<Option<f64>> = Vec::deserialize(from)?;
    Ok(told.into_iter().map(or_none).collect())
}

fn named_numbers<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let told: BTreeMap<String, Option<f64>> = BTreeMap::deserialize(from)?;
    let told = told.into_iter();
    Ok(told.map(|(name, value)| (name, or_none(value))).collect())
}

fn or_none(value: Option<f64>) -> f64 {
    value.unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_goes_through_json() {
        let report = VerifyReport {
            framework: "jax".to_owned(),
            version: "1".to_owned(),
            parameters: 2,
            losses: vec![2.5, f64::NAN],
            last_loss: f64::INFINITY,
            norms: Magnitudes {
                gradients: BTreeMap::from([("a".to_owned(), f64::NAN), ("b".to_owned(), 1.5)]),
                layers: vec![LayerMagnitude {
                    layer: "relu".to_owned(),
                    value: f64::NAN,
                }],
            },
            mean_absolutes: Magnitudes::default(),
        };
        let text = serde_json::to_string(&report).unwrap();
        let read: VerifyReport = serde_json::from_str(&text).unwrap();
        assert_eq!(read.losses[0], 2.5);
        assert_eq!(read.norms.gradients["b"], 1.5);
        let none = [
            read.losses[1],
            read.last_loss,
            read.norms.gradients["a"],
            read.norms.layers[0].value,
        ];
        assert!(none.iter().all(|value| value.is_nan()), "{text}");
    }
}
