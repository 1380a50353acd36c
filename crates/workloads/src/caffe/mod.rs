//! Caffe as a workload: the network, the solver, the weights and the images are written for the
//! `caffe` program of this machine, which then trains; its log becomes events.
//!
//! Read `files` (what Caffe reads), `child` (its process), `story` (its log as events), `observed` (its
//! log as what `bancada verify` compares).

mod child;
mod files;
mod observed;
mod story;

use std::fs;
use std::path::{Path, PathBuf};

use frameworks::{Machine, SetupError};
use model::event::JOB_VARIABLE;
use model::job::JOB_PROTOCOL;
use model::run::phase;
use model::{Asked, EventKind, Optimizer, Precision, Stop, TrainJob};
use network::formats::FormatError;
use network::formats::caffe::{self, Device, Iterations, Test, Training};
use network::{Graph, Weights};

use crate::error::Error;
use crate::protocol::{Events, begins, read_job, write_report};
use child::Ended;
use files::Scratch;
use observed::Observed;
use story::Story;

/// The job that this process was started with. `stop` is set when it shall end.
pub fn train(stop: &Stop) -> Result<(), Error> {
    let job = read_job()?;
    check(&job)?;
    let graph: Graph = serde_json::from_value(job.network.clone())
        .map_err(|e| Error::failed(format!("the job's network: {e}")))?;
    let caffe = Machine::here()
        .caffe
        .ok_or_else(|| Error::failed(SetupError::NoCaffe))?;
    let mut events = Events::open()?;
    let task = Task {
        job: &job,
        graph: &graph,
        caffe: &caffe,
        stop,
    };
    task.carry_out(&mut |kind| events.tell(kind))
}

/// A job that Caffe can do, and Caffe.
struct Task<'j> {
    job: &'j TrainJob,
    graph: &'j Graph,
    caffe: &'j Path,
    stop: &'j Stop,
}

impl Task<'_> {
    fn carry_out(&self, tell: &mut dyn FnMut(EventKind)) -> Result<(), Error> {
        tell(begins(phase::LOAD_DATA));
        let scratch = Scratch::make(&scratch_folder())?;
        let training = self.write(&scratch, tell)?;
        if self.stop.asked() != Asked::Nothing {
            return Err(interrupted());
        }
        tell(begins(phase::START));
        let version = frameworks::caffe_version(self.caffe);
        let version = version.unwrap_or_else(|| "unknown".to_owned());
        tell(EventKind::Framework {
            name: "caffe".to_owned(),
            version: version.clone(),
        });
        let mut story = Story::new(training.batch, training.iterations);
        let steps = training.iterations.all;
        let mut observed = (self.job.verify.as_ref()).map(|_| Observed::new(self.graph, steps));
        let command = child::train_command(self.caffe, &scratch, self.job.threads);
        let ended = child::run(command, self.stop, &mut |line| {
            if let Some(observed) = &mut observed {
                observed.line(line);
            }
            for event in story.line(line) {
                tell(event);
            }
        })?;
        self.conclude(ended, &story)?;
        if let (Some(verify), Some(observed)) = (&self.job.verify, observed) {
            let report = observed.report(version).map_err(Error::failed)?;
            return write_report(&report, &verify.report);
        }
        if let (Some(checkpoint), Some(saved)) = (&self.job.checkpoint, &story.saved) {
            keep_model(self.graph, &scratch.path(saved), checkpoint)?;
        }
        Ok(())
    }

    /// Everything that Caffe reads.
    fn write(&self, scratch: &Scratch, tell: &mut dyn FnMut(EventKind)) -> Result<Training, Error> {
        let job = self.job;
        let cache = job.data.cache.as_deref();
        let cache = cache
            .ok_or_else(|| Error::failed("the job has no image cache; bancada run creates one"))?;
        let images = data::cache::open(cache).map_err(Error::failed)?;
        let count = |images: &data::cache::CachedImages| images.len() as u32;
        let images_in = |steps: u32| job.batch.saturating_mul(steps);
        let all = count(&images.train);
        let (kept, epochs) = match (&job.verify, &job.preview) {
            (Some(verify), _) => (images_in(verify.steps), job.epochs),
            (None, Some(preview)) => (all.min(images_in(preview.steps)), 1),
            (None, None) => (all, job.epochs),
        };
        let held_out = count(&images.held_out);
        let held_out = match &job.preview {
            Some(preview) => held_out.min(images_in(preview.held_out_batches)),
            None => held_out,
        };
        let iterations = Iterations::of(kept, job.batch, epochs);
        let training = Training {
            batch: job.batch,
            iterations: iterations.map_err(Error::failed)?,
            test: Test::of(held_out, job.batch),
            optimizer: job.optimizer.clone(),
            device: Device::parse(&job.device).map_err(Error::failed)?,
            seed: job.seed,
            files: files::names(),
            debug: job.verify.is_some(),
        };
        let net = caffe::train_prototxt(self.graph, &training).map_err(Error::failed)?;
        for text in net.notes {
            tell(EventKind::Note { text });
        }
        scratch.write(files::NET, net.text.as_bytes())?;
        let solver = caffe::solver_prototxt(&training);
        scratch.write(files::SOLVER, solver.as_bytes())?;
        let weights = self.weights()?;
        let weights = caffe::caffemodel(self.graph, &weights).map_err(Error::failed)?;
        scratch.write(files::WEIGHTS, &weights)?;
        scratch.write_images(&images)?;
        scratch.write_lists(&images, job.seed, &training)?;
        Ok(training)
    }

    fn weights(&self) -> Result<Weights, Error> {
        let Some(path) = &self.job.weights else {
            return Ok(network::initial_weights(self.graph, self.job.seed));
        };
        let failed =
            |why: String| Error::failed(format!("initial weights {}: {why}", path.display()));
        let bytes = fs::read(path).map_err(|e| failed(e.to_string()))?;
        Weights::from_bytes(&bytes).map_err(|e| failed(e.to_string()))
    }

    fn conclude(&self, ended: Ended, story: &Story) -> Result<(), Error> {
        if self.stop.asked() != Asked::Nothing {
            return Err(interrupted());
        }
        if ended.success && story.done {
            return Ok(());
        }
        let how = match (&story.fatal, &story.complaint) {
            (Some(fatal), Some(complaint)) => format!("caffe failed: {complaint} ({fatal})"),
            (Some(cause), None) | (None, Some(cause)) => format!("caffe failed: {cause}"),
            _ if ended.success => "caffe ended before its last iteration".to_owned(),
            _ => format!("caffe {}", ended.how),
        };
        // A list of a hundred names follows.
        let how = how.split(" (known types").next().unwrap_or_default();
        Err(Error::failed(match frameworks::caffe_advice(how) {
            Some(advice) => format!("{how}; {advice}"),
            None => how.to_owned(),
        }))
    }
}

/// Whether Caffe has layers for all of the network's.
pub fn can_train(graph: &Graph) -> Result<(), FormatError> {
    let training = Training {
        batch: 1,
        iterations: Iterations::of(1, 1, 1)?,
        test: None,
        optimizer: Optimizer::Sgd {
            learning_rate: 0.0,
            momentum: 0.0,
        },
        device: Device::Cpu,
        seed: 0,
        files: files::names(),
        debug: false,
    };
    caffe::train_prototxt(graph, &training).map(drop)
}

fn interrupted() -> Error {
    Error::Interrupted("interrupted, and Caffe was stopped")
}

/// What Caffe cannot be asked for, said before anything is written.
fn check(job: &TrainJob) -> Result<(), Error> {
    let cannot = |what: &str| {
        Err(Error::failed(format!(
            "Caffe cannot train with these settings: {what}"
        )))
    };
    if job.protocol != JOB_PROTOCOL {
        return Err(Error::failed(format!(
            "the job uses protocol {}, but this program uses {JOB_PROTOCOL}",
            job.protocol
        )));
    }
    if job.workers > 1 {
        return cannot("its image layer would give every worker the same images; use one worker");
    }
    if job.precision == Precision::Mixed {
        return cannot("it computes in 32 bits only; remove precision = \"mixed\"");
    }
    if job.compile == Some(true) {
        return cannot("it has no compiler; remove compile = true");
    }
    Ok(())
}

/// Next to the job, so that it goes where the run goes.
fn scratch_folder() -> PathBuf {
    let job = std::env::var_os(JOB_VARIABLE).map(PathBuf::from);
    let folder = job.as_deref().and_then(Path::parent);
    folder.unwrap_or(Path::new(".")).join("caffe")
}

/// Caffe's own file beside the checkpoint, and the checkpoint in the format of all frameworks.
fn keep_model(graph: &Graph, saved: &Path, checkpoint: &Path) -> Result<(), Error> {
    let failed = |path: &Path, why: String| {
        Error::failed(format!("trained weights {}: {why}", path.display()))
    };
    let bytes = fs::read(saved).map_err(|e| failed(saved, e.to_string()))?;
    let weights =
        caffe::read_caffemodel(graph, &bytes).map_err(|e| failed(saved, e.to_string()))?;
    let own = checkpoint.with_extension("caffemodel");
    fs::rename(saved, &own).map_err(|e| failed(&own, e.to_string()))?;
    host::write_whole(checkpoint, weights.to_bytes()).map_err(|e| failed(checkpoint, e.to_string()))
}
