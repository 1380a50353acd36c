//! Preparation before the first request.

use std::net::SocketAddr;
use std::time::Duration;

use crate::LoadError;
use crate::load::Load;
use crate::pace::{Nanos, nanos};
use crate::request::Request;
use crate::tls::Tls;
use rustix::process::{Resource, getrlimit, setrlimit};

/// How requests are sent, whatever the load.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// From the time a request was meant to be sent to its whole answer.
    pub timeout: Duration,
    /// One is enough for tens of thousands of requests per second. Connections and requests are shared
    /// among them.
    pub threads: usize,
    /// Certificates in PEM form that https trusts beside the well-known authorities.
    pub roots_pem: String,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            // An answer may take this long by the container contract of the serving services.
            timeout: Duration::from_secs(60),
            threads: 1,
            roots_pem: String::new(),
        }
    }
}

pub(crate) struct Plan {
    pub(crate) load: Load,
    pub(crate) messages: Vec<Vec<u8>>,
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) tls: Option<Tls>,
    pub(crate) timeout: Nanos,
    pub(crate) threads: usize,
}

impl Plan {
    pub(crate) fn new(
        request: &Request,
        load: &Load,
        options: &Options,
    ) -> Result<Self, LoadError> {
        load.check()?;
        allow_sockets(load.connections() as u64)?;
        if options.timeout.is_zero() {
            return Err(LoadError::Plan(
                "a timeout of zero leaves no time for a response".to_owned(),
            ));
        }
        Ok(Plan {
            load: load.clone(),
            messages: request.wire()?,
            tls: Tls::new(&request.target, &options.roots_pem)?,
            addresses: request.target.resolve()?,
            timeout: nanos(options.timeout),
            // A thread without a connection would have nothing to do.
            threads: options.threads.clamp(1, load.connections()),
        })
    }

    pub(crate) fn keeps_singles(&self) -> bool {
        matches!(self.load, Load::Series(_))
    }
}

/// Files that a process has open beside its connections, generously.
const OTHER_FILES: u64 = 64;

/// Lets this process open that many sockets, where the machine allows it: else the client's own limit
/// would look like a server that refuses.
fn allow_sockets(connections: u64) -> Result<(), LoadError> {
    let needed = connections + OTHER_FILES;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    limit.current = Some(needed);
    setrlimit(Resource::Nofile, limit).map_err(|_| {
        LoadError::Plan(format!(
            "{connections} connections need {needed} open files, but this machine allows {} per process: use fewer connections or raise the limit (ulimit -n)",
            limit.maximum.unwrap_or(0)
        ))
    })
}
