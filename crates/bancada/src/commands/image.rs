//! Writes container images of the server.

use std::path::{Path, PathBuf};

use frameworks::Home;
use report::format;
use workloads::image::{Architecture, Base, Image, Output, Report, Size};
use workloads::models::{NO_LIBRARY, Offered, find_library};

use crate::args::{ImageBuildArgs, ImageCommand};
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

const SERVER: &str = "bancada-serve";

pub(super) fn image(command: ImageCommand, printer: &Printer) -> CommandResult {
    match command {
        ImageCommand::Build(args) => build(&args, printer),
    }
}

fn build(args: &ImageBuildArgs, printer: &Printer) -> CommandResult {
    let home = Home::find().map_err(Failure::trouble)?;
    let library = args.library.clone().or_else(|| find_library(&home));
    let image = Image {
        name: args.name.clone(),
        title: args.model.clone().unwrap_or_else(|| SERVER.to_owned()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        architecture: match args.arch {
            Some(architecture) => architecture,
            None => std::env::consts::ARCH
                .parse::<Architecture>()
                .map_err(Failure::trouble)?,
        },
        program: server(args)?,
        library: library.ok_or_else(|| Failure::trouble(NO_LIBRARY))?,
        model: args
            .model
            .as_deref()
            .map(|model| on_disk(model, args, &home))
            .transpose()?,
        prepare: args.prepare,
        base: match &args.base {
            Some(base) => Base::Given(base.clone()),
            None => Base::Scratch {
                folders: args.libraries.clone(),
            },
        },
    };
    // Engines take an archive: where none is kept, it lies in the cache for a moment.
    let passing = (args.load.is_some() && args.archive.is_none()).then(|| {
        home.path()
            .join(format!("image-{}.tar", std::process::id()))
    });
    let output = Output {
        folder: args.to.clone(),
        archive: args.archive.clone().or_else(|| passing.clone()),
        replace: args.replace,
    };
    let written = written(&image, &output, args);
    if let Some(passing) = passing {
        // Nobody misses it.
        let _ = std::fs::remove_file(passing);
    }
    let report = written?;
    for warning in &report.warnings {
        printer.talk(&format!("! {warning}"));
    }
    printer.data(&match args.json {
        true => serde_json::to_string_pretty(&report).map_err(Failure::trouble)?,
        false => in_words(&report),
    });
    Ok(Exit::Ok)
}

fn written(image: &Image, output: &Output, args: &ImageBuildArgs) -> Result<Report, Failure> {
    let report = workloads::image::build(image, output).map_err(Failure::trouble)?;
    if let (Some(engine), Some(archive)) = (args.load, &output.archive) {
        workloads::image::load_into(engine, archive, &args.name).map_err(Failure::trouble)?;
    }
    Ok(report)
}

/// A folder with a description stays a folder; of a run only the model is taken.
fn on_disk(model: &str, args: &ImageBuildArgs, home: &Home) -> Result<PathBuf, Failure> {
    let offered = Offered::find(model, args.instance.input.wish(), args.instance.seed)?;
    let path = Path::new(model);
    match offered.is_file() && path.is_dir() {
        true => Ok(path.to_owned()),
        false => Ok(offered.on_disk(home)?),
    }
}

/// Beside this program, or where cargo builds it.
fn server(args: &ImageBuildArgs) -> Result<PathBuf, Failure> {
    let own = std::env::current_exe().map_err(Failure::trouble)?;
    let folder = own.parent().unwrap_or(Path::new("."));
    let places = [folder.join(SERVER), folder.join("../small").join(SERVER)];
    let found = places.into_iter().find(|place| place.is_file());
    args.server.clone().or(found).ok_or_else(|| {
        Failure::trouble(format!(
            "{SERVER} was not found next to this program: cargo build --profile small -p serve, or set --server"
        ))
    })
}

fn in_words(report: &Report) -> String {
    let row = |name: &str, size: Size| {
        let [compressed, disk] =
            [size.compressed_bytes, size.disk_bytes].map(|bytes| format::bytes(bytes as f64));
        format!("  {name:<14} {compressed:>10} {disk:>10}")
    };
    let mut lines = vec![
        format!(
            "{} for {}, {}",
            report.name, report.architecture, report.digest
        ),
        format!("\n  {:<14} {:>10} {:>10}", "layer", "compressed", "on disk"),
    ];
    lines.extend(
        report
            .layers
            .iter()
            .map(|layer| row(layer.kind.word(), layer.size)),
    );
    lines.push(row("all", report.total));
    lines.push(row("without model", report.without_model));
    lines.join("\n")
}
