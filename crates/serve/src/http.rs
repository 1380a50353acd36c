//! Requests in, answers out: paths, limits and headers.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::json;
use tokio::sync::oneshot;

use crate::answer::{Answer, milliseconds};
use crate::body::Format;
use crate::metrics::Now;
use crate::queue::NotTaken;
use crate::refusal::Refusal;
use crate::served::Loaded;
use crate::work::{Job, Shared};

const JSON: &str = "application/json";
const PROMETHEUS: &str = "text/plain; version=0.0.4";

/// What all connections share.
pub(crate) struct Front {
    pub(crate) shared: Arc<Shared>,
    pub(crate) connections: AtomicUsize,
    /// Bytes of bodies that are being received or wait.
    held: AtomicUsize,
}

pub(crate) type Reply = Response<Full<Bytes>>;

/// What a path asks for.
#[derive(Debug, PartialEq, Eq)]
enum Route {
    Ping(usize),
    Invocations(usize),
    Models,
    Metrics,
}

impl Front {
    pub(crate) fn new(shared: Arc<Shared>) -> Front {
        Front {
            shared,
            connections: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
        }
    }

    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Result<Reply, Infallible> {
        let begun = Instant::now();
        // What is left of a body that was not read cannot be told from the next request.
        let has_body = !request.body().is_end_stream();
        let mut reply = self.reply(request, begun).await;
        if has_body && !reply.status().is_success() {
            let close = HeaderValue::from_static("close");
            reply.headers_mut().insert(CONNECTION, close);
        }
        Ok(reply)
    }

    async fn reply(&self, request: Request<Incoming>, begun: Instant) -> Reply {
        let Some(route) = self.route(request.uri().path()) else {
            let message = format!(
                "there is nothing at {}: /ping, /invocations, /models, /metrics",
                request.uri().path()
            );
            return refused(&Refusal::new(404, message));
        };
        let allowed = match route {
            Route::Invocations(_) => Method::POST,
            _ => Method::GET,
        };
        if request.method() != allowed {
            let message = format!(
                "method {} is not supported, only {allowed}",
                request.method()
            );
            let mut reply = refused(&Refusal::new(405, message));
            if let Ok(allowed) = HeaderValue::from_str(allowed.as_str()) {
                reply.headers_mut().insert(ALLOW, allowed);
            }
            return reply;
        }
        match route {
            Route::Ping(model) => self.ping(model),
            Route::Models => self.models(),
            Route::Metrics => self.metrics(),
            Route::Invocations(model) => {
                let reply = match self.invoke(model, request).await {
                    Ok(answer) => answered(answer),
                    Err(refusal) => refused(&refusal),
                };
                self.shared
                    .metrics
                    .answered(reply.status().as_u16(), begun.elapsed());
                reply
            }
        }
    }

    fn route(&self, path: &str) -> Option<Route> {
        match path {
            "/ping" => return Some(Route::Ping(0)),
            "/invocations" => return Some(Route::Invocations(0)),
            "/models" => return Some(Route::Models),
            "/metrics" => return Some(Route::Metrics),
            _ => {}
        }
        let (name, rest) = path.strip_prefix("/models/")?.rsplit_once('/')?;
        let model = self
            .shared
            .models
            .iter()
            .position(|model| model.name == name)?;
        match rest {
            "ping" => Some(Route::Ping(model)),
            "invocations" | "invoke" => Some(Route::Invocations(model)),
            _ => None,
        }
    }

    /// Healthy when the model is loaded; it answers in any case.
    fn ping(&self, model: usize) -> Reply {
        match self.shared.models[model].ready() {
            Some(Ok(_)) => reply(StatusCode::OK, JSON, "{}"),
            Some(Err(problem)) => refused(&Refusal::new(500, problem.to_string())),
            None => refused(&Refusal::busy("the model is still loading")),
        }
    }

    fn models(&self) -> Reply {
        let models = self.shared.models.iter().map(|model| {
            let loaded = model.ready().and_then(|loaded| loaded.as_ref().ok());
            json!({
                "name": model.name,
                "ready": loaded.is_some(),
                "runtime": loaded.map(|loaded| &loaded.signature.runtime),
                "weights": loaded.filter(|loaded| loaded.untrained).map(|_| "untrained"),
                "inputs": loaded.map(inputs),
                "outputs": loaded.map(outputs),
                "load_seconds": loaded.map(|loaded| loaded.load_seconds),
            })
        });
        let list = json!({ "models": models.collect::<Vec<_>>() });
        reply(StatusCode::OK, JSON, list.to_string())
    }

    fn metrics(&self) -> Reply {
        let now = Now {
            waiting: self.shared.queue.waiting(),
            busy: self.shared.queue.busy(),
            connections: self.connections.load(Ordering::Relaxed),
        };
        reply(StatusCode::OK, PROMETHEUS, self.shared.metrics.text(&now))
    }

    async fn invoke(&self, model: usize, request: Request<Incoming>) -> Result<Answer, Refusal> {
        let content_type = request.headers().get(CONTENT_TYPE);
        let format = Format::of(content_type.map(|value| value.to_str().unwrap_or("?")))?;
        let limits = self.shared.limits;
        let mut held = Held {
            all: &self.held,
            own: 0,
        };
        let received = tokio::time::timeout(
            limits.receiving,
            self.receive(request.into_body(), &mut held),
        );
        let body = received.await.map_err(|_| {
            Refusal::new(
                408,
                format!(
                    "the body did not arrive within {} s",
                    limits.receiving.as_secs()
                ),
            )
        })??;
        let (sender, receiver) = oneshot::channel();
        let job = Job {
            model,
            format,
            body,
            reply: sender,
        };
        self.shared
            .queue
            .put(job)
            .map_err(|problem| match problem {
                NotTaken::Full => Refusal::busy("the queue is full"),
                NotTaken::Closed => Refusal::busy("the server is shutting down"),
            })?;
        // Only a worker that panicked drops it.
        receiver
            .await
            .unwrap_or_else(|_| Err(Refusal::new(500, "the prediction failed")))
    }

    async fn receive(&self, mut body: Incoming, held: &mut Held<'_>) -> Result<Bytes, Refusal> {
        let limits = self.shared.limits;
        let told = body.size_hint();
        if told.lower() > limits.body_bytes as u64 {
            return Err(Refusal::too_large(limits.body_bytes));
        }
        let mut bytes = Vec::with_capacity(told.exact().unwrap_or(0).min(FIRST_BYTES) as usize);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|problem| {
                Refusal::unprocessable(format!("the body is incomplete: {problem}"))
            })?;
            let Some(part) = frame.data_ref() else {
                continue;
            };
            if bytes.len() + part.len() > limits.body_bytes {
                return Err(Refusal::too_large(limits.body_bytes));
            }
            if held.add(part.len()) > limits.receiving_bytes {
                return Err(Refusal::busy("too many bodies are being received"));
            }
            bytes.extend_from_slice(part);
        }
        Ok(bytes.into())
    }
}

fn inputs(loaded: &Loaded) -> Vec<serde_json::Value> {
    let ports = loaded.signature.inputs.iter();
    ports
        .map(|port| json!({"name": port.name, "datatype": port.kind.name(), "shape": port.sizes}))
        .collect()
}

/// Those that are answered.
fn outputs(loaded: &Loaded) -> Vec<serde_json::Value> {
    let output = |(place, &output): (usize, &usize)| {
        let port = &loaded.signature.outputs[output];
        json!({
            "name": port.name,
            "datatype": port.kind.name(),
            "shape": port.sizes,
            "meaning": loaded.answered.meaning(place),
        })
    };
    let answered = loaded.answered.outputs.iter();
    answered.enumerate().map(output).collect()
}

/// What is set aside for a body that has not come yet, whatever it says of itself.
const FIRST_BYTES: u64 = 64 << 10;

/// Bytes that one request holds of what all may hold.
struct Held<'h> {
    all: &'h AtomicUsize,
    own: usize,
}

impl Held<'_> {
    /// What all hold then.
    fn add(&mut self, bytes: usize) -> usize {
        self.own += bytes;
        self.all.fetch_add(bytes, Ordering::Relaxed) + bytes
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(self.own, Ordering::Relaxed);
    }
}

fn answered(answer: Answer) -> Reply {
    let mut reply = reply(StatusCode::OK, JSON, answer.json);
    let took = format!("{:.3}", milliseconds(answer.prediction));
    if let Ok(took) = HeaderValue::from_str(&took) {
        reply.headers_mut().insert("x-prediction-ms", took);
    }
    reply
}

pub(crate) fn refused(refusal: &Refusal) -> Reply {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut reply = reply(
        status,
        JSON,
        json!({ "error": refusal.message }).to_string(),
    );
    if refusal.is_busy() {
        reply
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    reply
}

fn reply(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(Full::new(body.into()));
    *reply.status_mut() = status;
    reply
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    reply
}
