//! The load that a job asks for.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::{Arrivals, Found, Load, LoadWish, Options, Request, Search, Series};
use model::LoadShape;
use model::job::LoadJob;

use super::ClientError;

/// More users than this at once are another study.
const MAX_CONNECTIONS: usize = 1000;

pub(crate) fn load(job: &LoadJob) -> Result<Load, ClientError> {
    let wish = wish(job);
    let series = |own| wish.series(own, job.pause_seconds.map(duration));
    Ok(match job.shape {
        // The first request is asked for and told apart, so that nothing is left uncounted.
        LoadShape::Warm | LoadShape::RealTime => series(Series::real_time()),
        LoadShape::Cold => series(Series::cold()),
        LoadShape::Clients => wish.closed(job.clients as usize),
        LoadShape::Rate | LoadShape::Search => at_rate(job, rate(job)?),
        LoadShape::Poisson => wish.open(Arrivals::Poisson {
            per_second: rate(job)?,
            seed: job.seed,
        }),
        LoadShape::Trace => {
            let path = job
                .trace
                .as_deref()
                .ok_or_else(|| ClientError::incomplete("trace"))?;
            wish.open(Arrivals::Trace(trace(path)?))
        }
    })
}

pub(crate) fn at_rate(job: &LoadJob, per_second: f64) -> Load {
    wish(job).open(Arrivals::Constant { per_second })
}

pub(crate) fn search(
    job: &LoadJob,
    request: &Request,
    options: &Options,
) -> Result<Found, ClientError> {
    let target = job
        .under_seconds
        .ok_or_else(|| ClientError::incomplete("latency"))?;
    let trials = wish(job).trials(None);
    crate::search_server(&Search::p99_under(target), request, &trials, options)
        .map_err(ClientError::failed)
}

pub(crate) fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

fn wish(job: &LoadJob) -> LoadWish {
    LoadWish {
        requests: job.requests,
        counted: duration(job.seconds),
        warm_up: None,
        max_connections: MAX_CONNECTIONS,
    }
}

fn rate(job: &LoadJob) -> Result<f64, ClientError> {
    job.rate.ok_or_else(|| ClientError::incomplete("rate"))
}

fn trace(path: &Path) -> Result<Vec<Duration>, ClientError> {
    let text = fs::read_to_string(path).map_err(ClientError::file(path))?;
    crate::parse_trace(&text)
        .map_err(|error| ClientError::failed(format!("the trace {}: {error}", path.display())))
}
