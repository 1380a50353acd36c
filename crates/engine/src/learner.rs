//! A network, its weights and its optimiser: what one step does, and what it sees.

use model::job::TrainJob;
use model::verify::{LayerMagnitude, Magnitudes};
use network::Weights;

use crate::error::EngineError;
use crate::executor::{DropoutPlace, Executor, Forward, Mode, Watch};
use crate::loss::{Loss, cross_entropy};
use crate::optimizer::Stepper;

pub(crate) struct Learner {
    pub(crate) executor: Executor,
    pub(crate) weights: Weights,
    stepper: Stepper,
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
        let weights = executor.arrange(weights)?;
        let stepper = Stepper::new(job.optimizer.clone(), weights.tensors.len());
        Ok(Learner {
            executor,
            weights,
            stepper,
            seed: job.seed,
            steps: 0,
        })
    }

    /// Forward, backward, better weights; returns the mean loss of the batch before them.
    pub(crate) fn step(&mut self, batch: &Batch) -> Result<f64, EngineError> {
        self.steps += 1;
        let mut forward = self.forward(batch, &mut |_, _| {})?;
        let gathered = std::mem::take(&mut forward.gathered);
        let loss = self.loss(&forward, batch);
        let gradients = self
            .executor
            .backward(&self.weights, forward, &loss.gradient);

        self.stepper.begin_step();
        let tensors = self.weights.tensors.iter_mut().zip(gradients);
        for (index, (tensor, gradient)) in tensors.enumerate() {
            if let Some(gradient) = gradient {
                self.stepper.improve(index, &mut tensor.values, &gradient);
            }
        }
        for new in gathered {
            self.weights.tensors[new.parameter].values = new.values;
        }
        Ok(loss.mean)
    }

    /// As in training, but nothing is changed.
    pub(crate) fn see(&self, batch: &Batch) -> Result<Seen, EngineError> {
        let (mut norms, mut mean_absolutes) = (Magnitudes::default(), Magnitudes::default());
        let forward = self.forward(batch, &mut |layer, values| {
            let of_layer = |value: f64| LayerMagnitude {
                layer: layer.to_owned(),
                value,
            };
            norms.layers.push(of_layer(norm(values)));
            mean_absolutes.layers.push(of_layer(mean_absolute(values)));
        })?;
        let loss = self.loss(&forward, batch);
        let gradients = self
            .executor
            .backward(&self.weights, forward, &loss.gradient);
        for (tensor, gradient) in self.weights.tensors.iter().zip(gradients) {
            if let Some(gradient) = gradient {
                let mean = mean_absolute(&gradient);
                mean_absolutes.gradients.insert(tensor.name.clone(), mean);
                norms.gradients.insert(tensor.name.clone(), norm(&gradient));
            }
        }
        Ok(Seen {
            loss: loss.mean,
            norms,
            mean_absolutes,
        })
    }

    fn forward(&self, batch: &Batch, watch: &mut Watch<'_>) -> Result<Forward, EngineError> {
        let place = DropoutPlace {
            seed: self.seed,
            step: self.steps,
        };
        let mode = Mode::Train { place };
        self.executor
            .watched(&self.weights, &batch.pixels, mode, watch)
    }

    fn loss(&self, forward: &Forward, batch: &Batch) -> Loss {
        let classes = self.executor.graph().classes as usize;
        cross_entropy(&forward.logits, classes, &batch.labels)
    }
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
