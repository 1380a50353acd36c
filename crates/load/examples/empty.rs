//! An empty handler: answers every request with 200 and nothing else, as fast as one thread can.
//! What a load generator reaches against it is the generator's own limit, or this server's.
//!
//!     cargo run --release -p load --example empty -- 127.0.0.1:9000
//!
//! It speaks only as much HTTP as the benchmark needs: each request must come in one piece or end
//! where a read ends, and its body is not looked at.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;

use rustix::event::epoll;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

fn main() -> io::Result<()> {
    let address = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "127.0.0.1:9000".to_owned());
    let listener = TcpListener::bind(address)?;
    println!("{}", listener.local_addr()?);
    serve(&listener)
}

fn serve(listener: &TcpListener) -> io::Result<()> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let mut open: HashMap<u64, TcpStream> = HashMap::new();
    let own = listener.as_raw_fd() as u64;
    epoll::add(
        &epoll,
        listener,
        epoll::EventData::new_u64(own),
        epoll::EventFlags::IN,
    )?;
    let mut events: Vec<epoll::Event> = Vec::with_capacity(256);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        events.clear();
        epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None)?;
        for event in &events {
            let data = event.data;
            let token = data.u64();
            if token == own {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                let token = stream.as_raw_fd() as u64;
                let data = epoll::EventData::new_u64(token);
                epoll::add(&epoll, &stream, data, epoll::EventFlags::IN)?;
                open.insert(token, stream);
            } else if let Some(stream) = open.get_mut(&token)
                && !answer(stream, &mut buffer)
            {
                open.remove(&token);
            }
        }
    }
}

/// Answers what has come; `false` when the connection is over.
fn answer(stream: &mut TcpStream, buffer: &mut [u8]) -> bool {
    match stream.read(buffer) {
        Ok(0) => false,
        Ok(_) => stream.write_all(ANSWER).is_ok(),
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    }
}
