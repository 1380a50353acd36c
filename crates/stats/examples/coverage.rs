//! Coverage of intervals at full size: tables of docs/statistics.md.
//! `bench/truth` runs it; an argument is the number of samples of each kind.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for developers"
)]

#[path = "../tests/common/coverage.rs"]
mod coverage;

use coverage::{InSeries, Kind, Of, Percentile, kept_promises};

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
            let rate = |count| of.coverage(kind, count, samples);
            let cells = COUNTS.map(|count| rate(count).map_or("none".to_owned(), percent));
            println!("| {of:?} | {} | {} |", name(kind), cells.join(" | "));
        }
    }
    in_series(samples);
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
    for kind in [
        Kind::Normal(0.05),
        Kind::Normal(0.1),
        Kind::LogNormal(0.15),
        Kind::LogNormal(0.2),
    ] {
        for scenarios in [1, 2, 4] {
            let kept = |count| kept_promises(kind, scenarios, count, samples);
            let cells = [3, 5, 10].map(|count| kept(count).map_or("not said".to_owned(), percent));
            println!("| {} | {scenarios} | {} |", name(kind), cells.join(" | "));
        }
    }
}

/// Means of runs that are alike one after the other.
fn in_series(samples: u64) {
    println!(
        "\nMeans of studies whose runs are each like the one before: interval wrong / withheld\n"
    );
    println!("| scenarios | correlation | n = 3 | 5 | 10 | 30 |\n|---|---|---|---|---|---|");
    for scenarios in [1, 2, 4, 8] {
        for correlation in [0.0, 0.6, 0.9] {
            let cells = COUNTS.map(|repetitions| {
                let study = InSeries {
                    scenarios,
                    repetitions,
                    correlation,
                };
                let found = study.stated(samples / 4);
                let [wrong, withheld] = [found.wrong, found.withheld].map(|rate| 100.0 * rate);
                match found.unchecked {
                    true => format!("not checked ({wrong:.0} %)"),
                    false => format!("{wrong:.0} / {withheld:.0} %"),
                }
            });
            println!("| {scenarios} | {correlation} | {} |", cells.join(" | "));
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
