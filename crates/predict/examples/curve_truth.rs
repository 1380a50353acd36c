//! Learning curves continued, held against their own tails: the table of docs/prediction.md. Reads
//! `run.json` of the folders given (`results/STUDY/runs/*`).
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for developers"
)]

use predict::curve::{NotContinued, continued};

struct Curve {
    accuracy: bool,
    distances: Vec<f64>,
}

fn main() {
    let mut curves = Vec::new();
    for folder in std::env::args().skip(1) {
        let Ok(text) = std::fs::read_to_string(format!("{folder}/run.json")) else {
            continue;
        };
        let record: model::RunRecord = serde_json::from_str(&text).unwrap();
        let errors = record.epochs.iter().filter_map(|e| Some(1.0 - e.accuracy?));
        let losses = record.epochs.iter().filter_map(|e| e.loss);
        for (accuracy, distances) in [(true, errors.collect()), (false, losses.collect())] {
            curves.push(Curve {
                accuracy,
                distances,
            });
        }
    }
    println!(
        "| curve | known | curves | continued | epochs inside | targets predicted | first epoch inside | median width | refusals |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for accuracy in [true, false] {
        for known in [8, 10, 13, 16, 20] {
            row(&curves, accuracy, known);
        }
    }
}

fn row(curves: &[Curve], accuracy: bool, known: usize) {
    let chosen = || {
        curves
            .iter()
            .filter(|c| c.accuracy == accuracy && c.distances.len() > known)
    };
    let (mut all, mut kept) = (0, 0);
    let (mut inside, mut epochs) = (0, 0);
    let (mut hits, mut predicted) = (0, 0);
    let mut widths = Vec::new();
    let mut refusals: Vec<(&str, usize)> = Vec::new();
    let mut refuse = |why: NotContinued| {
        let name = match why {
            NotContinued::TooFewEpochs { .. } => "few",
            NotContinued::NothingLeft => "zero",
            NotContinued::Noisy { .. } => "noisy",
            NotContinued::Flat => "flat",
            NotContinued::Unpredictable => "unpredictable",
            NotContinued::OutOfReach { .. } => "out of reach",
            NotContinued::Open { .. } => "open",
        };
        match refusals.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => refusals.push((name, 1)),
        }
    };
    for curve in chosen() {
        all += 1;
        let curve = &curve.distances;
        let continuation = match continued(&curve[..known], 0.95) {
            Ok(continuation) => continuation,
            Err(why) => {
                refuse(why);
                continue;
            }
        };
        kept += 1;
        for (place, value) in curve.iter().enumerate().skip(known) {
            if let Some(expected) = continuation.at(place + 1) {
                epochs += 1;
                inside += usize::from(expected.epoch.contains(*value));
            }
        }
        // Targets that the curve reaches for the first time later on.
        let best = curve[..known].iter().copied().fold(f64::MAX, f64::min);
        let end = curve.len().min(continuation.furthest());
        for share in [0.25, 0.5, 0.75] {
            let aim = known + ((end - known) as f64 * share) as usize;
            let target = curve[..=aim.min(end - 1)]
                .iter()
                .copied()
                .fold(f64::MAX, f64::min);
            let first = curve.iter().position(|v| *v <= target).unwrap() + 1;
            if target >= best {
                continue;
            }
            match continuation.reaches(target) {
                Ok(arrival) => {
                    predicted += 1;
                    let latest = arrival.latest.unwrap_or(usize::MAX);
                    hits += usize::from(arrival.earliest <= first && first <= latest);
                    let latest = arrival.latest.unwrap_or(continuation.furthest());
                    widths.push(latest as f64 / arrival.earliest as f64);
                }
                Err(why) => refuse(why),
            }
        }
    }
    widths.sort_by(f64::total_cmp);
    let percent =
        |part: usize, of: usize| format!("{:.1} %", 100.0 * part as f64 / of.max(1) as f64);
    let refusals: Vec<String> = refusals.iter().map(|(n, c)| format!("{n} {c}")).collect();
    println!(
        "| {} | {known} | {all} | {kept} | {} of {epochs} | {predicted} | {} | {:.2}× | {} |",
        if accuracy { "accuracy" } else { "loss" },
        percent(inside, epochs),
        percent(hits, predicted),
        stats::quantile(&widths, 0.5).unwrap_or(f64::NAN),
        refusals.join(", ")
    );
}
