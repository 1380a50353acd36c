use diagnostics::{Diagnostic, Source, Style};

/// Why a network cannot be had.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NetworkError {
    /// Not a name of the zoo.
    #[error("unknown network `{name}`{} (known: {})", meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default(), crate::names().collect::<Vec<_>>().join(", "))]
    Unknown {
        name: String,
        meant: Option<&'static str>,
    },
    /// The file has errors.
    #[error("{}", Source { name, text }.render_all(.problems, Style::Plain))]
    Description {
        name: String,
        text: String,
        problems: Vec<Diagnostic>,
    },
}

/// A layer that cannot work on what arrives.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{layer}` {message}{}", .hint.as_ref().map(|hint| format!(": {hint}")).unwrap_or_default())]
pub struct ShapeProblem {
    /// `input` for what was given from outside.
    pub layer: String,
    /// What arrived and what is needed.
    pub message: String,
    pub hint: Option<String>,
}
