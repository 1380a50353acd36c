//! The emulator's life: listen, hand requests to workers, drain, end them, bill.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use host::limits::Guard;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulShutdown;
use model::Warning;
use serve::listen::{OUT_OF_FILES_PAUSE, connections, listen, told_to_end, turn_away};
use tokio::net::{TcpListener, TcpStream};

use crate::serverless::bill::{Bill, Ledger};
use crate::serverless::front::answer;
use crate::serverless::options::Options;
use crate::serverless::pool::Pool;

/// A connection that says nothing for so long is closed.
const SILENT: Duration = Duration::from_secs(60);
/// So long connections are accepted and read after the emulator was told to end.
const LAST_CALL: Duration = Duration::from_millis(100);
/// How often workers are looked after.
const ROUND: Duration = Duration::from_millis(100);

/// What the emulator tells while it lives.
#[derive(Debug, Clone, PartialEq)]
pub enum EmulatorEvent {
    Listening {
        address: SocketAddr,
    },
    /// How limits are enforced here, if that is weaker than requested.
    Warning(String),
    /// A worker answered its first ping.
    Ready {
        worker: u32,
        setup: Duration,
    },
    Ended {
        worker: u32,
        why: String,
    },
    Draining,
}

/// What all connections share.
pub(crate) struct Emulator {
    pub(crate) options: Options,
    pub(crate) pool: Pool,
    pub(crate) ledger: Ledger,
    /// Bytes of bodies that are being received or answered.
    pub(crate) held_bytes: AtomicUsize,
    connections: AtomicUsize,
    guard: Guard,
    warned: Mutex<Vec<Warning>>,
    tell: Box<dyn Fn(EmulatorEvent) + Send + Sync>,
}

/// Until SIGTERM or SIGINT, then until what was begun is done and all workers have ended. A
/// second signal ends them at once.
pub fn emulate(
    options: Options,
    tell: impl Fn(EmulatorEvent) + Send + Sync + 'static,
) -> io::Result<Bill> {
    emulate_until(told_to_end, options, tell)
}

/// As [`emulate`], until `end` is; a second `end` takes the place of the second signal.
pub fn emulate_until(
    end: impl AsyncFnMut() -> io::Result<()>,
    options: Options,
    tell: impl Fn(EmulatorEvent) + Send + Sync + 'static,
) -> io::Result<Bill> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    let emulator = Arc::new(Emulator {
        options,
        pool: Pool::default(),
        ledger: Ledger::default(),
        held_bytes: AtomicUsize::new(0),
        connections: AtomicUsize::new(0),
        guard: Guard::start(None, &[]),
        warned: Mutex::default(),
        tell: Box::new(tell),
    });
    runtime.block_on(emulator.live(end))?;
    Ok(emulator.ledger.bill(&emulator.options))
}

impl Emulator {
    pub(crate) fn tell(&self, told: EmulatorEvent) {
        (self.tell)(told);
    }

    /// After a worker came or went.
    pub(crate) fn guard(&self) {
        self.guard.watch(&self.pool.marks());
    }

    /// Once each, although every worker has the same limits.
    pub(crate) fn warn(&self, warnings: &[Warning]) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        for warning in warnings {
            if !warned.contains(warning) {
                warned.push(warning.clone());
                self.tell(EmulatorEvent::Warning(warning.to_string()));
            }
        }
    }

    async fn live(
        self: &Arc<Self>,
        mut end: impl AsyncFnMut() -> io::Result<()>,
    ) -> io::Result<()> {
        let listener = listen(self.options.address)?;
        let address = listener.local_addr()?;
        let graceful = GracefulShutdown::new();
        self.tell(EmulatorEvent::Listening { address });
        {
            let mut working = pin!(self.work(&listener, &graceful));
            tokio::select! {
                () = &mut working => {}
                ended = end() => ended?,
            }
            self.tell(EmulatorEvent::Draining);
            // Requests may be on their way in: sent, and not yet read or not even accepted.
            let _ = tokio::time::timeout(LAST_CALL, working).await;
        }
        drop(listener);
        let is_hurried = tokio::select! {
            () = graceful.shutdown() => false,
            () = tokio::time::sleep(self.options.drain) => false,
            _ = end() => true,
        };
        let grace = match is_hurried {
            true => Duration::ZERO,
            false => self.options.grace,
        };
        self.end_all(grace).await;
        Ok(())
    }

    /// Accepts connections and looks after the workers, without end.
    async fn work(self: &Arc<Self>, listener: &TcpListener, graceful: &GracefulShutdown) {
        let mut rounds = tokio::time::interval(ROUND);
        rounds.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => self.connect(stream, graceful),
                    // Out of files, or a client that went away at once: neither ends it.
                    Err(_) => tokio::time::sleep(OUT_OF_FILES_PAUSE).await,
                },
                _ = rounds.tick() => self.tidy(),
            }
        }
    }

    /// Ends workers whose time is over.
    pub(crate) fn tidy(self: &Arc<Self>) {
        for leaving in self.pool.leave(self.options.idle) {
            let emulator = Arc::clone(self);
            let seconds = self.options.idle.as_secs_f64();
            let why = match &leaving.process {
                Some(process) if process.has_ended() => "ended by itself".to_owned(),
                _ => format!("no request for {seconds} s"),
            };
            tokio::spawn(async move {
                let grace = emulator.options.grace;
                emulator.retire(leaving, grace, &why).await;
            });
        }
    }

    async fn end_all(self: &Arc<Self>, grace: Duration) {
        let mut endings = Vec::new();
        for leaving in self
            .pool
            .numbers()
            .into_iter()
            .filter_map(|number| self.pool.ending(number))
        {
            let emulator = Arc::clone(self);
            endings.push(tokio::spawn(async move {
                emulator.retire(leaving, grace, "the emulator ended").await;
            }));
        }
        for ending in endings {
            let _ = ending.await;
        }
        // Those that were on their way out before.
        while !self.pool.numbers().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    fn connect(self: &Arc<Self>, stream: TcpStream, graceful: &GracefulShutdown) {
        // Answers are whole: waiting for more to send would cost 40 ms.
        let _ = stream.set_nodelay(true);
        if self.connections.fetch_add(1, Ordering::Relaxed) >= self.options.connections {
            self.connections.fetch_sub(1, Ordering::Relaxed);
            turn_away(&stream);
            return;
        }
        let server = connections(SILENT);
        let emulator = Arc::clone(self);
        let service = service_fn(move |request| answer(Arc::clone(&emulator), request));
        let connection = graceful.watch(server.serve_connection(TokioIo::new(stream), service));
        let emulator = Arc::clone(self);
        tokio::spawn(async move {
            // A client that was interrupted is its own affair.
            let _ = connection.await;
            emulator.connections.fetch_sub(1, Ordering::Relaxed);
        });
    }
}
