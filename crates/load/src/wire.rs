//! Bytes to and from a server, plain or through TLS, without waiting.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt};
use rustls::ClientConnection;

use crate::tls::Tls;

/// A connection that never blocks: what cannot be done now fails with `WouldBlock`.
pub(crate) struct Wire {
    socket: TcpStream,
    tls: Option<Box<ClientConnection>>,
}

impl Wire {
    /// Begins to connect. Whether it worked is known once the socket can be written.
    pub(crate) fn open(address: SocketAddr, tls: Option<&Tls>) -> io::Result<Self> {
        let tls = tls
            .map(Tls::connection)
            .transpose()
            .map_err(io::Error::other)?;
        let family = match address {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(family, SocketType::STREAM, flags, None)?;
        // A request must not wait for the acknowledgement of the one before.
        sockopt::set_tcp_nodelay(&socket, true)?;
        match connect(&socket, &address) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(Wire {
                socket: TcpStream::from(socket),
                tls: tls.map(Box::new),
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// Why connecting failed, if it did.
    pub(crate) fn connect_error(&self) -> Option<io::Error> {
        self.socket.take_error().unwrap_or_else(Some)
    }

    /// Whether the connection is not yet fit to carry requests.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.socket.write(bytes),
            Some(tls) => tls.writer().write(bytes),
        }
    }

    /// Pushes out what TLS still holds, as far as the socket takes it.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let Some(tls) = &mut self.tls else {
            return Ok(());
        };
        while tls.wants_write() {
            match tls.write_tls(&mut self.socket) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether TLS holds bytes that the socket has not taken.
    pub(crate) fn holds_back(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(tls) = &mut self.tls else {
                return self.socket.read(buffer);
            };
            match tls.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // Many servers close without taking leave of TLS; the answer's own length tells
                // whether it is whole.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                got => return got,
            }
            if tls.read_tls(&mut self.socket)? == 0 {
                return Ok(0);
            }
            let taken = tls.process_new_packets();
            // What the handshake says next, or why it ends.
            self.flush()?;
            taken.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        }
    }

    /// Whether a read that does not fill its buffer has emptied the socket.
    pub(crate) fn short_read_is_last(&self) -> bool {
        self.tls.is_none()
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
