//! However the emulator or a worker ends, nothing is left.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::Duration;

use workloads::serverless::{EmulatorEvent, Options, Stack};

use crate::common::{Emulator, ask, eventually, lives, no_file, options, post};
use crate::stack;

#[test]
fn what_was_begun_is_answered_before_the_end() {
    let emulator = Emulator::start(options());
    let (address, file) = (emulator.address, no_file("drain"));
    let body = format!("hold {file}");
    let held = std::thread::spawn(move || post(address, &body));
    emulator.await_states(&["busy"]);
    let pid = emulator.workers()[0]["pid"].to_string();
    emulator.tell_to_end();
    eventually("no new connections", || {
        std::net::TcpStream::connect(address).is_err()
    });
    std::fs::write(&file, "").unwrap();
    assert_eq!(held.join().unwrap().status, 200);
    let bill = emulator.end();
    std::fs::remove_file(&file).unwrap();
    assert_eq!((bill.requests, bill.failed), (1, 0));
    assert!(!lives(&pid));
}

#[test]
fn the_second_wish_to_end_does_not_wait() {
    let emulator = Emulator::start(options());
    let address = emulator.address;
    let held = std::thread::spawn(move || {
        let stream = std::net::TcpStream::connect(address).unwrap();
        let request = "POST /invocations HTTP/1.1\r\nhost: h\r\ncontent-length: 4\r\n\r\nhang";
        std::io::Write::write_all(&mut &stream, request.as_bytes()).unwrap();
        // To its end, whatever comes.
        let _ = std::io::Read::read_to_end(&mut &stream, &mut Vec::new());
    });
    emulator.await_states(&["busy"]);
    let pid = emulator.workers()[0]["pid"].to_string();
    emulator.tell_to_end();
    emulator.end();
    held.join().unwrap();
    assert!(!lives(&pid));
}

#[test]
fn what_a_worker_started_ends_with_it() {
    let emulator = Emulator::start(options());
    let child = emulator.post("spawn").body;
    assert!(lives(&child));
    emulator.end();
    assert!(!lives(&child), "{child}");
}

#[test]
fn a_worker_that_does_not_want_to_end_is_made_to() {
    let command = ["sh", "-c", r#"trap "" TERM; exec "$@""#, "sh"].map(str::to_owned);
    let emulator = Emulator::start(Options {
        stack: Stack::Command([&command[..], &stack::command("plain")].concat()),
        grace: Duration::from_millis(50),
        idle: Duration::from_millis(10),
        ..options()
    });
    assert_eq!(emulator.post("hello").status, 200);
    emulator.await_states(&["ended"]);
    let pid = emulator.workers()[0]["pid"].to_string();
    assert!(!lives(&pid));
}

const EMULATES: &str = "TEST_EMULATES";

/// Not a test of its own: started by the one below, it emulates until it is killed.
#[test]
fn helper_emulates() {
    if std::env::var(EMULATES).is_ok() {
        workloads::serverless::emulate(options(), |told| {
            if let EmulatorEvent::Listening { address } = told {
                eprintln!("listening on {address}");
            }
        })
        .unwrap();
    }
}

#[test]
fn workers_do_not_survive_an_emulator_that_is_killed() {
    let mut emulator = Command::new(std::env::current_exe().unwrap())
        .args(["ends::helper_emulates", "--exact", "--nocapture"])
        .env(EMULATES, "1")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let told = BufReader::new(emulator.stderr.take().unwrap());
    let address = told.lines().find_map(|line| {
        let line = line.unwrap();
        line.strip_prefix("listening on ")?
            .parse::<SocketAddr>()
            .ok()
    });
    let address = address.unwrap();
    assert_eq!(post(address, "hello").status, 200);
    let workers = ask(address, "GET", "/bancada/workers", b"").body;
    let workers: serde_json::Value = serde_json::from_str(&workers).unwrap();
    let pid = workers["workers"][0]["pid"].to_string();
    let child = post(address, "spawn").body;
    assert!(lives(&pid) && lives(&child));
    emulator.kill().unwrap();
    emulator.wait().unwrap();
    eventually("the worker is gone", || !lives(&pid));
    eventually("what it started is gone", || !lives(&child));
}
