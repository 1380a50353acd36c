use std::fs;

use diagnostics::screen::pad_right;
use network::{Graph, Shape, Weights};
use workloads::models::{instantiate, load};

use crate::args::{NetworkCommand, OnnxArgs};
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

pub(super) fn network(command: NetworkCommand, printer: &Printer) -> CommandResult {
    match command {
        NetworkCommand::List => printer.data(&list()),
        NetworkCommand::Print { network } => match network::find(&network) {
            Some(text) => printer.data(text),
            None => {
                load(&network)?;
                return Err(Failure::trouble("no text"));
            }
        },
        NetworkCommand::Show {
            network,
            input,
            batch,
        } => {
            let graph = instantiate(&network, input.wish())?;
            printer.data(&summary(&graph, batch));
        }
        NetworkCommand::Onnx(args) => onnx(&args, printer)?,
    }
    Ok(Exit::Ok)
}

fn onnx(args: &OnnxArgs, printer: &Printer) -> Result<(), Failure> {
    let graph = instantiate(&args.network, args.input.wish())?;
    let weights = match &args.weights {
        None => network::initial_weights(&graph, args.seed),
        Some(path) => {
            let failed = |why: String| {
                Failure::trouble(format!("cannot use the weights {}: {why}", path.display()))
            };
            let bytes = fs::read(path).map_err(|e| failed(e.to_string()))?;
            let weights = Weights::from_bytes(&bytes).map_err(|e| failed(e.to_string()))?;
            weights.check(&graph).map_err(|e| failed(e.to_string()))?;
            weights
        }
    };
    let model = match &args.weights {
        None => network::formats::untrained_onnx(&graph, &weights, args.seed),
        Some(_) => network::formats::onnx(&graph, &weights),
    };
    let model = model.map_err(Failure::trouble)?;
    fs::write(&args.to, &model)
        .map_err(|e| Failure::trouble(format!("cannot write {}: {e}", args.to.display())))?;
    let of = args.weights.as_ref().map_or_else(
        || format!("untrained weights, seed {}", args.seed),
        |path| path.display().to_string(),
    );
    printer.talk(&format!(
        "{} for {}, {of}: {}",
        graph.name,
        input_words(&graph),
        report::format::bytes(model.len() as f64),
    ));
    printer.data(&args.to.display().to_string());
    Ok(())
}

/// `224×224 px, 3 channels, 1000 classes`.
pub(super) fn input_words(graph: &Graph) -> String {
    match graph.nodes.first().map(|node| node.shape) {
        Some(Shape::Image(image)) => format!(
            "{}×{} px, {}, {} classes",
            image.height,
            image.width,
            report::format::counted(image.channels as usize, "channel", "channels"),
            graph.classes
        ),
        _ => String::new(),
    }
}

/// The layers, then what training takes.
fn summary(graph: &Graph, batch: u32) -> String {
    // Adam keeps two numbers for every parameter.
    let memory = graph.training_memory(batch, 2);
    let gathered = match graph.kept() - graph.parameters() {
        0 => String::new(),
        more => format!(
            "\nwith the running means and variances of batch normalisations: {} parameters",
            report::format::count((graph.parameters() + more) as usize)
        ),
    };
    format!(
        "{}{gathered}\nfor {}; memory to train with batch {batch} and Adam, at least: {}",
        network::render_summary(graph).trim_end(),
        input_words(graph),
        report::format::bytes(memory.total_bytes() as f64),
    )
}

fn list() -> String {
    let width = network::names().map(str::len).max().unwrap_or(0);
    let about = |name: &str| {
        network::load(name)
            .ok()
            .and_then(|d| d.about)
            .unwrap_or_default()
    };
    let lines = network::names().map(|name| format!("{}  {}", pad_right(name, width), about(name)));
    lines.collect::<Vec<String>>().join("\n")
}
