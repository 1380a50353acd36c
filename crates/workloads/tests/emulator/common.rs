use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::mpsc as tokio_mpsc;
use workloads::serverless::{Bill, BillingTerms, EmulatorEvent, Options, Size, Stack};

use crate::stack;

/// Longer than anything takes, however busy the machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn options() -> Options {
    Options {
        address: SocketAddr::from(([127, 0, 0, 1], 0)),
        stack: Stack::Command(stack::command("plain")),
        size: Size::any(128, 128.0).unwrap(),
        concurrency: 2,
        idle: Duration::from_secs(3600),
        start_timeout: PATIENCE,
        timeout: PATIENCE,
        grace: PATIENCE,
        drain: PATIENCE,
        body_bytes: 100_000,
        connections: 250,
        terms: BillingTerms::sagemaker(),
    }
}

/// Ends with the test.
pub(crate) struct Emulator {
    pub(crate) address: SocketAddr,
    end: tokio_mpsc::UnboundedSender<()>,
    thread: Option<JoinHandle<std::io::Result<Bill>>>,
}

impl Emulator {
    pub(crate) fn start(options: Options) -> Emulator {
        let (listening, listens) = mpsc::channel();
        let (end, mut ended) = tokio_mpsc::unbounded_channel();
        let thread = thread::spawn(move || {
            let until = async || {
                ended.recv().await;
                Ok(())
            };
            workloads::serverless::emulate_until(until, options, move |told| {
                if let EmulatorEvent::Listening { address } = told {
                    listening.send(address).unwrap();
                }
            })
        });
        Emulator {
            address: listens.recv().unwrap(),
            end,
            thread: Some(thread),
        }
    }

    pub(crate) fn post(&self, body: &str) -> Answer {
        post(self.address, body)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        ask(self.address, "GET", path, b"")
    }

    pub(crate) fn bill(&self) -> serde_json::Value {
        serde_json::from_str(&self.get("/bancada/bill").body).unwrap()
    }

    pub(crate) fn workers(&self) -> Vec<serde_json::Value> {
        let answer = self.get("/bancada/workers").body;
        let told: serde_json::Value = serde_json::from_str(&answer).unwrap();
        told["workers"].as_array().unwrap().clone()
    }

    /// Waits until the workers are in these states.
    pub(crate) fn await_states(&self, expected: &[&str]) {
        eventually(&format!("{expected:?}"), || {
            let workers = self.workers();
            let states: Vec<&str> = workers.iter().filter_map(|w| w["state"].as_str()).collect();
            states == expected
        });
    }

    /// Once tells it to end, twice at once.
    pub(crate) fn tell_to_end(&self) {
        self.end.send(()).unwrap();
    }

    pub(crate) fn end(mut self) -> Bill {
        self.tell_to_end();
        self.thread.take().unwrap().join().unwrap().unwrap()
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = self.end.send(());
            let _ = self.end.send(());
            let _ = thread.join();
        }
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub(crate) fn is_cold(&self) -> bool {
        let told = self.header("x-bancada-cold");
        assert!(matches!(told, Some("0" | "1")), "{self:?}");
        told == Some("1")
    }

    pub(crate) fn error(&self) -> String {
        let told: serde_json::Value = serde_json::from_str(&self.body).unwrap();
        assert_eq!(told["outcome"].as_str(), self.header("x-bancada-outcome"));
        told["error"].as_str().unwrap().to_owned()
    }
}

pub(crate) fn post(address: SocketAddr, body: &str) -> Answer {
    ask(address, "POST", "/invocations", body.as_bytes())
}

pub(crate) fn ask(address: SocketAddr, method: &str, path: &str, body: &[u8]) -> Answer {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    send(address, &[head.as_bytes(), body].concat())
}

/// Whatever is sent, what comes back.
pub(crate) fn send(address: SocketAddr, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // A server that refuses may close before everything is sent.
    let _ = stream.write_all(bytes);
    receive(stream)
}

pub(crate) fn receive(mut stream: TcpStream) -> Answer {
    let mut received = Vec::new();
    let _ = stream.read_to_end(&mut received);
    let text = String::from_utf8_lossy(&received);
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    let headers = lines.filter_map(|line| line.split_once(": "));
    Answer {
        status: status.parse().unwrap(),
        headers: headers
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        body: body.to_owned(),
    }
}

pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let patience = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < patience, "never: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process does anything still; one that nobody buried does not.
pub(crate) fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| &rest[..1]);
    state.is_some_and(|state| state != "Z")
}

/// A name that no file has yet.
pub(crate) fn no_file(name: &str) -> String {
    let file = format!("bancada-serverless-{}-{name}", std::process::id());
    std::env::temp_dir().join(file).display().to_string()
}
