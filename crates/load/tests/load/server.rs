//! A small real server: a thread for each connection, answers given by a closure.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

/// What is asked of the closure: which request this is, over all connections, and its bytes.
pub(crate) struct Asked {
    pub(crate) number: u64,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

pub(crate) enum Reply {
    Text(String),
    After(Duration, String),
    /// These bytes, then the connection is closed.
    Then(String),
    Silence,
}

#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) connections: AtomicU64,
    pub(crate) requests: AtomicU64,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) seen: Arc<Seen>,
}

impl Server {
    pub(crate) fn url(&self) -> String {
        format!("http://{}/invocations", self.address)
    }
}

/// Serves until the test process ends.
pub(crate) fn serve(reply: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Arc::new(Seen::default());
    let reply = Arc::new(reply);
    let shared = Arc::clone(&seen);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (reply, seen) = (Arc::clone(&reply), Arc::clone(&shared));
            seen.connections.fetch_add(1, SeqCst);
            thread::spawn(move || converse(stream.unwrap(), &*reply, &seen));
        }
    });
    Server { address, seen }
}

/// An answer of 200 with that body.
pub(crate) fn ok(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn converse(stream: TcpStream, reply: &dyn Fn(&Asked) -> Reply, seen: &Seen) {
    stream.set_nodelay(true).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    while let Some((head, body)) = request(&mut reader) {
        let number = seen.requests.fetch_add(1, SeqCst);
        let text = match reply(&Asked { number, head, body }) {
            Reply::Text(text) => text,
            Reply::After(wait, text) => {
                thread::sleep(wait);
                text
            }
            Reply::Then(text) => {
                let _ = writer.write_all(text.as_bytes());
                return;
            }
            Reply::Silence => continue,
        };
        if writer.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

fn request(reader: &mut impl BufRead) -> Option<(String, Vec<u8>)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |digits| digits.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head, body))
}
