//! GET requests outside the load: pings, and the emulator's bill. One connection each.

use std::io;
use std::sync::LazyLock;
use std::time::Duration;

use ureq::Agent;

/// By the container contract a ping is answered within this.
const PING_TIMEOUT: Duration = Duration::from_secs(2);
/// More is no answer to a ping or a bill.
const MOST_BYTES: u64 = 1 << 20;

/// Never through a proxy: for servers of this machine. Without a limit on looking up names, which
/// addresses need not, no thread is started for it.
static AGENT: LazyLock<Agent> = LazyLock::new(|| {
    let config = Agent::config_builder()
        .timeout_connect(Some(PING_TIMEOUT))
        .timeout_recv_response(Some(PING_TIMEOUT))
        .timeout_recv_body(Some(PING_TIMEOUT))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_idle_connections(0)
        .proxy(None);
    config.build().into()
});

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

pub(crate) fn get(address: &str, path: &str) -> io::Result<Answer> {
    let authority = address.trim_start_matches("http://");
    let request = AGENT.get(format!("http://{authority}{path}"));
    let mut response = request.call().map_err(ureq::Error::into_io)?;
    let body = response.body_mut().with_config().limit(MOST_BYTES);
    Ok(Answer {
        body: body.read_to_vec().map_err(ureq::Error::into_io)?,
        status: response.status().as_u16(),
    })
}

/// `None` if the server has no such path, as all but the emulator have.
pub(crate) fn json(address: &str, path: &str) -> Option<serde_json::Value> {
    let answer = get(address, path).ok().filter(|a| a.status == 200)?;
    serde_json::from_slice(&answer.body).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    #[test]
    fn answers_are_read() {
        let check = |text: &'static str, expected: Option<(u16, &str)>| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = format!("http://{}", listener.local_addr().unwrap());
            let server = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let mut asked = [0; 4096];
                let length = stream.read(&mut asked).unwrap();
                stream.write_all(text.as_bytes()).unwrap();
                String::from_utf8_lossy(&asked[..length]).into_owned()
            });
            let answer = get(&address, "/ping").ok();
            let found = answer.map(|a| (a.status, String::from_utf8(a.body).unwrap()));
            let expected = expected.map(|(status, body)| (status, body.to_owned()));
            assert_eq!(found, expected, "{text}");
            assert!(server.join().unwrap().starts_with("GET /ping HTTP/1.1\r\n"));
        };
        check("HTTP/1.1 200 OK\r\n\r\nhello", Some((200, "hello")));
        check(
            "HTTP/1.1 503 no\r\ncontent-length: 0\r\n\r\n",
            Some((503, "")),
        );
        check(
            "HTTP/1.1 307 no\r\nLocation: /\r\ncontent-length: 0\r\n\r\n",
            Some((307, "")),
        );
        check(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n",
            Some((200, "abcd")),
        );
        check("HTTP/1.1 200", None);
        check("SSH-2.0\r\n\r\n", None);
        check("HTTP/1.1 xx\r\n\r\n", None);
    }

    #[test]
    fn where_nothing_listens_the_connection_is_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        drop(listener);
        let error = get(&address, "/ping").err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }
}
