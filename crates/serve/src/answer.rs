//! What is answered: classes with their probabilities, other outputs as they are, and how long the prediction took.

use std::time::Duration;

use serde::Serialize;

use crate::description::Description;
use crate::meaning::{Answered, Scores};
use crate::model::{ModelError, Signature};
use crate::tensor::{Tensor, Values};

pub(crate) struct Answer {
    pub(crate) json: Vec<u8>,
    pub(crate) prediction: Duration,
}

/// A model, as its answers are written.
pub(crate) struct Writer<'m> {
    pub(crate) model: &'m str,
    pub(crate) description: &'m Description,
    pub(crate) signature: &'m Signature,
    pub(crate) answered: &'m Answered,
    pub(crate) untrained: bool,
    /// Likeliest classes.
    pub(crate) top: usize,
}

#[derive(Serialize)]
struct Whole<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<&'static str>,
    #[serde(flatten)]
    scored: Option<Scored>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outputs: Vec<Raw<'a>>,
    prediction_ms: f64,
}

/// One example is answered plainly, several in a list.
#[derive(Serialize)]
#[serde(untagged)]
enum Scored {
    One(One),
    Several { predictions: Vec<One> },
}

#[derive(Serialize)]
struct One {
    classes: Vec<Class>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_classes: Option<Others>,
    probabilities: Vec<f32>,
}

#[derive(Serialize)]
struct Class {
    class: String,
    probability: f32,
}

/// Those that are not among the likeliest.
#[derive(Serialize)]
struct Others {
    count: usize,
    probability: f32,
}

/// An output as it is, written as in the Open Inference Protocol.
#[derive(Serialize)]
struct Raw<'a> {
    name: &'a str,
    datatype: &'static str,
    shape: &'a [usize],
    data: &'a Values,
}

impl Writer<'_> {
    /// The answered outputs of one request.
    pub(crate) fn answer(
        &self,
        outputs: &[Tensor],
        prediction: Duration,
    ) -> Result<Answer, ModelError> {
        let place = self.answered.scores.map(|scores| scores.place);
        let raw = outputs
            .iter()
            .enumerate()
            .filter(|(at, _)| Some(*at) != place);
        let raw = raw.map(|(at, tensor)| Raw {
            name: &self.signature.outputs[self.answered.outputs[at]].name,
            datatype: tensor.values().kind().name(),
            shape: tensor.shape(),
            data: tensor.values(),
        });
        let scored = self.answered.scores;
        let scored = scored.map(|scores| self.scored(scores, &outputs[scores.place]));
        let whole = Whole {
            model: self.model,
            weights: self.untrained.then_some("untrained"),
            scored: scored.transpose()?,
            outputs: raw.collect(),
            prediction_ms: milliseconds(prediction),
        };
        Ok(Answer {
            // Strings, lists and numbers always can be written.
            json: serde_json::to_vec(&whole).unwrap_or_default(),
            prediction,
        })
    }

    fn scored(&self, scores: Scores, output: &Tensor) -> Result<Scored, ModelError> {
        let rows = rows(output)?;
        let mut examples: Vec<One> = rows
            .into_iter()
            .map(|row| self.one(&probabilities(row, scores)))
            .collect();
        Ok(match examples.len() {
            1 => Scored::One(examples.remove(0)),
            _ => Scored::Several {
                predictions: examples,
            },
        })
    }

    fn one(&self, probabilities: &[f64]) -> One {
        let mut order: Vec<usize> = (0..probabilities.len()).collect();
        order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
        let (likeliest, others) = order.split_at(self.top.min(order.len()));
        let class = |&index: &usize| Class {
            class: self.description.class(index),
            probability: probabilities[index] as f32,
        };
        let sum = |others: &[usize]| {
            others
                .iter()
                .map(|&index| probabilities[index])
                .sum::<f64>()
        };
        One {
            classes: likeliest.iter().map(class).collect(),
            other_classes: (!others.is_empty()).then(|| Others {
                count: others.len(),
                probability: sum(others) as f32,
            }),
            // Rounded one by one, they sum to 1 within 6e-8.
            probabilities: probabilities.iter().map(|&one| one as f32).collect(),
        }
    }
}

/// To the microsecond.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e3
}

/// The scores of each example.
fn rows(output: &Tensor) -> Result<Vec<Vec<f64>>, ModelError> {
    let is_a_row = match output.shape() {
        [] | [_] => false,
        [_, _, rest @ ..] => rest.iter().all(|&size| size == 1),
    };
    let scores = output.values().scores().filter(|_| is_a_row);
    let scores = scores.ok_or_else(|| {
        ModelError::new(format!(
            "its scores have the shape {:?}, not one row per example",
            output.shape()
        ))
    })?;
    if scores.iter().any(|score| !score.is_finite()) {
        return Err(ModelError::new("its scores are not finite"));
    }
    match output.shape()[1] {
        0 => Err(ModelError::new("it scores no classes")),
        classes => Ok(scores.chunks_exact(classes).map(<[f64]>::to_vec).collect()),
    }
}

/// Rounding puts sums of a softmax off by less; sums of independent probabilities are off by more.
const ROUNDING: f64 = 1e-3;

fn probabilities(row: Vec<f64>, scores: Scores) -> Vec<f64> {
    let powers = match scores.are_logits {
        true => {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter().map(|score| (score - largest).exp()).collect()
        }
        false => row,
    };
    let sum: f64 = powers.iter().sum();
    match scores.are_logits || (sum - 1.0).abs() < ROUNDING {
        true => powers.into_iter().map(|power| power / sum).collect(),
        false => powers,
    }
}

#[cfg(test)]
mod tests;
