//! What a model's outputs mean: numbers as they are, or scores of classes. Said by the description file or the
//! command line; else the model's own softmax says it; else an output is returned as it is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{ModelError, Port, Signature};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Meaning {
    /// Returned as it is.
    Raw,
    /// A row of scores for each example, made into probabilities by a softmax.
    Logits,
    /// A row of probabilities for each example.
    Probabilities,
}

impl Meaning {
    fn word(self) -> &'static str {
        match self {
            Meaning::Raw => "raw",
            Meaning::Logits => "logits",
            Meaning::Probabilities => "probabilities",
        }
    }
}

impl std::str::FromStr for Meaning {
    type Err = String;

    fn from_str(text: &str) -> Result<Meaning, String> {
        let all = [Meaning::Raw, Meaning::Logits, Meaning::Probabilities];
        let found = all.into_iter().find(|meaning| meaning.word() == text);
        found.ok_or_else(|| format!("`{text}` is not raw, logits or probabilities"))
    }
}

/// What is said of a model's outputs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Outputs {
    /// Of the only output, or of the one that is called so.
    Only(Meaning),
    /// Only these are answered.
    Named(BTreeMap<String, Meaning>),
}

/// The outputs that are answered, and what they mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answered {
    /// Places in the signature, in its order.
    pub(crate) outputs: Vec<usize>,
    pub(crate) scores: Option<Scores>,
}

/// The output that scores classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scores {
    /// Among those that are answered.
    pub(crate) place: usize,
    pub(crate) are_logits: bool,
    /// How many, where the model says.
    pub(crate) classes: Option<usize>,
}

impl Answered {
    pub(crate) fn new(
        said: Option<&Outputs>,
        signature: &Signature,
    ) -> Result<Answered, ModelError> {
        let meanings = match said {
            None => by_softmax(signature),
            Some(Outputs::Only(meaning)) => of_the_only(*meaning, signature)?,
            Some(Outputs::Named(named)) => by_name(named, signature)?,
        };
        let scores = |&(_, &(_, meaning)): &(usize, &(usize, Meaning))| meaning != Meaning::Raw;
        let mut scoring = meanings.iter().enumerate().filter(scores);
        let first = scoring.next();
        if let (Some((_, (a, _))), Some((_, (b, _)))) = (first, scoring.next()) {
            return Err(ModelError::new(format!(
                "its outputs `{}` and `{}` are both declared to score classes, but only one can: write `raw` for the other",
                signature.outputs[*a].name, signature.outputs[*b].name
            )));
        }
        let scores = first.map(|(place, &(output, meaning))| {
            let port = &signature.outputs[output];
            check_scores(port, meaning).map(|()| Scores {
                place,
                are_logits: meaning == Meaning::Logits,
                classes: port.sizes.get(1).copied().flatten(),
            })
        });
        Ok(Answered {
            scores: scores.transpose()?,
            outputs: meanings.iter().map(|(output, _)| *output).collect(),
        })
    }

    /// Whether every answered output has a row for each example.
    pub(crate) fn has_rows(&self, signature: &Signature) -> bool {
        signature.batched || (self.scores.is_some() && self.outputs.len() == 1)
    }

    pub(crate) fn meaning(&self, place: usize) -> Meaning {
        match self.scores {
            Some(scores) if scores.place == place && scores.are_logits => Meaning::Logits,
            Some(scores) if scores.place == place => Meaning::Probabilities,
            _ => Meaning::Raw,
        }
    }
}

fn by_softmax(signature: &Signature) -> Vec<(usize, Meaning)> {
    let meaning = |place: usize| match signature.softmax == Some(place) {
        true => Meaning::Probabilities,
        false => Meaning::Raw,
    };
    (0..signature.outputs.len())
        .map(|place| (place, meaning(place)))
        .collect()
}

fn of_the_only(
    meaning: Meaning,
    signature: &Signature,
) -> Result<Vec<(usize, Meaning)>, ModelError> {
    if signature.outputs.len() == 1 {
        return Ok(vec![(0, meaning)]);
    }
    let word = meaning.word();
    let mut outputs = signature.outputs.iter();
    let place = outputs.position(|port| port.name == word).ok_or_else(|| {
        ModelError::new(format!(
            "the description's output is `{word}`, but the model has several outputs: write {{\"NAME\": \"{word}\"}} with one \
             of {}",
            signature.outputs_in_words()
        ))
    })?;
    Ok(vec![(place, meaning)])
}

fn by_name(
    named: &BTreeMap<String, Meaning>,
    signature: &Signature,
) -> Result<Vec<(usize, Meaning)>, ModelError> {
    let known = |name: &String| signature.outputs.iter().any(|port| port.name == *name);
    if let Some(unknown) = named.keys().find(|name| !known(name)) {
        return Err(ModelError::new(format!(
            "it has no output `{unknown}`; its outputs are {}",
            signature.outputs_in_words()
        )));
    }
    if named.is_empty() {
        return Err(ModelError::new("no output would be returned"));
    }
    let ports = signature.outputs.iter().enumerate();
    let chosen = ports.filter_map(|(place, port)| Some((place, *named.get(&port.name)?)));
    Ok(chosen.collect())
}

/// Sizes that the model leaves open are checked when it has computed.
fn check_scores(port: &Port, meaning: Meaning) -> Result<(), ModelError> {
    let is_a_row = match &port.sizes[..] {
        [] => true,
        [_] => false,
        [_, _, rest @ ..] => rest.iter().all(|size| matches!(size, None | Some(1))),
    };
    match is_a_row && port.kind.is_float() {
        true => Ok(()),
        false => Err(ModelError::new(format!(
            "its output {} cannot be {}: it needs one row of floating-point numbers per example",
            port.in_words(),
            meaning.word()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Kind;

    fn port(name: &str, sizes: &[Option<usize>]) -> Port {
        Port {
            name: name.to_owned(),
            kind: Kind::Float32,
            sizes: sizes.to_vec(),
        }
    }

    fn signature(outputs: Vec<Port>, softmax: Option<usize>) -> Signature {
        Signature {
            outputs,
            softmax,
            ..Signature::default()
        }
    }

    /// Answered outputs with their meanings, or the problem.
    fn check(said: &str, signature: &Signature, expected: &str) {
        let said: Option<Outputs> = serde_json::from_str(said).unwrap();
        let found = match Answered::new(said.as_ref(), signature) {
            Ok(found) => {
                let named = found.outputs.iter().enumerate().map(|(place, &output)| {
                    (&signature.outputs[output].name, found.meaning(place))
                });
                serde_json::to_string(&named.collect::<BTreeMap<_, _>>()).unwrap()
            }
            Err(problem) => problem.to_string(),
        };
        assert!(found.contains(expected), "{found}");
    }

    #[test]
    fn what_outputs_mean() {
        let one = signature(vec![port("y", &[None, Some(5)])], None);
        check("null", &one, r#"{"y":"raw"}"#);
        check(r#""logits""#, &one, r#"{"y":"logits"}"#);
        check(
            r#"{"y": "probabilities"}"#,
            &one,
            r#"{"y":"probabilities"}"#,
        );
        check(
            r#"{"z": "raw"}"#,
            &one,
            "no output `z`; its outputs are y (FP32, any×5)",
        );
        check("{}", &one, "no output would be returned");

        let ports = vec![
            port("probabilities", &[None, Some(5)]),
            port("logits", &[None, Some(5)]),
        ];
        let two = signature(ports, Some(0));
        check(
            "null",
            &two,
            r#"{"logits":"raw","probabilities":"probabilities"}"#,
        );
        check(r#""logits""#, &two, r#"{"logits":"logits"}"#);
        check(r#""raw""#, &two, "the model has several");
        check(r#"{"logits": "raw"}"#, &two, r#"{"logits":"raw"}"#);
        check(
            r#"{"logits": "logits", "probabilities": "probabilities"}"#,
            &two,
            "`probabilities` and `logits` are both declared to score classes",
        );
    }

    #[test]
    fn only_rows_of_numbers_score_classes() {
        let logits = |sizes: &[Option<usize>], expected: &str| {
            let one = signature(vec![port("y", sizes)], None);
            check(r#""logits""#, &one, expected);
        };
        logits(
            &[Some(1), Some(1000), Some(1), Some(1)],
            r#"{"y":"logits"}"#,
        );
        logits(&[], r#"{"y":"logits"}"#);
        logits(
            &[None, Some(100), Some(4)],
            "y (FP32, any×100×4) cannot be logits",
        );
        logits(&[None], "cannot be logits");
        let mut labels = signature(vec![port("y", &[None, Some(1)])], None);
        labels.outputs[0].kind = Kind::Int64;
        check(r#""logits""#, &labels, "cannot be logits");
    }
}
