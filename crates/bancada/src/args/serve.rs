//! Arguments of `serve`.

use super::InputArgs;
use clap::{Args as ClapArgs, ValueEnum};

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "MODEL is a name of the zoo (rede1, mobilenet …) or a network file with weights as they are \
                        before training, the folder of a run with a trained model, an .onnx file, or a folder with \
                        one and its description, model.json (docs/serving.md)."
)]
pub(crate) struct ServeCommandArgs {
    #[command(flatten)]
    pub(crate) server: ::serve::args::ServeArgs,
    /// What computes
    #[arg(long, value_enum, default_value_t = RuntimeArg::Auto)]
    pub(crate) runtime: RuntimeArg,
    /// Serve it by another server that `bancada setup` has set up, on this machine alone: fastapi-tensorflow,
    /// fastapi-onnxruntime; with --prepare, print the folder it reads and end
    #[arg(long, value_name = "NAME", value_parser = stack, conflicts_with_all = BANCADAS_OWN)]
    pub(crate) stack: Option<frameworks::Spec>,
    /// Without NGINX before it, which is another stack then
    #[arg(long, requires = "stack")]
    pub(crate) no_nginx: bool,
    /// Prepare it, print command and variables of its start as JSON, and end: for benches
    #[arg(long, requires = "stack", conflicts_with = "prepare", hide = true)]
    pub(crate) start_json: bool,
    #[command(flatten)]
    pub(crate) instance: InstanceArgs,
}

/// What other servers have no setting for.
const BANCADAS_OWN: [&str; 10] = [
    "host",
    "queue",
    "max_body",
    "max_pixels",
    "batch",
    "linger",
    "top",
    "drain",
    "library",
    "runtime",
];

fn stack(text: &str) -> Result<frameworks::Spec, String> {
    let spec = frameworks::Spec::parse(text).map_err(|error| error.to_string())?;
    match spec.framework.kind {
        frameworks::Kind::Stack => Ok(spec),
        _ => Err(frameworks::StackError::NoStack { spec }.to_string()),
    }
}

/// How a network of the zoo is made.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(crate) struct InstanceArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Of a zoo network's weights
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuntimeArg {
    /// ONNX Runtime where its library is found, else the embedded engine
    Auto,
    Onnx,
    Engine,
}
