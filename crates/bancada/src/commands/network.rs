use std::fs;

use network::{Description, Graph, InputSpec, Precision};
use source::Source;

use crate::args::NetworkCommand;
use crate::exit::{CommandResult, Exit, Failure};
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
            image,
            channels,
            classes,
            batch,
        } => {
            let input = InputSpec {
                channels,
                height: image,
                width: image,
                classes,
            };
            let graph = load(&network, printer)?
                .instantiate(input)
                .map_err(|problems| {
                    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
                    Failure::trouble(format!(
                        "network `{network}` at {image} px: {}",
                        problems.join("\n       ")
                    ))
                })?;
            printer.data(&summary(&graph, batch));
        }
    }
    Ok(Exit::Ok)
}

/// The layers, then what training takes.
fn summary(graph: &Graph, batch: u32) -> String {
    // Adam keeps two numbers for every parameter.
    let memory = graph.training_memory(batch, Precision::Single, 2);
    format!(
        "{}\nmemory to train with batch {batch} and Adam, at least: {}",
        network::render_summary(graph).trim_end(),
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
    let lines = network::names().map(|name| format!("{name:width$}  {}", about(name)));
    lines.collect::<Vec<String>>().join("\n")
}

pub(super) fn load(name: &str, printer: &Printer) -> Result<Description, Failure> {
    if !name.ends_with(".toml") {
        return network::load(name).map_err(|e| Failure::new(Exit::BadStudy, e));
    }
    let text = fs::read_to_string(name)
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
