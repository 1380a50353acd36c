//! A server that answers as a test says, and remembers what it was asked.

use std::io::{BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use load::sagemaker::{Backoff, Client, Patience};

pub(crate) use crate::aws::Asked;
use crate::aws::{Keys, read};

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
                let request = read(&mut BufReader::new(stream.try_clone().unwrap())).unwrap();
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
        let client = Keys::made_up().client(&self.url);
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
