//! Sends requests and reads complete responses. Redirects are not followed: a signature and a token are
//! for one host.

use std::io::ErrorKind;
use std::time::Duration;

use ureq::http::{HeaderMap, Request};
use ureq::{Agent, Error, Timeout};

use crate::sagemaker::Header;

/// More than any of these services answers.
const MOST_BYTES: u64 = 64 << 20;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) connect: Duration,
    pub(crate) whole: Duration,
}

pub(crate) struct Ask<'a> {
    pub(crate) method: &'a str,
    pub(crate) url: &'a str,
    pub(crate) headers: &'a [Header],
    pub(crate) body: Option<&'a [u8]>,
}

impl<'a> Ask<'a> {
    pub(crate) fn get(url: &'a str, headers: &'a [Header]) -> Self {
        Ask {
            method: "GET",
            url,
            headers,
            body: None,
        }
    }
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Web(Agent);

impl Web {
    /// Through the proxy that the environment names, if it names one; `direct`, for this machine's
    /// own services, never through a proxy.
    pub(crate) fn new(limits: Limits, direct: bool) -> Self {
        let config = Agent::config_builder()
            .timeout_resolve(Some(limits.connect))
            .timeout_connect(Some(limits.connect))
            .timeout_global(Some(limits.whole))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("bancada/", env!("CARGO_PKG_VERSION")));
        let config = if direct { config.proxy(None) } else { config };
        Web(config.build().into())
    }

    pub(crate) fn send(&self, ask: &Ask<'_>) -> Result<Answer, Error> {
        let mut request = Request::builder().method(ask.method).uri(ask.url);
        for header in ask.headers {
            request = request.header(&header.name, &header.value);
        }
        let mut response = match ask.body {
            Some(body) => self.0.run(request.body(body)?)?,
            None => self.0.run(request.body(())?)?,
        };
        let body = response
            .body_mut()
            .with_config()
            .limit(MOST_BYTES)
            .read_to_vec()?;
        Ok(Answer {
            status: response.status().as_u16(),
            headers: std::mem::take(response.headers_mut()),
            body,
        })
    }
}

/// Whether any of it may have arrived: an operation that was not even begun was surely not done.
pub(crate) fn was_sent(error: &Error) -> bool {
    match error {
        Error::BadUri(_) | Error::HostNotFound | Error::ConnectionFailed => false,
        Error::Timeout(Timeout::Resolve | Timeout::Connect) => false,
        Error::Io(error) => error.kind() != ErrorKind::ConnectionRefused,
        _ => true,
    }
}
