//! One training job from its file to a saved network.

use std::time::Instant;

use model::job::{JOB_PROTOCOL, PreviewJob, TrainJob};
use model::run::phase;
use model::{EventKind, Optimizer};
use network::Graph;

use crate::checkpoint;
use crate::device::{check_device, keep_freed_memory, threads};
use crate::error::EngineError;
use crate::executor::{Executor, Mode};
use crate::learner::{Batch, Learner};
use crate::loss::right_answers;
use crate::pictures::{self, Pictures};

/// Where events go; called from a thread of the engine's own.
pub(crate) type Tell<'a> = dyn FnMut(EventKind) + Send + 'a;

/// Carries out the job, telling its phases (load-data, start, train, verify, save), steps,
/// epochs and accuracy as they happen. Steps and epochs count from 1.
pub fn train(job: &TrainJob, tell: &mut Tell<'_>) -> Result<(), EngineError> {
    check_settings(job)?;
    keep_freed_memory();
    let graph: Graph =
        serde_json::from_value(job.network.clone()).map_err(EngineError::NetworkJson)?;
    check_device(&job.device)?;
    let executor = Executor::new(graph)?;
    let pool = threads(job.threads)?;
    pool.install(|| run(job, executor, tell))
}

fn run(job: &TrainJob, executor: Executor, tell: &mut Tell<'_>) -> Result<(), EngineError> {
    tell(begins(phase::LOAD_DATA));
    let images = pictures::load(&job.data)?;
    images.check_fit(executor.graph())?;

    tell(begins(phase::START));
    let mut trainer = Trainer::new(job, executor)?;
    tell(EventKind::Framework {
        name: job.framework.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    });

    tell(begins(phase::TRAIN));
    for epoch in 1..=job.epochs {
        let passed = trainer.epoch(epoch, &images.train, tell)?;
        let is_over = trainer.is_over();
        let is_last = epoch == job.epochs || is_over;
        let is_asked = (is_last || job.accuracy_each_epoch) && !images.held_out.is_empty();
        let mut accuracy = None;
        if is_asked {
            tell(begins(phase::VERIFY));
            accuracy = Some(trainer.accuracy(&images.held_out, tell)?);
        }
        tell(EventKind::Epoch {
            epoch,
            loss: passed.loss,
            accuracy,
            seconds: Some(passed.seconds),
        });
        match accuracy {
            Some(value) if is_last => tell(EventKind::Accuracy { value }),
            Some(_) => tell(begins(phase::TRAIN)),
            None => {}
        }
        if is_over {
            break;
        }
    }

    if let Some(path) = &job.checkpoint {
        tell(begins(phase::SAVE));
        checkpoint::save(&trainer.learner.weights, path)?;
    }
    Ok(())
}

fn begins(phase: &str) -> EventKind {
    EventKind::Phase {
        phase: phase.to_owned(),
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
        return wrong("learning_rate", "is not a number of at least 0");
    }
    Ok(())
}

/// A network under training.
struct Trainer {
    learner: Learner,
    batch: usize,
    seed: u64,
    /// Whether the loss has already been said to be no number.
    lost: bool,
    preview: Option<PreviewJob>,
}

/// What an epoch came to.
struct Passed {
    loss: Option<f64>,
    seconds: f64,
}

impl Trainer {
    fn new(job: &TrainJob, executor: Executor) -> Result<Self, EngineError> {
        Ok(Trainer {
            learner: Learner::new(job, executor)?,
            batch: job.batch as usize,
            seed: job.seed,
            lost: false,
            preview: job.preview.clone(),
        })
    }

    fn epoch(
        &mut self,
        epoch: u32,
        images: &Pictures,
        tell: &mut Tell<'_>,
    ) -> Result<Passed, EngineError> {
        let began = Instant::now();
        let order = data::epoch_order(self.seed, epoch, images.len());
        let mut loss_sum = 0.0;
        for rows in order.chunks(self.batch) {
            let step_began = Instant::now();
            let loss = self.learner.step(&images.batch(rows)?)?;
            let step = self.learner.steps;
            loss_sum += loss * rows.len() as f64;
            tell(EventKind::Step {
                step,
                epoch: Some(epoch),
                loss: finite(loss),
                seconds: Some(step_began.elapsed().as_secs_f64()),
                images: Some(rows.len() as u64),
            });
            if !loss.is_finite() && !std::mem::replace(&mut self.lost, true) {
                let text = format!("the loss became NaN at step {step}: lower the learning rate");
                tell(EventKind::Note { text });
            }
            if self.is_over() {
                break;
            }
        }
        Ok(Passed {
            loss: finite(loss_sum / images.len().max(1) as f64),
            seconds: began.elapsed().as_secs_f64(),
        })
    }

    /// Whether enough was seen of a training of which only the beginning is wanted.
    fn is_over(&self) -> bool {
        self.preview.as_ref().is_some_and(|preview| {
            let enough = preview.enough.as_ref();
            self.learner.steps >= u64::from(preview.steps)
                || enough.is_some_and(|path| path.exists())
        })
    }

    /// The fraction of images answered right; of a preview, of the first batches.
    fn accuracy(&self, images: &Pictures, tell: &mut Tell<'_>) -> Result<f64, EngineError> {
        let Learner {
            executor, weights, ..
        } = &self.learner;
        let classes = executor.graph().classes as usize;
        let order: Vec<usize> = (0..images.len()).collect();
        let mut right = 0;
        let asked = self.preview.as_ref().filter(|_| self.is_over());
        let most = asked.map_or(usize::MAX, |preview| preview.held_out_batches as usize);
        for (number, rows) in order.chunks(self.batch).enumerate().take(most) {
            if asked.is_some() && number == 1 {
                tell(begins(phase::VERIFY));
            }
            let Batch { pixels, labels } = images.batch(rows)?;
            let forward = executor.forward(weights, &pixels, Mode::Answer)?;
            right += right_answers(&forward.logits, classes, &labels);
        }
        Ok(right as f64 / images.len().max(1) as f64)
    }
}

/// JSON has no word for what is not a number.
fn finite(loss: f64) -> Option<f64> {
    loss.is_finite().then_some(loss)
}
