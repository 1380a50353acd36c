//! A worker from its start to its first healthy ping.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::study::Limits;

use crate::serverless::container::Container;
use crate::serverless::emulator::{Emulator, EmulatorEvent};
use crate::serverless::end::with_last_words;
use crate::serverless::options::Stack;
use crate::serverless::pool::Worker;
use crate::serverless::process::{Plan, Process, Started};
use crate::serverless::refusal::Refusal;

/// A ping must be answered within this (container contract).
const PING: Duration = Duration::from_secs(2);
/// Pings come so often: at once at first, then as a share of the time that has passed.
const PING_SHARE: u32 = 50;
const PING_SOONEST: Duration = Duration::from_millis(1);
const PING_LATEST: Duration = Duration::from_millis(20);

/// A worker that has just answered its first ping.
pub(crate) struct Ready {
    pub(crate) worker: Worker,
    pub(crate) setup: Duration,
}

impl Emulator {
    pub(crate) async fn start(
        self: &Arc<Self>,
        number: u32,
        begun: Instant,
    ) -> Result<Ready, Refusal> {
        let mut worker = match self.begin(number) {
            Ok(worker) => worker,
            Err(sentence) => {
                self.pool.ended(number, &sentence);
                return Err(Refusal::failed(500, sentence));
            }
        };
        self.pool.started(&worker);
        self.guard();
        match self.first_ping(&mut worker, begun).await {
            Ok(()) => {
                let setup = begun.elapsed();
                self.ledger.started(setup);
                self.pool.ready(number, setup);
                self.tell(EmulatorEvent::Ready {
                    worker: number,
                    setup,
                });
                Ok(Ready { worker, setup })
            }
            Err(NotHealthy::Ended) => Err(self
                .lost(number, &worker.process, 500, "before it was healthy")
                .await),
            Err(NotHealthy::Late) => Err(self.late(number, &worker.process).await),
        }
    }

    /// One that may yet become healthy.
    fn begin(&self, number: u32) -> Result<Worker, String> {
        let port = free_port(&self.pool.ports());
        let port = port.map_err(|problem| format!("no port is free: {problem}"))?;
        let Started { process, warnings } = Process::start(self.plan(number, port))?;
        self.warn(&warnings);
        Ok(Worker {
            number,
            port,
            process: Arc::new(process),
            line: None,
        })
    }

    fn plan(&self, number: u32, port: u16) -> Plan {
        let name = format!("serverless-{number}");
        match &self.options.stack {
            Stack::Command(command) => Plan {
                name,
                command: command.clone(),
                remove: None,
                port,
                limits: self.options.size.limits(),
            },
            Stack::Container {
                engine,
                image,
                arguments,
            } => {
                let name = format!("bancada-{}-{name}", std::process::id());
                let container = Container {
                    name: &name,
                    image,
                    arguments,
                    port,
                    size: self.options.size,
                };
                Plan {
                    command: engine.run(&container),
                    remove: Some(engine.remove(&name)),
                    name,
                    port,
                    // The engine's own.
                    limits: Limits::default(),
                }
            }
        }
    }

    async fn first_ping(&self, worker: &mut Worker, begun: Instant) -> Result<(), NotHealthy> {
        loop {
            if worker.process.has_ended() {
                return Err(NotHealthy::Ended);
            }
            let passed = begun.elapsed();
            if passed > self.options.start_timeout {
                return Err(NotHealthy::Late);
            }
            if let Ok(Ok(true)) = tokio::time::timeout(PING, worker.is_healthy()).await {
                return Ok(());
            }
            let pause = (passed / PING_SHARE).clamp(PING_SOONEST, PING_LATEST);
            tokio::time::sleep(pause).await;
        }
    }

    async fn late(self: &Arc<Self>, number: u32, process: &Process) -> Refusal {
        let seconds = self.options.start_timeout.as_secs_f64();
        let why = format!("the worker was not healthy within {seconds} s");
        self.end_now(number, &why).await;
        let message = with_last_words(&why, &process.log.last_words().await);
        Refusal::timed_out(503, message)
    }
}

enum NotHealthy {
    Ended,
    Late,
}

/// Nobody holds it until the worker comes to take it: it must not be promised twice.
fn free_port(promised: &[u16]) -> io::Result<u16> {
    loop {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        if !promised.contains(&port) {
            return Ok(port);
        }
    }
}
