//! Server-sent events: parts of a page, sent when they have changed, until nobody listens.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame};
use serde_json::json;
use tokio::sync::mpsc;

use crate::html::Html;

/// An eye follows no faster.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// In looks: so that both sides notice when the other is gone.
const SIGN_OF_LIFE: u32 = 15;

/// A part of a page, by the id of the element that it fills.
pub(crate) struct Part {
    pub(crate) id: &'static str,
    pub(crate) html: Html,
}

/// The parts of a page, as JSON for the script.
pub(crate) fn as_json(parts: impl IntoIterator<Item = Part>) -> serde_json::Value {
    let parts: BTreeMap<&str, String> = parts
        .into_iter()
        .map(|part| (part.id, part.html.into_string()))
        .collect();
    json!({ "parts": parts })
}

/// One for each page that is looked at.
pub(crate) struct Streams {
    open: Arc<AtomicUsize>,
}

/// More pages than anyone looks at.
const MOST_STREAMS: usize = 64;

impl Streams {
    pub(crate) fn new() -> Self {
        Streams {
            open: Arc::default(),
        }
    }

    /// `None` where too many are open. `look` may block.
    pub(crate) fn open(
        &self,
        look: impl Fn() -> Vec<Part> + Send + Sync + 'static,
    ) -> Option<Events> {
        let counted = Counted::new(&self.open)?;
        let (sender, receiver) = mpsc::channel(2);
        tokio::spawn(async move {
            let _counted = counted;
            send(sender, Arc::new(look)).await;
        });
        Some(Events { receiver })
    }
}

type Look = dyn Fn() -> Vec<Part> + Send + Sync;

async fn send(sender: mpsc::Sender<Bytes>, look: Arc<Look>) {
    let mut sent: BTreeMap<&'static str, Html> = BTreeMap::new();
    let mut silent = 0;
    loop {
        let looking = Arc::clone(&look);
        let Ok(parts) = tokio::task::spawn_blocking(move || looking()).await else {
            return;
        };
        let mut changed = Vec::new();
        for part in parts {
            if sent.get(part.id) != Some(&part.html) {
                sent.insert(part.id, part.html.clone());
                changed.push(part);
            }
        }
        silent += 1;
        let message = match changed.is_empty() {
            // JSON has no line feeds of its own.
            false => Some(format!("data: {}\n\n", as_json(changed))),
            true if silent >= SIGN_OF_LIFE => Some(":\n\n".to_owned()),
            true => None,
        };
        if let Some(message) = message {
            silent = 0;
            if sender.send(Bytes::from(message)).await.is_err() {
                return;
            }
        }
        tokio::select! {
            () = sender.closed() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(open: &Arc<AtomicUsize>) -> Option<Self> {
        let before = open.fetch_add(1, Ordering::SeqCst);
        let counted = Counted(Arc::clone(open));
        (before < MOST_STREAMS).then_some(counted)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The body of an answer that does not end.
pub(crate) struct Events {
    receiver: mpsc::Receiver<Bytes>,
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = self.get_mut().receiver.poll_recv(context);
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
