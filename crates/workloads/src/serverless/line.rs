//! A connection to a worker.

use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{HOST, HeaderValue};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Servers close connections that rest, Gunicorn after 2 s, and the request that is then on its
/// way is lost. One that rested longer than this is not used again.
const REST: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Line {
    sender: SendRequest<Full<Bytes>>,
    host: HeaderValue,
    used: Instant,
}

#[derive(Debug)]
pub(crate) enum Broken {
    /// No connection, or it was interrupted.
    Off(String),
    /// The answer has more bytes than allowed.
    TooLarge,
}

impl Line {
    pub(crate) async fn open(port: u16) -> Result<Line, Broken> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.map_err(off)?;
        // Requests are whole: waiting for more to send would cost 40 ms.
        let _ = stream.set_nodelay(true);
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(off)?;
        // It ends with the sender.
        tokio::spawn(connection);
        let host = HeaderValue::from_str(&format!("127.0.0.1:{port}")).map_err(off)?;
        Ok(Line {
            sender,
            host,
            used: Instant::now(),
        })
    }

    pub(crate) fn is_usable(&self) -> bool {
        !self.sender.is_closed() && self.used.elapsed() < REST
    }

    /// The whole answer, of at most so many bytes.
    pub(crate) async fn ask(
        &mut self,
        mut request: Request<Full<Bytes>>,
        most_bytes: usize,
    ) -> Result<Response<Bytes>, Broken> {
        request.headers_mut().insert(HOST, self.host.clone());
        self.sender.ready().await.map_err(off)?;
        let answer = self.sender.send_request(request).await.map_err(off)?;
        let (head, body) = answer.into_parts();
        let body = whole(body, most_bytes).await?;
        self.used = Instant::now();
        Ok(Response::from_parts(head, body))
    }
}

async fn whole(body: Incoming, most_bytes: usize) -> Result<Bytes, Broken> {
    match Limited::new(body, most_bytes).collect().await {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(problem) if problem.is::<LengthLimitError>() => Err(Broken::TooLarge),
        Err(problem) => Err(off(problem)),
    }
}

fn off(problem: impl ToString) -> Broken {
    Broken::Off(problem.to_string())
}
