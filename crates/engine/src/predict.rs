//! Inference with a trained network.

use network::{Graph, Weights};
use rayon::ThreadPool;

use crate::device::{check_device, threads};
use crate::error::EngineError;
use crate::executor::{Executor, Mode};
use crate::layers::elementwise::softmax_row;
use crate::loss::largest;

pub struct Predictor {
    executor: Executor,
    weights: Weights,
    pool: ThreadPool,
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
        check_device(device_name)?;
        let pool = threads(thread_count)?;
        let executor = Executor::new(graph)?;
        let weights = executor.arrange(weights.clone())?;
        Ok(Predictor {
            executor,
            weights,
            pool,
        })
    }

    /// Any number of images one after the other, as [`data::Images::normalised`] gives them.
    pub fn predict(&self, images: &[f32]) -> Result<Vec<Prediction>, EngineError> {
        if images.is_empty() {
            return Ok(Vec::new());
        }
        let forward = || self.executor.forward(&self.weights, images, Mode::Answer);
        let logits = self.pool.install(forward)?.logits;
        let classes = self.executor.graph().classes as usize;
        let rows = logits.chunks_exact(classes.max(1));
        Ok(rows
            .map(|row| {
                let mut probabilities = row.to_vec();
                softmax_row(&mut probabilities);
                Prediction {
                    class: largest(&probabilities).unwrap_or(0),
                    probabilities,
                }
            })
            .collect())
    }
}
