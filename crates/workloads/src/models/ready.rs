//! Everything that a measured start must not be charged for: the model on the disk, converted for
//! its stack, quantised, and ONNX Runtime's optimised copy of it.

use std::path::{Path, PathBuf};

use frameworks::{Home, Machine, Spec, Stacks};
use host::Digest;
use model::order::ModelWish;
use model::{ReadyModel, ServePrecision};
use serve::{Keep, OnnxRuntime};

use super::{InputWish, NO_LIBRARY, Offered, SERVED, find_library};
use crate::error::Error;
use crate::quantise::{Pictures, QuantiseWish, Quantised, Share};

const ONNX_RUNTIME: &str = "ONNX Runtime";
/// The stack that needs no model of another form.
const OWN_STACK: &str = "bancada";
/// Of weights that are drawn.
const SEED: u64 = 1;
/// Enough to find the ranges of activations, and to tell percents apart.
const CALIBRATION_IMAGES: u32 = 128;
const HELD_OUT_IMAGES: u32 = 500;

pub fn make_model(wish: &ModelWish, files: &Path, home: &Home) -> Result<ReadyModel, Error> {
    // SAFETY: this program has one thread here.
    unsafe { serve::library::keep_silent() };
    let model = match network::find(&wish.model) {
        Some(_) => wish.model.clone(),
        None => {
            let path = files.join(&wish.model);
            check_digest(wish, &path)?;
            path.to_string_lossy().into_owned()
        }
    };
    let input = InputWish {
        image: wish.image,
        channels: None,
        classes: wish.classes,
    };
    let offered = Offered::find(&model, input, SEED)?;
    let stack = match wish.stack.as_str() {
        OWN_STACK => None,
        name => Some(Spec::parse(name).map_err(Error::failed)?),
    };
    match (&stack, wish.precision) {
        (Some(spec), ServePrecision::Float32) => for_stack(spec, &offered, home),
        (stack, ServePrecision::Int8) => quantised(stack.as_ref(), &offered, home),
        (None, ServePrecision::Float32) => for_server(wish, &model, &offered, home),
    }
}

/// The model is the one that the study was planned with.
fn check_digest(wish: &ModelWish, path: &Path) -> Result<(), Error> {
    let Some(expected) = &wish.digest else {
        return Ok(());
    };
    let found = Digest::of_file(path)
        .map_err(|e| Error::failed(format!("cannot read {}: {e}", path.display())))?;
    match found.to_string() == *expected {
        true => Ok(()),
        false => Err(Error::failed(format!(
            "{} is not the model that the study was planned with: its SHA-256 is {found}, expected {expected}",
            path.display()
        ))),
    }
}

fn for_server(
    wish: &ModelWish,
    model: &str,
    offered: &Offered,
    home: &Home,
) -> Result<ReadyModel, Error> {
    let side = offered.side();
    let Some(library) = find_library(home) else {
        // The embedded engine serves what is described; what it computes is made at every start.
        let mut served = vec![model.to_owned()];
        for (flag, value) in [("--image", wish.image), ("--classes", wish.classes)] {
            let words = |number: u32| [flag.to_owned(), number.to_string()];
            served.extend(value.into_iter().flat_map(words));
        }
        return Ok(ReadyModel {
            served,
            runtime: Some("the embedded engine".to_owned()),
            side,
            ..ReadyModel::default()
        });
    };
    let onnx = offered.on_disk(home)?;
    optimise(&library, &onnx, home)?;
    Ok(ReadyModel {
        bytes: size(&onnx),
        served: vec![named(offered, &onnx)],
        runtime: Some(ONNX_RUNTIME.to_owned()),
        side,
        ..ReadyModel::default()
    })
}

fn for_stack(spec: &Spec, offered: &Offered, home: &Home) -> Result<ReadyModel, Error> {
    let machine = Machine::here();
    let stacks = Stacks {
        home,
        machine: &machine,
    };
    let onnx = offered.on_disk(home)?;
    let folder = offered.for_stack(spec, &stacks, &onnx, false)?;
    Ok(ReadyModel {
        bytes: size(&onnx),
        stack_folder: Some(folder),
        runtime: Some(spec.to_string()),
        side: offered.side(),
        ..ReadyModel::default()
    })
}

fn quantised(stack: Option<&Spec>, offered: &Offered, home: &Home) -> Result<ReadyModel, Error> {
    let description = offered.description_text()?;
    let job = offered.trained_on()?;
    let seeded = offered.is_seeded();
    let (dataset, data_dir, seed) = match job {
        Some(job) => (job.dataset, job.data_dir, job.seed),
        // Weights that were drawn know no dataset; these need no files.
        None => ("digits".to_owned(), None, 1),
    };
    let pictures = Pictures {
        dataset,
        data_dir,
        images: CALIBRATION_IMAGES,
        held_out: HELD_OUT_IMAGES,
        seed,
    };
    let onnx = offered.on_disk(home)?;
    let wish = QuantiseWish {
        model: &onnx,
        description: Some(&description),
        pictures: Some(&pictures),
        dynamic: false,
        trained: !seeded,
    };
    let Quantised {
        path,
        bytes,
        comparison,
        ..
    } = crate::quantise::quantise(home, &wish).map_err(Error::failed)?;
    let stack_folder = match stack {
        None => {
            let library = find_library(home).ok_or_else(|| Error::failed(NO_LIBRARY))?;
            optimise(&library, &path, home)?;
            None
        }
        Some(spec) => {
            let machine = Machine::here();
            let stacks = Stacks {
                home,
                machine: &machine,
            };
            Some(offered.for_stack(spec, &stacks, &path, true)?)
        }
    };
    let percent = |share: &Share| 100.0 * share.estimate.value;
    Ok(ReadyModel {
        served: vec![named(offered, &path)],
        runtime: stack.is_none().then(|| ONNX_RUNTIME.to_owned()),
        stack_folder,
        bytes: Some(bytes),
        side: offered.side(),
        accuracy_percent: comparison
            .as_ref()
            .and_then(|c| c.accuracy.as_ref())
            .map(|accuracy| percent(&accuracy.quantised)),
        agreement_percent: comparison.as_ref().map(|c| percent(&c.agreement)),
    })
}

/// Under the name that people gave it, not that of a file in the cache.
fn named(offered: &Offered, path: &Path) -> String {
    format!("{}={}", offered.name, path.display())
}

/// The copy that starts map; the next start finds it.
fn optimise(library: &Path, onnx: &Path, home: &Home) -> Result<(), Error> {
    let cache: PathBuf = home.path().join(SERVED);
    let runtime = OnnxRuntime::load(library).map_err(Error::failed)?;
    runtime
        .open(onnx, &Keep::In(cache), 1)
        .map_err(Error::failed)?;
    Ok(())
}

fn size(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|file| file.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_is_not_the_planned_one_is_refused() {
        let path = std::env::temp_dir().join(format!("bancada-model-{}", std::process::id()));
        std::fs::write(&path, "one").unwrap();
        let check = |digest: Option<Digest>| {
            let wish = ModelWish {
                model: path.to_string_lossy().into_owned(),
                image: None,
                classes: None,
                stack: OWN_STACK.to_owned(),
                precision: ServePrecision::Float32,
                digest: digest.map(|digest| digest.to_string()),
            };
            check_digest(&wish, &path).map_err(|error| error.to_string())
        };
        assert!(check(None).is_ok());
        assert!(check(Some(Digest::of("one"))).is_ok());
        let refused = check(Some(Digest::of("another"))).unwrap_err();
        assert!(refused.contains("not the model that the study was planned with"));
        std::fs::remove_file(&path).unwrap();
    }
}
