use std::fmt;
use std::io;

/// Why a load could not be run at all. What goes wrong with a single request is no error
/// but an outcome, see [`Counts`](crate::Counts).
#[derive(Debug)]
pub enum LoadError {
    /// The address of the server is not one.
    Target { url: String, why: &'static str },
    /// The request or the load requested makes no sense; the sentence says why.
    Plan(String),
    /// The name of the host has no address.
    Resolve { host: String, source: io::Error },
    /// This machine would not give a socket, a timer or a thread.
    System {
        doing: &'static str,
        source: io::Error,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Target { url, why } => {
                write!(
                    f,
                    "`{url}` is not a valid address: {why}; write http://host:port/path"
                )
            }
            LoadError::Plan(why) => f.write_str(why),
            LoadError::Resolve { host, source } => {
                write!(f, "the host `{host}` was not found: {source}")
            }
            LoadError::System { doing, source } => write!(f, "could not {doing}: {source}"),
        }
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LoadError::Resolve { source, .. } | LoadError::System { source, .. } => Some(source),
            LoadError::Target { .. } | LoadError::Plan(_) => None,
        }
    }
}

impl LoadError {
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> LoadError {
        move |source| LoadError::System { doing, source }
    }
}
