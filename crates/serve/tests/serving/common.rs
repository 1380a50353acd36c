use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serve::{
    Batching, Description, Limits, Model, ModelError, Offer, Options, Predictor, ServeError,
    Signature, Tensor, Told,
};
use tokio::sync::oneshot;

/// Two classes: the mean of an image's values, and what is left to 1. It takes its time, if told to.
#[derive(Clone)]
pub(crate) struct Means {
    pub(crate) pause: Duration,
}

impl Model for Means {
    fn signature(&self) -> &Signature {
        static SIGNATURE: std::sync::OnceLock<Signature> = std::sync::OnceLock::new();
        SIGNATURE.get_or_init(|| Signature {
            input: vec![None, Some(1), Some(2), Some(2)],
            classes: Some(2),
            probabilities: true,
            runtime: "means".to_owned(),
        })
    }

    fn predictor(&self, _threads: usize) -> Result<Box<dyn Predictor>, ModelError> {
        Ok(Box::new(self.clone()))
    }
}

impl Predictor for Means {
    fn predict(&mut self, input: &Tensor) -> Result<Tensor, ModelError> {
        thread::sleep(self.pause);
        let answers = input.rows().flat_map(|row| {
            let mean = row.iter().sum::<f32>() / row.len() as f32;
            [mean, 1.0 - mean]
        });
        let largest = input.values().iter().copied().fold(0.0, f32::max);
        assert!(largest < 1e9, "a model that panics");
        if input.values().iter().any(|value| value.is_nan()) {
            return Err(ModelError::new("no number"));
        }
        let values: Vec<f32> = answers.collect();
        Tensor::new(vec![input.images(), 2], values).ok_or_else(|| ModelError::new("shape"))
    }
}

pub(crate) const PLAIN: &str = r#"{"mean": [0], "std": [255]}"#;

pub(crate) fn options() -> Options {
    Options {
        address: SocketAddr::from(([127, 0, 0, 1], 0)),
        queue: 8,
        limits: Limits {
            body_bytes: 10_000,
            pixels: 1_000_000,
            receiving_bytes: 1_000_000,
            receiving: Duration::from_secs(20),
            connections: 20_000,
        },
        batching: Batching {
            most: 1,
            linger: Duration::ZERO,
        },
        workers: Some(2),
        threads: Some(1),
        top: 1,
        drain: Duration::from_secs(20),
    }
}

pub(crate) fn offer(name: &str, model: Means) -> Offer {
    Offer {
        name: name.to_owned(),
        description: Description::parse(PLAIN).unwrap(),
        load: Box::new(move |_| Ok(Box::new(model))),
    }
}

/// Ends with the test.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

impl Server {
    pub(crate) fn start(offers: Vec<Offer>, options: Options) -> Server {
        let (listening, listens) = mpsc::channel();
        let (end, ended) = oneshot::channel();
        let thread = thread::spawn(move || {
            let until = async move || {
                let _ = ended.await;
                Ok(())
            };
            serve::serve_until(until, offers, options, |told| {
                if let Told::Listening { address, .. } = told {
                    listening.send(address).unwrap();
                }
            })
        });
        Server {
            address: listens.recv().unwrap(),
            end: Some(end),
            thread: Some(thread),
        }
    }

    pub(crate) fn quick() -> Server {
        let means = Means {
            pause: Duration::ZERO,
        };
        Server::start(vec![offer("means", means)], options())
    }

    /// Tells it to end and does not wait.
    pub(crate) fn end(&mut self) {
        if let Some(end) = self.end.take() {
            let _ = end.send(());
        }
    }

    pub(crate) fn join(&mut self) -> Result<(), ServeError> {
        self.thread.take().unwrap().join().unwrap()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes())
    }

    pub(crate) fn post(&self, path: &str, kind: &str, body: &[u8]) -> Answer {
        self.send(&post(path, kind, body))
    }

    pub(crate) fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // It may answer and close before all was sent.
        let _ = stream.write_all(bytes);
        Answer::read(&mut stream)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub(crate) fn post(path: &str, kind: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// Until the server closes.
    pub(crate) fn read(stream: &mut TcpStream) -> Answer {
        let mut bytes = Vec::new();
        let mut part = [0; 4096];
        while let Ok(count) = stream.read(&mut part)
            && count > 0
        {
            bytes.extend_from_slice(&part[..count]);
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Answer {
            status: status.unwrap_or(0),
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }

    #[track_caller]
    pub(crate) fn is(self, status: u16, words: &str) -> Answer {
        assert_eq!(self.status, status, "{}", self.body);
        assert!(self.body.contains(words), "{}", self.body);
        self
    }
}

pub(crate) fn png(pixels: [u8; 4]) -> Vec<u8> {
    let picture = data::picture::Picture {
        width: 2,
        height: 2,
        channels: 1,
        pixels: pixels.to_vec(),
    };
    data::picture::encode(&picture).unwrap()
}
