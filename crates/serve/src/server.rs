//! The server's life: listen at once, load meanwhile, serve, drain, end.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::body::Limits;
use crate::http::Front;
use crate::metrics::Metrics;
use crate::model::ModelError;
use crate::queue::{Batching, Queue};
use crate::served::{Offer, Served};
use crate::work::{Hall, Threads, work};

/// A connection that says nothing for so long is closed.
const IDLE: Duration = Duration::from_secs(60);
/// When no more files can be opened, some have to be closed first.
const OUT_OF_FILES_PAUSE: Duration = Duration::from_millis(20);
/// Connections that wait to be accepted: when a hundred come at once, those that find no room try again after a
/// whole second.
const BACKLOG: u32 = 4096;
/// So long connections are accepted and read after the server was told to end.
const LAST_CALL: Duration = Duration::from_millis(100);
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

/// What the server tells while it lives.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    Listening {
        address: SocketAddr,
        workers: usize,
    },
    Ready {
        model: String,
        runtime: String,
        seconds: f64,
    },
    Draining,
}

#[derive(Debug)]
pub enum ServeError {
    NoModel,
    Address {
        address: SocketAddr,
        error: io::Error,
    },
    Model(ModelError),
    System(io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::NoModel => f.write_str("there is no model to serve"),
            ServeError::Address { address, error } => {
                write!(f, "cannot listen on {address}: {error}")
            }
            ServeError::Model(problem) => problem.fmt(f),
            ServeError::System(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ServeError {}

/// Until SIGTERM or SIGINT, then until what was begun is done.
pub fn serve(
    offers: Vec<Offer>,
    options: Options,
    tell: impl Fn(Told) + Send + Sync,
) -> Result<(), ServeError> {
    let told_to_end = async || {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::select! {
            _ = terminate.recv() => Ok(()),
            _ = interrupt.recv() => Ok(()),
        }
    };
    serve_until(told_to_end, offers, options, tell)
}

/// As [`serve`], until `end` is.
pub fn serve_until(
    end: impl AsyncFnOnce() -> io::Result<()>,
    offers: Vec<Offer>,
    options: Options,
    tell: impl Fn(Told) + Send + Sync,
) -> Result<(), ServeError> {
    let begun = Instant::now();
    if offers.is_empty() {
        return Err(ServeError::NoModel);
    }
    let cores = allowance::threads_for(allowance::usable_cores());
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
    let hall = Arc::new(Hall {
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
            let listener = listen(options.address)?;
            let address = listener.local_addr().map_err(ServeError::System)?;
            tell(Told::Listening { address, workers });
            for number in 0..workers {
                let (hall, failed, tell) = (Arc::clone(&hall), failed.clone(), &tell);
                scope.spawn(move || {
                    if number == 0
                        && let Err(problem) = load(&hall, tell)
                    {
                        // Only this worker loads, and the channel has room for one.
                        let _ = failed.try_send(problem);
                    }
                    work(&hall);
                });
            }
            accept(end, listener, Arc::clone(&hall), options, failures, &tell).await
        });
        hall.queue.close();
        served
    })
}

fn load(hall: &Hall, tell: &impl Fn(Told)) -> Result<(), ModelError> {
    for model in &hall.models {
        model.load(hall.threads.alone)?;
        if let Some(Ok(loaded)) = model.ready() {
            tell(Told::Ready {
                model: model.name.clone(),
                runtime: loaded.signature.runtime.clone(),
                seconds: loaded.load_seconds,
            });
        }
    }
    hall.metrics.ready();
    Ok(())
}

fn listen(address: SocketAddr) -> Result<TcpListener, ServeError> {
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
    listening.map_err(|error| ServeError::Address { address, error })
}

async fn accept(
    end: impl AsyncFnOnce() -> io::Result<()>,
    listener: TcpListener,
    hall: Arc<Hall>,
    options: Options,
    mut failures: mpsc::Receiver<ModelError>,
    tell: &impl Fn(Told),
) -> Result<(), ServeError> {
    let mut end = pin!(end());
    let front = Arc::new(Front::new(Arc::clone(&hall)));
    let graceful = GracefulShutdown::new();
    {
        let accepting = async {
            loop {
                match listener.accept().await {
                    Ok((stream, _)) => connect(stream, &front, &graceful),
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
        tell(Told::Draining);
        // Requests may be on their way in: sent, and not yet read or not even accepted.
        let _ = tokio::time::timeout(LAST_CALL, accepting).await;
    }
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(options.drain) => {}
    }
    Ok(())
}

fn connect(stream: TcpStream, front: &Arc<Front>, graceful: &GracefulShutdown) {
    // Answers are small and whole: waiting for more to send would cost 40 ms.
    let _ = stream.set_nodelay(true);
    if front.connections.fetch_add(1, Ordering::Relaxed) >= front.hall.limits.connections {
        front.connections.fetch_sub(1, Ordering::Relaxed);
        turn_away(&stream);
        return;
    }
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        // Some clients close their side when they have asked.
        .half_close(true)
        .max_buf_size(LONGEST_HEAD_BYTES);
    let shared = Arc::clone(front);
    let service = service_fn(move |request| {
        let front = Arc::clone(&shared);
        async move { front.answer(request).await }
    });
    let connection = graceful.watch(server.serve_connection(TokioIo::new(stream), service));
    let front = Arc::clone(front);
    tokio::spawn(async move {
        // A client that broke off is its own affair.
        let _ = connection.await;
        front.connections.fetch_sub(1, Ordering::Relaxed);
    });
}

/// hyper reads bodies in parts of up to this size, too.
const LONGEST_HEAD_BYTES: usize = 64 << 10;

/// What does not fit into the socket's buffer at once is lost with the connection.
fn turn_away(stream: &TcpStream) {
    let _ = stream.try_write(
        b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
    );
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
