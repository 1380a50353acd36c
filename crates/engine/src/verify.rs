//! What the first steps compute, for comparing with other frameworks.

use model::job::{TrainJob, VerifyJob};
use model::verify::VerifyReport;
use network::Graph;

use crate::device::{check_device, threads};
use crate::error::EngineError;
use crate::executor::Executor;
use crate::learner::{Batch, Learner};

/// A few steps of the job on the images of its cache. Nothing is saved.
pub fn verify(job: &TrainJob, asked: &VerifyJob) -> Result<VerifyReport, EngineError> {
    let graph: Graph =
        serde_json::from_value(job.network.clone()).map_err(EngineError::NetworkJson)?;
    check_device(&job.device)?;
    let executor = Executor::new(graph)?;
    let pool = threads(job.threads)?;
    pool.install(|| steps(job, asked, executor))
}

fn steps(
    job: &TrainJob,
    asked: &VerifyJob,
    executor: Executor,
) -> Result<VerifyReport, EngineError> {
    let cache = job.data.cache.as_deref().ok_or(EngineError::NoCache)?;
    let images = data::cache::open(cache)?.train;
    let order: Vec<usize> = data::epoch_order(job.seed, 1, images.len());
    let batches: Vec<&[usize]> = order.chunks(job.batch.max(1) as usize).collect();
    let batch = |place: usize| -> Result<Batch, EngineError> {
        let rows = batches.get(place % batches.len().max(1)).copied();
        let rows = rows.unwrap_or_default();
        let labels = rows.iter().filter_map(|&row| images.labels.get(row));
        Ok(Batch {
            pixels: images.batch(rows)?,
            labels: labels.copied().collect(),
        })
    };
    let mut learner = Learner::new(job, executor)?;
    let nodes = learner.executor.graph().nodes.iter();
    let trained = nodes
        .flat_map(|node| &node.parameters)
        .filter(|p| p.trained);
    let parameters = trained.map(|p| p.elements()).sum();
    let first = learner.see(&batch(0)?)?;
    let mut losses = Vec::new();
    for step in 0..asked.steps as usize {
        losses.push(learner.step(&batch(step)?)?);
    }
    let last = learner.see(&batch(0)?)?;
    Ok(VerifyReport {
        framework: job.framework.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        parameters,
        losses: if losses.is_empty() {
            vec![first.loss]
        } else {
            losses
        },
        last_loss: last.loss,
        norms: first.norms,
        mean_absolutes: first.mean_absolutes,
    })
}
