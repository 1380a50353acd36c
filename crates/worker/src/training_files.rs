//! The files of a training: images that all frameworks map and initial weights before it, the trained
//! network in a format that others read after it.

use std::fs;
use std::io;
use std::path::Path;

use data::cache::Cached;
use data::{DataError, DataRequest};
use frameworks::{Home, Kind};
use model::{Pipeline, TrainJob, Warning};
use network::Weights;

use crate::bind::Trainer;
use crate::error::WorkError;

/// The trained weights, in a run's folder.
pub(crate) const MODEL_FILE: &str = "model.safetensors";
const WEIGHTS_FILE: &str = "initial.safetensors";
/// Where Caffe's files lie beside its job; what was trained, as texts, stays.
const CAFFE_FOLDER: &str = "caffe";
const ONNX_FILE: &str = "model.onnx";

pub(crate) fn cache(job: &TrainJob, home: &Home) -> Result<Cached, DataError> {
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
) -> Result<Option<Warning>, WorkError> {
    let cached = cache(job, home).map_err(WorkError::Data)?;
    let left_out = left_out(cached.train, job, trainer.framework.kind);
    job.data.cache = Some(cached.folder);
    // The embedded engine draws the same weights itself.
    if trainer.framework.kind != Kind::Engine {
        let path = folder.join(WEIGHTS_FILE);
        let weights = network::initial_weights(&trainer.graph, job.seed);
        fs::write(&path, weights.to_bytes()).map_err(|e| WorkError::write(&path, e))?;
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
) -> Result<Option<Warning>, WorkError> {
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
    match network::formats::onnx(&trainer.graph, &weights) {
        Ok(onnx) => {
            let path = folder.join(ONNX_FILE);
            fs::write(&path, onnx).map_err(|e| WorkError::write(&path, e))?;
            Ok(None)
        }
        Err(error) => Ok(Some(Warning::NoOnnx {
            reason: error.to_string(),
        })),
    }
}

/// A run of Caffe that ends in peace does so itself; one that is killed leaves every image.
fn tidy_caffe(folder: &Path) -> Result<(), WorkError> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let is_text = |path: &Path| path.extension().is_some_and(|e| e == "prototxt");
    for path in paths.filter(|path| !is_text(path)) {
        remove(&path)?;
    }
    Ok(())
}

/// Every format of the trained network: `model.safetensors`, `model.pt`, a folder `model`, ….
fn drop_models(folder: &Path) -> Result<(), WorkError> {
    let entries = fs::read_dir(folder).map_err(|e| WorkError::write(folder, e))?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name == "model" || name.starts_with("model.") {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), WorkError> {
    let removed = match path.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(WorkError::write(path, error)),
        _ => Ok(()),
    }
}
