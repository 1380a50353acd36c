//! How often forecasts contain what happens, at full size: a table of docs/statistics.md.
//! `bench/truth` runs it; an argument is the number of studies of each kind.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    dead_code,
    reason = "a program for developers, with parts of the tests"
)]

#[path = "../tests/study/bench.rs"]
mod bench;
#[path = "../tests/study/forecast_truth.rs"]
mod forecast_truth;

use forecast_truth::{Coverage, Setting};

const DESIGNS: [(&str, &[usize], &[u32]); 4] = [
    ("1", &[1], &[1, 2, 3, 5]),
    ("4", &[4], &[1, 2, 3, 5]),
    ("2×2", &[2, 2], &[1, 2, 3, 5]),
    ("2×2×2", &[2, 2, 2], &[1, 2, 3, 5]),
];
const SIGMAS: [f64; 3] = [0.05, 0.2, 0.4];

fn main() {
    let studies: u64 = std::env::args().nth(1).map_or(2000, |n| n.parse().unwrap());
    println!(
        "Share of {studies} studies whose time / cost with one rental / cost with a rental for each run lies in the forecast's interval, and its width\n"
    );
    println!("| scenarios | runs known of each | σ = 0.05 | 0.2 | 0.4 |");
    println!("|---|---|---|---|---|");
    for (name, levels, known) in DESIGNS {
        for known in known.iter().copied() {
            let cells = SIGMAS.map(|sigma| {
                let of = |rental| {
                    let setting = Setting {
                        levels,
                        known,
                        due: 3,
                        sigma,
                        rental,
                    };
                    setting.coverage(studies)
                };
                cell(of("study"), of("run"))
            });
            println!("| {name} | {known} | {} |", cells.join(" | "));
        }
    }
}

fn cell(study: Coverage, run: Coverage) -> String {
    format!(
        "{:.1} / {:.1} / {:.1} %, {:.0} %",
        100.0 * study.time,
        100.0 * study.cost,
        100.0 * run.cost,
        100.0 * study.width
    )
}
