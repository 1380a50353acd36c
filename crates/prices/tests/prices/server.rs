//! A web server for tests, on this machine only, that does what a test wants.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    /// How many requests came before.
    pub(crate) number: usize,
    pub(crate) path: String,
    /// First byte of the range asked for.
    pub(crate) begin: Option<usize>,
    pub(crate) key: Option<String>,
}

pub(crate) struct Reply {
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn new(status: u16, headers: &str, length: usize, body: &[u8]) -> Self {
        Reply {
            head: format!(
                "HTTP/1.1 {status} said\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n"
            ),
            body: body.to_vec(),
        }
    }

    pub(crate) fn whole(body: &str) -> Self {
        Reply::new(200, "", body.len(), body.as_bytes())
    }

    /// The rest from where it is asked for.
    pub(crate) fn ranged(asked: &Asked, body: &str) -> Self {
        match asked.begin {
            None => Reply::whole(body),
            Some(begin) => {
                let (rest, all) = (&body.as_bytes()[begin..], body.len());
                let range = format!("Content-Range: bytes {begin}-{}/{all}\r\n", all - 1);
                Reply::new(206, &range, rest.len(), rest)
            }
        }
    }

    /// The connection ends in the middle.
    pub(crate) fn cut(body: &str, bytes: usize) -> Self {
        Reply::new(200, "", body.len(), &body.as_bytes()[..bytes])
    }

    pub(crate) fn status(status: u16, headers: &str) -> Self {
        Reply::new(status, headers, 2, b"no")
    }
}

pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Serves as long as the test lives; the thread ends with it.
    pub(crate) fn start(reply: impl Fn(&Asked) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let list = asked.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let number = list.lock().unwrap().len();
                let Some(asked) = read(&stream, number) else {
                    continue;
                };
                list.lock().unwrap().push(asked.clone());
                let reply = reply(&asked);
                let mut stream = stream;
                // A client that goes away is part of the tests.
                _ = stream.write_all(reply.head.as_bytes());
                _ = stream.write_all(&reply.body);
            }
        });
        Server { url, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream, number: usize) -> Option<Asked> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next()?.ok()?;
    let (mut begin, mut key) = (None, None);
    for line in lines.map_while(Result::ok) {
        let lower = line.to_lowercase();
        if line.is_empty() {
            break;
        } else if let Some(range) = lower.strip_prefix("range: bytes=") {
            begin = range.trim_end_matches('-').parse().ok();
        } else if lower.starts_with("x-goog-api-key: ") {
            key = line.split_once(": ").map(|(_, key)| key.to_owned());
        }
    }
    Some(Asked {
        number,
        path: first.split(' ').nth(1)?.to_owned(),
        begin,
        key,
    })
}
