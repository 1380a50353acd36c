//! One request from its worker to its answer.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::Response;
use hyper::body::Bytes;
use hyper::header::HeaderValue;
use model::study::Limits;

use crate::bill::milliseconds;
use crate::call::{Call, Reply, passed_on, refused};
use crate::container::Container;
use crate::emulator::{Emulator, Told};
use crate::line::{Broken, Line};
use crate::options::Stack;
use crate::pool::{Leaving, Place, Worker};
use crate::process::{Plan, Process, Started};
use crate::refusal::Refusal;

/// A ping must be answered within this (container contract).
const PING: Duration = Duration::from_secs(2);
/// Pings come so often: at once at first, then as a share of the time that has passed.
const PING_SHARE: u32 = 50;
const PING_SOONEST: Duration = Duration::from_millis(1);
const PING_LATEST: Duration = Duration::from_millis(20);
/// The connections of a process are closed a moment before its end can be seen.
const DYING: Duration = Duration::from_millis(500);

/// A worker that has just answered its first ping.
struct Ready {
    worker: Worker,
    setup: Duration,
}

/// What the headers of an answer tell.
#[derive(Debug, Clone, Copy)]
struct Used {
    worker: u32,
    /// Of a cold start.
    setup: Option<Duration>,
    billed_ms: u64,
}

impl Emulator {
    /// Goes on to its end when the client is gone: the services bill that, too.
    pub(crate) async fn invoke(self: Arc<Self>, call: Call) -> Reply {
        let concurrency = self.options.concurrency;
        match self.pool.take(concurrency) {
            Place::Warm(worker) => self.ask(worker, call, None).await,
            Place::None => {
                self.ledger.throttled();
                refused(&Refusal::throttled(concurrency))
            }
            Place::Cold(worker) => {
                let begun = Instant::now();
                match self.start(worker, begun).await {
                    Ok(ready) => self.ask(ready.worker, call, Some(ready.setup)).await,
                    Err(refusal) => self.not_started(worker, begun.elapsed(), &refusal),
                }
            }
        }
    }

    fn not_started(&self, worker: u32, setup: Duration, refusal: &Refusal) -> Reply {
        let billed_ms = self.options.terms.billed_ms(Duration::ZERO, setup);
        self.ledger.started(setup);
        self.ledger.handled(billed_ms, false);
        let used = Used {
            worker,
            setup: Some(setup),
            billed_ms,
        };
        used.told_on(refused(refusal))
    }

    async fn start(self: &Arc<Self>, number: u32, begun: Instant) -> Result<Ready, Refusal> {
        let port = free_port().map_err(|problem| format!("no port is free: {problem}"));
        let started = port.and_then(|port| {
            let Started { process, warnings } = Process::start(self.plan(number, port))?;
            self.warn(&warnings);
            Ok((port, Arc::new(process)))
        });
        let (port, process) = match started {
            Ok(started) => started,
            Err(sentence) => {
                self.pool.ended(number, &sentence);
                return Err(Refusal::failed(500, sentence));
            }
        };
        self.pool.started(number, &process, port);
        self.guard();
        match self.first_ping(&process, port, begun).await {
            Ok(line) => {
                let setup = begun.elapsed();
                self.ledger.started(setup);
                self.pool.ready(number, setup);
                self.tell(Told::Ready {
                    worker: number,
                    setup,
                });
                let line = Some(line);
                let worker = Worker {
                    number,
                    port,
                    process,
                    line,
                };
                Ok(Ready { worker, setup })
            }
            Err(NotHealthy::Ended) => Err(self
                .lost(number, &process, 500, "before it was healthy")
                .await),
            Err(NotHealthy::Late) => Err(self.late(number, &process).await),
        }
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

    async fn first_ping(
        &self,
        process: &Process,
        port: u16,
        begun: Instant,
    ) -> Result<Line, NotHealthy> {
        let mut kept = None;
        loop {
            if process.has_ended() {
                return Err(NotHealthy::Ended);
            }
            let passed = begun.elapsed();
            if passed > self.options.start_timeout {
                return Err(NotHealthy::Late);
            }
            if let Ok(Ok(healthy)) = tokio::time::timeout(PING, ping(kept.take(), port)).await {
                match healthy {
                    Pinged::Healthy(line) => return Ok(line),
                    Pinged::NotYet(line) => kept = Some(line),
                }
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

    async fn ask(
        self: &Arc<Self>,
        mut worker: Worker,
        call: Call,
        setup: Option<Duration>,
    ) -> Reply {
        let number = worker.number;
        let begun = Instant::now();
        let answer = tokio::time::timeout(self.options.timeout, self.forward(&mut worker, call));
        let answer = answer.await;
        let terms = &self.options.terms;
        let billed_ms = terms.billed_ms(begun.elapsed(), setup.unwrap_or_default());
        let answer = match answer {
            Ok(answer) => self.judge(worker, answer).await,
            Err(_) => {
                let seconds = self.options.timeout.as_secs_f64();
                let why = format!("the worker did not answer within {seconds} s and was ended");
                self.end_now(number, &why).await;
                Err(Refusal::timed_out(504, why))
            }
        };
        self.ledger.handled(billed_ms, answer.is_ok());
        let used = Used {
            worker: number,
            setup,
            billed_ms,
        };
        used.told_on(answer.unwrap_or_else(|refusal| refused(&refusal)))
    }

    async fn forward(&self, worker: &mut Worker, call: Call) -> Result<Response<Bytes>, Broken> {
        let mut line = match worker.line.take().filter(Line::is_usable) {
            Some(line) => line,
            None => Line::open(worker.port).await?,
        };
        let answer = line.ask(call.request(), self.options.body_bytes).await?;
        worker.line = Some(line);
        Ok(answer)
    }

    /// What an answer, or its lack, says of the worker: whether it goes on.
    async fn judge(
        self: &Arc<Self>,
        worker: Worker,
        answer: Result<Response<Bytes>, Broken>,
    ) -> Result<Reply, Refusal> {
        match answer {
            Ok(answer)
                if answer.status().is_server_error() && worker.process.is_out_of_memory() =>
            {
                // The one that computes was killed; the one that listens said so.
                Err(self.full(worker.number).await)
            }
            Ok(answer) => {
                self.release(worker);
                Ok(passed_on(answer))
            }
            Err(Broken::TooLarge) => {
                self.release(worker);
                let most = self.options.body_bytes;
                let message = format!("the worker's answer has more than {most} bytes");
                Err(Refusal::failed(502, message))
            }
            Err(Broken::Off(problem)) => {
                if ends_soon(&worker.process).await {
                    let when = "in the middle of the request";
                    return Err(self.lost(worker.number, &worker.process, 502, when).await);
                }
                if worker.process.is_out_of_memory() {
                    return Err(self.full(worker.number).await);
                }
                self.release(worker);
                let message = format!("the worker broke off the connection: {problem}");
                Err(Refusal::failed(502, message))
            }
        }
    }

    fn release(self: &Arc<Self>, worker: Worker) {
        self.pool.give_back(worker);
        if self.options.idle.is_zero() {
            self.tidy();
        }
    }

    async fn full(self: &Arc<Self>, number: u32) -> Refusal {
        let refusal = Refusal::out_of_memory(self.options.size.memory_mb);
        self.end_now(number, &refusal.message).await;
        refusal
    }

    /// Buries a worker that has ended by itself, and says why it has.
    async fn lost(
        self: &Arc<Self>,
        number: u32,
        process: &Process,
        status: u16,
        when: &str,
    ) -> Refusal {
        let last_words = process.log.last_words().await;
        let Some(leaving) = self.pool.ending(number) else {
            return Refusal::failed(503, "the emulator is ending");
        };
        bury(&leaving).await;
        let refusal = if process.is_out_of_memory() {
            Refusal::out_of_memory(self.options.size.memory_mb)
        } else {
            let how = process.how_it_ended();
            let why = format!("the worker ended {when} ({how})");
            Refusal::failed(status, with_last_words(&why, &last_words))
        };
        self.gone(number, &refusal.message);
        refusal
    }

    async fn end_now(self: &Arc<Self>, number: u32, why: &str) {
        if let Some(leaving) = self.pool.ending(number) {
            self.retire(leaving, Duration::ZERO, why).await;
        }
    }

    /// Ends a worker, and comes back when nothing of it is left.
    pub(crate) async fn retire(&self, leaving: Leaving, grace: Duration, why: &str) {
        if let Some(process) = &leaving.process {
            process.end(grace).await;
        }
        bury(&leaving).await;
        self.gone(leaving.number, why);
    }

    fn gone(&self, worker: u32, why: &str) {
        self.pool.ended(worker, why);
        self.guard();
        let why = why.to_owned();
        self.tell(Told::Ended { worker, why });
    }
}

enum NotHealthy {
    Ended,
    Late,
}

enum Pinged {
    Healthy(Line),
    NotYet(Line),
}

async fn ping(kept: Option<Line>, port: u16) -> Result<Pinged, Broken> {
    let mut line = match kept.filter(Line::is_usable) {
        Some(line) => line,
        None => Line::open(port).await?,
    };
    let is_healthy = line.is_healthy().await?;
    Ok(if is_healthy {
        Pinged::Healthy(line)
    } else {
        Pinged::NotYet(line)
    })
}

async fn ends_soon(process: &Process) -> bool {
    let patience = Instant::now() + DYING;
    while !process.has_ended() && Instant::now() < patience {
        tokio::time::sleep(PING_SOONEST).await;
    }
    process.has_ended()
}

/// On another thread: the kernel may take its time.
async fn bury(leaving: &Leaving) {
    if let Some(process) = leaving.process.clone() {
        // Only a panic would be told, and there is none.
        let _ = tokio::task::spawn_blocking(move || process.bury()).await;
    }
}

fn with_last_words(why: &str, last_words: &str) -> String {
    match last_words {
        "" => format!("{why}; it said nothing"),
        words => format!("{why}; its last words:\n{words}"),
    }
}

/// Nobody holds it when the worker comes to take it, but nothing else asks for it by number.
fn free_port() -> std::io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

impl Used {
    fn told_on(self, mut reply: Reply) -> Reply {
        let headers = reply.headers_mut();
        headers.insert("x-bancada-worker", self.worker.into());
        headers.insert("x-bancada-cold", u32::from(self.setup.is_some()).into());
        headers.insert("x-bancada-billed-ms", self.billed_ms.into());
        let setup = self
            .setup
            .map(|setup| format!("{:.3}", milliseconds(setup)));
        if let Some(Ok(setup)) = setup.map(|setup| HeaderValue::from_str(&setup)) {
            headers.insert("x-bancada-setup-ms", setup);
        }
        reply
    }
}
