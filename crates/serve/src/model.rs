//! What the server needs of a model; ONNX Runtime and the embedded engine are two of them.

use std::fmt;

use crate::tensor::Tensor;

/// A model that was read, and can be asked by several threads with a predictor each.
pub trait Model: Send + Sync {
    fn signature(&self) -> &Signature;

    /// One that computes with so many threads.
    fn predictor(&self, threads: usize) -> Result<Box<dyn Predictor>, ModelError>;
}

pub trait Predictor: Send {
    /// [images, …] → [images, classes].
    fn predict(&mut self, input: &Tensor) -> Result<Tensor, ModelError>;
}

/// What a model says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Sizes of the input, images first; none where any will do.
    pub input: Vec<Option<usize>>,
    /// Where the model tells.
    pub classes: Option<usize>,
    /// Whether its answer is known to be probabilities.
    pub probabilities: bool,
    /// The runtime that computes it.
    pub runtime: String,
}

impl Signature {
    pub(crate) fn accepts(&self, shape: &[usize]) -> bool {
        let sizes = self.input.iter().zip(shape).skip(1);
        self.input.len() == shape.len()
            && sizes
                .into_iter()
                .all(|(own, &size)| own.is_none_or(|own| own == size))
    }

    pub(crate) fn in_words(&self) -> String {
        let size = |size: &Option<usize>| size.map_or("any".to_owned(), |size| size.to_string());
        self.input.iter().map(size).collect::<Vec<_>>().join("×")
    }
}

/// Why a model cannot be read or asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelError(String);

impl ModelError {
    pub fn new(problem: impl fmt::Display) -> Self {
        ModelError(problem.to_string())
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ModelError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_images_and_the_sizes_of_the_model() {
        let signature = Signature {
            input: vec![Some(1), Some(3), None, Some(8)],
            classes: None,
            probabilities: false,
            runtime: String::new(),
        };
        assert!(signature.accepts(&[5, 3, 9, 8]));
        assert!(!signature.accepts(&[1, 1, 9, 8]));
        assert!(!signature.accepts(&[1, 3, 9]));
        assert_eq!(signature.in_words(), "1×3×any×8");
    }
}
