//! Clients that send too much, too little, too slowly or nonsense do not stop others.

use std::io::Write as _;
use std::net::TcpStream;

use workloads::serverless::Options;

use crate::common::{Emulator, ask, no_file, options, receive, send};

#[test]
fn what_is_asked_wrongly_is_said_and_starts_no_worker() {
    let emulator = Emulator::start(options());
    let address = emulator.address;
    let check = |method: &str, path: &str, body: &[u8], status, sentence: &str| {
        let answer = ask(address, method, path, body);
        assert_eq!(answer.status, status, "{answer:?}");
        assert!(answer.error().contains(sentence), "{}", answer.error());
    };
    check(
        "GET",
        "/nothing",
        b"",
        404,
        "there is nothing at /nothing: /ping",
    );
    check(
        "POST",
        "/ping",
        b"",
        405,
        "method POST is not supported, only GET",
    );
    check("GET", "/invocations", b"", 405, "only POST");
    let large = vec![b'x'; 100_001];
    check(
        "POST",
        "/invocations",
        &large,
        413,
        "the body has more than 100000 bytes",
    );
    assert!(emulator.workers().is_empty());
    assert_eq!(emulator.bill()["requests"], 0);
}

#[test]
fn bodies_without_a_length_are_counted_as_they_come() {
    let emulator = Emulator::start(options());
    let head = "POST /invocations HTTP/1.1\r\nhost: h\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
    let small = send(
        emulator.address,
        format!("{head}5\r\nhello\r\n0\r\n\r\n").as_bytes(),
    );
    assert_eq!((small.status, small.body.as_str()), (200, "hello"));
    let part = format!("{:x}\r\n{}\r\n", 60_000, "x".repeat(60_000));
    let large = send(
        emulator.address,
        format!("{head}{part}{part}0\r\n\r\n").as_bytes(),
    );
    assert_eq!(large.status, 413);
}

#[test]
fn slow_and_silent_clients_do_not_stop_others() {
    let emulator = Emulator::start(options());
    let begun = "POST /invocations HTTP/1.1\r\nhost: h\r\ncontent-length: 50000\r\n\r\nsome";
    let mut waiting = Vec::new();
    for number in 0..200 {
        let mut stream = TcpStream::connect(emulator.address).unwrap();
        let sent = match number % 3 {
            0 => "",
            1 => "POST /invo",
            _ => begun,
        };
        stream.write_all(sent.as_bytes()).unwrap();
        waiting.push(stream);
    }
    assert_eq!(emulator.post("hello").body, "hello");
    assert_eq!(emulator.workers().len(), 1);
}

#[test]
fn bodies_that_break_off_and_nonsense_reach_no_worker() {
    let emulator = Emulator::start(options());
    let short = "POST /invocations HTTP/1.1\r\nhost: h\r\ncontent-length: 10\r\n\r\nshort";
    let mut stream = TcpStream::connect(emulator.address).unwrap();
    stream.write_all(short.as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(receive(stream).status, 400);
    for nonsense in [
        "\0\0\0\0\r\n\r\n",
        "HELLO\r\n\r\n",
        "POST /invocations HTTP/9.9\r\n\r\n",
    ] {
        let answer = send(emulator.address, nonsense.as_bytes());
        assert_eq!(answer.status, 400, "{nonsense:?}");
    }
    assert!(emulator.workers().is_empty());
}

#[test]
fn too_many_connections_are_turned_away_and_the_rest_served() {
    let emulator = Emulator::start(Options {
        connections: 20,
        ..options()
    });
    let connect = |_| TcpStream::connect(emulator.address).unwrap();
    let silent: Vec<TcpStream> = (0..20).map(connect).collect();
    let refused = send(emulator.address, b"GET /ping HTTP/1.1\r\nhost: h\r\n\r\n");
    assert_eq!(refused.status, 503);
    drop(silent);
    crate::common::eventually("there is room again", || {
        let request = b"GET /ping HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n";
        send(emulator.address, request).status == 200
    });
}

#[test]
fn a_client_that_leaves_costs_no_worker() {
    let emulator = Emulator::start(options());
    let file = no_file("leaves");
    let body = format!("hold {file}");
    let mut stream = TcpStream::connect(emulator.address).unwrap();
    let head = format!(
        "POST /invocations HTTP/1.1\r\nhost: h\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    emulator.await_states(&["busy"]);
    drop(stream);
    std::fs::write(&file, "").unwrap();
    emulator.await_states(&["free"]);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(emulator.bill()["requests"], 1);
    assert!(!emulator.post("hello").is_cold());
}
