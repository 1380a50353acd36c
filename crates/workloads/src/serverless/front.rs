//! Requests in, answers out: paths, and limits on what clients may send.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{ALLOW, CONNECTION, HeaderValue};
use hyper::{Method, Request, StatusCode};
use serde_json::json;

use crate::serverless::call::{Call, Reply, json_reply, refused};
use crate::serverless::emulator::Emulator;
use crate::serverless::refusal::Refusal;

/// For a body to arrive.
const RECEIVING: Duration = Duration::from_secs(30);
/// Bytes of all bodies that are being received or answered.
const RECEIVING_BYTES: usize = 200_000_000;
/// What is set aside for a body that has not come yet, whatever it says of itself.
const FIRST_BYTES: u64 = 64 << 10;

/// What a path asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    Ping,
    Invocations,
    Bill,
    Workers,
}

const PATHS: [(&str, Route); 4] = [
    ("/ping", Route::Ping),
    ("/invocations", Route::Invocations),
    ("/bancada/bill", Route::Bill),
    ("/bancada/workers", Route::Workers),
];

pub(crate) async fn answer(
    emulator: Arc<Emulator>,
    request: Request<Incoming>,
) -> Result<Reply, Infallible> {
    // What is left of a body that was not read cannot be told from the next request.
    let mut is_read = request.body().is_end_stream();
    let mut reply = reply(emulator, request, &mut is_read).await;
    if !is_read {
        let close = HeaderValue::from_static("close");
        reply.headers_mut().insert(CONNECTION, close);
    }
    Ok(reply)
}

async fn reply(emulator: Arc<Emulator>, request: Request<Incoming>, is_read: &mut bool) -> Reply {
    let path = request.uri().path();
    let Some((_, route)) = PATHS.into_iter().find(|(known, _)| *known == path) else {
        let known = PATHS.map(|(path, _)| path).join(", ");
        let message = format!("there is nothing at {path}: {known}");
        return refused(&Refusal::of_request(404, message));
    };
    let allowed = match route {
        Route::Invocations => Method::POST,
        _ => Method::GET,
    };
    if request.method() != allowed {
        let message = format!(
            "method {} is not supported, only {allowed}",
            request.method()
        );
        let mut reply = refused(&Refusal::of_request(405, message));
        if let Ok(allowed) = HeaderValue::from_str(allowed.as_str()) {
            reply.headers_mut().insert(ALLOW, allowed);
        }
        return reply;
    }
    match route {
        // The endpoint is in service, whether it has a worker or not.
        Route::Ping => json_reply(StatusCode::OK, "{}"),
        Route::Bill => {
            let bill = emulator.ledger.bill(&emulator.options);
            json_reply(StatusCode::OK, json!(bill).to_string())
        }
        Route::Workers => {
            let workers = json!({ "workers": emulator.pool.seen() });
            json_reply(StatusCode::OK, workers.to_string())
        }
        Route::Invocations => invocation(emulator, request, is_read).await,
    }
}

async fn invocation(
    emulator: Arc<Emulator>,
    request: Request<Incoming>,
    is_read: &mut bool,
) -> Reply {
    let (head, body) = request.into_parts();
    let held = Held {
        emulator: Arc::clone(&emulator),
        own: 0,
    };
    let received = tokio::time::timeout(RECEIVING, receive(&emulator, body, held));
    let received = match received.await {
        Ok(Ok(received)) => received,
        Ok(Err(refusal)) => return refused(&refusal),
        Err(_) => {
            let seconds = RECEIVING.as_secs();
            let message = format!("the body did not arrive within {seconds} s");
            return refused(&Refusal::of_request(408, message));
        }
    };
    *is_read = true;
    let call = Call {
        uri: head.uri,
        headers: head.headers,
        body: received.body,
    };
    // A task of its own, which a client that leaves does not end.
    let invoked = tokio::spawn(async move {
        let reply = emulator.invoke(call).await;
        drop(received.held);
        reply
    });
    invoked
        .await
        .unwrap_or_else(|_| refused(&Refusal::failed(500, "the request was lost")))
}

struct Received {
    body: Bytes,
    held: Held,
}

async fn receive(
    emulator: &Emulator,
    mut body: Incoming,
    mut held: Held,
) -> Result<Received, Refusal> {
    let most_bytes = emulator.options.body_bytes;
    let told = body.size_hint();
    if told.lower() > most_bytes as u64 {
        return Err(Refusal::too_large(most_bytes));
    }
    let mut bytes = Vec::with_capacity(told.exact().unwrap_or(0).min(FIRST_BYTES) as usize);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|problem| {
            Refusal::of_request(400, format!("the body is incomplete: {problem}"))
        })?;
        let Some(part) = frame.data_ref() else {
            continue;
        };
        if bytes.len() + part.len() > most_bytes {
            return Err(Refusal::too_large(most_bytes));
        }
        if held.add(part.len()) > RECEIVING_BYTES.max(most_bytes) {
            return Err(Refusal::of_request(
                503,
                "too many bodies are being received",
            ));
        }
        bytes.extend_from_slice(part);
    }
    let body = bytes.into();
    Ok(Received { body, held })
}

/// Bytes that one request holds of what all may hold.
struct Held {
    emulator: Arc<Emulator>,
    own: usize,
}

impl Held {
    fn all(&self) -> &AtomicUsize {
        &self.emulator.held_bytes
    }

    /// What all hold then.
    fn add(&mut self, bytes: usize) -> usize {
        self.own += bytes;
        self.all().fetch_add(bytes, Ordering::Relaxed) + bytes
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all().fetch_sub(self.own, Ordering::Relaxed);
    }
}
