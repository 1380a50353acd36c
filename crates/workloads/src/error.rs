use std::fmt::Display;

use diagnostics::Mistakes;

/// Why it could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// In the file of a network.
    #[error("{0}")]
    Mistakes(Mistakes),
    /// No network of the zoo has this name.
    #[error("{0}")]
    UnknownNetwork(String),
    /// The user asked for the end.
    #[error("{0}")]
    Interrupted(&'static str),
    #[error("{0}")]
    Failed(String),
}

impl Error {
    pub(crate) fn failed(why: impl Display) -> Self {
        Error::Failed(why.to_string())
    }
}
