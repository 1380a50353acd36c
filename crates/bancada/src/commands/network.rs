use std::fs;
use std::path::Path;

use network::{Description, Graph, Precision, Shape, Weights};
use source::Source;
use source::screen::pad_right;

use crate::args::{InputArgs, NetworkCommand, OnnxArgs};
use crate::exit::{CommandResult, Exit, Failure};
use crate::files::read_text;
use crate::printer::Printer;

pub(super) fn network(command: NetworkCommand, printer: &Printer) -> CommandResult {
    match command {
        NetworkCommand::List => printer.data(&list()),
        NetworkCommand::Print { network } => match network::find(&network) {
            Some(text) => printer.data(text),
            None => {
                return Err(load(&network, printer)
                    .err()
                    .unwrap_or_else(|| Failure::trouble("no text")));
            }
        },
        NetworkCommand::Show {
            network,
            input,
            batch,
        } => {
            let graph = instantiate(&network, input, printer)?;
            printer.data(&summary(&graph, batch));
        }
        NetworkCommand::Onnx(args) => onnx(&args, printer)?,
    }
    Ok(Exit::Ok)
}

pub(super) fn instantiate(
    network: &str,
    input: InputArgs,
    printer: &Printer,
) -> Result<Graph, Failure> {
    let description = load(network, printer)?;
    let input = input.of(description.input);
    let made = description.instantiate(input);
    made.map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Failure::trouble(format!(
            "network `{network}` at {} px: {}",
            input.height,
            problems.join("\n       ")
        ))
    })
}

fn onnx(args: &OnnxArgs, printer: &Printer) -> Result<(), Failure> {
    let graph = instantiate(&args.network, args.input, printer)?;
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
        None => formats::untrained_onnx(&graph, &weights, args.seed),
        Some(_) => formats::onnx(&graph, &weights),
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
        Some(Shape::Image {
            channels,
            height,
            width,
        }) => format!(
            "{height}×{width} px, {}, {} classes",
            report::format::counted(channels as usize, "channel", "channels"),
            graph.classes
        ),
        _ => String::new(),
    }
}

/// The layers, then what training takes.
fn summary(graph: &Graph, batch: u32) -> String {
    // Adam keeps two numbers for every parameter.
    let memory = graph.training_memory(batch, Precision::Single, 2);
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

pub(super) fn load(name: &str, printer: &Printer) -> Result<Description, Failure> {
    if !name.ends_with(".toml") {
        return network::load(name).map_err(|e| Failure::new(Exit::BadStudy, e));
    }
    let text = read_text(Path::new(name))
        .map_err(|e| Failure::trouble(format!("cannot read {name}: {e}")))?;
    network::parse(&text).map_err(|diagnostics| {
        let source = Source { name, text: &text };
        Failure::bad_study(
            source
                .render_all(&diagnostics, printer.style())
                .trim_end()
                .to_owned(),
        )
    })
}
