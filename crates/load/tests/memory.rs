//! Memory does not grow with the number of requests. Alone in its process, so that nothing else
//! moves what is read.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use load::{Closed, Extent, Load, Options, Request};

#[test]
fn memory_is_constant_over_some_requests() {
    check(5_000, 50_000);
}

#[test]
#[ignore = "takes minutes on a busy machine: cargo test -p load --test memory -- --ignored"]
fn memory_is_constant_over_two_million_requests() {
    check(200_000, 2_000_000);
}

fn check(few: u64, many: u64) {
    let address = serve();
    // The first load warms the allocator up.
    resident_kib_after(address, few);
    let before = resident_kib_after(address, few);
    let after = resident_kib_after(address, many);
    let allowed = 1024;
    assert!(after < before + allowed, "{before} KiB, then {after} KiB");
}

fn resident_kib_after(address: SocketAddr, requests: u64) -> u64 {
    let request = Request::get(format!("http://{address}/").parse().unwrap());
    let load = Load::Closed(Closed {
        clients: 8,
        warm_up: Extent::NONE,
        counted: Extent::Requests(requests),
    });
    let outcome = load::run(&request, &load, &Options::default()).unwrap();
    assert_eq!(outcome.counts.ok, requests);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || answer(stream.unwrap()));
        }
    });
    address
}

/// A short request comes in one piece on this machine.
fn answer(mut stream: TcpStream) -> Option<()> {
    let mut buffer = [0; 4096];
    let text = b"HTTP/1.1 200 OK\r\ncontent-length: 19\r\n\r\n{\"prediction_ms\":1}";
    while stream.read(&mut buffer).ok()? > 0 {
        stream.write_all(text).ok()?;
    }
    None
}
