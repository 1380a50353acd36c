//! The workers: each takes what waits, turns it into tensors, asks the model and answers.
//!
//! One request alone is computed with all cores; when others wait, each worker computes one request
//! on one core, which wastes nothing on threads waiting for each other. Nobody has to choose.

use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use tokio::sync::oneshot;

use crate::answer::{Answer, Writer};
use crate::body::{Format, Limits};
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
    pub(crate) format: Format,
    pub(crate) body: Bytes,
    pub(crate) reply: oneshot::Sender<Result<Answer, Refusal>>,
}

/// What workers share.
pub(crate) struct Shared {
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

pub(crate) fn work(shared: &Shared) {
    let mut own: Vec<Option<Box<dyn Predictor>>> = shared.models.iter().map(|_| None).collect();
    while let Some(jobs) = shared
        .queue
        .take(shared.batching, |a, b| a.model == b.model)
    {
        let own = &mut own[jobs[0].model];
        // A body that makes a decoder panic costs its own request; its predictor is not trusted any more.
        if panic::catch_unwind(AssertUnwindSafe(|| attend(shared, own, jobs))).is_err() {
            *own = None;
        }
        shared.queue.done();
    }
}

/// Jobs of one model.
fn attend(shared: &Shared, own: &mut Option<Box<dyn Predictor>>, jobs: Vec<Job>) {
    let served = &shared.models[jobs[0].model];
    // Nobody computes for a client that has gone.
    let asked = jobs.into_iter().filter(|job| !job.reply.is_closed());
    match served.wait() {
        Ok(loaded) => {
            let inputs = read(shared, loaded, asked);
            predict(shared, served, loaded, own, inputs);
        }
        Err(problem) => {
            let refusal = Refusal::new(500, problem.to_string());
            asked.for_each(|job| reply(job, Err(refusal.clone())));
        }
    }
}

/// A request whose body could be read.
struct Asked {
    job: Job,
    inputs: Vec<Tensor>,
    /// How many rows of every output are its own, where outputs have rows.
    examples: usize,
}

/// Those whose bodies can be used; the others are told why not.
fn read(shared: &Shared, loaded: &Loaded, jobs: impl Iterator<Item = Job>) -> Vec<Asked> {
    let reader = loaded.reader(shared.limits.pixels);
    let mut read = Vec::new();
    for job in jobs {
        match reader.tensors(job.format, &job.body) {
            Ok(inputs) => read.push(Asked {
                examples: inputs.first().map_or(1, Tensor::examples),
                job,
                inputs,
            }),
            Err(refusal) => reply(job, Err(refusal)),
        }
    }
    read
}

fn predict(
    shared: &Shared,
    served: &Served,
    loaded: &Loaded,
    own: &mut Option<Box<dyn Predictor>>,
    mut asked: Vec<Asked>,
) {
    let together = match &mut asked[..] {
        [] => return,
        [only] => Some(std::mem::take(&mut only.inputs)),
        several if loaded.has_rows => together(several),
        _ => None,
    };
    let Some(inputs) = together else {
        // Of different sizes, or not to be distinguished afterwards: one by one.
        for one in asked {
            predict(shared, served, loaded, own, vec![one]);
        }
        return;
    };
    let examples = asked.iter().map(|one| one.examples).sum();
    let begun = Instant::now();
    let outputs = ask(shared, loaded, own, &inputs, examples);
    let took = begun.elapsed();
    shared.metrics.predicted(examples, took);
    match outputs {
        Ok(outputs) => answer(shared, served, loaded, asked, &outputs, took),
        Err(problem) => {
            let refusal = uncomputed(served, &problem);
            for one in asked {
                reply(one.job, Err(refusal.clone()));
            }
        }
    }
}

fn uncomputed(served: &Served, problem: &ModelError) -> Refusal {
    Refusal::new(
        500,
        format!("{} could not be computed: {problem}", served.name),
    )
}

/// The inputs of several requests, one after the other.
fn together(asked: &[Asked]) -> Option<Vec<Tensor>> {
    let inputs = 0..asked.first()?.inputs.len();
    inputs
        .map(|place| Tensor::together(asked.iter().map(|one| &one.inputs[place])))
        .collect()
}

fn ask(
    shared: &Shared,
    loaded: &Loaded,
    own: &mut Option<Box<dyn Predictor>>,
    inputs: &[Tensor],
    examples: usize,
) -> Result<Vec<Tensor>, ModelError> {
    if shared.queue.is_calm()
        && let Ok(mut wide) = loaded.wide.try_lock()
    {
        return predict_all(wide.as_mut(), loaded, inputs, examples);
    }
    let narrow = match own {
        Some(narrow) => narrow,
        None => own.insert(loaded.model.predictor(shared.threads.each)?),
    };
    predict_all(narrow.as_mut(), loaded, inputs, examples)
}

/// Example by example where the model takes no more at once.
fn predict_all(
    predictor: &mut dyn Predictor,
    loaded: &Loaded,
    inputs: &[Tensor],
    examples: usize,
) -> Result<Vec<Tensor>, ModelError> {
    let wanted = &loaded.answered.outputs;
    if !loaded.has_rows {
        return predictor.predict(inputs, wanted);
    }
    let outputs = match loaded.signature.inputs.first().map(|port| &port.sizes[..]) {
        Some([Some(most), ..]) if *most < examples => {
            let mut answers = Vec::new();
            for place in 0..examples {
                let one: Vec<Tensor> = inputs
                    .iter()
                    .map(|input| input.part(place..place + 1))
                    .collect();
                answers.push(predictor.predict(&one, wanted)?);
            }
            let outputs = 0..wanted.len();
            outputs
                .map(|place| Tensor::together(answers.iter().map(|answer| &answer[place])))
                .collect()
        }
        _ => Some(predictor.predict(inputs, wanted)?),
    };
    outputs
        .filter(|outputs| outputs.iter().all(|output| output.examples() == examples))
        .ok_or_else(|| {
            ModelError::new("its output has a different number of examples than its input")
        })
}

fn answer(
    shared: &Shared,
    served: &Served,
    loaded: &Loaded,
    asked: Vec<Asked>,
    outputs: &[Tensor],
    took: Duration,
) {
    let writer = Writer {
        model: &served.name,
        description: &served.description,
        signature: &loaded.signature,
        answered: &loaded.answered,
        untrained: loaded.untrained,
        top: shared.top,
    };
    let is_alone = asked.len() == 1;
    let mut begin = 0;
    for one in asked {
        let end = begin + one.examples;
        let answer = match is_alone {
            true => writer.answer(outputs, took),
            false => {
                let own: Vec<Tensor> = outputs.iter().map(|all| all.part(begin..end)).collect();
                writer.answer(&own, took)
            }
        };
        begin = end;
        let answer = answer.map_err(|problem| uncomputed(served, &problem));
        reply(one.job, answer);
    }
}

/// Whoever asked may have gone; then nobody misses the answer.
fn reply(job: Job, answer: Result<Answer, Refusal>) {
    let _ = job.reply.send(answer);
}
