//! A web server for tests, on this machine only, that does what a test wants.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use flate2::{Compression, write::GzEncoder};

use crate::download::Limits;

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
}

#[derive(Debug, Clone)]
pub(crate) struct Reply {
    head: String,
    body: Vec<u8>,
    /// What happens after so many bytes of the body.
    then: Then,
}

#[derive(Debug, Clone, Copy)]
enum Then {
    Close,
    Cut(usize),
    Stall(usize),
}

impl Reply {
    fn new(status: u16, headers: &str, body: &[u8]) -> Self {
        let length = body.len();
        Reply {
            head: format!(
                "HTTP/1.1 {status} said\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n"
            ),
            body: body.to_vec(),
            then: Then::Close,
        }
    }

    pub(crate) fn status(status: u16) -> Self {
        Reply::new(status, "", b"no")
    }

    /// As a server that knows nothing of ranges.
    pub(crate) fn whole(body: &[u8]) -> Self {
        Reply::new(200, "", body)
    }

    pub(crate) fn ranged(asked: &Asked, body: &[u8]) -> Self {
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
            then: Then::Stall(0),
        }
    }

    pub(crate) fn nonsense() -> Self {
        Reply {
            head: "220 mail.example ESMTP ready\r\n\r\n".to_owned(),
            ..Reply::whole(b"")
        }
    }

    pub(crate) fn cut(self, bytes: usize) -> Self {
        let then = Then::Cut(bytes);
        Reply { then, ..self }
    }

    pub(crate) fn stall(self, bytes: usize) -> Self {
        let then = Then::Stall(bytes);
        Reply { then, ..self }
    }
}

pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(reply: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let ends = Arc::new(AtomicBool::new(false));
        let serving = Serving {
            asked: asked.clone(),
            ends: ends.clone(),
            counter: AtomicUsize::new(0),
            reply: Box::new(reply),
        };
        let thread = Some(thread::spawn(move || serving.accept(&listener)));
        Server {
            url,
            asked,
            ends,
            thread,
        }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Serving {
    asked: Arc<Mutex<Vec<Asked>>>,
    ends: Arc<AtomicBool>,
    counter: AtomicUsize,
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
        let (bytes, stalls) = match reply.then {
            Then::Close => (reply.body.len(), false),
            Then::Cut(bytes) => (bytes, false),
            Then::Stall(bytes) => (bytes, true),
        };
        stream
            .write_all(&reply.body[..bytes.min(reply.body.len())])
            .ok()?;
        stream.flush().ok()?;
        // A stalled server waits until the client has had enough.
        while stalls && !self.ends.load(Ordering::Relaxed) {
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
        let (mut begin, mut version) = (None, None);
        for line in lines.map_while(Result::ok) {
            if line.is_empty() {
                break;
            }
            if let Some(range) = line.to_lowercase().strip_prefix("range: bytes=") {
                begin = range.trim_end_matches('-').parse().ok();
            }
            if line.to_lowercase().starts_with("if-range: ") {
                version = line.split_once(": ").map(|(_, tag)| tag.to_owned());
            }
        }
        let asked = Asked {
            number: self.counter.fetch_add(1, Ordering::Relaxed),
            path: first.split(' ').nth(1)?.to_owned(),
            begin,
            version,
        };
        self.asked.lock().unwrap().push(asked.clone());
        Some(asked)
    }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
