//! What `run` reports while it runs, for Prometheus and what reads its text format, such as an
//! OpenTelemetry collector: `--metrics-listen 127.0.0.1:9464`. Only this machine can ask.

mod state;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use model::Study;
use runner::Progress;

use crate::exit::Failure;
use state::State;

/// A request is a few lines, and arrives at once.
const MOST_BYTES: u64 = 8192;
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) struct Metrics {
    shared: Arc<Shared>,
    address: SocketAddr,
    server: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    ends: AtomicBool,
}

impl Shared {
    fn text(&self) -> String {
        let state = self.state.lock();
        state.unwrap_or_else(PoisonError::into_inner).text()
    }
}

/// For the command line.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text
        .parse()
        .map_err(|_| "write ADDRESS:PORT, such as 127.0.0.1:9464".to_owned())?;
    match address.ip().is_loopback() {
        true => Ok(address),
        false => Err(
            "only this machine may ask: use 127.0.0.1:PORT, and `ssh -L` from another one"
                .to_owned(),
        ),
    }
}

impl Metrics {
    /// Answers from now on until it is dropped.
    pub(crate) fn listen(address: SocketAddr, study: &Study, runs: usize) -> Result<Self, Failure> {
        let failed = |error| Failure::trouble(format!("cannot listen at {address}: {error}"));
        let listener = TcpListener::bind(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let shared = Arc::new(Shared {
            state: Mutex::new(State::new(study, runs)),
            ends: AtomicBool::new(false),
        });
        let asked = Arc::clone(&shared);
        let server = thread::spawn(move || serve(&listener, &asked));
        Ok(Metrics {
            shared,
            address,
            server: Some(server),
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/metrics", self.address)
    }

    pub(crate) fn on(&self, progress: &Progress) {
        let state = self.shared.state.lock();
        state.unwrap_or_else(PoisonError::into_inner).on(progress);
    }
}

impl Drop for Metrics {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Release);
        // Wakes the server, which waits for a request.
        if TcpStream::connect_timeout(&self.address, PATIENCE).is_ok()
            && let Some(server) = self.server.take()
        {
            // It only answers, and nothing is lost with an answer.
            _ = server.join();
        }
    }
}

/// One after the other: whoever asks more often than this waits.
fn serve(listener: &TcpListener, shared: &Shared) {
    for stream in listener.incoming() {
        if shared.ends.load(Ordering::Acquire) {
            return;
        }
        // Who asked is gone; the next asks anew.
        _ = stream.and_then(|stream| answer(&stream, shared));
    }
}

fn answer(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(stream.take(MOST_BYTES)).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let mut host = None;
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("host")
        {
            host = Some(value.trim().to_owned());
        }
    }
    let (status, text) = match host.as_deref().is_none_or(is_here) {
        true => page(&first, shared),
        // A page of somewhere else may let its reader's browser ask here.
        false => ("403 Forbidden", "only for this machine\n".to_owned()),
    };
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    )
}

fn page(request: &str, shared: &Shared) -> (&'static str, String) {
    let mut words = request.split(' ');
    match (words.next(), words.next()) {
        (Some("GET"), Some("/metrics")) => ("200 OK", shared.text()),
        (Some("GET"), _) => ("404 Not Found", "see /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "only GET\n".to_owned()),
    }
}

/// `localhost:9464`, `127.0.0.1:9464`, `[::1]:9464`.
fn is_here(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let ip: Option<IpAddr> = name.trim_matches(['[', ']']).parse().ok();
    name == "localhost" || ip.is_some_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_asks() {
        let check = |host: &str, expected: bool| assert_eq!(is_here(host), expected, "{host}");
        check("localhost:9464", true);
        check("127.0.0.1:9464", true);
        check("127.0.0.1", true);
        check("[::1]:9464", true);
        check("example.org:9464", false);
        check("127.0.0.1.example.org", false);
        assert!(address("127.0.0.1:0").is_ok());
        assert!(address("0.0.0.0:9464").is_err());
        assert!(address("9464").is_err());
    }
}
