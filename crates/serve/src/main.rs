//! The server alone, without the rest of Bancada, for container images.

use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use serve::args::ServeArgs;
use serve::{Keep, ModelFile, Offer, OnnxRuntime, ServerEvent};

/// Serve ONNX models: GET /ping, POST /invocations
#[derive(Debug, Parser)]
#[command(name = "bancada-serve", version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve models until SIGTERM
    Serve(ServeArgs),
}

fn main() -> ExitCode {
    // SAFETY: nothing has been started yet.
    unsafe { serve::library::keep_silent() };
    let Command::Serve(args) = Cli::parse().command;
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &ServeArgs) -> Result<(), String> {
    let library = args.library.clone().or_else(|| serve::library::find(&[]));
    let library = library.ok_or("ONNX Runtime's shared library was not found: set --library")?;
    let outputs = args.outputs()?;
    let files = args.named().into_iter().map(|(name, path)| {
        let mut file = ModelFile::find(Path::new(path)).map_err(|problem| problem.to_string())?;
        if let Some(outputs) = &outputs {
            file.description.output = Some(outputs.clone());
        }
        if let Some(name) = name {
            file.name = name.to_owned();
        }
        Ok::<_, String>(file)
    });
    let files = files.collect::<Result<Vec<_>, _>>()?;
    if args.prepare {
        let runtime = OnnxRuntime::load(&library).map_err(|problem| problem.to_string())?;
        for file in files {
            runtime
                .open(&file.path, &Keep::Beside, 1)
                .map_err(|problem| format!("{}: {problem}", file.name))?;
        }
        return Ok(());
    }
    let offers = files.into_iter().map(|file| offer(file, &library));
    let options = args.options()?;
    serve::serve(offers.collect(), options, tell).map_err(|problem| problem.to_string())
}

fn offer(file: ModelFile, library: &Path) -> Offer {
    let library = library.to_owned();
    Offer {
        name: file.name,
        description: file.description,
        load: Box::new(move |threads| {
            let model = OnnxRuntime::load(&library)?.open(&file.path, &Keep::Nowhere, threads)?;
            Ok(Box::new(model))
        }),
    }
}

fn tell(told: ServerEvent) {
    match told {
        ServerEvent::Bound { .. } => {}
        ServerEvent::Ready {
            model,
            runtime,
            seconds,
            untrained,
        } => {
            eprintln!("{model} is ready after {:.0} ms ({runtime})", seconds * 1e3);
            if untrained {
                eprintln!("! {model}: {}", serve::UNTRAINED);
            }
        }
        ServerEvent::NotBatched { model } => eprintln!("! {model}: {}", serve::NOT_BATCHED),
        ServerEvent::Listening { address, workers } => {
            eprintln!("listening on http://{address}, {workers} workers")
        }
        ServerEvent::Draining => eprintln!("shutting down: finishing requests in progress"),
    }
}
