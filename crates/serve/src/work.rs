//! The workers: each takes what waits, turns it into tensors, asks the model and answers.
//!
//! One request alone is computed with all cores; when others wait, each worker computes one request
//! on one core, which wastes nothing on threads waiting for each other. Nobody has to choose.

use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use tokio::sync::oneshot;

use crate::answer::{self, Answer};
use crate::body::{self, Kind, Limits};
use crate::metrics::Metrics;
use crate::model::{ModelError, Predictor};
use crate::queue::{Batching, Queue};
use crate::refusal::Refusal;
use crate::served::{Loaded, Served};
use crate::tensor::Tensor;

/// A request on its way to a worker.
pub(crate) struct Job {
    /// Its place among the served models.
    pub(crate) model: usize,
    pub(crate) kind: Kind,
    pub(crate) body: Bytes,
    pub(crate) reply: oneshot::Sender<Result<Answer, Refusal>>,
}

/// What workers share.
pub(crate) struct Hall {
    pub(crate) models: Vec<Served>,
    pub(crate) queue: Queue<Job>,
    pub(crate) batching: Batching,
    pub(crate) limits: Limits,
    pub(crate) threads: Threads,
    pub(crate) metrics: Metrics,
    pub(crate) top: usize,
}

/// How cores are shared between requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Threads {
    /// For a request that is alone.
    pub(crate) alone: usize,
    /// For each of several.
    pub(crate) each: usize,
}

pub(crate) fn work(hall: &Hall) {
    let mut own: Vec<Option<Box<dyn Predictor>>> = hall.models.iter().map(|_| None).collect();
    while let Some(jobs) = hall.queue.take(hall.batching, |a, b| a.model == b.model) {
        let own = &mut own[jobs[0].model];
        // A body that makes a decoder panic costs its own request; its predictor is not trusted any more.
        if panic::catch_unwind(AssertUnwindSafe(|| attend(hall, own, jobs))).is_err() {
            *own = None;
        }
        hall.queue.done();
    }
}

/// Jobs of one model.
fn attend(hall: &Hall, own: &mut Option<Box<dyn Predictor>>, jobs: Vec<Job>) {
    let served = &hall.models[jobs[0].model];
    // Nobody computes for a client that has gone.
    let asked = jobs.into_iter().filter(|job| !job.reply.is_closed());
    match served.wait() {
        Ok(loaded) => {
            let inputs = read(hall, loaded, asked);
            predict(hall, served, loaded, own, inputs);
        }
        Err(problem) => {
            let refusal = Refusal::new(500, problem.to_string());
            asked.for_each(|job| reply(job, Err(refusal.clone())));
        }
    }
}

/// Those whose bodies can be used; the others are told why not.
fn read(hall: &Hall, loaded: &Loaded, jobs: impl Iterator<Item = Job>) -> Vec<(Job, Tensor)> {
    let preparation = loaded.preparation.as_ref();
    let mut read = Vec::new();
    for job in jobs {
        match body::tensor(
            job.kind,
            &job.body,
            preparation,
            &loaded.signature,
            &hall.limits,
        ) {
            Ok(input) => read.push((job, input)),
            Err(refusal) => reply(job, Err(refusal)),
        }
    }
    read
}

fn predict(
    hall: &Hall,
    served: &Served,
    loaded: &Loaded,
    own: &mut Option<Box<dyn Predictor>>,
    jobs: Vec<(Job, Tensor)>,
) {
    let tensors: Vec<&Tensor> = jobs.iter().map(|(_, input)| input).collect();
    let Some(input) = Tensor::together(&tensors) else {
        // None, or of different sizes: one by one.
        for job in jobs {
            predict(hall, served, loaded, own, vec![job]);
        }
        return;
    };
    let begun = Instant::now();
    let output = ask(hall, loaded, own, &input);
    let took = begun.elapsed();
    hall.metrics.predicted(input.images(), took);
    match output {
        Ok(output) => answer(hall, served, loaded, jobs, &output, took),
        Err(problem) => {
            let message = format!("{} could not be computed: {problem}", served.name);
            for (job, _) in jobs {
                reply(job, Err(Refusal::new(500, message.clone())));
            }
        }
    }
}

fn ask(
    hall: &Hall,
    loaded: &Loaded,
    own: &mut Option<Box<dyn Predictor>>,
    input: &Tensor,
) -> Result<Tensor, ModelError> {
    if hall.queue.is_calm()
        && let Ok(mut wide) = loaded.wide.try_lock()
    {
        return predict_all(wide.as_mut(), loaded, input);
    }
    let narrow = match own {
        Some(narrow) => narrow,
        None => own.insert(loaded.model.predictor(hall.threads.each)?),
    };
    predict_all(narrow.as_mut(), loaded, input)
}

/// Image by image where the model takes no more at once.
fn predict_all(
    predictor: &mut dyn Predictor,
    loaded: &Loaded,
    input: &Tensor,
) -> Result<Tensor, ModelError> {
    let output = match loaded.signature.input.first() {
        Some(&Some(most)) if most < input.images() => {
            let single = input.singles().map(|image| predictor.predict(&image));
            let answers = single.collect::<Result<Vec<_>, _>>()?;
            Tensor::together(&answers.iter().collect::<Vec<_>>())
        }
        _ => Some(predictor.predict(input)?),
    };
    let output = output
        .filter(|output| output.images() == input.images())
        .ok_or_else(|| {
            ModelError::new("it answered for another number of images than it was asked")
        })?;
    match output.values().iter().all(|value| value.is_finite()) {
        true => Ok(output),
        false => Err(ModelError::new("its answer is not finite")),
    }
}

fn answer(
    hall: &Hall,
    served: &Served,
    loaded: &Loaded,
    jobs: Vec<(Job, Tensor)>,
    output: &Tensor,
    took: Duration,
) {
    let probabilities = |row: &[f32]| {
        answer::probabilities(row, &served.description, loaded.signature.probabilities)
    };
    let mut rows = output.rows();
    for (job, input) in jobs {
        let own: Vec<_> = rows
            .by_ref()
            .take(input.images())
            .map(probabilities)
            .collect();
        reply(
            job,
            Ok(Answer::new(
                &served.name,
                &served.description,
                &own,
                hall.top,
                took,
            )),
        );
    }
}

/// Whoever asked may have gone; then nobody misses the answer.
fn reply(job: Job, answer: Result<Answer, Refusal>) {
    let _ = job.reply.send(answer);
}
