//! What the server needs of a model; ONNX Runtime and the embedded engine are two of them.

use std::fmt;

use crate::tensor::{Kind, Tensor};

/// A model that was read, and can be asked by several threads with a predictor each.
pub trait Model: Send + Sync {
    fn signature(&self) -> &Signature;

    /// One that computes with so many threads.
    fn predictor(&self, threads: usize) -> Result<Box<dyn Predictor>, ModelError>;
}

pub trait Predictor: Send {
    /// The inputs in the signature's order → the wanted outputs, by their places in the signature.
    fn predict(&mut self, inputs: &[Tensor], wanted: &[usize]) -> Result<Vec<Tensor>, ModelError>;
}

/// What a model says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signature {
    pub inputs: Vec<Port>,
    pub outputs: Vec<Port>,
    /// Whether the first size of every input and output counts the same examples.
    pub batched: bool,
    /// The output that is computed by a softmax over classes, where there is exactly one.
    pub softmax: Option<usize>,
    /// Whether its weights are known to be drawn, not trained.
    pub untrained: bool,
    /// The runtime that computes it.
    pub runtime: String,
}

/// An input or an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    pub name: String,
    pub kind: Kind,
    /// `None` if any size will do. Empty for a single number, or where the model says nothing of its shape.
    pub sizes: Vec<Option<usize>>,
}

impl Signature {
    /// The input of a model that has one.
    pub(crate) fn only_input(&self) -> Option<&Port> {
        match &self.inputs[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// `ids (INT64, any×any), mask (INT64, any×any)`.
    pub(crate) fn inputs_in_words(&self) -> String {
        in_words(&self.inputs)
    }

    pub(crate) fn outputs_in_words(&self) -> String {
        in_words(&self.outputs)
    }
}

fn in_words(ports: &[Port]) -> String {
    let words: Vec<String> = ports.iter().map(Port::in_words).collect();
    words.join(", ")
}

impl Port {
    /// `any_examples` where the first size counts examples, and more of them are computed one by one.
    pub(crate) fn accepts(&self, shape: &[usize], any_examples: bool) -> bool {
        let fits = |(place, (own, size)): (usize, (&Option<usize>, &usize))| {
            own.is_none_or(|own| own == *size) || (any_examples && place == 0)
        };
        self.sizes.is_empty()
            || (self.sizes.len() == shape.len()
                && self.sizes.iter().zip(shape).enumerate().all(fits))
    }

    pub(crate) fn sizes_in_words(&self) -> String {
        let size = |size: &Option<usize>| size.map_or("any".to_owned(), |size| size.to_string());
        match &self.sizes[..] {
            [] => "no shape given".to_owned(),
            sizes => sizes.iter().map(size).collect::<Vec<_>>().join("×"),
        }
    }

    pub(crate) fn in_words(&self) -> String {
        format!(
            "{} ({}, {})",
            self.name,
            self.kind.name(),
            self.sizes_in_words()
        )
    }
}

/// Why a model cannot be read or asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ModelError(String);

impl ModelError {
    pub fn new(problem: impl fmt::Display) -> Self {
        ModelError(problem.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_those_of_the_model() {
        let port = Port {
            name: "x".to_owned(),
            kind: Kind::Float32,
            sizes: vec![Some(1), Some(3), None, Some(8)],
        };
        assert!(port.accepts(&[5, 3, 9, 8], true));
        assert!(!port.accepts(&[5, 3, 9, 8], false));
        assert!(port.accepts(&[1, 3, 9, 8], false));
        assert!(!port.accepts(&[1, 1, 9, 8], true));
        assert!(!port.accepts(&[1, 3, 9], true));
        assert_eq!(port.in_words(), "x (FP32, 1×3×any×8)");
    }
}
