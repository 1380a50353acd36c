//! A stack that fulfils the container contract and does what bodies tell it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// How it begins.
const MODE: &str = "TEST_STACK";

/// The command that starts it: this program again, in a mode.
pub(crate) fn command(mode: &str) -> Vec<String> {
    let own = std::env::current_exe().unwrap();
    let mode = format!("{MODE}={mode}");
    let words = [
        "env",
        &mode,
        own.to_str().unwrap(),
        "stack::helper_serves",
        "--exact",
        "--nocapture",
    ];
    words.map(str::to_owned).to_vec()
}

/// Not a test of its own: started by the emulator, it serves until it is ended.
#[test]
fn helper_serves() {
    let Ok(mode) = std::env::var(MODE) else {
        return;
    };
    match mode.as_str() {
        "dies" => {
            eprintln!("no model here");
            std::process::exit(3);
        }
        "fills" => eat(400),
        _ => {}
    }
    let port = std::env::var("SAGEMAKER_BIND_TO_PORT").unwrap();
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    for stream in listener.incoming() {
        let mode = mode.clone();
        thread::spawn(move || serve(&stream.unwrap(), &mode));
    }
}

fn serve(stream: &TcpStream, mode: &str) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some(told) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = told.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let answer = match first.split(' ').nth(1) {
            Some("/ping") if mode == "unhealthy" => Answer::new("503 Not Yet", "no"),
            Some("/ping") => Answer::new("200 OK", "pong"),
            _ => obey(&body),
        };
        let closes = mode == "closes";
        answer.send(stream, closes);
        if closes {
            return;
        }
    }
}

struct Answer {
    status: &'static str,
    body: Vec<u8>,
}

impl Answer {
    fn new(status: &'static str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        Answer { status, body }
    }

    fn send(&self, mut stream: &TcpStream, closes: bool) {
        let connection = if closes { "close" } else { "keep-alive" };
        let head = format!(
            "HTTP/1.1 {}\r\ncontent-type: text/x-own\r\nx-prediction-ms: 1.500\r\n\
             connection: {connection}\r\ncontent-length: {}\r\n\r\n",
            self.status,
            self.body.len()
        );
        let _ = stream.write_all(&[head.as_bytes(), &self.body].concat());
    }
}

fn obey(body: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(body);
    match text.split_once(' ').unwrap_or((&text, "")) {
        ("crash", _) => {
            eprintln!("first\nthe last thing I say");
            std::process::exit(7);
        }
        ("hang", _) => loop {
            thread::sleep(Duration::from_secs(3600));
        },
        ("hold", file) => {
            while !Path::new(file).exists() {
                thread::sleep(Duration::from_millis(2));
            }
            Answer::new("200 OK", "released")
        }
        ("eat", megabytes) => {
            eat(megabytes.parse().unwrap());
            Answer::new("200 OK", "eaten")
        }
        ("large", bytes) => Answer::new("200 OK", vec![b'x'; bytes.parse().unwrap()]),
        ("spawn", _) => {
            let mut child = Command::new("sleep").arg("600").spawn().unwrap();
            let number = child.id().to_string();
            thread::spawn(move || child.wait());
            Answer::new("200 OK", number)
        }
        ("fail", _) => Answer::new("500 Internal Server Error", "it went wrong"),
        ("refuse", _) => Answer::new("415 Unsupported Media Type", "not that"),
        _ => Answer::new("200 OK", body),
    }
}

fn eat(megabytes: usize) {
    let eaten = vec![1_u8; megabytes << 20];
    println!("ate {}", std::hint::black_box(eaten).len());
}
