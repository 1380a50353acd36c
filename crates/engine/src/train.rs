//! One training job from its file to a saved network.

use std::time::Instant;

use burn_tensor::{Tensor, TensorData};
use data::{DataRequest, Dataset, Images, Random};
use model::job::{JOB_PROTOCOL, TrainJob};
use model::run::phase;
use model::{EventKind, Optimizer};
use network::{Graph, Shape};

use crate::checkpoint;
use crate::device::{device, keep_freed_memory, threads};
use crate::error::EngineError;
use crate::executor::{DropoutPlace, Executor, Mode};
use crate::loss::{cross_entropy, right_answers};
use crate::optimizer::Stepper;
use crate::parameters::{Parameters, numbers};
use crate::predict::{answer, input_shape};

/// Where events go; called from a thread of the engine's own.
pub(crate) type Tell<'a> = dyn FnMut(EventKind) + Send + 'a;

/// Carries out the job, telling its phases (load-data, start, train, verify, save), steps,
/// epochs and accuracy as they happen. Steps and epochs count from 1.
pub fn train(job: &TrainJob, tell: &mut Tell<'_>) -> Result<(), EngineError> {
    check_settings(job)?;
    keep_freed_memory();
    let graph: Graph =
        serde_json::from_value(job.network.clone()).map_err(EngineError::NetworkJson)?;
    let executor = Executor::new(graph, device(&job.device)?)?;
    let pool = threads(job.threads)?;
    pool.install(|| run(job, executor, tell))
}

fn run(job: &TrainJob, executor: Executor, tell: &mut Tell<'_>) -> Result<(), EngineError> {
    tell(begins(phase::LOAD_DATA));
    let dataset = data::load(&request(job))?;
    check_fit(executor.graph(), &dataset)?;

    tell(begins(phase::START));
    let mut trainer = Trainer::new(job, executor)?;

    tell(begins(phase::TRAIN));
    for epoch in 1..=job.epochs {
        trainer.epoch(epoch, &dataset.train, tell)?;
    }

    if !dataset.held_out.is_empty() {
        tell(begins(phase::VERIFY));
        let value = trainer.accuracy(&dataset.held_out)?;
        tell(EventKind::Accuracy { value });
    }
    if let Some(path) = &job.checkpoint {
        tell(begins(phase::SAVE));
        checkpoint::save(&trainer.parameters.to_weights()?, path)?;
    }
    Ok(())
}

fn begins(phase: &str) -> EventKind {
    EventKind::Phase {
        phase: phase.to_owned(),
    }
}

fn request(job: &TrainJob) -> DataRequest {
    let data = &job.data;
    DataRequest {
        dataset: data.dataset.clone(),
        data_dir: data.data_dir.clone(),
        image: data.image,
        images: data.images,
        held_out: data.held_out,
        seed: data.seed,
    }
}

fn check_settings(job: &TrainJob) -> Result<(), EngineError> {
    if job.protocol != JOB_PROTOCOL {
        return Err(EngineError::Protocol {
            found: job.protocol,
        });
    }
    let wrong = |name, problem: &str| {
        Err(EngineError::Setting {
            name,
            problem: problem.to_owned(),
        })
    };
    if job.batch == 0 {
        return wrong("batch", "is 0: use at least 1");
    }
    let (Optimizer::Sgd { learning_rate, .. } | Optimizer::Adam { learning_rate, .. }) =
        job.optimizer;
    if !learning_rate.is_finite() || learning_rate < 0.0 {
        return wrong("learning_rate", "is not a number from 0 up");
    }
    Ok(())
}

fn check_fit(graph: &Graph, dataset: &Dataset) -> Result<(), EngineError> {
    let Images {
        channels,
        height,
        width,
        ..
    } = dataset.train;
    let images = Shape::Image {
        channels,
        height,
        width,
    };
    match graph.nodes.first() {
        Some(input) if input.shape != images => Err(EngineError::InputShape {
            network: input.shape,
            images,
        }),
        _ if graph.classes != dataset.classes => Err(EngineError::Classes {
            network: graph.classes,
            images: dataset.classes,
        }),
        _ => Ok(()),
    }
}

/// A network under training.
struct Trainer {
    executor: Executor,
    parameters: Parameters,
    stepper: Stepper,
    batch: usize,
    input: [usize; 3],
    seed: u64,
    step: u64,
    /// Whether the loss has already been said to be no number.
    lost: bool,
}

const ORDER: u64 = 0x6F_72_64_65_72;

impl Trainer {
    fn new(job: &TrainJob, executor: Executor) -> Result<Self, EngineError> {
        let weights = network::initial_weights(executor.graph(), job.seed);
        let parameters = Parameters::new(executor.graph(), &weights, executor.device())?;
        let stepper = Stepper::new(job.optimizer.clone(), parameters.all.len());
        let input = input_shape(executor.graph())?;
        Ok(Trainer {
            executor,
            parameters,
            stepper,
            batch: job.batch as usize,
            input,
            seed: job.seed,
            step: 0,
            lost: false,
        })
    }

    fn epoch(
        &mut self,
        epoch: u32,
        images: &Images,
        tell: &mut Tell<'_>,
    ) -> Result<(), EngineError> {
        let began = Instant::now();
        let mut order: Vec<usize> = (0..images.len()).collect();
        Random::at(&[self.seed, ORDER, epoch.into()]).shuffle(&mut order);
        let mut loss_sum = 0.0;
        for batch in order.chunks(self.batch) {
            let step_began = Instant::now();
            let loss = self.step(images, batch)?;
            loss_sum += loss * batch.len() as f64;
            tell(EventKind::Step {
                step: self.step,
                epoch: Some(epoch),
                loss: finite(loss),
                seconds: Some(step_began.elapsed().as_secs_f64()),
                images: Some(batch.len() as u64),
            });
            if !loss.is_finite() && !std::mem::replace(&mut self.lost, true) {
                let text = format!(
                    "the loss is no number any more at step {}: lower the learning rate",
                    self.step
                );
                tell(EventKind::Note { text });
            }
        }
        tell(EventKind::Epoch {
            epoch,
            loss: finite(loss_sum / images.len().max(1) as f64),
            accuracy: None,
            seconds: Some(began.elapsed().as_secs_f64()),
        });
        Ok(())
    }

    /// Forward, backward, better weights; returns the mean loss of the batch before them.
    fn step(&mut self, images: &Images, batch: &[usize]) -> Result<f64, EngineError> {
        self.step += 1;
        let [channels, height, width] = self.input;
        let data = TensorData::new(
            images.normalised(batch),
            [batch.len(), channels, height, width],
        );
        let labels: Vec<u16> = batch
            .iter()
            .filter_map(|&index| images.labels.get(index).copied())
            .collect();
        let device = self.executor.device();
        let input = Tensor::<4>::from_data(data, device).autodiff();
        let leaves = self.parameters.as_leaves();
        let mode = Mode::Train {
            place: DropoutPlace {
                seed: self.seed,
                step: self.step,
            },
        };
        let forward = self.executor.forward(&leaves, input, &mode)?;
        let loss = cross_entropy(forward.logits, &labels, device);
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
        let loss = numbers(loss)?;
        Ok(loss.first().map_or(f64::NAN, |&loss| f64::from(loss)))
    }

    /// The fraction of images answered right.
    fn accuracy(&self, images: &Images) -> Result<f64, EngineError> {
        let classes = self.executor.graph().classes as usize;
        let order: Vec<usize> = (0..images.len()).collect();
        let mut right = 0;
        for batch in order.chunks(self.batch) {
            let logits = answer(
                &self.executor,
                &self.parameters,
                images.normalised(batch),
                self.input,
            )?;
            let labels = &images.labels[batch[0]..batch[0] + batch.len()];
            right += right_answers(&numbers(logits)?, classes, labels);
        }
        Ok(right as f64 / images.len().max(1) as f64)
    }
}

/// JSON has no word for what is no number.
fn finite(loss: f64) -> Option<f64> {
    loss.is_finite().then_some(loss)
}
