//! A server that answers as a test says, and remembers what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use aws_endpoint::{Backoff, Client, Patience, Variables};

#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// `POST /path`
    pub(crate) line: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(given, _)| given == name);
        found.map_or("", |(_, value)| value)
    }

    /// `CreateModel`, of `SageMaker.CreateModel`.
    pub(crate) fn operation(&self) -> &str {
        let target = self.header("x-amz-target");
        target.rsplit('.').next().unwrap_or_default()
    }
}

pub(crate) struct Reply(pub(crate) u16, pub(crate) String);

pub(crate) fn ok(body: &str) -> Reply {
    Reply(200, body.to_owned())
}

pub(crate) fn refused(status: u16, code: &str, message: &str) -> Reply {
    Reply(
        status,
        format!(r#"{{"__type": "{code}", "message": "{message}"}}"#),
    )
}

pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// `answer` gets the request and how many came before it. Ends with the test's process.
    pub(crate) fn start(answer: impl Fn(&Asked, usize) -> Reply + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let seen = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let request = read(&stream);
                let before = seen.lock().unwrap().len();
                seen.lock().unwrap().push(request.clone());
                let Reply(status, body) = answer(&request, before);
                let length = body.len();
                write!(
                    stream,
                    "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                )
                .unwrap();
            }
        });
        Server { url, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn operations(&self) -> Vec<String> {
        let asked = self.asked();
        let names = asked.iter().map(|asked| asked.operation().to_owned());
        names.collect()
    }

    pub(crate) fn client(&self) -> Client {
        let variables = Variables::from([
            ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
            ("AWS_SECRET_ACCESS_KEY", "hidden-key"),
            ("AWS_SESSION_TOKEN", "hidden-token"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ENDPOINT_URL", &self.url),
        ]);
        let client = Client::new(variables, None).unwrap();
        client.with_backoff(quick_backoff())
    }
}

pub(crate) fn quick_backoff() -> Backoff {
    Backoff {
        tries: 3,
        first: Duration::from_millis(1),
        most: Duration::from_millis(2),
    }
}

/// Asks often, and waits long enough for a busy machine.
pub(crate) fn quick() -> Patience {
    Patience {
        most: Duration::from_secs(30),
        between: Duration::from_millis(5),
    }
}

pub(crate) fn impatient() -> Patience {
    Patience {
        most: Duration::from_millis(50),
        ..quick()
    }
}

fn read(stream: &TcpStream) -> Asked {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let Some((name, value)) = header.trim_end().split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut asked = Asked {
        line: line.trim_end_matches(" HTTP/1.1\r\n").to_owned(),
        headers,
        body: String::new(),
    };
    let length = asked.header("content-length").parse().unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    asked.body = String::from_utf8_lossy(&body).into_owned();
    asked
}
