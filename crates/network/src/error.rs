use std::fmt;

use source::{Diagnostic, Source, Span, Style};

use crate::weights::WeightsError;

/// Why a network cannot be had.
#[derive(Debug, Clone, PartialEq)]
pub enum NetworkError {
    /// Not a name of the zoo.
    Unknown {
        name: String,
        meant: Option<&'static str>,
    },
    /// The file has errors.
    Description {
        name: String,
        text: String,
        problems: Vec<Diagnostic>,
    },
    /// The input does not suit the network.
    Shape(Vec<ShapeProblem>),
    Weights(WeightsError),
    /// A graph, read back, that no description can have given.
    Graph(String),
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkError::Unknown { name, meant } => {
                write!(f, "unknown network `{name}`")?;
                if let Some(meant) = meant {
                    write!(f, "; did you mean `{meant}`?")?;
                }
                let known: Vec<&str> = crate::names().collect();
                write!(f, " (known: {})", known.join(", "))
            }
            NetworkError::Description {
                name,
                text,
                problems,
            } => f.write_str(&Source { name, text }.render_all(problems, Style::Plain)),
            NetworkError::Shape(problems) => {
                let lines: Vec<String> = problems.iter().map(ShapeProblem::to_string).collect();
                f.write_str(&lines.join("\n"))
            }
            NetworkError::Weights(error) => error.fmt(f),
            NetworkError::Graph(reason) => write!(
                f,
                "not a network graph: {reason}; write it again from its description"
            ),
        }
    }
}

impl std::error::Error for NetworkError {}

impl From<Vec<ShapeProblem>> for NetworkError {
    fn from(problems: Vec<ShapeProblem>) -> Self {
        NetworkError::Shape(problems)
    }
}

impl From<WeightsError> for NetworkError {
    fn from(error: WeightsError) -> Self {
        NetworkError::Weights(error)
    }
}

/// A layer that cannot work on what arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeProblem {
    /// `input` for what was given from outside.
    pub layer: String,
    /// The layer's place in its file; `None` for the input.
    pub span: Option<Span>,
    /// What arrived and what is needed.
    pub message: String,
    pub hint: Option<String>,
}

impl ShapeProblem {
    /// To be shown in the network file.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let message = format!("`{}` {}", self.layer, self.message);
        let mut diagnostic = match &self.span {
            Some(span) => Diagnostic::at(span.clone(), message),
            None => Diagnostic::whole(message),
        };
        if let Some(hint) = &self.hint {
            diagnostic = diagnostic.note(hint.clone());
        }
        diagnostic
    }
}

impl fmt::Display for ShapeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.layer, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, ": {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ShapeProblem {}
