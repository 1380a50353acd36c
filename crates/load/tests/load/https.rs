//! The same over TLS, against a real server with a certificate made for the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use load::{Options, Request};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::{closed, post, run};

struct Secured {
    address: SocketAddr,
    certificate: Vec<u8>,
}

impl Secured {
    fn url(&self) -> String {
        format!("https://localhost:{}/invocations", self.address.port())
    }

    fn trusted(&self) -> Options {
        Options {
            roots_pem: pem(&self.certificate),
            ..Options::default()
        }
    }
}

/// Answers each request with the length of its body, or closes after each answer.
fn serve(close: bool) -> Secured {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let config = Arc::new(config);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let config = Arc::clone(&config);
            thread::spawn(move || converse(stream.unwrap(), config, close));
        }
    });
    Secured {
        address,
        certificate: certificate.to_vec(),
    }
}

fn converse(stream: TcpStream, config: Arc<ServerConfig>, close: bool) -> Option<()> {
    let connection = ServerConnection::new(config).ok()?;
    let mut stream = BufReader::new(StreamOwned::new(connection, stream));
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(digits) = line.strip_prefix("content-length: ") {
                length = digits.trim().parse().ok()?;
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).ok()?;
        let text = format!("{{\"prediction_ms\":{length}}}{}", "x".repeat(length));
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", text.len());
        stream
            .get_mut()
            .write_all(format!("{head}{text}").as_bytes())
            .ok()?;
        stream.get_mut().flush().ok()?;
        if close {
            return None;
        }
    }
}

fn pem(der: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::from("-----BEGIN CERTIFICATE-----\n");
    for (index, three) in der.chunks(3).enumerate() {
        let word = (0..3).fold(0, |word, at| {
            word << 8 | usize::from(*three.get(at).unwrap_or(&0))
        });
        for at in 0..4 {
            let digit = char::from(DIGITS[word >> (18 - 6 * at) & 63]);
            text.push(if at <= three.len() { digit } else { '=' });
        }
        if index % 16 == 15 {
            text.push('\n');
        }
    }
    text + "\n-----END CERTIFICATE-----\n"
}

#[test]
fn https_is_spoken() {
    let server = serve(false);
    let outcome = run(&post(&server.url()), &closed(3, 60), &server.trusted());
    assert_eq!(
        (outcome.counts.ok, outcome.counts.failed()),
        (60, 0),
        "{:?}",
        outcome.first_failure
    );
    assert_eq!(outcome.prediction.mean_seconds(), Some(0.005));
    // One for each client, and one more where localhost has an address that refuses.
    assert!((3..=6).contains(&outcome.connections.opened));
}

#[test]
fn large_bodies_pass_through_tls() {
    let server = serve(false);
    let bodies = vec![vec![b'y'; 3_000_000], vec![b'z'; 10]];
    let request = Request::post(server.url().parse().unwrap(), "image/png", bodies);
    let outcome = run(&request, &closed(2, 8), &server.trusted());
    assert_eq!(
        (outcome.counts.ok, outcome.counts.failed()),
        (8, 0),
        "{:?}",
        outcome.first_failure
    );
}

#[test]
fn a_server_that_closes_is_connected_to_again() {
    let server = serve(true);
    let outcome = run(&post(&server.url()), &closed(1, 10), &server.trusted());
    assert_eq!(
        (outcome.counts.ok, outcome.counts.failed()),
        (10, 0),
        "{:?}",
        outcome.first_failure
    );
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused() {
    let server = serve(false);
    let outcome = run(&post(&server.url()), &closed(1, 2), &Options::default());
    assert_eq!(outcome.counts.refused, 2);
    let why = outcome.first_failure.unwrap();
    assert!(why.contains("certificate"), "{why}");
}

#[test]
fn a_port_without_tls_is_refused() {
    let plain = crate::server::serve(|_| crate::server::Reply::Silence);
    let url = format!("https://127.0.0.1:{}/", plain.address.port());
    // A plain server waits for the end of a line that never comes: only time ends it.
    let outcome = run(
        &post(&url),
        &closed(1, 1),
        &crate::within(std::time::Duration::from_millis(100)),
    );
    assert_eq!(outcome.counts.timed_out + outcome.counts.refused, 1);
}

#[test]
fn certificates_that_are_none_are_said() {
    let options = Options {
        roots_pem: "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n".to_owned(),
        ..Options::default()
    };
    let error = load::run(&post("https://localhost:1/"), &closed(1, 1), &options).unwrap_err();
    assert!(
        error.to_string().contains("trusted certificates"),
        "{error}"
    );
}
