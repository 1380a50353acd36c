//! Everything that a measured start must not be charged for: the model on the disk, converted for
//! its stack, quantised, and ONNX Runtime's optimised copy of it.

use std::path::{Path, PathBuf};

use frameworks::{Home, Machine, Spec, Stacks};
use quantise::{Pictures, QuantiseWish, Quantised};
use runner::ReadyModel;
use serve::{Keep, OnnxRuntime};

use super::find_library;
use super::offers::{Offered, SERVED};
use super::stacked::stack_model;
use crate::args::ServeReadyArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

const ONNX_RUNTIME: &str = "ONNX Runtime";
/// Enough to find the ranges of activations, and to tell percents apart.
const CALIBRATION_IMAGES: u32 = 128;
const HELD_OUT_IMAGES: u32 = 500;

pub(in crate::commands) fn ready(args: &ServeReadyArgs, printer: &Printer) -> CommandResult {
    // SAFETY: this program has one thread here.
    unsafe { serve::library::keep_silent() };
    let home = Home::find().map_err(Failure::trouble)?;
    let offered = Offered::find(&args.model, args.instance, printer)?;
    let model = match (&args.stack, args.int8) {
        (Some(spec), false) => for_stack(spec, &offered, &home)?,
        (stack, true) => quantised(stack.as_ref(), &offered, &home)?,
        (None, false) => for_server(args, &offered, &home)?,
    };
    let json = serde_json::to_string(&model).map_err(Failure::trouble)?;
    printer.data(&json);
    Ok(Exit::Ok)
}

fn for_server(
    args: &ServeReadyArgs,
    offered: &Offered,
    home: &Home,
) -> Result<ReadyModel, Failure> {
    let side = offered.side();
    let Some(library) = find_library(home) else {
        // The embedded engine serves what is described; what it computes is made at every start.
        let mut served = vec![args.model.clone()];
        let instance = args.instance;
        for (flag, value) in [
            ("--image", instance.input.image),
            ("--classes", instance.input.classes),
        ] {
            served.extend(
                value
                    .into_iter()
                    .flat_map(|n| [flag.to_owned(), n.to_string()]),
            );
        }
        return Ok(ReadyModel {
            served,
            runtime: Some("the embedded engine".to_owned()),
            side,
            ..nothing()
        });
    };
    let onnx = offered.on_disk(home)?;
    optimise(&library, &onnx, home)?;
    Ok(ReadyModel {
        bytes: size(&onnx),
        served: vec![named(offered, &onnx)],
        runtime: Some(ONNX_RUNTIME.to_owned()),
        side,
        accuracy_percent: None,
        ..nothing()
    })
}

fn for_stack(spec: &Spec, offered: &Offered, home: &Home) -> Result<ReadyModel, Failure> {
    let machine = Machine::here();
    let stacks = Stacks {
        home,
        machine: &machine,
    };
    let onnx = offered.on_disk(home)?;
    let folder = stack_model(offered, &onnx, |model| stacks.prepare(spec, model))?;
    Ok(ReadyModel {
        bytes: size(&onnx),
        stack_folder: Some(folder),
        runtime: Some(spec.to_string()),
        side: offered.side(),
        ..nothing()
    })
}

fn quantised(stack: Option<&Spec>, offered: &Offered, home: &Home) -> Result<ReadyModel, Failure> {
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
    } = ::quantise::quantise(home, &wish).map_err(Failure::trouble)?;
    let stack_folder = match stack {
        None => {
            let library = find_library(home).ok_or_else(|| Failure::trouble(super::NO_LIBRARY))?;
            optimise(&library, &path, home)?;
            None
        }
        Some(spec) => {
            let machine = Machine::here();
            let stacks = Stacks {
                home,
                machine: &machine,
            };
            let prepared = stack_model(offered, &path, |model| {
                let file_only = frameworks::StackModel {
                    network: None,
                    ..*model
                };
                stacks.prepare(spec, &file_only)
            })?;
            Some(prepared)
        }
    };
    let percent = |share: &::quantise::Share| 100.0 * share.estimate.value;
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
fn optimise(library: &Path, onnx: &Path, home: &Home) -> Result<(), Failure> {
    let cache: PathBuf = home.path().join(SERVED);
    let runtime = OnnxRuntime::load(library).map_err(Failure::trouble)?;
    runtime
        .open(onnx, &Keep::In(cache), 1)
        .map_err(Failure::trouble)?;
    Ok(())
}

fn size(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|file| file.len())
}

fn nothing() -> ReadyModel {
    ReadyModel {
        served: Vec::new(),
        stack_folder: None,
        bytes: None,
        runtime: None,
        side: None,
        accuracy_percent: None,
        agreement_percent: None,
    }
}
