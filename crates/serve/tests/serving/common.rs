use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serve::{
    Batching, Description, Kind, Limits, Model, ModelError, Offer, Options, Port, Predictor,
    ServeError, ServerEvent, Signature, Tensor,
};
use tokio::sync::oneshot;

/// Two classes: the mean of an image's values, and what is left to 1. It takes its time, if told to.
#[derive(Clone)]
pub(crate) struct Means {
    pub(crate) pause: Duration,
}

pub(crate) const MEANS: Means = Means {
    pause: Duration::ZERO,
};

impl Model for Means {
    fn signature(&self) -> &Signature {
        static SIGNATURE: std::sync::OnceLock<Signature> = std::sync::OnceLock::new();
        let port = |name: &str, sizes: &[Option<usize>]| Port {
            name: name.to_owned(),
            kind: Kind::Float32,
            sizes: sizes.to_vec(),
        };
        SIGNATURE.get_or_init(|| Signature {
            inputs: vec![port("image", &[None, Some(1), Some(2), Some(2)])],
            outputs: vec![port("means", &[None, Some(2)])],
            batched: true,
            softmax: Some(0),
            untrained: false,
            runtime: "means".to_owned(),
        })
    }

    fn predictor(&self, _threads: usize) -> Result<Box<dyn Predictor>, ModelError> {
        Ok(Box::new(self.clone()))
    }
}

impl Predictor for Means {
    fn predict(&mut self, inputs: &[Tensor], _: &[usize]) -> Result<Vec<Tensor>, ModelError> {
        thread::sleep(self.pause);
        let values = inputs[0].floats().unwrap();
        let answers = values.chunks(4).flat_map(|row| {
            let mean = row.iter().sum::<f32>() / row.len() as f32;
            [mean, 1.0 - mean]
        });
        let largest = values.iter().copied().fold(0.0, f32::max);
        assert!(largest < 1e9, "a model that panics");
        let answers: Vec<f32> = answers.collect();
        let means = Tensor::new(vec![inputs[0].examples(), 2], answers);
        Ok(vec![means.unwrap()])
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
            head: Duration::from_secs(60),
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

/// Computes zeros at once, and everything else when the gate is opened, by sending or dropping.
pub(crate) struct Gated {
    gate: Arc<Mutex<mpsc::Receiver<()>>>,
}

impl Gated {
    pub(crate) fn offer() -> (mpsc::Sender<()>, Offer) {
        let (open, gate) = mpsc::channel();
        let gate = Arc::new(Mutex::new(gate));
        let offer = Offer {
            name: "gated".to_owned(),
            description: Description::parse(PLAIN).unwrap(),
            load: Box::new(move |_| Ok(Box::new(Gated { gate }))),
        };
        (open, offer)
    }
}

impl Model for Gated {
    fn signature(&self) -> &Signature {
        MEANS.signature()
    }

    fn predictor(&self, _threads: usize) -> Result<Box<dyn Predictor>, ModelError> {
        Ok(Box::new(Gated {
            gate: Arc::clone(&self.gate),
        }))
    }
}

impl Predictor for Gated {
    fn predict(&mut self, inputs: &[Tensor], wanted: &[usize]) -> Result<Vec<Tensor>, ModelError> {
        if inputs[0]
            .floats()
            .unwrap()
            .iter()
            .any(|&value| value != 0.0)
        {
            let _ = self.gate.lock().unwrap().recv();
        }
        MEANS.clone().predict(inputs, wanted)
    }
}

/// Ends with the test.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    told: Mutex<mpsc::Receiver<ServerEvent>>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

impl Server {
    /// When all models are loaded.
    pub(crate) fn start(offers: Vec<Offer>, options: Options) -> Server {
        let server = Server::starting(offers, options);
        server.wait_for(|told| matches!(told, ServerEvent::Listening { .. }));
        server
    }

    /// When the port is taken.
    pub(crate) fn starting(offers: Vec<Offer>, options: Options) -> Server {
        let (tell, told) = mpsc::channel();
        let (end, ended) = oneshot::channel();
        let thread = thread::spawn(move || {
            let until = async move || {
                let _ = ended.await;
                Ok(())
            };
            serve::serve_until(until, offers, options, |told| {
                // Tests that know enough do not listen any more.
                let _ = tell.send(told);
            })
        });
        let ServerEvent::Bound { address } = told.recv().unwrap() else {
            panic!("the address is told first");
        };
        Server {
            address,
            told: Mutex::new(told),
            end: Some(end),
            thread: Some(thread),
        }
    }

    #[track_caller]
    pub(crate) fn wait_for(&self, wanted: impl Fn(&ServerEvent) -> bool) {
        assert!(self.tells(wanted), "it ended first");
    }

    /// Waits for it, or for the end.
    pub(crate) fn tells(&self, wanted: impl Fn(&ServerEvent) -> bool) -> bool {
        let told = self.told.lock().unwrap();
        told.iter().any(|told| wanted(&told))
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
