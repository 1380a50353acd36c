//! GET requests outside the load: pings, and the emulator's bill. One connection each.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// By the container contract a ping is answered within this.
const PING_TIMEOUT: Duration = Duration::from_secs(2);
/// More is no answer to a ping or a bill.
const MOST_BYTES: usize = 1 << 20;

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

pub(crate) fn get(address: &str, path: &str) -> io::Result<Answer> {
    let authority = address.trim_start_matches("http://");
    let wrong = |_| io::Error::new(io::ErrorKind::InvalidInput, "no address of this machine");
    let socket: SocketAddr = authority.parse().map_err(wrong)?;
    let mut stream = TcpStream::connect_timeout(&socket, PING_TIMEOUT)?;
    stream.set_read_timeout(Some(PING_TIMEOUT))?;
    stream.set_nodelay(true)?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    while answer.len() < MOST_BYTES && !is_whole(&answer) {
        match stream.read(&mut part)? {
            0 => break,
            count => answer.extend_from_slice(&part[..count]),
        }
    }
    parse(&String::from_utf8_lossy(&answer))
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the response is not HTTP"))
}

/// By the length it tells: not every server closes the connection when it is asked to.
fn is_whole(answer: &[u8]) -> bool {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let Some(end) = end else { return false };
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| {
        let value = line.strip_prefix("content-length:")?;
        value.trim().parse::<usize>().ok()
    });
    length.is_some_and(|length| answer.len() >= end + 4 + length)
}

/// `None` if the server has no such path, as all but the emulator have.
pub(crate) fn json(address: &str, path: &str) -> Option<serde_json::Value> {
    let answer = get(address, path).ok().filter(|a| a.status == 200)?;
    serde_json::from_str(&answer.body).ok()
}

fn parse(text: &str) -> Option<Answer> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut words = head.lines().next()?.split(' ');
    let is_http = words.next()?.starts_with("HTTP/1.");
    let status = words.next()?.parse().ok().filter(|_| is_http)?;
    let chunked = head
        .lines()
        .any(|line| line.to_ascii_lowercase().trim() == "transfer-encoding: chunked");
    let body = match chunked {
        true => dechunked(body)?,
        false => body.to_owned(),
    };
    Some(Answer { status, body })
}

fn dechunked(mut rest: &str) -> Option<String> {
    let mut body = String::new();
    loop {
        let (size, after) = rest.split_once("\r\n")?;
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        body.push_str(after.get(..size)?);
        rest = after.get(size..)?.strip_prefix("\r\n")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_when_its_length_is_there() {
        let check =
            |text: &str, expected| assert_eq!(is_whole(text.as_bytes()), expected, "{text}");
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", false);
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na", false);
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", true);
        check("HTTP/1.1 503 no\r\ncontent-length: 0\r\n\r\n", true);
        // Its end is the connection's.
        check("HTTP/1.1 200 OK\r\n\r\nab", false);
    }

    #[test]
    fn answers_are_read() {
        let check = |text: &str, expected: Option<(u16, &str)>| {
            let answer = parse(text);
            let found = answer.as_ref().map(|a| (a.status, a.body.as_str()));
            assert_eq!(found, expected, "{text}");
        };
        check("HTTP/1.1 200 OK\r\n\r\nhello", Some((200, "hello")));
        check("HTTP/1.0 503 no\r\na: b\r\n\r\n", Some((503, "")));
        check(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n",
            Some((200, "abcd")),
        );
        check("HTTP/1.1 200", None);
        check("SSH-2.0\r\n\r\n", None);
        check("HTTP/1.1 xx\r\n\r\n", None);
    }
}
