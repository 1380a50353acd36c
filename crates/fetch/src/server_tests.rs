//! A web server for tests, on this machine only, that does what a test wants.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use flate2::{Compression, write::GzEncoder};

use crate::Limits;

pub(crate) const LIMITS: Limits = Limits {
    connect: Duration::from_secs(10),
    answer: Duration::from_secs(10),
    body: Duration::from_secs(30),
    pause: Duration::from_millis(1),
    fruitless_tries: 3,
    tries: 10,
    program: Duration::from_secs(10),
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    /// How many requests came before.
    pub(crate) number: usize,
    pub(crate) path: String,
    /// First byte of the range requested.
    pub(crate) begin: Option<usize>,
    /// The version that a range is wanted of.
    pub(crate) version: Option<String>,
    /// Of Google's API.
    pub(crate) key: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Reply {
    head: String,
    /// As much of it as is sent.
    body: Vec<u8>,
    /// Then the connection stays open, and nothing more comes.
    stalls: bool,
}

impl Reply {
    fn new(status: u16, headers: &str, body: &[u8]) -> Self {
        let length = body.len();
        Reply {
            head: format!(
                "HTTP/1.1 {status} said\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n"
            ),
            body: body.to_vec(),
            stalls: false,
        }
    }

    pub(crate) fn status(status: u16) -> Self {
        Reply::new(status, "", b"no")
    }

    /// As a server that knows nothing of ranges.
    pub(crate) fn whole(body: impl AsRef<[u8]>) -> Self {
        Reply::new(200, "", body.as_ref())
    }

    pub(crate) fn ranged(asked: &Asked, body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let all = body.len();
        match asked.begin {
            None => Reply::whole(body),
            Some(begin) if begin >= all => {
                Reply::new(416, &format!("Content-Range: bytes */{all}\r\n"), b"")
            }
            Some(begin) => {
                let range = format!("Content-Range: bytes {begin}-{}/{all}\r\n", all - 1);
                Reply::new(206, &range, &body[begin..])
            }
        }
    }

    /// With one more header.
    pub(crate) fn header(self, line: &str) -> Self {
        let head = self
            .head
            .replacen("\r\n\r\n", &format!("\r\n{line}\r\n\r\n"), 1);
        Reply { head, ..self }
    }

    pub(crate) fn redirect(to: &str) -> Self {
        Reply::new(302, &format!("Location: {to}\r\n"), b"")
    }

    pub(crate) fn silent() -> Self {
        Reply {
            head: String::new(),
            body: Vec::new(),
            stalls: true,
        }
    }

    pub(crate) fn nonsense() -> Self {
        Reply {
            head: "220 mail.example ESMTP ready\r\n\r\n".to_owned(),
            ..Reply::whole(b"")
        }
    }

    /// Ends after so many bytes of the body.
    pub(crate) fn cut(mut self, bytes: usize) -> Self {
        self.body.truncate(bytes);
        self
    }

    pub(crate) fn stall(self, bytes: usize) -> Self {
        let stalls = true;
        Reply {
            stalls,
            ..self.cut(bytes)
        }
    }
}

pub(crate) struct Server {
    pub(crate) url: String,
    serving: Arc<Serving>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(reply: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serving = Arc::new(Serving {
            asked: Mutex::default(),
            ends: AtomicBool::new(false),
            reply: Box::new(reply),
        });
        let thread = thread::spawn({
            let serving = serving.clone();
            move || serving.accept(&listener)
        });
        Server {
            url,
            serving,
            thread: Some(thread),
        }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.serving.asked.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Serving {
    asked: Mutex<Vec<Asked>>,
    ends: AtomicBool,
    reply: Box<dyn Fn(&Asked) -> Reply + Send + Sync>,
}

impl Serving {
    fn accept(&self, listener: &TcpListener) {
        thread::scope(|scope| {
            while !self.ends.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((stream, _)) => {
                        // Clients that go away in the middle are part of the tests.
                        scope.spawn(move || self.serve(stream));
                    }
                    Err(_) => thread::sleep(Duration::from_millis(2)),
                }
            }
        });
    }

    fn serve(&self, mut stream: TcpStream) -> Option<()> {
        stream.set_nonblocking(false).ok()?;
        let timeout = Some(Duration::from_secs(20));
        stream.set_read_timeout(timeout).ok()?;
        stream.set_write_timeout(timeout).ok()?;
        let asked = self.read(&stream)?;
        let reply = (self.reply)(&asked);
        stream.write_all(reply.head.as_bytes()).ok()?;
        stream.write_all(&reply.body).ok()?;
        stream.flush().ok()?;
        // A stalled server waits until the client has had enough.
        while reply.stalls && !self.ends.load(Ordering::Relaxed) {
            stream
                .set_read_timeout(Some(Duration::from_millis(20)))
                .ok()?;
            if matches!(stream.read(&mut [0; 16]), Ok(0)) {
                break;
            }
        }
        Some(())
    }

    fn read(&self, stream: &TcpStream) -> Option<Asked> {
        let mut lines = BufReader::new(stream).lines();
        let first = lines.next()?.ok()?;
        let (mut begin, mut version, mut key) = (None, None, None);
        for line in lines.map_while(Result::ok) {
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(": ")?;
            match name.to_lowercase().as_str() {
                "range" => begin = value[6..].trim_end_matches('-').parse().ok(),
                "if-range" => version = Some(value.to_owned()),
                "x-goog-api-key" => key = Some(value.to_owned()),
                _ => {}
            }
        }
        let mut all = self.asked.lock().unwrap();
        let asked = Asked {
            number: all.len(),
            path: first.split(' ').nth(1)?.to_owned(),
            begin,
            version,
            key,
        };
        all.push(asked.clone());
        Some(asked)
    }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
