use std::io;

/// Why a load could not be run at all. What goes wrong with a single request is no error
/// but an outcome, see [`Counts`](crate::Counts).
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The address of the server is not one.
    #[error("`{url}` is not a valid address: {why}; write http://host:port/path")]
    Target { url: String, why: &'static str },
    /// The request or the load requested makes no sense; the sentence says why.
    #[error("{0}")]
    Plan(String),
    /// The name of the host has no address.
    #[error("the host `{host}` was not found: {source}")]
    Resolve { host: String, source: io::Error },
    /// This machine would not give a socket, a timer or a thread.
    #[error("could not {doing}: {source}")]
    System {
        doing: &'static str,
        source: io::Error,
    },
}

impl LoadError {
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> LoadError {
        move |source| LoadError::System { doing, source }
    }
}
