//! Clients that mean no good, or do not know better.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serve::{Limits, Options};

use crate::common::{Answer, Means, Server, offer, options, png, post};

/// Answers after whatever happened before.
#[track_caller]
fn is_well(server: &Server) {
    server
        .post("/invocations", "image/png", &png([255; 4]))
        .is(200, "[1.0,0.0]");
}

#[test]
fn slow_senders_do_not_stop_others() {
    let impatient = Options {
        limits: Limits {
            receiving: Duration::from_millis(300),
            ..options().limits
        },
        ..options()
    };
    let means = Means {
        pause: Duration::ZERO,
    };
    let server = Server::start(vec![offer("means", means)], impatient);
    let head = b"POST /invocations HTTP/1.1\r\nhost: x\r\ncontent-length: 9000\r\n\r\nx";
    let mut slow: Vec<TcpStream> = (0..50).map(|_| server.connect()).collect();
    for stream in &mut slow {
        stream.write_all(head).unwrap();
    }
    is_well(&server);
    for stream in &mut slow {
        Answer::read(stream).is(408, "did not arrive");
    }
    is_well(&server);
}

/// As many as are asked for, or as this process, which has both ends, may open.
fn connections_to_hold() -> usize {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: it writes the structure.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    10_000.min(limit.rlim_cur as usize / 2 - 200)
}

#[test]
fn thousands_of_idle_connections() {
    let server = Server::quick();
    is_well(&server);
    let count = connections_to_hold();
    let idle: Vec<TcpStream> = (0..count).map(|_| server.connect()).collect();
    assert!(
        idle.len() > 200,
        "this system allows {count} connections only"
    );
    is_well(&server);
    drop(idle);
    is_well(&server);
}

#[test]
fn connections_beyond_the_limit_are_turned_away() {
    let few = Options {
        limits: Limits {
            connections: 3,
            ..options().limits
        },
        ..options()
    };
    let means = Means {
        pause: Duration::ZERO,
    };
    let server = Server::start(vec![offer("means", means)], few);
    let mut held: Vec<TcpStream> = (0..3).map(|_| server.connect()).collect();
    for stream in &mut held {
        stream
            .write_all(b"GET /ping HTTP/1.1\r\nhost: x\r\n\r\n")
            .unwrap();
        let mut part = [0; 64];
        assert!(stream.read(&mut part).unwrap() > 0);
    }
    let answer = server.get("/ping").is(503, "");
    assert!(answer.head.contains("retry-after: 1"));
    drop(held);
    while server.get("/ping").status != 200 {}
    is_well(&server);
}

#[test]
fn bodies_together_have_a_limit() {
    let tight = Options {
        limits: Limits {
            receiving_bytes: 10_000,
            receiving: Duration::from_secs(2),
            ..options().limits
        },
        ..options()
    };
    let means = Means {
        pause: Duration::ZERO,
    };
    let server = Server::start(vec![offer("means", means)], tight);
    let head = "POST /invocations HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 9000\r\n\r\n";
    let most = [head.as_bytes(), &[0; 8_999]].concat();
    let mut first = server.connect();
    first.write_all(&most).unwrap();
    let mut refused = false;
    for _ in 0..100 {
        let answer = server.post("/invocations", "image/png", &[0; 9_000]);
        refused |= answer.status == 503 && answer.body.contains("too many bodies");
    }
    assert!(refused);
    is_well(&server);
    Answer::read(&mut first).is(408, "did not arrive");
}

#[test]
fn nonsense_is_survived() {
    let server = Server::quick();
    let picture = png([9; 4]);
    let mut bodies: Vec<Vec<u8>> = (0..picture.len())
        .map(|end| picture[..end].to_vec())
        .collect();
    // Every byte turned over, one at a time.
    bodies.extend((0..picture.len()).map(|place| {
        let mut turned = picture.clone();
        turned[place] ^= 0xFF;
        turned
    }));
    for body in bodies {
        let answer = server.post("/invocations", "image/png", &body);
        assert!(matches!(answer.status, 200 | 400), "{answer:?}");
    }
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /invocations HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST /invocations HTTP/1.1\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!",
        b"POST /invocations HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n",
    ] {
        let answer = server.send(bytes);
        assert!(answer.status >= 400 || answer.status == 0, "{answer:?}");
    }
    let long = format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "a".repeat(200_000));
    assert!(server.send(long.as_bytes()).status >= 400);
    is_well(&server);
}

#[test]
fn a_panic_costs_one_request() {
    let server = Server::quick();
    for _ in 0..5 {
        let answer = server.post(
            "/invocations",
            "application/json",
            b"[[[[1e10, 0], [0, 0]]]]",
        );
        answer.is(500, "the prediction failed");
        is_well(&server);
    }
}

#[test]
fn a_client_that_goes_away_is_not_computed_for() {
    let slow = Means {
        pause: Duration::from_millis(100),
    };
    let one = Options {
        workers: Some(1),
        ..options()
    };
    let server = Server::start(vec![offer("slow", slow)], one);
    let mut gone: Vec<TcpStream> = (0..4).map(|_| server.connect()).collect();
    for stream in &mut gone {
        stream
            .write_all(&post("/invocations", "image/png", &png([0; 4])))
            .unwrap();
    }
    drop(gone);
    is_well(&server);
}
