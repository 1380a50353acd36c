//! Coverage of intervals at full size: tables of docs/statistics.md.
//! `bench/truth` runs it; an argument is the number of samples of each kind.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for developers"
)]

#[path = "../tests/common/coverage.rs"]
mod coverage;

use coverage::{Kind, Of, Percentile, kept_promises};

const COUNTS: [usize; 4] = [3, 5, 10, 30];
const KINDS: [Kind; 5] = [
    Kind::Normal(0.05),
    Kind::Normal(0.2),
    Kind::LogNormal(0.5),
    Kind::Drifting,
    Kind::Outliers,
];

fn main() {
    let samples: u64 = std::env::args().nth(1).map_or(4000, |n| n.parse().unwrap());
    let percent = |rate: f64| format!("{:.1} %", 100.0 * rate);
    println!("Share of {samples} samples whose 95 % interval contains the truth\n");
    println!("| interval | values | n = 3 | 5 | 10 | 30 |\n|---|---|---|---|---|---|");
    for of in Of::ALL {
        for kind in KINDS {
            let cells = COUNTS.map(|count| percent(of.coverage(kind, count, samples)));
            println!("| {of:?} | {} | {} |", name(kind), cells.join(" | "));
        }
    }
    println!("\nPercentiles of latency over runs\n");
    println!("| percentile | requests | n = 3 | 5 | 10 | 30 |\n|---|---|---|---|---|---|");
    for (share, requests) in [
        (0.5, 25),
        (0.5, 300),
        (0.95, 59),
        (0.95, 300),
        (0.99, 299),
        (0.99, 1000),
        (0.99, 3000),
    ] {
        let cells = COUNTS.map(|count| {
            let percentile = Percentile { share, requests };
            percent(percentile.coverage(count, samples.min(2000)))
        });
        println!(
            "| p{:.0} | {requests} | {} |",
            100.0 * share,
            cells.join(" | ")
        );
    }
    println!("\n“About N repetitions would be enough”: share of promises that hold\n");
    println!("| values | scenarios | n = 3 | 5 | 10 |\n|---|---|---|---|---|");
    for kind in [Kind::Normal(0.05), Kind::Normal(0.1), Kind::LogNormal(0.15)] {
        for scenarios in [1, 4] {
            let kept = |count| percent(kept_promises(kind, scenarios, count, samples));
            let cells = [3, 5, 10].map(kept);
            println!("| {} | {scenarios} | {} |", name(kind), cells.join(" | "));
        }
    }
}

fn name(kind: Kind) -> String {
    match kind {
        Kind::Normal(cv) => format!("normal, {:.0} %", 100.0 * cv),
        Kind::LogNormal(sigma) => format!("log-normal, σ = {sigma}"),
        Kind::Drifting => "drifting, AR(1) 0.9".to_owned(),
        Kind::Outliers => "5 % outliers, twice as long".to_owned(),
    }
}
