//! Billed time: the run's duration and its phases, from the imported metrics.

use model::Phase;
use model::run::{metric, phase};

use crate::summary::{Metrics, seconds};

/// The part of a run that no phase accounts for.
pub(crate) const OTHER: &str = "other";
/// Answering requests, for rows that are requests.
pub(crate) const REQUESTS: &str = "requests";

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Times {
    pub(crate) seconds: f64,
    pub(crate) phases: Vec<Phase>,
    /// The total that was reported, when the phases sum to more: they count then.
    pub(crate) told_too_little: Option<f64>,
}

/// Phases are the metrics `startup_seconds`, `install_seconds`, … `train_seconds`, …, in the
/// order of study C of docs/studies.md; `total_seconds` is the whole, and its rest the phase
/// `other`. A total alone is the training, as for a command that tells no phases.
pub(crate) fn of_run(metrics: &mut Metrics) -> Times {
    let value = |name: &str| metrics.get(name).filter(|m| m.unit == "s").map(|m| m.value);
    let told = value(metric::TOTAL_SECONDS);
    let parts =
        phase::ORDER.map(|name| (name, value(&format!("{}_seconds", name.replace('-', "_")))));
    let mut parts: Vec<(&str, f64)> = parts
        .into_iter()
        .filter_map(|(name, s)| Some((name, s?)))
        .collect();
    let sum: f64 = parts.iter().map(|(_, s)| s).sum();
    let rest = told.unwrap_or(sum) - sum;
    // Rounded columns do not sum exactly.
    let slack = 0.001 * sum;
    match parts.is_empty() {
        true if told.is_some() => parts.push((phase::TRAIN, rest)),
        false if rest > slack => parts.push((OTHER, rest)),
        _ => {}
    }
    let times = follow_one_another(&parts, told.filter(|_| rest < -slack));
    if times.seconds > 0.0 {
        let total = metrics
            .entry(metric::TOTAL_SECONDS.to_owned())
            .or_insert(seconds(times.seconds));
        total.value = times.seconds;
        if told.is_some() && parts.len() == 1 {
            metrics
                .entry(metric::TRAIN_SECONDS.to_owned())
                .or_insert(seconds(times.seconds));
        }
    }
    times
}

pub(crate) fn of_requests(busy_seconds: f64) -> Times {
    match busy_seconds > 0.0 {
        true => follow_one_another(&[(REQUESTS, busy_seconds)], None),
        false => Times::default(),
    }
}

fn follow_one_another(parts: &[(&str, f64)], told_too_little: Option<f64>) -> Times {
    let mut begin_seconds = 0.0;
    let mut phases = Vec::with_capacity(parts.len());
    for &(name, seconds) in parts {
        phases.push(Phase {
            name: name.to_owned(),
            begin_seconds,
            seconds,
        });
        begin_seconds += seconds;
    }
    Times {
        seconds: begin_seconds,
        phases,
        told_too_little,
    }
}
