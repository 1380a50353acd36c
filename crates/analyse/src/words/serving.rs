//! Serving in sentences.

use std::collections::BTreeMap;

use model::Currency;

use crate::serving::{BreakEven, ColdStart, Place, ServedScenario, Serving};
use crate::words::format;

/// Above this share the model decides the latency; below half of it, what is around it does.
const DECIDES_PERCENT: f64 = 50.0;

pub(crate) fn sentences(serving: &Serving, currency: Currency) -> Vec<String> {
    let mut said = Vec::new();
    said.extend(unreliable(serving));
    said.extend(share(serving));
    said.extend(serving.cold_starts.iter().map(cold_start));
    said.extend(memory(serving, currency));
    let pays = |even: &&BreakEven| even.within_capacity;
    said.extend(serving.break_evens.iter().filter(pays).map(break_even));
    said.extend(never(&serving.break_evens));
    said
}

/// Scenarios that are left out of what is fastest and cheapest.
fn unreliable(serving: &Serving) -> Option<String> {
    let failing = serving.scenarios.iter().filter(|s| !s.is_reliable());
    let named: Vec<String> = failing
        .map(|s| {
            let share = s.failed as f64 / s.requests.max(1) as f64;
            format!("{} ({})", s.label, format::percent(share))
        })
        .collect();
    (!named.is_empty()).then(|| {
        format!(
            "Excluded from fastest, cheapest and break-even because requests failed: {}.",
            format::listed(&named, 6)
        )
    })
}

/// When does the model no longer decide the latency?
fn share(serving: &Serving) -> Option<String> {
    let percent = |s: &ServedScenario| s.prediction_percent.as_ref().map(|e| e.value);
    let known: Vec<(&ServedScenario, f64)> = serving
        .scenarios
        .iter()
        .filter_map(|s| Some((s, percent(s)?)))
        .collect();
    let least = known.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let most = known.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let whole = |value: f64| format!("{} %", format::significant(value, 2));
    if known.len() == 1 {
        return Some(format!("Prediction is {} of the latency.", whole(least.1)));
    }
    let hint = match least.1 < DECIDES_PERCENT / 2.0 {
        true => " where it is small, a faster model would hardly help",
        false => " the model dominates",
    };
    Some(format!(
        "Prediction is {} ({}) to {} ({}) of the latency:{hint}.",
        whole(least.1),
        least.0.label,
        whole(most.1),
        most.0.label
    ))
}

fn cold_start(start: &ColdStart) -> String {
    let of = match start.phrase.as_str() {
        "" => String::new(),
        phrase => format!("{phrase}: "),
    };
    let times = match start.ratio.interval {
        Some(i) => format!(
            "{} {}",
            format::ratio(start.ratio.value),
            format::interval(i.low, i.high, format::bare_ratio)
        ),
        None => format::ratio(start.ratio.value),
    };
    format!(
        "{of}a cold response takes {times} as long as a warm one, {} more ({} cold and {} warm requests).",
        format::duration(start.difference.value.max(0.0)),
        format::count(start.cold_requests as usize),
        format::count(start.warm_requests as usize)
    )
}

/// Does more memory make an inference cheaper? Of combinations that every size has.
fn memory(serving: &Serving, currency: Currency) -> Option<String> {
    let mut by_size: BTreeMap<u32, BTreeMap<&str, f64>> = BTreeMap::new();
    for served in serving.scenarios.iter().filter(|s| s.is_reliable()) {
        let (Place::OnDemand { memory_mb }, Some(cost)) =
            (&served.place, &served.cost_per_inference)
        else {
            continue;
        };
        if !["cold", "search"].contains(&served.load) {
            let costs = by_size.entry(*memory_mb).or_default();
            costs.insert(served.beside_environment.as_str(), cost.value);
        }
    }
    let everywhere = |key: &&str| by_size.values().all(|costs| costs.contains_key(*key));
    let shared: Vec<&str> = by_size
        .values()
        .next()?
        .keys()
        .copied()
        .filter(everywhere)
        .collect();
    if shared.is_empty() {
        return None;
    }
    let mean = |costs: &BTreeMap<&str, f64>| {
        let values: Vec<f64> = shared
            .iter()
            .filter_map(|key| costs.get(key))
            .copied()
            .collect();
        stats::precise::mean(&values)
    };
    let means: Vec<(u32, f64)> = by_size
        .iter()
        .map(|(size, costs)| (*size, mean(costs)))
        .collect();
    let (first, last) = (means.first()?, means.last()?);
    if first.0 == last.0 {
        return None;
    }
    let cheapest = means.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let answer = match cheapest.0 == first.0 {
        true => "More memory does not make a response cheaper",
        false => "More memory makes a response cheaper, up to a point",
    };
    Some(format!(
        "{answer}: {} MB is cheapest ({} per million), {} MB costs {} as much.",
        cheapest.0,
        per_million(cheapest.1, currency),
        if cheapest.0 == last.0 {
            first.0
        } else {
            last.0
        },
        format::ratio(
            if cheapest.0 == last.0 {
                first.1
            } else {
                last.1
            } / cheapest.1
        )
    ))
}

fn break_even(even: &BreakEven) -> String {
    let of = match even.phrase.as_str() {
        "" => String::new(),
        phrase => format!("{phrase}: "),
    };
    let (on_demand, always_on) = (&even.on_demand_environment, &even.always_on_environment);
    let number = |value: f64| format::count(value.round() as usize);
    let rate = &even.requests_per_day;
    let interval = rate.interval.map(|i| {
        let ends = format::interval(i.low, i.high, number);
        format!(" {ends}")
    });
    format!(
        "{of}from {} requests per day{} on, {always_on} is cheaper than {on_demand}.",
        number(rate.value),
        interval.unwrap_or_default()
    )
}

/// Machines that no rate makes cheaper, in one sentence.
fn never(evens: &[BreakEven]) -> Option<String> {
    let mut pairs: Vec<String> = Vec::new();
    for even in evens.iter().filter(|even| !even.within_capacity) {
        let (on_demand, always_on) = (&even.on_demand_environment, &even.always_on_environment);
        let pair = match even.phrase.as_str() {
            "" => format!("{on_demand} against {always_on}"),
            phrase => format!("{on_demand} against {always_on} ({phrase})"),
        };
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    (!pairs.is_empty()).then(|| {
        format!(
            "At any rate that one machine {}, serverless stays cheaper: {}.",
            match evens.iter().any(|even| even.one_by_one) {
                true => "handles one request after the other",
                false => "was measured to handle",
            },
            format::listed(&pairs, 4)
        )
    })
}

/// An answer costs too little to be said alone.
fn per_million(each: f64, currency: Currency) -> String {
    let amount = format::significant(each * 1e6, 3);
    format!("{} {amount}", currency.symbol())
}
