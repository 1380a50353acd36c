//! Serves models: of the zoo, of runs, or any ONNX file.

mod stacked;

use std::path::Path;

use frameworks::Home;
use serve::{Keep, OnnxRuntime, ServerEvent};
use workloads::models::{NO_LIBRARY, Offered, Runtime, find_library};

use crate::args::ServeCommandArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

pub(super) fn serve(args: &ServeCommandArgs, printer: &Printer) -> CommandResult {
    if let Some(spec) = &args.stack {
        return stacked::serve(args, spec, printer);
    }
    // SAFETY: this program has one thread until the server starts its own.
    unsafe { serve::library::keep_silent() };
    let home = Home::find().map_err(Failure::trouble)?;
    let options = args
        .server
        .options()
        .map_err(|problem| Failure::new(Exit::Trouble, problem))?;
    let library = args.server.library.clone().or_else(|| find_library(&home));
    let offered = all_offered(args)?;
    if let Some(name) = first_double(&offered) {
        return Err(Failure::trouble(format!(
            "two models are called `{name}`: name one of them with NAME=MODEL"
        )));
    }
    if args.server.prepare {
        return prepare(&offered, library.as_deref());
    }
    let runtime = Runtime::choose(args.runtime.into(), library);
    if let Runtime::Engine { explicit: false } = runtime {
        printer.talk(
            "! ONNX Runtime was not found; using the embedded engine, which is slower: bancada setup onnxruntime",
        );
    }
    let offers = offered
        .into_iter()
        .map(|offered| offered.offer(&runtime, &home))
        .collect::<Result<Vec<_>, _>>()?;
    let tell = |told: ServerEvent| {
        if let Some(words) = in_words(&told) {
            printer.talk(&words);
        }
    };
    serve::serve(offers, options, tell).map_err(Failure::trouble)?;
    Ok(Exit::Ok)
}

/// The models that were named, with what was said of their outputs.
fn all_offered(args: &ServeCommandArgs) -> Result<Vec<Offered>, Failure> {
    let outputs = args
        .server
        .outputs()
        .map_err(|problem| Failure::new(Exit::WrongArguments, problem))?;
    let offered = args.server.named().into_iter().map(|(name, model)| {
        let mut offered = Offered::find(model, args.instance.input.wish(), args.instance.seed)?;
        if let Some(name) = name {
            offered.name = name.to_owned();
        }
        if let Some(outputs) = &outputs {
            offered.description.output = Some(outputs.clone());
        }
        Ok(offered)
    });
    offered.collect()
}

fn first_double(offered: &[Offered]) -> Option<&str> {
    let seen = |place: usize, name: &str| offered[..place].iter().any(|other| other.name == name);
    let mut places = offered.iter().enumerate();
    let double = places.find(|(place, one)| seen(*place, &one.name));
    double.map(|(_, one)| one.name.as_str())
}

fn prepare(offered: &[Offered], library: Option<&Path>) -> CommandResult {
    let library = library.ok_or_else(|| Failure::trouble(NO_LIBRARY))?;
    let runtime = OnnxRuntime::load(library).map_err(Failure::trouble)?;
    for one in offered {
        let path = one.file().ok_or_else(|| {
            Failure::trouble(format!(
                "`{}` is not a file: write it first with bancada network onnx",
                one.name
            ))
        })?;
        runtime
            .open(path, &Keep::Beside, 1)
            .map_err(Failure::trouble)?;
    }
    Ok(Exit::Ok)
}

fn in_words(told: &ServerEvent) -> Option<String> {
    Some(match told {
        ServerEvent::Bound { .. } => return None,
        ServerEvent::Ready {
            model,
            runtime,
            seconds,
            untrained,
        } => {
            let ready = format!(
                "{model} is ready after {} ({runtime})",
                report::format::duration(*seconds)
            );
            match untrained {
                true => format!("{ready}\n! {model}: {}", serve::UNTRAINED),
                false => ready,
            }
        }
        ServerEvent::NotBatched { model } => format!("! {model}: {}", serve::NOT_BATCHED),
        ServerEvent::Listening { address, workers } => {
            let word = if *workers == 1 { "worker" } else { "workers" };
            format!(
                "listening on http://{address} with {workers} {word}: POST /invocations, GET /ping, /models, /metrics"
            )
        }
        ServerEvent::Draining => "shutting down: finishing requests in progress".to_owned(),
    })
}
