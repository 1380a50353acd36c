//! How often the interval at the time when `--stop-when-known` ends a script contains the truth:
//! `cargo run --release -p predict --example watch_truth`.
#![expect(clippy::print_stdout, reason = "a program for developers")]

#[path = "../tests/watching/simulated.rs"]
mod simulated;

use simulated::{Ended, Truth, ended};

const RUNS: u64 = 300;

fn main() {
    let precisions: Vec<f64> = match std::env::args().nth(1) {
        Some(only) => vec![only.parse().unwrap_or(0.05)],
        None => vec![0.05, 0.1],
    };
    println!(
        "| run | noise | correlated over | drift | precision | ended early | after, median | inside | median error |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for precision in precisions {
        for minutes in [2.0, 10.0, 60.0] {
            for (noise, correlated_seconds, drift) in [
                (0.01, 1.0, 0.05),
                (0.1, 0.3, 0.0),
                (0.1, 8.0, 0.0),
                (0.1, 8.0, 0.03),
                (0.1, 30.0, 0.0),
                (0.05, 30.0, 0.03),
                (0.05, 100.0, 0.0),
                (0.1, 100.0, 0.0),
            ] {
                let truth = Truth {
                    minutes,
                    noise,
                    correlated_seconds,
                    drift,
                };
                row(&truth, precision);
            }
        }
    }
}

fn row(truth: &Truth, precision: f64) {
    let mut found: Vec<Ended> = (0..RUNS)
        .filter_map(|seed| ended(truth, precision, seed))
        .collect();
    let early = found.len() as f64;
    let inside = found.iter().filter(|one| one.is_inside).count() as f64;
    found.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let after = found
        .get(found.len() / 2)
        .map_or(f64::NAN, |one| one.seconds);
    found.sort_by(|a, b| a.error.abs().total_cmp(&b.error.abs()));
    let error = found
        .get(found.len() / 2)
        .map_or(f64::NAN, |one| one.error.abs());
    println!(
        "| {} min | {} % | {} s | {} % | {} % | {:.0} % | {:.0} s | {:.1} % | {:.1} % |",
        truth.minutes,
        100.0 * truth.noise,
        truth.correlated_seconds,
        100.0 * truth.drift,
        100.0 * precision,
        100.0 * early / RUNS as f64,
        after,
        100.0 * inside / early,
        100.0 * error,
    );
}
