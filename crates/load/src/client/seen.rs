//! Turns a load's outcome into metrics, the run's record, and its requests as CSV.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::{End, Outcome, Quantile, Times};
use model::run::metric;
use model::serving::{OK, QuantileRecord};
use model::{LoadShape, ServingRecord};

pub(crate) struct Seen {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
}

pub(crate) fn metrics(outcome: &Outcome, shape: LoadShape) -> Vec<Seen> {
    let latency = &outcome.latency;
    let at = |share: f64| latency.quantile(share).map(|q| q.seconds);
    let is_series = shape.is_series();
    let per_second = (!is_series).then(|| outcome.ok_per_second());
    let cold = outcome.setup.count();
    let all = [
        (metric::LATENCY_SECONDS, latency.mean_seconds(), "s"),
        (metric::LATENCY_P50_SECONDS, at(0.5), "s"),
        (metric::LATENCY_P90_SECONDS, at(0.9), "s"),
        (metric::LATENCY_P95_SECONDS, at(0.95), "s"),
        (metric::LATENCY_P99_SECONDS, at(0.99), "s"),
        (metric::LATENCY_MAX_SECONDS, latency.max_seconds(), "s"),
        (
            metric::PREDICTION_SECONDS,
            outcome.prediction.mean_seconds(),
            "s",
        ),
        (
            metric::PREDICTION_PERCENT,
            // A model that takes longer than the whole answer has another clock, or another unit.
            outcome
                .prediction_share()
                .filter(|share| *share <= 1.0)
                .map(|share| 100.0 * share),
            "%",
        ),
        (metric::REQUESTS, Some(outcome.counts.total() as f64), ""),
        (
            metric::FAILED_REQUESTS,
            Some(outcome.counts.failed() as f64),
            "",
        ),
        (metric::REQUESTS_PER_SECOND, per_second, "1/s"),
        (
            metric::BUSY_SECONDS,
            Some(busy_seconds(outcome, is_series)),
            "s",
        ),
        (metric::COLD_REQUESTS, (cold > 0).then_some(cold as f64), ""),
        (metric::SETUP_SECONDS, outcome.setup.mean_seconds(), "s"),
    ];
    all.into_iter()
        .filter_map(|(name, value, unit)| {
            let value = value?;
            Some(Seen { name, value, unit })
        })
        .collect()
}

/// Pauses between requests are nobody's work.
fn busy_seconds(outcome: &Outcome, is_series: bool) -> f64 {
    if !is_series {
        return outcome.wall_seconds;
    }
    let counted = outcome.singles.iter().filter(|single| single.counted);
    counted.map(|single| single.latency_seconds).sum()
}

pub(crate) fn record(outcome: &Outcome, bill: Option<&serde_json::Value>) -> ServingRecord {
    ServingRecord {
        ends: ends(outcome),
        latency: quantiles(&outcome.latency),
        prediction: quantiles(&outcome.prediction),
        first_failure: outcome.first_failure.clone(),
        client_limited: outcome.client_limited.clone(),
        runtime: None,
        service: bill.and_then(emulated),
        is_elsewhere: false,
    }
}

/// What the emulator says of itself, in words.
fn emulated(bill: &serde_json::Value) -> Option<String> {
    let memory = bill.get("memory_mb")?.as_f64()?;
    let idle = bill.get("idle_seconds")?.as_f64()?;
    Some(format!(
        "emulated serverless workers of {memory} MB, ended after {idle} s idle"
    ))
}

fn ends(outcome: &Outcome) -> BTreeMap<String, u64> {
    let counts = &outcome.counts;
    let mut ends: BTreeMap<String, u64> = counts
        .status
        .iter()
        .map(|(status, number)| (status.to_string(), *number))
        .collect();
    let others = [
        (OK, counts.ok),
        ("timed-out", counts.timed_out),
        ("not-sent", counts.not_sent),
        ("refused", counts.refused),
        ("broken", counts.broken),
        ("closed", counts.closed),
    ];
    let some = others.into_iter().filter(|(_, number)| *number > 0);
    ends.extend(some.map(|(end, number)| (end.to_owned(), number)));
    ends
}

fn quantiles(times: &Times) -> Vec<QuantileRecord> {
    let record = |quantile: Quantile| QuantileRecord {
        share: quantile.share,
        seconds: quantile.seconds,
    };
    times.quantiles().into_iter().map(record).collect()
}

/// One row a request of a series; what was not told is empty.
pub(crate) fn csv(outcome: &Outcome) -> String {
    let mut text = String::from(
        "request,counted,started_seconds,latency_seconds,prediction_seconds,setup_seconds,end\n",
    );
    let number = |value: Option<f64>| value.map(|v| format!("{v:.6}")).unwrap_or_default();
    for (place, single) in outcome.singles.iter().enumerate() {
        let end = match single.end {
            End::Answered(status) => status.to_string(),
            End::TimedOut => "timed-out".to_owned(),
            End::NotSent => "not-sent".to_owned(),
            End::Refused => "refused".to_owned(),
            End::Broken => "broken".to_owned(),
            End::Closed => "closed".to_owned(),
        };
        _ = writeln!(
            text,
            "{},{},{:.6},{:.6},{},{},{end}",
            place + 1,
            single.counted,
            single.started_seconds,
            single.latency_seconds,
            number(single.prediction_seconds),
            number(single.setup_seconds),
        );
    }
    text
}
