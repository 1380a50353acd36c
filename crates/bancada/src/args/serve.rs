//! Arguments of `serve`.

use super::InputArgs;
use clap::{Args as ClapArgs, ValueEnum};
use workloads::models::RuntimeWish;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "MODEL is a network of the zoo (rede1, mobilenet …) or a network file, both with untrained weights; \
                        the folder of a run with a trained model; an .onnx file; or a folder with one and its \
                        description, model.json (docs/serving.md)."
)]
pub(crate) struct ServeCommandArgs {
    #[command(flatten)]
    pub(crate) server: ::serve::args::ServeArgs,
    /// Runtime
    #[arg(long, value_enum, default_value_t = RuntimeArg::Auto)]
    pub(crate) runtime: RuntimeArg,
    /// Use a different server installed by `bancada setup`, on loopback only: fastapi-tensorflow,
    /// fastapi-onnxruntime; with --prepare, print the model folder and exit
    #[arg(long, value_name = "NAME", value_parser = stack, conflicts_with_all = BANCADAS_OWN)]
    pub(crate) stack: Option<frameworks::Spec>,
    /// With --stack: run without NGINX (a different stack, with different timings)
    #[arg(long, requires = "stack")]
    pub(crate) no_nginx: bool,
    /// Prepare it, print the start command and variables as JSON, and exit: for benchmarks
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

/// How to instantiate a network of the zoo.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(crate) struct InstanceArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Seed of the weights of a network of the zoo
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuntimeArg {
    /// ONNX Runtime if its library is found, otherwise the embedded engine
    Auto,
    Onnx,
    Engine,
}

impl From<RuntimeArg> for RuntimeWish {
    fn from(arg: RuntimeArg) -> Self {
        match arg {
            RuntimeArg::Auto => RuntimeWish::Auto,
            RuntimeArg::Onnx => RuntimeWish::Onnx,
            RuntimeArg::Engine => RuntimeWish::Engine,
        }
    }
}
