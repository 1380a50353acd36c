//! False claims per study and power, at full size: the tables of docs/statistics.md.
//! `bench/truth` runs it; an argument is the number of studies of each kind.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for developers"
)]

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/common/truth.rs"]
mod truth;

use truth::{KINDS, Setting, power, rate_of_false_claims};

const DESIGNS: [&[usize]; 6] = [&[2], &[4], &[2, 2], &[3, 2], &[2, 2, 2], &[2, 2, 2, 2]];

fn main() {
    let studies: u64 = std::env::args().nth(1).map_or(400, |n| n.parse().unwrap());
    println!("Share of {studies} studies in which nothing differs that say something false\n");
    table(&[3, 5], |setting| {
        format!("{:.1} %", 100.0 * rate_of_false_claims(setting, studies))
    });
    println!(
        "\nShare of {studies} studies that find an effect of 2 standard deviations of one factor\n"
    );
    table(&[3, 5, 10], |setting| {
        let setting = Setting {
            effect: 2.0,
            ..setting.clone()
        };
        format!("{:.0} %", 100.0 * power(&setting, studies))
    });
}

fn table(repetitions: &[u32], cell: impl Fn(&Setting) -> String) {
    println!(
        "| design | repetitions | metrics | normal | skewed | unequal spread | 5 % outliers | drifting |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for levels in DESIGNS {
        let design: Vec<String> = levels.iter().map(ToString::to_string).collect();
        let design = design.join("×");
        for repetitions in repetitions.iter().copied() {
            for metrics in [1, 6] {
                let cells =
                    KINDS.map(|kind| cell(&Setting::new(levels, repetitions, metrics, kind)));
                println!(
                    "| {design} | {repetitions} | {metrics} | {} |",
                    cells.join(" | ")
                );
            }
        }
    }
}
