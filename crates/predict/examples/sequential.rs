//! How often stopping rules are wrong, and how many runs they save: the tables of docs/prediction.md.
//!
//! `cargo run --release -p predict --example sequential`

#![expect(clippy::unwrap_used, reason = "what is printed is known to be there")]

#[path = "../tests/stopping/simulation.rs"]
mod simulation;

use simulation::{Family, Trials, coverage, decisions, false_decisions, uncorrected_coverage};

const TRIALS: Trials = Trials {
    count: 4000,
    seed: 7,
};

fn main() {
    println!("| values | variation | at most | covered | reached | runs | uncorrected |");
    println!("|---|---|---|---|---|---|---|");
    for family in [Family::Normal, Family::LogNormal] {
        for spread in [0.01, 0.02, 0.05, 0.1, 0.3] {
            for maximum in [10, 30] {
                let found = coverage(family, maximum, spread, 0.05, TRIALS);
                let naive = match family {
                    Family::Normal => uncorrected_coverage(maximum, spread, 0.05, TRIALS),
                    Family::LogNormal => f64::NAN,
                };
                println!(
                    "| {family:?} | {:.0} % | {maximum} | {:.1} % | {:.0} % | {:.1} | {:.1} % |",
                    spread * 100.0,
                    found.covered * 100.0,
                    found.reached * 100.0,
                    found.runs,
                    naive * 100.0
                );
            }
        }
    }
    println!("\n| values | choices | best by | variation | at most | wrong | settled | runs, of |");
    println!("|---|---|---|---|---|---|---|---|");
    for family in [Family::Normal, Family::LogNormal] {
        for maximum in [10, 30] {
            for choices in [2, 4, 8] {
                for spread in [0.03, 0.3] {
                    let found = false_decisions(family, maximum, choices, spread, TRIALS);
                    print_decision(family, choices, 0.0, spread, maximum, found);
                }
                for by in [0.05, 0.1, 0.3] {
                    let mut means = vec![10.0 * (1.0 + by); choices];
                    means[0] = 10.0;
                    let found = decisions(family, maximum, &means, 0.03, TRIALS);
                    print_decision(family, choices, by, 0.03, maximum, found);
                }
            }
        }
    }
}

fn print_decision(
    family: Family,
    choices: usize,
    by: f64,
    spread: f64,
    maximum: u32,
    found: simulation::Decisions,
) {
    println!(
        "| {family:?} | {choices} | {:.0} % | {:.0} % | {maximum} | {:.1} % | {:.0} % | {:.1} of {} |",
        by * 100.0,
        spread * 100.0,
        found.wrong * 100.0,
        found.settled * 100.0,
        found.runs,
        choices * maximum as usize
    );
}
