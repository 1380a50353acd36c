//! Inference with a trained network.

use burn_tensor::{Tensor, TensorData, activation};
use network::{Graph, Shape, Weights};
use rayon::ThreadPool;

use crate::device::{device, threads};
use crate::error::EngineError;
use crate::executor::{Executor, Mode};
use crate::loss::largest;
use crate::parameters::{Parameters, numbers};

pub struct Predictor {
    executor: Executor,
    parameters: Parameters,
    pool: ThreadPool,
    input: [usize; 3],
}

#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The likeliest class.
    pub class: usize,
    /// Of every class; they sum to 1.
    pub probabilities: Vec<f32>,
}

impl Predictor {
    /// `device` and `threads` as in a training job.
    pub fn new(
        graph: Graph,
        weights: &Weights,
        device_name: &str,
        thread_count: Option<u32>,
    ) -> Result<Self, EngineError> {
        let device = device(device_name)?;
        let pool = threads(thread_count)?;
        let executor = Executor::new(graph, device)?;
        let parameters = Parameters::new(executor.graph(), weights, executor.device())?;
        let input = input_shape(executor.graph())?;
        Ok(Predictor {
            executor,
            parameters,
            pool,
            input,
        })
    }

    /// Any number of images one after the other, as [`data::Images::normalised`] gives them.
    pub fn predict(&self, images: &[f32]) -> Result<Vec<Prediction>, EngineError> {
        if images.is_empty() {
            return Ok(Vec::new());
        }
        let values = self.pool.install(|| {
            let logits = answer(
                &self.executor,
                &self.parameters,
                images.to_vec(),
                self.input,
            )?;
            numbers(activation::softmax(logits, 1))
        })?;
        let classes = self.executor.graph().classes as usize;
        let rows = values.chunks_exact(classes.max(1));
        Ok(rows
            .map(|row| Prediction {
                class: largest(row).unwrap_or(0),
                probabilities: row.to_vec(),
            })
            .collect())
    }
}

/// [channels, height, width] of a checked graph's input.
pub(crate) fn input_shape(graph: &Graph) -> Result<[usize; 3], EngineError> {
    let wrong = |problem: &str| EngineError::Graph {
        node: graph.name.clone(),
        problem: problem.to_owned(),
    };
    match graph.nodes.first().map(|node| node.shape) {
        Some(Shape::Image {
            channels,
            height,
            width,
        }) => Ok([channels, height, width].map(|side| side as usize)),
        Some(Shape::Vector { .. }) => Err(wrong("its input is not an image")),
        None => Err(wrong("it has no layers")),
    }
}

/// Logits of a batch of normalised images, with the gathered statistics and without dropout.
pub(crate) fn answer(
    executor: &Executor,
    parameters: &Parameters,
    images: Vec<f32>,
    [channels, height, width]: [usize; 3],
) -> Result<Tensor<2>, EngineError> {
    let one = (channels * height * width).max(1);
    if !images.len().is_multiple_of(one) {
        let problem = format!(
            "has {} values, not a multiple of the {one} of an image",
            images.len()
        );
        return Err(EngineError::Setting {
            name: "images",
            problem,
        });
    }
    let data = TensorData::new(
        images.clone(),
        [images.len() / one, channels, height, width],
    );
    let input = Tensor::<4>::from_data(data, executor.device());
    Ok(executor.forward(parameters, input, &Mode::Answer)?.logits)
}
