//! All that is made ready before the first request.

use std::net::SocketAddr;
use std::time::Duration;

use crate::LoadError;
use crate::load::Load;
use crate::pace::{Nanos, nanos};
use crate::prediction::Prediction;
use crate::request::Request;
use crate::tls::Tls;

/// How requests are sent, whatever the load.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// From the time a request was meant to be sent to its whole answer.
    pub timeout: Duration,
    /// One is enough for tens of thousands of requests a second. Connections and requests are shared
    /// among them.
    pub threads: usize,
    pub prediction: Prediction,
    /// Certificates in PEM form that https trusts beside the well-known authorities.
    pub roots_pem: String,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            // An answer may take this long by the container contract of the serving services.
            timeout: Duration::from_secs(60),
            threads: 1,
            prediction: Prediction::default(),
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
    pub(crate) prediction: Prediction,
}

impl Plan {
    pub(crate) fn new(
        request: &Request,
        load: &Load,
        options: &Options,
    ) -> Result<Self, LoadError> {
        load.check()?;
        if options.timeout.is_zero() {
            return Err(LoadError::Plan(
                "a timeout of zero leaves no time for an answer".to_owned(),
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
            prediction: options.prediction.clone(),
        })
    }

    pub(crate) fn keeps_singles(&self) -> bool {
        matches!(self.load, Load::Series(_))
    }
}
