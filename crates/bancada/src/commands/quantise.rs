//! Quantises a model to 8 bits and prints the loss of accuracy.

use std::fs;
use std::path::Path;

use frameworks::Home;
use report::format;
use serde_json::json;
use workloads::models::Offered;
use workloads::quantise::{Comparison, Pictures, QuantiseWish, Quantised, Share};

use crate::args::QuantiseArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

pub(super) fn quantise(args: &QuantiseArgs, printer: &Printer) -> CommandResult {
    let home = Home::find().map_err(Failure::trouble)?;
    let offered = Offered::find(&args.model, args.instance.input.wish(), args.instance.seed)?;
    let chosen = Chosen::of(args, &offered)?;
    let description = offered.description_text()?;
    let wish = QuantiseWish {
        model: &offered.on_disk(&home)?,
        description: Some(&description),
        pictures: chosen.pictures.as_ref(),
        dynamic: args.dynamic,
        trained: chosen.trained,
    };
    let quantised = workloads::quantise::quantise(&home, &wish).map_err(Failure::trouble)?;
    // Who serves the old one goes on with it.
    host::copy_whole(&quantised.path, &args.to).map_err(unwritten(&args.to))?;
    let path = args.to.with_extension("json");
    fs::write(&path, &description).map_err(unwritten(&path))?;
    printer.data(&match args.json {
        true => format!("{:#}", json!({ "to": args.to, "quantised": quantised })),
        false => in_words(&quantised, &chosen, &args.to),
    });
    Ok(Exit::Ok)
}

/// The images that are looked at.
struct Chosen {
    pictures: Option<Pictures>,
    /// Whether the weights were trained on them, as far as is known.
    trained: bool,
    /// Weights as they are before training.
    seeded: bool,
}

impl Chosen {
    fn of(args: &QuantiseArgs, offered: &Offered) -> Result<Chosen, Failure> {
        let pictures = |dataset: &str, seed| Pictures {
            dataset: dataset.to_owned(),
            data_dir: args.data_dir.clone(),
            images: args.images,
            held_out: args.held_out,
            seed,
        };
        let job = offered.trained_on()?;
        let seeded = offered.is_seeded();
        // Of a file only whoever names the dataset knows.
        let trained = match (&args.dataset, &job) {
            (Some(dataset), Some(job)) => *dataset == job.dataset,
            _ => !seeded,
        };
        let seed = job.as_ref().map_or(1, |job| job.seed);
        let pictures = match (&args.dataset, job) {
            (Some(dataset), _) => Some(pictures(dataset, seed)),
            (None, Some(job)) => Some(Pictures {
                data_dir: job.data_dir,
                ..pictures(&job.dataset, seed)
            }),
            (None, None) if seeded => Some(pictures("digits", seed)),
            (None, None) => None,
        };
        Ok(Chosen {
            pictures,
            trained,
            seeded,
        })
    }
}

fn unwritten(path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    let path = path.to_owned();
    move |error| Failure::trouble(format!("cannot write {}: {error}", path.display()))
}

fn in_words(quantised: &Quantised, chosen: &Chosen, to: &Path) -> String {
    let size = |bytes: u64| format::bytes(bytes as f64);
    let ranges = match quantised.calibration_images {
        Some(images) => format!(
            "ranges of {}",
            format::counted(images as usize, "training image", "training images")
        ),
        None => "ranges computed during inference".to_owned(),
    };
    let mut lines = vec![format!(
        "{}: {} instead of {} (weights of {} bits, {ranges}, ONNX Runtime {})",
        to.display(),
        size(quantised.bytes),
        size(quantised.full_bytes),
        quantised.weight_bits,
        quantised.version,
    )];
    match &quantised.comparison {
        Some(comparison) => lines.extend(compared(comparison, chosen)),
        None if chosen.pictures.is_some() && quantised.calibration_images.is_some() => lines.push(
            "accuracy not measured: no output is known to score classes; set `output` in model.json"
                .to_owned(),
        ),
        None => lines
            .push("accuracy not measured: name a dataset with --dataset".to_owned()),
    }
    lines.join("\n")
}

fn compared(comparison: &Comparison, chosen: &Chosen) -> Vec<String> {
    let dataset = &comparison.dataset;
    let mut lines = Vec::new();
    match &comparison.accuracy {
        Some(accuracy) => {
            let of = accuracy.full.of;
            lines.push(format!("correct of {of} held-out images of {dataset}:"));
            lines.push(format!("  32 bits     {}", share(&accuracy.full)));
            lines.push(format!("   8 bits     {}", share(&accuracy.quantised)));
        }
        None if chosen.seeded => lines.push(format!(
            "its weights are random, not trained, so accuracy is meaningless; on held-out images of {dataset}:"
        )),
        None => lines.push(format!(
            "it was not trained on {dataset}, so accuracy is meaningless; on its held-out images:"
        )),
    }
    lines.push(format!(
        "  same class  {}, {} predicted",
        share(&comparison.agreement),
        format::counted(comparison.classes_named as usize, "class", "classes")
    ));
    lines
}

/// `492 of 500: 98.4 % [96.9, 99.2]`.
fn share(share: &Share) -> String {
    let percent = |fraction: f64| format!("{:.1}", fraction * 100.0);
    let interval = share.estimate.interval.map(|interval| {
        let ends = format::interval(interval.low, interval.high, percent);
        format!(" {ends}")
    });
    format!(
        "{} of {}: {} %{}",
        share.count,
        share.of,
        percent(share.estimate.value),
        interval.unwrap_or_default()
    )
}
