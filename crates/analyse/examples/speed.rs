//! Seconds of the analysis of large studies: docs/benchmarks.md.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for developers"
)]

use std::time::Instant;

use seeded::SplitMix64;
use stats::{CellMeans, Design, Observation};

fn data(levels: &[usize], runs: usize) -> (Design, Vec<Observation>) {
    let mut random = SplitMix64::new(1);
    let observations = (0..runs).map(|_| {
        let at: Vec<usize> = levels.iter().map(|count| random.below(*count)).collect();
        let value = 1.0 + at[0] as f64 + random.below(1000) as f64 / 1000.0;
        Observation { levels: at, value }
    });
    let observations = observations.collect();
    let levels = levels.to_vec();
    (Design { levels }, observations)
}

fn timed(what: &str, work: impl FnOnce()) {
    let begun = Instant::now();
    work();
    println!("{what}: {:.3} s", begun.elapsed().as_secs_f64());
}

fn main() {
    let (design, runs) = data(&[4, 4, 4, 3, 3, 2], 100_000);
    timed(
        "analysis of variance, 6 factors, 100,000 unbalanced runs",
        || {
            stats::factorial(&design, &runs, 2).unwrap();
        },
    );
    timed("tests of its cell means", || {
        let means = CellMeans::new(&design, &runs, None).unwrap();
        for a in 0..6 {
            means.test(&[a], 2).unwrap();
            (0..a).for_each(|b| _ = means.test(&[b, a], 2).unwrap());
        }
    });
    let (design, runs) = data(&[60, 60], 40_000);
    timed("60 × 60 levels, 40,000 unbalanced runs", || {
        stats::factorial(&design, &runs, 2).unwrap();
    });
}
