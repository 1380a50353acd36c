//! The load client of a serving run: waits for the server, sends the requests of the job, and
//! reports its measurements as events, like every workload.
//!
//! It is a separate process, outside the limits and samples of the server. Three kinds of servers:
//! one on this machine that is started together with the client, one that is already running
//! elsewhere, and an endpoint at a provider that the client creates and deletes.
//!
//! Read in this order: [`run`], then `wait` (a server's first ping), `shape` (the requested load),
//! `send` (runs a load), `seen` (its results), then `endpoint` with `signed` (its requests) and
//! `figures` (the provider's metrics).

mod endpoint;
mod error;
mod figures;
mod get;
mod seen;
mod send;
mod shape;
mod signed;
mod wait;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::clock::unix_seconds;
use crate::{Header, Load, Options, Outcome, Request, Series};
use model::event::EventKind;
use model::job::LoadTarget;
use model::run::{metric, phase};
use model::serving::UrlService;
use model::{LoadClientJob, LoadShape, Service};

pub use error::ClientError;

/// What one client is given.
pub struct Context<'a> {
    /// When the local server was started, in seconds since 1970; `None` without a local server.
    pub server_started_unix_seconds: Option<f64>,
    /// Set by whoever wants it to end early.
    pub stop: &'a AtomicBool,
    /// Certificates in PEM form that https trusts beside the well-known authorities.
    pub roots_pem: String,
    /// An event, and when it happened where that is not now.
    pub emit: &'a mut dyn FnMut(EventKind, Option<f64>),
}

/// Carries out the job. An error is a sentence on why the run has no result.
pub fn run(job: &LoadClientJob, mut context: Context<'_>) -> Result<(), ClientError> {
    let bodies = read_bodies(&job.bodies)?;
    match &job.target {
        LoadTarget::Server {
            address,
            start_timeout_seconds,
        } => {
            let mut client = LoadClient::new(job, &mut context);
            client.wait(address, *start_timeout_seconds)?;
            let target = format!("{address}/invocations").parse();
            let request = Request::post(
                target.map_err(ClientError::failed)?,
                &job.content_type,
                bodies,
            );
            client.load(&request)?;
            let bill = client.bill();
            client.conclude(bill.as_ref())
        }
        LoadTarget::Service {
            service: Service::Url(url),
            ..
        } => {
            let mut client = LoadClient::new(job, &mut context);
            client.is_elsewhere = true;
            client.load(&url_request(url, job, bodies)?)?;
            client.conclude(None)
        }
        LoadTarget::Service { service, name } => {
            endpoint::run(job, service, name, bodies, &mut context)
        }
    }
}

fn read_bodies(paths: &[PathBuf]) -> Result<Vec<Vec<u8>>, ClientError> {
    let read = |path: &PathBuf| fs::read(path).map_err(ClientError::file(path));
    match paths.is_empty() {
        true => Err(ClientError::incomplete("body")),
        false => paths.iter().map(read).collect(),
    }
}

/// `{NAME}` in a header stands for a variable, so that no secret stands in a study.
fn url_request(
    service: &UrlService,
    job: &LoadClientJob,
    bodies: Vec<Vec<u8>>,
) -> Result<Request, ClientError> {
    let target = service.url.parse().map_err(ClientError::failed)?;
    let mut request = Request::post(target, &job.content_type, bodies);
    for (name, value) in &service.headers {
        request.headers.push(Header::new(name, filled(value)?));
    }
    Ok(request)
}

fn filled(value: &str) -> Result<String, ClientError> {
    let mut filled = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else {
            break;
        };
        filled.push_str(before);
        let variable = std::env::var(name).map_err(|_| {
            ClientError::failed(format!(
                "a header uses the environment variable {name}, which is not set"
            ))
        })?;
        filled.push_str(&variable);
        rest = after;
    }
    Ok(filled + rest)
}

/// One client at work.
pub(crate) struct LoadClient<'j, 's, 'w> {
    job: &'j LoadClientJob,
    context: &'s mut Context<'w>,
    outcome: Outcome,
    /// A server that may be the emulator, and tell what it bills.
    emulator: Option<String>,
    billed_before_ms: f64,
    /// Requests before those that count, at an endpoint.
    sent_before: u64,
    is_elsewhere: bool,
    /// What answers, in words, where that is no server of this machine.
    service: Option<String>,
}

impl<'j, 's, 'w> LoadClient<'j, 's, 'w> {
    pub(crate) fn new(job: &'j LoadClientJob, context: &'s mut Context<'w>) -> Self {
        LoadClient {
            job,
            context,
            outcome: Outcome::default(),
            emulator: None,
            billed_before_ms: 0.0,
            sent_before: 0,
            is_elsewhere: false,
            service: None,
        }
    }

    fn bill(&self) -> Option<serde_json::Value> {
        get::json(self.emulator.as_deref()?, "/bancada/bill")
    }

    fn billed_ms(&self) -> f64 {
        self.bill().as_ref().and_then(billed_ms).unwrap_or(0.0)
    }

    pub(crate) fn phase(&mut self, name: &str, at: Option<f64>) {
        let phase = name.to_owned();
        (self.context.emit)(EventKind::Phase { phase }, at);
    }

    pub(crate) fn metric(&mut self, name: &str, value: f64, unit: &str) {
        let (name, unit) = (name.to_owned(), unit.to_owned());
        (self.context.emit)(EventKind::Metric { name, value, unit }, None);
    }

    fn wait(&mut self, address: &str, timeout_seconds: f64) -> Result<(), ClientError> {
        let started = self
            .context
            .server_started_unix_seconds
            .unwrap_or_else(unix_seconds);
        self.phase(phase::SETUP, Some(started));
        let pings = wait::for_ping(address, timeout_seconds, self.context.stop)?;
        self.emulator = Some(address.to_owned());
        // The emulator is healthy without a worker; what it takes to start one, answers tell.
        if self.bill().is_some() {
            return Ok(());
        }
        let first = pings.first_unix_seconds - started;
        self.metric(metric::FIRST_PING_SECONDS, first, "s");
        let setup = pings.healthy_unix_seconds - started;
        self.metric(metric::SETUP_SECONDS, setup, "s");
        Ok(())
    }

    /// The first answer apart where the load does not count it, then the load.
    fn load(&mut self, request: &Request) -> Result<(), ClientError> {
        let shape = self.job.load.shape;
        let counts_first = matches!(shape, LoadShape::Cold | LoadShape::RealTime);
        if !counts_first {
            self.phase(phase::COLD, None);
            let first = answered(self.run(request, &Load::Series(FIRST))?)?;
            self.report_first_answer(&first);
            if let Some(seconds) = first.setup.mean_seconds() {
                self.metric(metric::SETUP_SECONDS, seconds, "s");
            }
            self.billed_before_ms = self.billed_ms();
        }
        let name = match shape {
            LoadShape::Cold => phase::COLD,
            _ => phase::WARM,
        };
        self.phase(name, None);
        if shape == LoadShape::Search {
            return self.search(request);
        }
        let load = shape::load(&self.job.load)?;
        if let (Load::Series(series), false) = (&load, counts_first) {
            // The pause after the request that was not counted.
            wait::pause(series.pause, self.context.stop);
        }
        self.outcome = self.run(request, &load)?;
        if counts_first {
            let outcome = self.outcome.clone();
            self.report_first_answer(&outcome);
        }
        Ok(())
    }

    pub(crate) fn run(&self, request: &Request, load: &Load) -> Result<Outcome, ClientError> {
        self.run_until(request, load, None)
    }

    /// After a moment, nothing more is sent.
    pub(crate) fn run_until(
        &self,
        request: &Request,
        load: &Load,
        until: Option<Instant>,
    ) -> Result<Outcome, ClientError> {
        let sending = send::Sending {
            request: request.clone(),
            load: load.clone(),
            options: self.options(),
        };
        sending.carry_out(until, self.context.stop)
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            timeout: shape::duration(self.job.load.timeout_seconds),
            roots_pem: self.context.roots_pem.clone(),
            ..Options::default()
        }
    }

    fn search(&mut self, request: &Request) -> Result<(), ClientError> {
        let found = shape::search(&self.job.load, request, &self.options())?;
        let held = found.holds_per_second;
        self.metric(metric::HIGHEST_RATE, held.unwrap_or(0.0), "1/s");
        let rate = held.ok_or_else(|| {
            ClientError::failed(
                "even the lowest rate exceeds the requested latency: allow a higher one",
            )
        })?;
        // What the search itself cost is no answer's.
        self.billed_before_ms = self.billed_ms();
        // Once more at that rate, so that all the other figures are of it.
        let load = shape::at_rate(&self.job.load, rate);
        self.outcome = self.run(request, &load)?;
        Ok(())
    }

    fn report_first_answer(&mut self, outcome: &Outcome) {
        let answered = outcome.singles.iter().find(|single| single.end.is_ok());
        if let (Some(single), Some(started)) = (answered, self.context.server_started_unix_seconds)
        {
            let at = outcome.began_unix_seconds + single.started_seconds + single.latency_seconds;
            self.metric(metric::FIRST_ANSWER_SECONDS, at - started, "s");
        }
    }

    /// Everything that was seen, told and written, and the end.
    fn conclude(mut self, bill: Option<&serde_json::Value>) -> Result<(), ClientError> {
        self.report_outcome(bill)?;
        self.phase(phase::SHUTDOWN, None);
        Ok(())
    }

    pub(crate) fn report_outcome(
        &mut self,
        bill: Option<&serde_json::Value>,
    ) -> Result<(), ClientError> {
        let outcome = std::mem::take(&mut self.outcome);
        if outcome.counts.ok == 0 {
            let why = outcome.first_failure.clone().unwrap_or_default();
            let requests = outcome.counts.total();
            return Err(ClientError::failed(format!(
                "all {requests} requests failed: {why}"
            )));
        }
        for seen in seen::metrics(&outcome, self.job.load.shape) {
            self.metric(seen.name, seen.value, seen.unit);
        }
        if let Some(milliseconds) = bill.and_then(billed_ms) {
            self.metric(metric::BILLED_SECONDS, milliseconds / 1e3, "s");
            let answered = outcome.counts.ok + outcome.uncounted.ok;
            let each = (milliseconds - self.billed_before_ms) / 1e3 / answered as f64;
            self.metric(metric::BILLED_SECONDS_PER_REQUEST, each, "s");
        }
        let mut record = seen::record(&outcome, bill);
        record.is_elsewhere = self.is_elsewhere;
        record.service = record.service.or_else(|| self.service.clone());
        write_json(&self.job.record, &record)?;
        write_json(&self.job.outcome, &outcome)?;
        if !outcome.singles.is_empty() {
            write(&self.job.requests, seen::csv(&outcome).as_bytes())?;
        }
        Ok(())
    }
}

/// The first request of a load must be answered: who does not answer one is not loaded.
pub(crate) fn answered(first: Outcome) -> Result<Outcome, ClientError> {
    match first.counts.failed() > 0 {
        true => Err(ClientError::NoAnswer(
            first.first_failure.unwrap_or_default(),
        )),
        false => Ok(first),
    }
}

fn billed_ms(bill: &serde_json::Value) -> Option<f64> {
    bill.get("billed_ms")?.as_f64()
}

const FIRST: Series = Series {
    count: 1,
    uncounted: 0,
    pause: std::time::Duration::ZERO,
};

pub(crate) fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), ClientError> {
    let bytes = serde_json::to_vec(value).map_err(|error| ClientError::file(path)(error.into()))?;
    write(path, &bytes)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ClientError> {
    fs::write(path, bytes).map_err(ClientError::file(path))
}
