use crate::home::{HomeError, NotSetUp};
use crate::registry;
use crate::spec::Spec;

/// Why a stack cannot be started, or a model not be prepared for it.
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    /// It trains, or is a part that stacks use.
    #[error("{spec} is not a serving stack; known: {}", registry::stacks().map(|s| s.name.as_str()).collect::<Vec<_>>().join(", "))]
    NoStack { spec: Spec },
    #[error(transparent)]
    NotSetUp(NotSetUp),
    #[error(
        "{spec} needs nginx: apt-get install {debian}, or run without it (--no-nginx), which is a different stack"
    )]
    NoNginx { spec: Spec, debian: String },
    /// It builds the network anew, and of this model only a file is known.
    #[error(
        "{spec} rebuilds the network, so it can serve only networks of the zoo and runs; {model} is only an ONNX file"
    )]
    NoGraph { spec: Spec, model: String },
    /// The model's own weights or graph cannot be had.
    #[error("{model}: {why}")]
    Network { model: String, why: String },
    #[error("{model} cannot be prepared for {spec}{}", .last_lines.iter().map(|line| format!("\n  │ {line}")).collect::<String>())]
    Conversion {
        spec: Spec,
        model: String,
        last_lines: Vec<String>,
    },
    #[error(transparent)]
    Home(HomeError),
}
