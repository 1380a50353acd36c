//! The server's life: take the port, load the models and try them, announce, serve, drain, end.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

use crate::body::Limits;
use crate::http::Front;
use crate::listen::{OUT_OF_FILES_PAUSE, connections, listen, told_to_end, turn_away};
use crate::metrics::Metrics;
use crate::model::ModelError;
use crate::queue::{Batching, Queue};
use crate::served::{Offer, Served};
use crate::work::{Shared, Threads, work};

/// After the signal to end, new connections are accepted for this long, and then read for as long: their clients
/// may have connected or written before the signal.
const LAST_CALL: Duration = Duration::from_millis(50);
/// After the last call, a connection without a request in progress has this long to send the rest of an answer.
const LAST_FLUSH: Duration = Duration::from_secs(1);
/// Files that are not connections.
const OWN_FILES: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    pub address: SocketAddr,
    /// Requests that may wait.
    pub queue: usize,
    pub limits: Limits,
    pub batching: Batching,
    /// Requests that are computed at once; the cores that there are when none is said.
    pub workers: Option<usize>,
    /// Of each request, always; chosen by the load when none is said.
    pub threads: Option<usize>,
    /// Likeliest classes in an answer.
    pub top: usize,
    /// So long requests may take to end when the server ends.
    pub drain: Duration,
}

/// What a person should know of a model.
pub const UNTRAINED: &str = "its weights are random, not trained: use its responses for timing only; every response says so";
pub const NOT_BATCHED: &str = "its requests are computed one by one, not in batches: the model does not guarantee one row per example in every output";

/// What the server tells while it lives.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerEvent {
    /// The port is taken. Until the models are ready, `GET /ping` answers 503 and invocations wait.
    Bound {
        address: SocketAddr,
    },
    /// All models are loaded, and each has computed once.
    Listening {
        address: SocketAddr,
        workers: usize,
    },
    Ready {
        model: String,
        runtime: String,
        seconds: f64,
        /// Its weights are drawn, not trained: its answers mean nothing.
        untrained: bool,
    },
    /// Requests of this model are computed one by one, although batches were requested.
    NotBatched {
        model: String,
    },
    Draining,
}

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    System(io::Error),
}

/// Until SIGTERM or SIGINT, then until the requests in progress are done.
pub fn serve(
    offers: Vec<Offer>,
    options: Options,
    tell: impl Fn(ServerEvent) + Send + Sync,
) -> Result<(), ServeError> {
    serve_until(told_to_end, offers, options, tell)
}

/// As [`serve`], until `end` is.
pub fn serve_until(
    end: impl AsyncFnOnce() -> io::Result<()>,
    offers: Vec<Offer>,
    options: Options,
    tell: impl Fn(ServerEvent) + Send + Sync,
) -> Result<(), ServeError> {
    let begun = Instant::now();
    if offers.is_empty() {
        let problem = ModelError::new("there is no model to serve");
        return Err(ServeError::Model(problem));
    }
    let cores = host::limits::threads_for(host::limits::usable_cores());
    let workers = options.workers.unwrap_or(cores).max(1);
    let threads = Threads {
        alone: options.threads.unwrap_or(cores).max(1),
        each: options.threads.unwrap_or(cores / workers).max(1),
    };
    let files = raise_file_limit();
    let limits = Limits {
        connections: options
            .limits
            .connections
            .min(files.saturating_sub(OWN_FILES).max(1)),
        ..options.limits
    };
    let shared = Arc::new(Shared {
        models: offers.into_iter().map(Served::new).collect(),
        queue: Queue::new(options.queue),
        batching: options.batching,
        limits,
        threads,
        metrics: Metrics::new(begun),
        top: options.top,
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build();
    let runtime = runtime.map_err(ServeError::System)?;
    let (failed, failures) = mpsc::channel(1);
    thread::scope(|scope| {
        // Requests may come before the model is there; they wait for it.
        let served = runtime.block_on(async {
            let listener = listen(options.address).map_err(ServeError::System)?;
            let address = listener.local_addr().map_err(ServeError::System)?;
            tell(ServerEvent::Bound { address });
            for number in 0..workers {
                let (shared, failed, tell) = (Arc::clone(&shared), failed.clone(), &tell);
                scope.spawn(move || {
                    if number == 0 {
                        match load(&shared, tell) {
                            Ok(()) => tell(ServerEvent::Listening { address, workers }),
                            // Only this worker loads, and the channel has room for one.
                            Err(problem) => _ = failed.try_send(problem),
                        }
                    }
                    work(&shared);
                });
            }
            accept(end, listener, Arc::clone(&shared), options, failures, &tell).await
        });
        shared.queue.close();
        served
    })
}

fn load(shared: &Shared, tell: &impl Fn(ServerEvent)) -> Result<(), ModelError> {
    for model in &shared.models {
        model.load(shared.threads.alone)?;
        if let Some(Ok(loaded)) = model.ready() {
            tell(ServerEvent::Ready {
                model: model.name.clone(),
                runtime: loaded.signature.runtime.clone(),
                seconds: loaded.load_seconds,
                untrained: loaded.untrained,
            });
            if shared.batching.most > 1 && !loaded.has_rows {
                tell(ServerEvent::NotBatched {
                    model: model.name.clone(),
                });
            }
        }
    }
    shared.metrics.ready();
    Ok(())
}

async fn accept(
    end: impl AsyncFnOnce() -> io::Result<()>,
    listener: TcpListener,
    shared: Arc<Shared>,
    options: Options,
    mut failures: mpsc::Receiver<ModelError>,
    tell: &impl Fn(ServerEvent),
) -> Result<(), ServeError> {
    let mut end = pin!(end());
    let front = Arc::new(Front::new(Arc::clone(&shared)));
    let (ending, _) = watch::channel(false);
    {
        // Owned by the future: when that is dropped, the port is closed.
        let accepting = async {
            let listener = listener;
            loop {
                match listener.accept().await {
                    Ok((stream, _)) => connect(stream, &front, ending.subscribe()),
                    // Out of files, or a client that went away at once: neither ends the server.
                    Err(_) => tokio::time::sleep(OUT_OF_FILES_PAUSE).await,
                }
            }
        };
        let mut accepting = pin!(accepting);
        tokio::select! {
            () = &mut accepting => {}
            ended = &mut end => ended.map_err(ServeError::System)?,
            Some(problem) = failures.recv() => return Err(ServeError::Model(problem)),
        }
        tell(ServerEvent::Draining);
        let _ = tokio::time::timeout(LAST_CALL, accepting).await;
    }
    tokio::time::sleep(LAST_CALL).await;
    ending.send_replace(true);
    tokio::select! {
        // Every connection holds a receiver.
        () = ending.closed() => {}
        () = tokio::time::sleep(options.drain) => {}
    }
    Ok(())
}

fn connect(stream: TcpStream, front: &Arc<Front>, mut ending: watch::Receiver<bool>) {
    // Answers are small and whole: waiting for more to send would cost 40 ms.
    let _ = stream.set_nodelay(true);
    if front.connections.fetch_add(1, Ordering::Relaxed) >= front.shared.limits.connections {
        front.connections.fetch_sub(1, Ordering::Relaxed);
        turn_away(&stream);
        return;
    }
    let server = connections(front.shared.limits.head);
    let in_progress = Arc::new(AtomicUsize::new(0));
    let (answering, counted) = (Arc::clone(front), Arc::clone(&in_progress));
    let service = service_fn(move |request| {
        let (front, counted) = (Arc::clone(&answering), Arc::clone(&counted));
        async move {
            counted.fetch_add(1, Ordering::Relaxed);
            let reply = front.answer(request).await;
            counted.fetch_sub(1, Ordering::Relaxed);
            reply
        }
    });
    let connection = server.serve_connection(TokioIo::new(stream), service);
    let front = Arc::clone(front);
    tokio::spawn(async move {
        let mut connection = pin!(connection);
        let ended = async { _ = ending.wait_for(|ending| *ending).await };
        let done = tokio::select! {
            // A client that was interrupted is its own affair.
            _ = connection.as_mut() => true,
            () = ended => false,
        };
        if !done {
            connection.as_mut().graceful_shutdown();
            // Half a request is not waited for; one in progress is, until `drain` is over.
            while tokio::time::timeout(LAST_FLUSH, connection.as_mut())
                .await
                .is_err()
                && in_progress.load(Ordering::Relaxed) > 0
            {}
        }
        front.connections.fetch_sub(1, Ordering::Relaxed);
    });
}

/// As many files as this process may have; the limit that shells set is for people.
fn raise_file_limit() -> usize {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: both calls only read or write the structure.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) != 0 {
            return 1024;
        }
        let raised = libc::rlimit {
            rlim_cur: limit.rlim_max,
            ..limit
        };
        if libc::setrlimit(libc::RLIMIT_NOFILE, &raised) == 0 {
            limit = raised;
        }
    }
    usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX)
}
