//! The load that a job asks for.

use std::fs;
use std::path::Path;
use std::time::Duration;

use load::{Arrivals, Closed, Extent, Found, Load, Open, Options, Request, Search, Series, Trials};
use model::LoadShape;
use model::job::LoadJob;

use crate::AskError;

/// Of the time that counts.
const WARM_UP_SHARE: f64 = 0.1;
/// More users than this at once are another study.
const MAX_CONNECTIONS: usize = 1000;

pub(crate) fn load(job: &LoadJob) -> Result<Load, AskError> {
    Ok(match job.shape {
        // The first request is asked for and told apart, so that nothing is left uncounted.
        LoadShape::Warm => series(job, Series::real_time()),
        LoadShape::Cold => series(job, Series::cold()),
        LoadShape::RealTime => series(job, Series::real_time()),
        LoadShape::Clients => Load::Closed(Closed {
            clients: job.clients as usize,
            warm_up: warm_up(job),
            counted: counted(job),
        }),
        LoadShape::Rate | LoadShape::Search => at_rate(job, rate(job)?),
        LoadShape::Poisson => open(
            job,
            Arrivals::Poisson {
                per_second: rate(job)?,
                seed: job.seed,
            },
        ),
        LoadShape::Trace => {
            let path = job.trace.as_deref().ok_or(AskError::Incomplete("trace"))?;
            let times = trace(path)?;
            let all = times.len() as u64;
            Load::Open(Open {
                arrivals: Arrivals::Trace(times),
                warm_up: Extent::NONE,
                counted: Extent::Requests(job.requests.unwrap_or(all)),
                max_connections: MAX_CONNECTIONS,
            })
        }
    })
}

pub(crate) fn at_rate(job: &LoadJob, per_second: f64) -> Load {
    open(job, Arrivals::Constant { per_second })
}

pub(crate) fn search(
    job: &LoadJob,
    request: &Request,
    options: &Options,
) -> Result<Found, AskError> {
    let target = job.under_seconds.ok_or(AskError::Incomplete("latency"))?;
    let trials = Trials {
        seed: None,
        warm_up: duration(job.seconds * WARM_UP_SHARE),
        counted: duration(job.seconds),
        max_connections: MAX_CONNECTIONS,
    };
    load::search_server(&Search::p99_under(target), request, &trials, options)
        .map_err(AskError::Load)
}

pub(crate) fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

fn series(job: &LoadJob, own: Series) -> Load {
    Load::Series(Series {
        count: job.requests.unwrap_or(own.count),
        uncounted: 0,
        pause: job.pause_seconds.map_or(own.pause, duration),
    })
}

fn open(job: &LoadJob, arrivals: Arrivals) -> Load {
    Load::Open(Open {
        arrivals,
        warm_up: warm_up(job),
        counted: counted(job),
        max_connections: MAX_CONNECTIONS,
    })
}

fn warm_up(job: &LoadJob) -> Extent {
    match job.requests {
        Some(requests) => Extent::Requests((requests as f64 * WARM_UP_SHARE).ceil() as u64),
        None => Extent::Time(duration(job.seconds * WARM_UP_SHARE)),
    }
}

fn counted(job: &LoadJob) -> Extent {
    let time = || Extent::Time(duration(job.seconds));
    job.requests.map_or_else(time, Extent::Requests)
}

fn rate(job: &LoadJob) -> Result<f64, AskError> {
    job.rate.ok_or(AskError::Incomplete("rate"))
}

fn trace(path: &Path) -> Result<Vec<Duration>, AskError> {
    let text = fs::read_to_string(path).map_err(|error| AskError::File {
        path: path.to_owned(),
        error,
    })?;
    let mut times: Vec<Duration> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let seconds = line.trim().parse().ok();
        let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        match time.filter(|time| times.last().is_none_or(|last| last <= time)) {
            Some(time) => times.push(time),
            None => {
                return Err(AskError::Trace {
                    path: path.to_owned(),
                    line: number + 1,
                });
            }
        }
    }
    Ok(times)
}
