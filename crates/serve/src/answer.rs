//! What is answered: classes, probabilities and how long the prediction took.

use std::time::Duration;

use serde::Serialize;

use crate::description::{Description, Output};

pub(crate) struct Answer {
    pub(crate) json: Vec<u8>,
    pub(crate) prediction: Duration,
}

#[derive(Serialize)]
struct Whole<'a> {
    model: &'a str,
    #[serde(flatten)]
    said: Said<'a>,
    prediction_ms: f64,
}

/// One image is answered plainly, several in a list.
#[derive(Serialize)]
#[serde(untagged)]
enum Said<'a> {
    One(One<'a>),
    Several { predictions: Vec<One<'a>> },
}

#[derive(Serialize)]
struct One<'a> {
    classes: Vec<Class>,
    probabilities: &'a [f32],
}

#[derive(Serialize)]
struct Class {
    class: String,
    probability: f32,
}

impl Answer {
    pub(crate) fn new(
        model: &str,
        description: &Description,
        images: &[Vec<f32>],
        top: usize,
        prediction: Duration,
    ) -> Answer {
        let one = |probabilities| One {
            classes: likeliest(probabilities, top, description),
            probabilities,
        };
        let said = match images {
            [image] => Said::One(one(image)),
            _ => Said::Several {
                predictions: images.iter().map(|image| one(image)).collect(),
            },
        };
        let whole = Whole {
            model,
            said,
            prediction_ms: milliseconds(prediction),
        };
        Answer {
            // Strings, lists and numbers always can be written.
            json: serde_json::to_vec(&whole).unwrap_or_default(),
            prediction,
        }
    }
}

/// To the microsecond.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e3
}

/// What the description says of the model's answer counts before what the model's own names suggest.
pub(crate) fn probabilities(
    row: &[f32],
    description: &Description,
    are_probabilities: bool,
) -> Vec<f32> {
    match description.output {
        Some(Output::Probabilities) => row.to_vec(),
        Some(Output::Logits) => softmax(row),
        None if are_probabilities => row.to_vec(),
        None => softmax(row),
    }
}

fn softmax(row: &[f32]) -> Vec<f32> {
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f32> = row.iter().map(|value| (value - largest).exp()).collect();
    let sum: f32 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

fn likeliest(probabilities: &[f32], top: usize, description: &Description) -> Vec<Class> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    let class = |index: usize| Class {
        class: description.class(index),
        probability: probabilities[index],
    };
    order.into_iter().take(top).map(class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(description: &str, images: &[Vec<f32>]) -> String {
        let description = Description::parse(description).unwrap();
        let answer = Answer::new("m", &description, images, 2, Duration::from_micros(1234));
        String::from_utf8(answer.json).unwrap()
    }

    #[test]
    fn one_image_and_several() {
        let image = vec![0.25, 0.75];
        assert_eq!(
            answered(
                r#"{"classes": ["cat", "dog"]}"#,
                std::slice::from_ref(&image)
            ),
            r#"{"model":"m","classes":[{"class":"dog","probability":0.75},{"class":"cat","probability":0.25}],"probabilities":[0.25,0.75],"prediction_ms":1.234}"#
        );
        let several = answered("{}", &[image.clone(), image]);
        assert!(
            several.starts_with(r#"{"model":"m","predictions":[{"classes":[{"class":"1","#),
            "{several}"
        );
    }

    #[test]
    fn logits_become_probabilities() {
        let logits = Description::parse(r#"{"output": "logits"}"#).unwrap();
        assert_eq!(probabilities(&[1000.0, 1000.0], &logits, true), [0.5, 0.5]);
        assert_eq!(
            probabilities(&[0.1, 0.9], &Description::default(), true),
            [0.1, 0.9]
        );
    }
}
