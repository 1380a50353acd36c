//! The time of training steps of small networks, by turns.

use std::time::Instant;

use model::job::{ProbeJob, ProbeNetwork, StepSeconds, TrainJob};
use network::Graph;

use crate::device::{check_device, keep_freed_memory, threads};
use crate::dims::Dims;
use crate::error::EngineError;
use crate::executor::Executor;
use crate::learner::{Batch, Learner};

/// Steps before any is counted.
const WARM_UP_STEPS: usize = 3;

/// Means of steps, of each network in each round.
pub fn probe(job: &TrainJob, asked: &ProbeJob) -> Result<Vec<Vec<StepSeconds>>, EngineError> {
    keep_freed_memory();
    check_device(&job.device)?;
    threads(job.threads)?.install(|| rounds(job, asked))
}

fn rounds(job: &TrainJob, asked: &ProbeJob) -> Result<Vec<Vec<StepSeconds>>, EngineError> {
    let made = asked
        .networks
        .iter()
        .map(|network| Subject::new(job, network));
    let mut subjects = made.collect::<Result<Vec<Subject>, EngineError>>()?;
    for subject in &mut subjects {
        for _ in 0..WARM_UP_STEPS {
            subject.learner.step(&subject.batch)?;
        }
    }
    let mut seconds = vec![Vec::new(); subjects.len()];
    for _ in 0..asked.rounds {
        for (subject, seconds) in subjects.iter_mut().zip(&mut seconds) {
            seconds.push(subject.turn(asked.turn_seconds)?);
        }
    }
    Ok(seconds)
}

struct Subject {
    learner: Learner,
    batch: Batch,
}

impl Subject {
    fn new(job: &TrainJob, network: &ProbeNetwork) -> Result<Self, EngineError> {
        let graph: Graph =
            serde_json::from_value(network.network.clone()).map_err(EngineError::NetworkJson)?;
        let count = network.batch.max(1) as usize;
        let values = graph
            .nodes
            .first()
            .map_or(0, |input| Dims::new(input.shape, count).len());
        let mut random = data::Random::at(&[job.seed]);
        let classes = graph.classes.max(1) as usize;
        let batch = Batch {
            pixels: (0..values).map(|_| 2.0 * random.unit() - 1.0).collect(),
            labels: (0..count).map(|image| (image % classes) as u16).collect(),
        };
        Ok(Subject {
            learner: Learner::new(job, Executor::new(graph)?)?,
            batch,
        })
    }

    /// As many steps as fit, at least one: their mean.
    fn turn(&mut self, seconds: f64) -> Result<StepSeconds, EngineError> {
        let (began, cpu_began) = (Instant::now(), cpu_seconds());
        let mut steps = 0.0;
        loop {
            self.learner.step(&self.batch)?;
            steps += 1.0;
            let passed = began.elapsed().as_secs_f64();
            if passed >= seconds {
                return Ok(StepSeconds {
                    seconds: passed / steps,
                    cpu_seconds: (cpu_seconds() - cpu_began) / steps,
                });
            }
        }
    }
}

/// Of this process so far.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes to `time` only, which is there.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
