//! Loads a server and tells how it answered.

use std::fs;
use std::path::Path;
use std::time::Duration;

use load::{
    Arrivals, Closed, Extent, Found, Header, Load, Open, Options, Outcome, Request, Search, Series,
    Times, Trials,
};

use crate::args::{LoadArgs, SeriesArg};
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

const USUAL_SECONDS: f64 = 10.0;
/// Of the time that counts.
const WARM_UP_SHARE: f64 = 0.1;

pub(super) fn load(args: &LoadArgs, printer: &Printer) -> CommandResult {
    let request = request(args)?;
    let options = Options {
        timeout: seconds(args.timeout, "--timeout")?,
        threads: args.threads,
        roots_pem: args
            .ca
            .as_deref()
            .map(read_text)
            .transpose()?
            .unwrap_or_default(),
        ..Options::default()
    };
    match args.under {
        Some(milliseconds) => search(args, milliseconds, &request, &options, printer),
        None => {
            let outcome = load::run(&request, &shape(args)?, &options).map_err(Failure::trouble)?;
            let text = match args.json {
                true => json(&outcome)?,
                false => in_words(&outcome),
            };
            printer.data(&text);
            Ok(match outcome.counts.failed() {
                0 => Exit::Ok,
                _ => Exit::FailedRuns,
            })
        }
    }
}

fn search(
    args: &LoadArgs,
    milliseconds: f64,
    request: &Request,
    options: &Options,
    printer: &Printer,
) -> CommandResult {
    let (warm_up, counted) = times(args)?;
    let trials = Trials {
        seed: args.poisson.then_some(args.seed),
        warm_up,
        counted,
        max_connections: args.connections,
    };
    let plan = Search::p99_under(milliseconds / 1e3);
    let found = load::search_server(&plan, request, &trials, options).map_err(Failure::trouble)?;
    let text = match args.json {
        true => json(&found)?,
        false => found_in_words(&found, milliseconds),
    };
    printer.data(&text);
    Ok(match answered(&found) {
        true => Exit::Ok,
        false => Exit::FailedRuns,
    })
}

fn answered(found: &Found) -> bool {
    found.trials.iter().any(|trial| trial.ok_per_second > 0.0)
}

fn json(found: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(found).map_err(Failure::trouble)
}

fn request(args: &LoadArgs) -> Result<Request, Failure> {
    let target = args.url.parse().map_err(Failure::trouble)?;
    let mut request = match args.bodies.as_slice() {
        [] => Request::get(target),
        paths => {
            let bodies = paths.iter().map(|path| {
                fs::read(path).map_err(|problem| {
                    Failure::trouble(format!("cannot read {}: {problem}", path.display()))
                })
            });
            let kind = args
                .content_type
                .as_deref()
                .unwrap_or_else(|| content_type(&paths[0]));
            Request::post(target, kind, bodies.collect::<Result<_, _>>()?)
        }
    };
    for header in &args.headers {
        let (name, value) = header
            .split_once(':')
            .ok_or_else(|| Failure::trouble(format!("`{header}` is no header: name: value")))?;
        request.headers.push(Header {
            name: name.trim().to_owned(),
            value: value.trim().to_owned(),
        });
    }
    Ok(request)
}

fn content_type(path: &Path) -> &'static str {
    let extension = path
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase();
    match extension.as_str() {
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "json" => "application/json",
        "npy" => "application/x-npy",
        _ => "application/octet-stream",
    }
}

fn shape(args: &LoadArgs) -> Result<Load, Failure> {
    if let Some(name) = args.series {
        let own = match name {
            SeriesArg::Warm => Series::warm(),
            SeriesArg::Cold => Series::cold(),
            SeriesArg::RealTime => Series::real_time(),
        };
        let pause = args
            .pause
            .map(|pause| seconds(pause, "--pause"))
            .transpose()?;
        return Ok(Load::Series(Series {
            count: args.requests.unwrap_or(own.count),
            pause: pause.unwrap_or(own.pause),
            ..own
        }));
    }
    let (warm_up, counted) = times(args)?;
    let counted = args
        .requests
        .map_or(Extent::Time(counted), Extent::Requests);
    let arrivals = match (&args.trace, args.rate) {
        (Some(path), _) => Some(Arrivals::Trace(trace(path)?)),
        (None, Some(per_second)) if args.poisson => Some(Arrivals::Poisson {
            per_second,
            seed: args.seed,
        }),
        (None, Some(per_second)) => Some(Arrivals::Constant { per_second }),
        (None, None) => None,
    };
    Ok(match arrivals {
        None => Load::Closed(Closed {
            clients: args.clients.unwrap_or(1),
            warm_up: Extent::Time(warm_up),
            counted,
        }),
        Some(Arrivals::Trace(times)) => {
            let all = Extent::Requests(args.requests.unwrap_or(times.len() as u64));
            Load::Open(Open {
                arrivals: Arrivals::Trace(times),
                warm_up: Extent::NONE,
                counted: all,
                max_connections: args.connections,
            })
        }
        Some(arrivals) => Load::Open(Open {
            arrivals,
            warm_up: Extent::Time(warm_up),
            counted,
            max_connections: args.connections,
        }),
    })
}

/// What is not counted, and what is.
fn times(args: &LoadArgs) -> Result<(Duration, Duration), Failure> {
    let counted = args.seconds.unwrap_or(USUAL_SECONDS);
    let warm_up = args.warm_up.unwrap_or(counted * WARM_UP_SHARE);
    Ok((
        seconds(warm_up, "--warm-up")?,
        seconds(counted, "--seconds")?,
    ))
}

fn seconds(number: f64, option: &str) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(number)
        .map_err(|_| Failure::trouble(format!("{option} {number} is no time in seconds")))
}

fn trace(path: &Path) -> Result<Vec<Duration>, Failure> {
    let text = read_text(path)?;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            let time = line
                .trim()
                .parse()
                .ok()
                .and_then(|time| Duration::try_from_secs_f64(time).ok());
            time.ok_or_else(|| {
                let place = format!("{}:{}", path.display(), number + 1);
                Failure::trouble(format!("{place}: `{}` is no time in seconds", line.trim()))
            })
        })
        .collect()
}

fn read_text(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path)
        .map_err(|problem| Failure::trouble(format!("cannot read {}: {problem}", path.display())))
}

fn in_words(outcome: &Outcome) -> String {
    let counts = &outcome.counts;
    let mut lines = vec![format!(
        "{} answers in {:.2} s: {:.1}/s; {} failed",
        counts.ok,
        outcome.wall_seconds,
        outcome.ok_per_second(),
        counts.failed()
    )];
    if counts.ok > 0 {
        lines.push(format!(
            "\n  {:<12} {:>10} {:>10} {:>10} {:>10} {:>10}",
            "ms", "p50", "p90", "p95", "p99", "max"
        ));
    }
    for (name, times) in [
        ("latency", &outcome.latency),
        ("from sending", &outcome.service),
        ("prediction", &outcome.prediction),
    ] {
        lines.extend((times.count() > 0).then(|| row(name, times)));
    }
    if let Some(p99) = outcome.latency.quantile(0.99) {
        let end = |side: Option<f64>| side.map_or("?".to_owned(), milliseconds);
        lines.push(format!(
            "\n  p99 of the latency lies in [{}, {}] ms (95 %)",
            end(p99.low_seconds),
            end(p99.high_seconds)
        ));
    }
    if let Some(share) = outcome.prediction_share() {
        lines.push(format!(
            "  The prediction is {:.0} % of the latency.",
            share * 100.0
        ));
    }
    for (status, count) in &counts.status {
        lines.push(format!("  ! status {status}: {count}"));
    }
    for (what, count) in [
        ("timed out", counts.timed_out),
        ("not sent in time", counts.not_sent),
        ("refused", counts.refused),
        ("broken answers", counts.broken),
        ("closed by the server", counts.closed),
    ] {
        lines.extend((count > 0).then(|| format!("  ! {what}: {count}")));
    }
    lines.extend(
        outcome
            .first_failure
            .as_ref()
            .map(|first| format!("  ! the first failure: {first}")),
    );
    lines.extend(
        outcome
            .client_limited
            .as_ref()
            .map(|why| format!("  ! {why}")),
    );
    lines.join("\n")
}

fn row(name: &str, times: &Times) -> String {
    let at = |share: f64| {
        times
            .quantile(share)
            .map_or("?".to_owned(), |found| milliseconds(found.seconds))
    };
    let max = times.max_seconds().map_or("?".to_owned(), milliseconds);
    format!(
        "  {name:<12} {:>10} {:>10} {:>10} {:>10} {max:>10}",
        at(0.5),
        at(0.9),
        at(0.95),
        at(0.99)
    )
}

fn milliseconds(seconds: f64) -> String {
    let number = seconds * 1e3;
    match number {
        100.0.. => format!("{number:.0}"),
        10.0..100.0 => format!("{number:.1}"),
        _ => format!("{number:.3}"),
    }
}

fn found_in_words(found: &Found, target: f64) -> String {
    let mut lines: Vec<String> = found
        .trials
        .iter()
        .map(|trial| {
            let p99 = trial
                .quantile
                .as_ref()
                .map_or("?".to_owned(), |found| milliseconds(found.seconds));
            let trouble = trial
                .first_failure
                .as_ref()
                .map_or(String::new(), |first| format!("   {first}"));
            format!(
                "  {:>10.1}/s   p99 {p99:>8} ms   {} failed{trouble}",
                trial.per_second, trial.failed
            )
        })
        .collect();
    lines.push(match (found.holds_per_second, found.fails_per_second) {
        (Some(holds), Some(fails)) => {
            format!("\np99 stays under {target} ms up to {holds:.1} requests/s, and no longer at {fails:.1}.")
        }
        (Some(holds), None) => format!("\np99 stays under {target} ms at {holds:.1} requests/s, the highest rate tried."),
        (None, _) if !answered(found) => "\nNothing was answered.".to_owned(),
        (None, _) => format!("\np99 is above {target} ms at every rate that was tried."),
    });
    lines.extend(found.client_limited.as_ref().map(|why| format!("! {why}")));
    lines.join("\n")
}
