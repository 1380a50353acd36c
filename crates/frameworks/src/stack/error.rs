use std::fmt;

use crate::home::{HomeError, NotSetUp};
use crate::registry;
use crate::spec::Spec;

/// Why a stack cannot be started, or a model not be prepared for it.
#[derive(Debug)]
pub enum StackError {
    /// It trains, or is a part that stacks use.
    NoStack {
        spec: Spec,
    },
    NotSetUp(NotSetUp),
    NoNginx {
        spec: Spec,
        debian: String,
    },
    /// It builds the network anew, and of this model only a file is known.
    NoGraph {
        spec: Spec,
        model: String,
    },
    /// The model's own weights or graph cannot be had.
    Network {
        model: String,
        why: String,
    },
    Conversion {
        spec: Spec,
        model: String,
        last_lines: Vec<String>,
    },
    Home(HomeError),
}

impl fmt::Display for StackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StackError::NoStack { spec } => {
                let known: Vec<&str> = registry::stacks().map(|s| s.name.as_str()).collect();
                write!(
                    f,
                    "{spec} is not a serving stack; known: {}",
                    known.join(", ")
                )
            }
            StackError::NotSetUp(error) => error.fmt(f),
            StackError::NoNginx { spec, debian } => write!(
                f,
                "{spec} needs nginx: apt-get install {debian}, or run without it (--no-nginx), which is a different stack"
            ),
            StackError::NoGraph { spec, model } => write!(
                f,
                "{spec} rebuilds the network, so it can serve only networks of the zoo and runs; {model} is only an ONNX file"
            ),
            StackError::Network { model, why } => write!(f, "{model}: {why}"),
            StackError::Conversion {
                spec,
                model,
                last_lines,
            } => {
                write!(f, "{model} cannot be prepared for {spec}")?;
                last_lines
                    .iter()
                    .try_for_each(|line| write!(f, "\n  │ {line}"))
            }
            StackError::Home(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StackError {}
