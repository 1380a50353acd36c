//! What a training needs before it starts, and what is made of what it leaves: images that all
//! frameworks map, initial weights, and the trained network in a format that others read.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

use data::cache::Cached;
use data::{DataError, DataRequest};
use frameworks::{Home, Kind};
use model::{Pipeline, RunId, Study, TrainJob, Warning};
use network::Weights;

use crate::conduct::{MODEL_FILE, RunnerError};
use crate::hosts;
use crate::workload::{Surroundings, Trainer, WorkloadError, prepare};

const WEIGHTS_FILE: &str = "initial.safetensors";
/// Where Caffe's files lie beside its job; what was trained, as texts, stays.
const CAFFE_FOLDER: &str = "caffe";
const ONNX_FILE: &str = "model.onnx";

/// Sees that everything these runs need is there: frameworks, networks, datasets. Caches of images
/// are made here, so that no run waits for them. Tells each cache that it made.
///
/// `results` is where the runs will be: other hosts must see it too.
pub fn make_ready(
    study: &Study,
    scenarios: &[&model::Scenario],
    results: &Path,
    surroundings: Surroundings<'_>,
    tell: &mut dyn FnMut(&str, &Cached),
) -> Result<(), RunnerError> {
    let mut seen = HashSet::new();
    for scenario in scenarios {
        let prepared = prepare(study, scenario, 1, surroundings)?;
        let Some(job) = prepared.job else { continue };
        if job.hosts.is_some() && seen.insert(format!("{:?} {:?}", job.hosts, prepared.command)) {
            let needs = hosts::Needs {
                environment: &prepared.environment,
                job: &job,
                command: &prepared.command,
                folders: [surroundings.home.path(), results],
            };
            hosts::check(&needs).map_err(WorkloadError::Hosts)?;
        }
        if !seen.insert(format!("{:?}", job.data)) {
            continue;
        }
        let cached = cache(&job, surroundings.home).map_err(WorkloadError::Data)?;
        if cached.made {
            tell(&job.data.dataset, &cached);
        }
    }
    Ok(())
}

/// The scenarios of these runs, each once, in their order.
pub fn scenarios_of<'p>(plan: &'p model::Plan, runs: &[RunId]) -> Vec<&'p model::Scenario> {
    let numbers: HashSet<u32> = runs.iter().map(|run| run.scenario).collect();
    let all = plan.scenarios.iter();
    all.filter(|s| numbers.contains(&s.number)).collect()
}

fn cache(job: &TrainJob, home: &Home) -> Result<Cached, DataError> {
    let data = &job.data;
    let request = DataRequest {
        dataset: data.dataset.clone(),
        data_dir: data.data_dir.clone(),
        image: data.image,
        images: data.images,
        held_out: data.held_out,
        seed: data.seed,
    };
    data::cache::prepare(&request, home.path(), data.pipeline == Pipeline::Own)
}

/// Puts images and initial weights where the job says they are, and says what of the images will
/// not be trained on.
pub(crate) fn fill_job(
    job: &mut TrainJob,
    trainer: &Trainer,
    folder: &Path,
    home: &Home,
) -> Result<Option<Warning>, RunnerError> {
    let cached = cache(job, home).map_err(WorkloadError::Data)?;
    let left_out = left_out(cached.train, job, trainer.framework.kind);
    job.data.cache = Some(cached.folder);
    // The embedded engine draws the same weights itself.
    if trainer.framework.kind != Kind::Engine {
        let path = folder.join(WEIGHTS_FILE);
        let weights = network::initial_weights(&trainer.graph, job.seed);
        fs::write(&path, weights.to_bytes()).map_err(|e| RunnerError::write(&path, e))?;
        job.weights = Some(path);
    }
    Ok(left_out)
}

/// Of the last batch of an epoch, which is smaller than the others.
fn left_out(images: u32, job: &TrainJob, kind: Kind) -> Option<Warning> {
    let last = images.checked_rem(job.batch)?;
    let (left_out, why) = match kind {
        Kind::Caffe => (last, "Caffe's batches all have the same size"),
        _ => (
            last.checked_rem(job.workers)?,
            "all workers must get an equal share of a batch",
        ),
    };
    (left_out > 0).then(|| Warning::ImagesLeftOut {
        images: left_out,
        of: images,
        why: why.to_owned(),
    })
}

/// After the run: the initial weights can be drawn again, and the trained ones are also written
/// as ONNX where they are kept. Says why they are not, where a network has no such form.
pub(crate) fn tidy(
    folder: &Path,
    trainer: Option<&Trainer>,
    keep_model: bool,
) -> Result<Option<Warning>, RunnerError> {
    remove(&folder.join(WEIGHTS_FILE))?;
    tidy_caffe(&folder.join(CAFFE_FOLDER))?;
    if !keep_model {
        drop_models(folder)?;
        return Ok(None);
    }
    let path = folder.join(MODEL_FILE);
    let (Some(trainer), Ok(bytes)) = (trainer, fs::read(&path)) else {
        return Ok(None);
    };
    // A run that was cut short may have left half a file: there is no model then.
    let Ok(weights) = Weights::from_bytes(&bytes) else {
        return Ok(None);
    };
    match formats::onnx(&trainer.graph, &weights) {
        Ok(onnx) => {
            let path = folder.join(ONNX_FILE);
            fs::write(&path, onnx).map_err(|e| RunnerError::write(&path, e))?;
            Ok(None)
        }
        Err(error) => Ok(Some(Warning::NoOnnx {
            reason: error.to_string(),
        })),
    }
}

/// A run of Caffe that ends in peace does so itself; one that is killed leaves every image.
fn tidy_caffe(folder: &Path) -> Result<(), RunnerError> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let is_text = |path: &Path| path.extension().is_some_and(|e| e == "prototxt");
    for path in paths.filter(|path| !is_text(path)) {
        remove(&path)?;
    }
    Ok(())
}

/// Every format of the trained network: `model.safetensors`, `model.pt`, a folder `model`, ….
fn drop_models(folder: &Path) -> Result<(), RunnerError> {
    let entries = fs::read_dir(folder).map_err(|e| RunnerError::write(folder, e))?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name == "model" || name.starts_with("model.") {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), RunnerError> {
    let removed = match path.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(RunnerError::write(path, error))
        }
        _ => Ok(()),
    }
}
