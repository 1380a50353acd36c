//! Loads a server and prints its latencies.

use std::fs;
use std::path::Path;
use std::time::Duration;

use load::{
    Arrivals, Found, Header, Load, LoadError, LoadWish, Options, Outcome, Request, Search, Series,
    Times,
};

use crate::args::{LoadArgs, SeriesArg};
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

const USUAL_SECONDS: f64 = 10.0;

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
    };
    match args.under {
        Some(milliseconds) => search(args, milliseconds, &request, &options, printer),
        None => {
            let outcome = load::run(&request, &shape(args)?, &options).map_err(load_failure)?;
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
    if !(milliseconds > 0.0 && milliseconds.is_finite()) {
        let message = format!("--under {milliseconds} is not a latency in milliseconds");
        return Err(Failure::wrong_arguments(message));
    }
    let trials = wish(args)?.trials(args.poisson.then_some(args.seed));
    let plan = Search::p99_under(milliseconds / 1e3);
    let found = load::search_server(&plan, request, &trials, options).map_err(load_failure)?;
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
    let target = args.url.parse().map_err(load_failure)?;
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
                .or_else(|| load::content_type(&paths[0]))
                .unwrap_or(load::UNKNOWN_TYPE);
            Request::post(target, kind, bodies.collect::<Result<_, _>>()?)
        }
    };
    for header in &args.headers {
        let (name, value) = header.split_once(':').ok_or_else(|| {
            Failure::wrong_arguments(format!("`{header}` is not a header: write name: value"))
        })?;
        let header = Header::new(name.trim(), value.trim());
        request.headers.push(header);
    }
    Ok(request)
}

fn shape(args: &LoadArgs) -> Result<Load, Failure> {
    let wish = wish(args)?;
    if let Some(name) = args.series {
        let own = match name {
            SeriesArg::Warm => Series::warm(),
            SeriesArg::Cold => Series::cold(),
            SeriesArg::RealTime => Series::real_time(),
        };
        let pause = args.pause.map(|pause| seconds(pause, "--pause"));
        return Ok(wish.series(own, pause.transpose()?));
    }
    Ok(match (&args.trace, args.rate) {
        (Some(path), _) => wish.open(Arrivals::Trace(trace(path)?)),
        (None, Some(per_second)) if args.poisson => wish.open(Arrivals::Poisson {
            per_second,
            seed: args.seed,
        }),
        (None, Some(per_second)) => wish.open(Arrivals::Constant { per_second }),
        (None, None) => wish.closed(args.clients.unwrap_or(1)),
    })
}

fn wish(args: &LoadArgs) -> Result<LoadWish, Failure> {
    let warm_up = args.warm_up.map(|warm_up| seconds(warm_up, "--warm-up"));
    Ok(LoadWish {
        requests: args.requests,
        counted: seconds(args.seconds.unwrap_or(USUAL_SECONDS), "--seconds")?,
        warm_up: warm_up.transpose()?,
        max_connections: args.connections,
    })
}

fn seconds(number: f64, option: &str) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(number).map_err(|_| {
        Failure::wrong_arguments(format!("{option} {number} is not a time in seconds"))
    })
}

/// A load that makes no sense was asked for so.
fn load_failure(error: LoadError) -> Failure {
    match error {
        LoadError::Target { .. } | LoadError::Plan(_) => Failure::wrong_arguments(error),
        LoadError::Resolve { .. } | LoadError::System { .. } => Failure::trouble(error),
    }
}

fn trace(path: &Path) -> Result<Vec<Duration>, Failure> {
    let problem = |problem| Failure::wrong_arguments(format!("{}: {problem}", path.display()));
    load::parse_trace(&read_text(path)?).map_err(problem)
}

fn read_text(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path)
        .map_err(|problem| Failure::trouble(format!("cannot read {}: {problem}", path.display())))
}

fn in_words(outcome: &Outcome) -> String {
    let counts = &outcome.counts;
    let mut lines = vec![format!(
        "{} responses in {:.2} s: {:.1}/s; {} failed",
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
        ("from send time", &outcome.service),
        ("prediction", &outcome.prediction),
    ] {
        lines.extend((times.count() > 0).then(|| row(name, times)));
    }
    if counts.ok > 0 {
        lines.push(
            "\n  Requests of one load depend on each other: repeat it for an interval (a study with repetitions has one)."
                .to_owned(),
        );
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
        ("invalid responses", counts.broken),
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
            format!(
                "\np99 stays below {target} ms up to {holds:.1} requests/s, but not at {fails:.1}."
            )
        }
        (Some(holds), None) => format!(
            "\np99 stays below {target} ms at {holds:.1} requests/s, the highest rate tried."
        ),
        (None, _) if !answered(found) => "\nNo request succeeded.".to_owned(),
        (None, _) => format!("\np99 is above {target} ms at every rate tried."),
    });
    lines.extend(found.client_limited.as_ref().map(|why| format!("! {why}")));
    lines.join("\n")
}
