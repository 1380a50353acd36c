//! Connections: from this machine only, a bounded number, until the program is asked to end.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use model::{Asked, Stop};
use serve::listen::{OUT_OF_FILES_PAUSE, connections, turn_away};
use tokio::sync::Semaphore;

use crate::ask::Ask;
use crate::guard::{self, Guard};
use crate::pages::{self, Answer};
use crate::route::{OfStudy, Route};
use crate::shared::Shared;
use crate::stream::Streams;

const MOST_CONNECTIONS: usize = 128;
/// A study file and a little.
const LARGEST_FORM_BYTES: usize = 2 << 20;
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
const LOOK_FOR_END: Duration = Duration::from_millis(100);

type Reply = Response<UnsyncBoxBody<Bytes, Infallible>>;

pub struct Options<'a> {
    /// Where study files are.
    pub folder: &'a Path,
    /// Zero for any that is free.
    pub port: u16,
    pub version: &'static str,
}

/// Why there is no page.
#[derive(Debug)]
pub enum UiError {
    Study(workbench::Error),
    Io(io::Error),
}

impl From<workbench::Error> for UiError {
    fn from(error: workbench::Error) -> Self {
        UiError::Study(error)
    }
}

impl From<io::Error> for UiError {
    fn from(error: io::Error) -> Self {
        UiError::Io(error)
    }
}

/// Bound to this machine's own address.
pub struct Server {
    listener: TcpListener,
    front: Arc<Front>,
}

struct Front {
    guard: Guard,
    shared: Arc<Shared>,
    streams: Streams,
}

impl Server {
    pub fn bind(options: &Options<'_>) -> Result<Self, UiError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).map_err(|error| {
            let problem = format!("cannot listen on 127.0.0.1:{}: {error}", options.port);
            io::Error::new(error.kind(), problem)
        })?;
        listener.set_nonblocking(true)?;
        let token = token()?;
        let shared = Shared::new(options.folder, format!("/{token}"), options.version)?;
        let port = listener.local_addr()?.port();
        Ok(Server {
            listener,
            front: Arc::new(Front {
                guard: Guard { token, port },
                shared: Arc::new(shared),
                streams: Streams::new(),
            }),
        })
    }

    /// For a browser, with the token.
    pub fn address(&self) -> String {
        let Guard { token, port } = &self.front.guard;
        format!("http://127.0.0.1:{port}/{token}/")
    }

    /// Until that is asked. Studies that were started go on.
    pub fn run(self, stop: &Stop) -> Result<(), UiError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(8)
            .build()?;
        let served = runtime.block_on(accept(self.listener, self.front, stop));
        // Pages that are open do not keep the program.
        runtime.shutdown_background();
        Ok(served?)
    }
}

/// 128 bits of the kernel.
fn token() -> io::Result<String> {
    let mut bytes = [0; guard::TOKEN_DIGITS / 2];
    io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut bytes)?;
    Ok(host::hex(&bytes))
}

async fn accept(listener: TcpListener, front: Arc<Front>, stop: &Stop) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    while stop.asked() == Asked::Nothing {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = tokio::time::sleep(LOOK_FOR_END) => continue,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(OUT_OF_FILES_PAUSE).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&room).try_acquire_owned() else {
            turn_away(&stream);
            continue;
        };
        let front = Arc::clone(&front);
        tokio::spawn(async move {
            let _permit = permit;
            let service = service_fn(|request| {
                let front = Arc::clone(&front);
                async move { Ok::<_, Infallible>(front.answer(request).await) }
            });
            let connection =
                connections(HEAD_TIMEOUT).serve_connection(TokioIo::new(stream), service);
            // A browser that goes away in the middle is no trouble.
            _ = connection.await;
        });
    }
    Ok(())
}

impl Front {
    async fn answer(&self, request: Request<Incoming>) -> Reply {
        let (parts, body) = request.into_parts();
        let uri = parts.uri;
        let rest = match self.guard.admit(&parts.method, uri.path(), &parts.headers) {
            Ok(rest) => rest,
            Err(refused) => return text(refused.status, refused.why),
        };
        let Some(route) = Route::of(&parts.method, rest) else {
            return text(StatusCode::NOT_FOUND, "there is no such page");
        };
        let query = Ask::parse(uri.query().unwrap_or(""));
        let form = match form(&parts.method, &parts.headers, body).await {
            Ok(form) => form,
            Err(status) => return text(status, "a form is expected"),
        };
        if let Some(events) = self.events(&route) {
            return events;
        }
        let shared = Arc::clone(&self.shared);
        let answered =
            tokio::task::spawn_blocking(move || pages::answer(&shared, &route, &query, &form));
        match answered.await {
            Ok(answer) => reply(answer),
            Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, "this page failed"),
        }
    }

    /// `None` for a page that ends.
    fn events(&self, route: &Route) -> Option<Reply> {
        let shared = Arc::clone(&self.shared);
        let events = match route {
            Route::IndexLive => self.streams.open(move || crate::index::parts(&shared)),
            Route::Study { id, what } => {
                let id = id.clone();
                match *what {
                    OfStudy::Live => self.streams.open(move || crate::study::parts(&shared, &id)),
                    OfStudy::RunLive(run) => self
                        .streams
                        .open(move || crate::run::parts(&shared, &id, run)),
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(match events {
            None => text(StatusCode::SERVICE_UNAVAILABLE, "too many pages are open"),
            Some(events) => {
                let mut reply = Response::new(events.boxed_unsync());
                set(&mut reply, "text/event-stream; charset=utf-8", false);
                reply
            }
        })
    }
}

async fn form(method: &Method, headers: &HeaderMap, body: Incoming) -> Result<Ask, StatusCode> {
    if *method != Method::POST {
        return Ok(Ask::default());
    }
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded")) {
        return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }
    let body = Limited::new(body, LARGEST_FORM_BYTES).collect();
    match tokio::time::timeout(HEAD_TIMEOUT, body).await {
        Err(_) => Err(StatusCode::REQUEST_TIMEOUT),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(StatusCode::PAYLOAD_TOO_LARGE),
        Ok(Err(_)) => Err(StatusCode::BAD_REQUEST),
        Ok(Ok(body)) => Ok(Ask::parse(&String::from_utf8_lossy(&body.to_bytes()))),
    }
}

fn reply(answer: Answer) -> Reply {
    let whole = |body: String| Response::new(Full::new(Bytes::from(body)).boxed_unsync());
    match answer {
        Answer::Page { status, html } => {
            let mut reply = whole(html);
            *reply.status_mut() = status;
            set(&mut reply, "text/html; charset=utf-8", false);
            reply
        }
        Answer::Report(html) => {
            let mut reply = whole(html);
            set(&mut reply, "text/html; charset=utf-8", true);
            reply
        }
        Answer::Json(value) => {
            let mut reply = whole(value.to_string());
            set(&mut reply, "application/json", false);
            reply
        }
        Answer::File { kind, text } => {
            let mut reply = whole(text);
            set(&mut reply, kind, false);
            reply
        }
        Answer::GoTo(path) => {
            let mut reply = text(StatusCode::SEE_OTHER, "");
            if let Ok(path) = HeaderValue::from_str(&path) {
                reply.headers_mut().insert(LOCATION, path);
            }
            reply
        }
    }
}

fn text(status: StatusCode, words: &'static str) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::from(words)).boxed_unsync());
    *reply.status_mut() = status;
    set(&mut reply, "text/plain; charset=utf-8", false);
    reply
}

fn set(reply: &mut Reply, kind: &'static str, is_report: bool) {
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    guard::secure(headers, is_report);
}
