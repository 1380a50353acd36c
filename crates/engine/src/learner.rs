//! A network, its weights and its optimiser: what one step does, and what it sees.

use burn_tensor::{Tensor, TensorData};
use model::job::TrainJob;
use model::verify::{LayerMagnitude, Magnitudes};
use network::Weights;

use crate::error::EngineError;
use crate::executor::{DropoutPlace, Executor, Forward, Mode, Watch};
use crate::loss::cross_entropy;
use crate::optimizer::Stepper;
use crate::parameters::{Parameters, numbers};
use crate::predict::input_shape;

pub(crate) struct Learner {
    pub(crate) executor: Executor,
    pub(crate) parameters: Parameters,
    stepper: Stepper,
    pub(crate) input: [usize; 3],
    seed: u64,
    pub(crate) steps: u64,
}

/// Images as a network sees them, one after the other, with their labels.
pub(crate) struct Batch {
    pub(crate) pixels: Vec<f32>,
    pub(crate) labels: Vec<u16>,
}

/// What one batch shows without anything being learnt from it.
pub(crate) struct Seen {
    pub(crate) loss: f64,
    pub(crate) norms: Magnitudes,
    pub(crate) mean_absolutes: Magnitudes,
}

impl Learner {
    /// Starts from the job's weights, or from those its seed gives.
    pub(crate) fn new(job: &TrainJob, executor: Executor) -> Result<Self, EngineError> {
        let weights = match &job.weights {
            Some(path) => crate::checkpoint::load(path)?,
            None => network::initial_weights(executor.graph(), job.seed),
        };
        Learner::with_weights(job, executor, &weights)
    }

    fn with_weights(
        job: &TrainJob,
        executor: Executor,
        weights: &Weights,
    ) -> Result<Self, EngineError> {
        let parameters = Parameters::new(executor.graph(), weights, executor.device())?;
        let stepper = Stepper::new(job.optimizer.clone(), parameters.all.len());
        let input = input_shape(executor.graph())?;
        Ok(Learner {
            executor,
            parameters,
            stepper,
            input,
            seed: job.seed,
            steps: 0,
        })
    }

    /// Forward, backward, better weights; returns the mean loss of the batch before them.
    pub(crate) fn step(&mut self, batch: Batch) -> Result<f64, EngineError> {
        self.steps += 1;
        let leaves = self.parameters.as_leaves();
        let (forward, labels) = self.forward(&leaves, batch, &mut |_, _| Ok(()))?;
        let loss = cross_entropy(forward.logits, &labels, self.executor.device());
        let mut gradients = loss.backward();

        self.stepper.begin_step();
        for (index, leaf) in leaves.all.into_iter().enumerate() {
            let gradient = leaf.values.grad_remove(&mut gradients);
            drop(leaf);
            if let (Some(gradient), Some(parameter)) =
                (gradient, self.parameters.all.get_mut(index))
            {
                let values = parameter.values.extract();
                parameter.values = self.stepper.improve(index, values, gradient);
            }
        }
        for gathered in forward.gathered {
            if let Some(parameter) = self.parameters.all.get_mut(gathered.parameter) {
                parameter.values = gathered.values;
            }
        }
        only_number(loss)
    }

    /// As in training, but nothing is changed.
    pub(crate) fn see(&self, batch: Batch) -> Result<Seen, EngineError> {
        let leaves = self.parameters.as_leaves();
        let (mut norms, mut mean_absolutes) = (Magnitudes::default(), Magnitudes::default());
        let (forward, labels) = self.forward(&leaves, batch, &mut |layer, activation| {
            let numbers = activation.numbers()?;
            let of_layer = |value: f64| LayerMagnitude {
                layer: layer.to_owned(),
                value,
            };
            norms.layers.push(of_layer(norm(&numbers)));
            let mean = mean_absolute(&numbers);
            mean_absolutes.layers.push(of_layer(mean));
            Ok(())
        })?;
        let loss = cross_entropy(forward.logits, &labels, self.executor.device());
        let mut gradients = loss.backward();
        for leaf in leaves.all {
            if let Some(gradient) = leaf.values.grad_remove(&mut gradients) {
                let numbers = numbers(gradient)?;
                let mean = mean_absolute(&numbers);
                mean_absolutes.gradients.insert(leaf.name.clone(), mean);
                norms.gradients.insert(leaf.name, norm(&numbers));
            }
        }
        Ok(Seen {
            loss: only_number(loss)?,
            norms,
            mean_absolutes,
        })
    }

    fn forward(
        &self,
        leaves: &Parameters,
        batch: Batch,
        watch: &mut Watch<'_>,
    ) -> Result<(Forward, Vec<u16>), EngineError> {
        let [channels, height, width] = self.input;
        let shape = [batch.labels.len(), channels, height, width];
        let pixels = TensorData::new(batch.pixels, shape);
        let input = Tensor::<4>::from_data(pixels, self.executor.device()).autodiff();
        let mode = Mode::Train {
            place: DropoutPlace {
                seed: self.seed,
                step: self.steps,
            },
        };
        let forward = self.executor.watched(leaves, input, &mode, watch)?;
        Ok((forward, batch.labels))
    }
}

fn only_number(loss: Tensor<1>) -> Result<f64, EngineError> {
    let loss = numbers(loss)?;
    Ok(loss.first().map_or(f64::NAN, |&loss| f64::from(loss)))
}

/// Euclidean, summed in double precision.
fn norm(values: &[f32]) -> f64 {
    let squares = values.iter().map(|&value| f64::from(value).powi(2));
    squares.sum::<f64>().sqrt()
}

/// Of no values it is not a number.
fn mean_absolute(values: &[f32]) -> f64 {
    let absolutes = values.iter().map(|&value| f64::from(value).abs());
    absolutes.sum::<f64>() / values.len() as f64
}
