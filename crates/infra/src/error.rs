use std::fmt;
use std::io;
use std::path::Path;

/// Why a machine could not be planned, created, reached or destroyed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InfraError {
    /// What the user can change: a program to install, a module to correct, a name to give.
    Refused(String),
    /// Terraform began and failed; the machine may exist.
    Terraform(String),
    /// The machine does not answer.
    Unreachable(String),
    /// A file, the disk, the system.
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

impl fmt::Display for InfraError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InfraError::Refused(why)
            | InfraError::Terraform(why)
            | InfraError::Unreachable(why)
            | InfraError::Io(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for InfraError {}
