use std::io;
use std::path::Path;

/// Why a machine could not be planned, created, reached or destroyed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InfraError {
    /// What the user can change: a program to install, a module to correct, a name to give.
    #[error("{0}")]
    Refused(String),
    /// Terraform began and failed; the machine may exist.
    #[error("{0}")]
    Terraform(String),
    /// The machine does not answer.
    #[error("{0}")]
    Unreachable(String),
    /// A file, the disk, the system.
    #[error("{0}")]
    Io(String),
}

impl InfraError {
    pub(crate) fn io(
        what: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> InfraError + use<> {
        let path = path.display().to_string();
        move |error| InfraError::Io(format!("cannot {what} {path}: {error}"))
    }
}
