//! How a server starts, and how it ends.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use serve::{
    Description, Limits, Model, ModelError, Offer, Options, Predictor, ServerEvent, Signature,
    Tensor,
};

use crate::common::{Answer, Gated, MEANS, Server, offer, options, png, post};

/// Can be loaded, and computes nothing.
struct Unable;

impl Model for Unable {
    fn signature(&self) -> &Signature {
        MEANS.signature()
    }

    fn predictor(&self, _threads: usize) -> Result<Box<dyn Predictor>, ModelError> {
        Ok(Box::new(Unable))
    }
}

impl Predictor for Unable {
    fn predict(&mut self, _: &[Tensor], _: &[usize]) -> Result<Vec<Tensor>, ModelError> {
        Err(ModelError::new("an operator is missing"))
    }
}

#[test]
fn a_bad_model_ends_the_server_before_it_is_announced() {
    let check = |load: serve::Loader, expected: &str| {
        let broken = Offer {
            name: "broken".to_owned(),
            description: Description::default(),
            load,
        };
        let mut server = Server::starting(vec![offer("good", MEANS), broken], options());
        assert_eq!(server.join().unwrap_err().to_string(), expected);
        assert!(!server.tells(|told| matches!(told, ServerEvent::Listening { .. })));
    };
    check(
        Box::new(|_| Err(ModelError::new("it is no model"))),
        "broken: it is no model",
    );
    check(
        Box::new(|_| Ok(Box::new(Unable))),
        "broken: it cannot process an input of zeros: an operator is missing",
    );
}

/// A server with a request in progress that ends when the gate is opened, and was told to end.
fn ending() -> (Server, TcpStream, std::sync::mpsc::Sender<()>) {
    let (open, gated) = Gated::offer();
    let server = Server::start(vec![gated], options());
    let mut begun = server.connect();
    begun
        .write_all(&post("/invocations", "image/png", &png([255; 4])))
        .unwrap();
    while !server
        .get("/metrics")
        .body
        .contains("bancada_workers_busy 1")
    {}
    (server, begun, open)
}

#[test]
fn requests_in_progress_are_finished_and_new_connections_refused() {
    let (mut server, mut begun, open) = ending();
    server.end();
    server.wait_for(|told| *told == ServerEvent::Draining);
    let mut refused = false;
    for _ in 0..200 {
        match TcpStream::connect(server.address) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => refused = true,
            _ => thread::sleep(Duration::from_millis(10)),
        }
    }
    assert!(refused, "connections are taken and never answered");
    open.send(()).unwrap();
    Answer::read(&mut begun).is(200, "[1.0,0.0]");
    assert!(server.join().is_ok());
}

#[test]
fn connections_without_a_request_are_closed_when_the_server_ends() {
    let (mut server, mut begun, open) = ending();
    let mut kept = server.connect();
    kept.write_all(b"GET /ping HTTP/1.1\r\nhost: x\r\n\r\n")
        .unwrap();
    assert!(kept.read(&mut [0; 4096]).unwrap() > 0);
    let silent = server.connect();
    let mut half = server.connect();
    half.write_all(b"POST /invocations HTTP/1.1\r\nhost:")
        .unwrap();
    server.end();
    for (name, mut stream) in [("kept", kept), ("silent", silent), ("half", half)] {
        stream
            .set_read_timeout(Some(Duration::from_secs(15)))
            .unwrap();
        assert_eq!(stream.read(&mut [0; 64]).ok(), Some(0), "{name}");
    }
    open.send(()).unwrap();
    Answer::read(&mut begun).is(200, "[1.0,0.0]");
    assert!(server.join().is_ok());
}

#[test]
fn idle_connections_and_half_requests_are_closed() {
    let impatient = Options {
        limits: Limits {
            head: Duration::from_millis(200),
            ..options().limits
        },
        ..options()
    };
    let server = Server::start(vec![offer("means", MEANS)], impatient);
    let check = |sent: &str| {
        let mut stream = server.connect();
        stream.write_all(sent.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // Ends only when the server closes.
        stream.read_to_end(&mut answer).unwrap();
    };
    check("");
    check("GET /ping HTTP/1.1\r\nhost:");
    check("GET /ping HTTP/1.1\r\nhost: x\r\n\r\n");
}
