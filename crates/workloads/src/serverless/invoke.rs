//! One request from its worker to its answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::Response;
use hyper::body::Bytes;
use hyper::header::HeaderValue;

use crate::serverless::bill::milliseconds;
use crate::serverless::call::{Call, Reply, passed_on, refused};
use crate::serverless::emulator::Emulator;
use crate::serverless::line::Broken;
use crate::serverless::pool::{Assignment, Worker};
use crate::serverless::process::Process;
use crate::serverless::refusal::Refusal;

/// The connections of a process are closed a moment before its end can be seen.
const DYING: Duration = Duration::from_millis(500);
const LOOK_EVERY: Duration = Duration::from_millis(1);

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
            Assignment::Warm(worker) => self.ask(worker, call, None).await,
            Assignment::None => {
                self.ledger.throttled();
                refused(&Refusal::throttled(concurrency))
            }
            Assignment::Cold(worker) => {
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
        self.ledger.handled(billed_ms, false);
        let used = Used {
            worker,
            setup: Some(setup),
            billed_ms,
        };
        used.told_on(refused(refusal))
    }

    async fn ask(
        self: &Arc<Self>,
        mut worker: Worker,
        call: Call,
        setup: Option<Duration>,
    ) -> Reply {
        let number = worker.number;
        let begun = Instant::now();
        let asked = worker.ask(call.request(), self.options.body_bytes);
        let answer = tokio::time::timeout(self.options.timeout, asked).await;
        let terms = &self.options.terms;
        let billed_ms = terms.billed_ms(begun.elapsed(), setup.unwrap_or_default());
        let answer = match answer {
            Ok(answer) => self.judge(worker, answer).await,
            Err(_) => {
                let seconds = self.options.timeout.as_secs_f64();
                let why = format!("the worker did not respond within {seconds} s and was ended");
                self.end_now(number, &why).await;
                Err(Refusal::timed_out(504, why))
            }
        };
        let is_answered = answer
            .as_ref()
            .is_ok_and(|reply| !reply.status().is_server_error());
        self.ledger.handled(billed_ms, is_answered);
        let used = Used {
            worker: number,
            setup,
            billed_ms,
        };
        used.told_on(answer.unwrap_or_else(|refusal| refused(&refusal)))
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
                let message = format!("the worker's response has more than {most} bytes");
                Err(Refusal::failed(502, message))
            }
            Err(Broken::Off(problem)) => {
                if ends_soon(&worker.process).await {
                    let when = "during the request";
                    return Err(self.lost(worker.number, &worker.process, 502, when).await);
                }
                if worker.process.is_out_of_memory() {
                    return Err(self.full(worker.number).await);
                }
                self.release(worker);
                let message = format!("the worker closed the connection: {problem}");
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
}

async fn ends_soon(process: &Process) -> bool {
    let patience = Instant::now() + DYING;
    while !process.has_ended() && Instant::now() < patience {
        tokio::time::sleep(LOOK_EVERY).await;
    }
    process.has_ended()
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
