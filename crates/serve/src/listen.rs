//! What every server of this workspace does with its port: takes it, turns connections away, ends.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::TokioTimer;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::signal::unix::{SignalKind, signal};

/// When no more files can be opened, some have to be closed first.
pub const OUT_OF_FILES_PAUSE: Duration = Duration::from_millis(20);
/// Connections that wait to be accepted: when a hundred come at once, those that find no room try again after a
/// whole second.
const BACKLOG: u32 = 4096;
/// hyper reads bodies in parts of up to this size, too.
const LONGEST_HEAD_BYTES: usize = 64 << 10;

pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    };
    let listening = socket.and_then(|socket| {
        // A server that was just ended does not keep its port.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    });
    listening.map_err(|error| {
        let problem = format!("cannot listen on {address}: {error}");
        io::Error::new(error.kind(), problem)
    })
}

/// Waits for SIGTERM or SIGINT.
pub async fn told_to_end() -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
    }
}

/// `head_timeout` counts from a connection's start or its last answer: for idle connections, too.
pub fn connections(head_timeout: Duration) -> http1::Builder {
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(head_timeout)
        // Some clients close their side when they have asked.
        .half_close(true)
        .max_buf_size(LONGEST_HEAD_BYTES);
    server
}

/// What does not fit into the socket's buffer at once is lost with the connection.
pub fn turn_away(stream: &TcpStream) {
    let _ = stream.try_write(
        b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
    );
}
