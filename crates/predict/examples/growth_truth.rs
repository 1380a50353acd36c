//! Coverage and choice of the laws of growth on simulated studies: the tables of docs/prediction.md.
//! An argument is the number of studies of each kind.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for developers"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{TRUTHS, cheapest, score};

fn main() {
    let studies: u64 = std::env::args().nth(1).map_or(1000, |n| n.parse().unwrap());
    println!(
        "| truth | noise | repetitions | law chosen | parameters | inside | one run | beyond | error at 2× |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for truth in &TRUTHS {
        for (noise, repetitions) in [(0.02, 3), (0.02, 10), (0.1, 3), (0.1, 10)] {
            let mut score = score(truth, noise, repetitions, studies);
            score.errors.sort_by(f64::total_cmp);
            let percent = |share: f64| format!("{:.1} %", 100.0 * share);
            println!(
                "| {} | {noise} | {repetitions} | {} | {} | {} | {} | {} | {} |",
                truth.name,
                percent(score.right_law as f64 / score.studies as f64),
                percent(score.parameters.value()),
                percent(score.inside.value()),
                percent(score.one_run.value()),
                percent(score.beyond.value()),
                percent(stats::quantile(&score.errors, 0.5).unwrap_or(f64::NAN)),
            );
            if score.refused > 0 {
                println!("refused: {}", score.refused);
            }
        }
    }
    println!(
        "\n| cheapest, truth | noise | repetitions | named | within 1 % | by means | stated stability |"
    );
    println!("|---|---|---|---|---|---|---|");
    for truth in &TRUTHS[..3] {
        for (noise, repetitions) in [(0.02, 3), (0.02, 10), (0.1, 3), (0.1, 10)] {
            let found = cheapest(truth, noise, repetitions, studies.min(500));
            println!(
                "| {} | {noise} | {repetitions} | {:.1} % | {:.1} % | {:.1} % | {:.1} % |",
                truth.name,
                100.0 * found.right.value(),
                100.0 * found.nearly.value(),
                100.0 * found.by_means.value(),
                100.0 * found.stability,
            );
        }
    }
}
