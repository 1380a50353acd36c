//! A closed loop from the command line, or an open one where a rate is given, for benchmarks: prints
//! requests per second and memory.
//!
//!     cargo run --release -p load --example hammer -- URL [clients] [seconds | 1000n] [threads] [per second]

use std::time::Duration;

use load::{Arrivals, Closed, Extent, Load, LoadError, Open, Options, Request, Times, Watch};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Err(error) = hammer(&arguments) {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

fn hammer(arguments: &[String]) -> Result<(), LoadError> {
    let argument =
        |index: usize, default: &'static str| arguments.get(index).map_or(default, String::as_str);
    let request = Request::get(argument(0, "http://127.0.0.1:9000/").parse()?);
    let clients = number(argument(1, "50"))?;
    let counted = extent(argument(2, "5"))?;
    let warm_up = Extent::NONE;
    let load = match arguments.get(4) {
        None => Load::Closed(Closed {
            clients,
            warm_up,
            counted,
        }),
        Some(rate) => Load::Open(Open {
            arrivals: Arrivals::Poisson {
                per_second: number(rate)?,
                seed: 1,
            },
            warm_up,
            counted,
            max_connections: clients,
        }),
    };
    let options = Options {
        threads: number(argument(3, "1"))?,
        ..Options::default()
    };
    let watch = Watch::default();
    let outcome = std::thread::scope(|scope| {
        let running = scope.spawn(|| load::run_watched(&request, &load, &options, &watch));
        tell_memory(&watch, || running.is_finished());
        running.join().unwrap_or_else(|_| std::process::exit(101))
    })?;
    println!(
        "{:.0} requests/s, {} ok, {} failed, client busy {:.0} %, waiting for a core {:.0} %",
        outcome.ok_per_second(),
        outcome.counts.ok,
        outcome.counts.failed(),
        100.0 * outcome.client.busy_share,
        100.0 * outcome.client.queued_share
    );
    tell_times("latency", &outcome.latency);
    tell_times("service", &outcome.service);
    tell_times("late", &outcome.late);
    Ok(())
}

fn tell_times(what: &str, times: &Times) {
    let told = times.quantiles().into_iter().map(|quantile| {
        format!(
            "p{} {:.0} µs",
            100.0 * quantile.share,
            1e6 * quantile.seconds
        )
    });
    let told: Vec<String> = told.collect();
    if let Some(max) = times.max_seconds() {
        println!("{what}: {}, max {:.0} µs", told.join(", "), 1e6 * max);
    }
}

/// Says the resident memory each time the number of answers has doubled.
fn tell_memory(watch: &Watch, finished: impl Fn() -> bool) {
    let mut next = 100_000;
    while !finished() {
        std::thread::sleep(Duration::from_millis(20));
        if watch.ok() >= next {
            eprintln!(
                "{} requests, {} KiB resident",
                watch.ok(),
                resident_kib().unwrap_or(0)
            );
            next *= 2;
        }
    }
    eprintln!(
        "{} requests, {} KiB resident",
        watch.ok(),
        resident_kib().unwrap_or(0)
    );
}

fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// `5` is seconds, `1000n` is requests.
fn extent(text: &str) -> Result<Extent, LoadError> {
    Ok(match text.strip_suffix('n') {
        Some(digits) => Extent::Requests(number(digits)?),
        None => Extent::Time(Duration::from_secs(number(text)?)),
    })
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, LoadError> {
    text.parse()
        .map_err(|_| LoadError::Plan(format!("`{text}` is no number")))
}
