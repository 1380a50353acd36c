//! The workers there are: which one a request gets, and which ones must go.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Request, Response, StatusCode};
use serde::Serialize;

use crate::serverless::bill::milliseconds;
use crate::serverless::line::{Broken, Line};
use crate::serverless::process::Process;

/// More than a ping has to say.
const PING_BYTES: usize = 64 << 10;
/// Workers that have ended and are still told of.
const REMEMBERED: usize = 100;

#[derive(Debug, Default)]
pub(crate) struct Pool {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    last_number: u32,
    workers: BTreeMap<u32, Entry>,
    ended: VecDeque<Seen>,
}

#[derive(Debug)]
struct Entry {
    process: Option<Arc<Process>>,
    port: u16,
    setup: Option<Duration>,
    requests: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    Starting,
    Busy,
    Free { since: Instant, line: Option<Line> },
    Ending,
}

/// A worker that a request has for itself.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) number: u32,
    pub(crate) port: u16,
    pub(crate) process: Arc<Process>,
    pub(crate) line: Option<Line>,
}

impl Worker {
    /// What the worker answers, of at most so many bytes. Its connection is kept after a whole answer.
    pub(crate) async fn ask(
        &mut self,
        request: Request<Full<Bytes>>,
        most_bytes: usize,
    ) -> Result<Response<Bytes>, Broken> {
        let mut line = match self.line.take().filter(Line::is_usable) {
            Some(line) => line,
            None => Line::open(self.port).await?,
        };
        let answer = line.ask(request, most_bytes).await?;
        self.line = Some(line);
        Ok(answer)
    }

    pub(crate) async fn is_healthy(&mut self) -> Result<bool, Broken> {
        let mut request = Request::new(Full::default());
        *request.uri_mut() = hyper::Uri::from_static("/ping");
        let answer = self.ask(request, PING_BYTES).await?;
        Ok(answer.status() == StatusCode::OK)
    }
}

/// One that is on its way out.
#[derive(Debug)]
pub(crate) struct Leaving {
    pub(crate) number: u32,
    /// None of one that could not be started.
    pub(crate) process: Option<Arc<Process>>,
}

/// What a request gets.
#[derive(Debug)]
pub(crate) enum Assignment {
    Warm(Worker),
    /// None is free, but one more may be started: under this number.
    Cold(u32),
    /// Neither.
    None,
}

/// A worker as `GET /bancada/workers` tells of it. The names are stable.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Seen {
    pub(crate) worker: u32,
    /// `starting`, `busy`, `free`, `ending`, `ended`.
    pub(crate) state: &'static str,
    pub(crate) pid: Option<i32>,
    pub(crate) port: u16,
    pub(crate) setup_ms: Option<f64>,
    pub(crate) requests: u64,
    pub(crate) peak_memory_bytes: Option<u64>,
    /// `cgroup v2`, `cgroup v1`, `affinity`, `none`.
    pub(crate) limits_by: Option<&'static str>,
    /// Of one that has ended: why.
    pub(crate) why: Option<String>,
}

impl Pool {
    /// The free one that answered last, so that others may reach their idle time.
    pub(crate) fn take(&self, concurrency: usize) -> Assignment {
        let mut inner = self.lock();
        let free = inner.workers.iter().filter_map(|(number, entry)| {
            let lives = entry.process.as_ref().is_some_and(|p| !p.has_ended());
            match entry.state {
                State::Free { since, .. } if lives => Some((since, *number)),
                _ => None,
            }
        });
        if let Some((_, number)) = free.max()
            && let Some(worker) = inner.occupy(number)
        {
            return Assignment::Warm(worker);
        }
        if inner.counted() >= concurrency {
            return Assignment::None;
        }
        inner.last_number += 1;
        let number = inner.last_number;
        let entry = Entry {
            process: None,
            port: 0,
            setup: None,
            requests: 0,
            state: State::Starting,
        };
        inner.workers.insert(number, entry);
        Assignment::Cold(number)
    }

    pub(crate) fn started(&self, worker: &Worker) {
        if let Some(entry) = self.lock().workers.get_mut(&worker.number) {
            entry.process = Some(Arc::clone(&worker.process));
            entry.port = worker.port;
        }
    }

    pub(crate) fn ready(&self, number: u32, setup: Duration) {
        if let Some(entry) = self.lock().workers.get_mut(&number) {
            entry.setup = Some(setup);
            if matches!(entry.state, State::Starting) {
                entry.state = State::Busy;
            }
        }
    }

    /// After its answer.
    pub(crate) fn give_back(&self, worker: Worker) {
        if let Some(entry) = self.lock().workers.get_mut(&worker.number) {
            entry.requests += 1;
            // One that is ending stays so.
            if matches!(entry.state, State::Busy) {
                entry.state = State::Free {
                    since: Instant::now(),
                    line: worker.line,
                };
            }
        }
    }

    /// Free workers that must go: idle for so long, or ended by themselves.
    pub(crate) fn leave(&self, idle: Duration) -> Vec<Leaving> {
        let mut leaving = Vec::new();
        for (number, entry) in &mut self.lock().workers {
            let State::Free { since, .. } = entry.state else {
                continue;
            };
            let has_ended = entry.process.as_ref().is_none_or(|p| p.has_ended());
            if since.elapsed() >= idle || has_ended {
                leaving.extend(entry.leave(*number));
            }
        }
        leaving
    }

    /// For the first who asks; somebody else is ending it then.
    pub(crate) fn ending(&self, number: u32) -> Option<Leaving> {
        self.lock().workers.get_mut(&number)?.leave(number)
    }

    /// It is gone; only told of from now on.
    pub(crate) fn ended(&self, number: u32, why: &str) {
        let mut inner = self.lock();
        if let Some(entry) = inner.workers.remove(&number) {
            let seen = Seen {
                state: "ended",
                why: Some(why.to_owned()),
                ..entry.seen(number)
            };
            inner.ended.push_back(seen);
            let surplus = inner.ended.len().saturating_sub(REMEMBERED);
            inner.ended.drain(..surplus);
        }
    }

    pub(crate) fn ports(&self) -> Vec<u16> {
        self.lock().workers.values().map(|e| e.port).collect()
    }

    /// What a guard has to know of the living.
    pub(crate) fn marks(&self) -> Vec<String> {
        let inner = self.lock();
        let processes = inner.workers.values().filter_map(|e| e.process.as_ref());
        processes.flat_map(|process| process.marks()).collect()
    }

    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.lock().workers.keys().copied().collect()
    }

    /// The ended ones first, in the order of their ends.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        let inner = self.lock();
        let living = inner.workers.iter().map(|(number, e)| e.seen(*number));
        inner.ended.iter().cloned().chain(living).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn occupy(&mut self, number: u32) -> Option<Worker> {
        let entry = self.workers.get_mut(&number)?;
        let process = Arc::clone(entry.process.as_ref()?);
        let line = match std::mem::replace(&mut entry.state, State::Busy) {
            State::Free { line, .. } => line,
            _ => None,
        };
        Some(Worker {
            number,
            port: entry.port,
            process,
            line,
        })
    }

    /// Those that take a place: not the ones that are on their way out, nor those that ended by
    /// themselves.
    fn counted(&self) -> usize {
        let counts = |entry: &&Entry| match entry.state {
            State::Starting | State::Busy => true,
            State::Free { .. } => entry.process.as_ref().is_some_and(|p| !p.has_ended()),
            State::Ending => false,
        };
        self.workers.values().filter(counts).count()
    }
}

impl Entry {
    fn leave(&mut self, number: u32) -> Option<Leaving> {
        let before = std::mem::replace(&mut self.state, State::Ending);
        let process = self.process.clone();
        (!matches!(before, State::Ending)).then_some(Leaving { number, process })
    }

    fn seen(&self, worker: u32) -> Seen {
        let process = self.process.as_ref();
        Seen {
            worker,
            state: match self.state {
                State::Starting => "starting",
                State::Busy => "busy",
                State::Free { .. } => "free",
                State::Ending => "ending",
            },
            pid: process.map(|process| process.pid.as_raw_pid()),
            port: self.port,
            setup_ms: self.setup.map(milliseconds),
            requests: self.requests,
            peak_memory_bytes: process.and_then(|process| process.peak_bytes()),
            limits_by: process.map(|process| process.limits_by),
            why: None,
        }
    }
}
