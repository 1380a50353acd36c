//! Serving in sentences.

use std::collections::BTreeMap;

use messages::message;
use model::Currency;

use crate::lists::{entry, push_new, unique};
use crate::serving::{BreakEven, ColdStart, ServedBy, ServedScenario, Serving};
use crate::words::format;

/// Above this share the model decides the latency; below half of it, what is around it does.
const DECIDES_PERCENT: f64 = 50.0;

pub(crate) fn sentences(serving: &Serving, currency: Currency) -> Vec<String> {
    let mut said = Vec::new();
    said.extend(unreliable(serving));
    said.extend(share(serving));
    said.extend(serving.cold_starts.iter().map(cold_start));
    said.extend(memory(serving, currency));
    let matter = that_matter(&serving.break_evens);
    let pays = matter.into_iter().filter(|even| even.within_capacity);
    said.extend(pays.map(break_even));
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
    (!named.is_empty()).then(|| message!("serve-unreliable", named = format::listed(&named, 6)))
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
        return Some(message!("serve-share-one", share = whole(least.1)));
    }
    Some(message!(
        "serve-share",
        least = whole(least.1),
        least_label = least.0.label,
        most = whole(most.1),
        most_label = most.0.label,
        around = least.1 < DECIDES_PERCENT / 2.0
    ))
}

fn cold_start(start: &ColdStart) -> String {
    let about = before(&start.phrase);
    let (cold, warm) = (start.cold_requests as usize, start.warm_requests as usize);
    let times = match start.ratio.interval {
        Some(i) if i.contains(1.0) => {
            let ratio = |value| format::ratio(value);
            let times = format::interval(i.low, i.high, ratio);
            return message!("serve-cold-open", about, times, cold, warm);
        }
        Some(i) => format!(
            "{} {}",
            format::ratio(start.ratio.value),
            format::interval(i.low, i.high, format::bare_ratio)
        ),
        None => message!("serve-cold-means", times = format::ratio(start.ratio.value)),
    };
    message!(
        "serve-cold",
        about,
        times,
        more = format::duration(start.difference.value.max(0.0)),
        cold,
        warm
    )
}

/// `rede2 · 64 px: `, or nothing.
fn before(phrase: &str) -> String {
    match phrase {
        "" => String::new(),
        phrase => format!("{phrase}: "),
    }
}

/// Does more memory make an inference cheaper? Asked of every task by itself: what is cheapest for a small model is not
/// for a large one.
fn memory(serving: &Serving, currency: Currency) -> Option<String> {
    let mut by_task: Vec<(&str, BTreeMap<u32, f64>)> = Vec::new();
    for served in serving.scenarios.iter().filter(|s| s.is_reliable()) {
        let (ServedBy::OnDemand { memory_mb }, Some(cost)) =
            (&served.place, &served.cost_per_inference)
        else {
            continue;
        };
        if ["cold", "search"].contains(&served.load) {
            continue;
        }
        // That a response was warm goes without saying.
        let task = served.beside_environment.as_str();
        let task = task.strip_suffix("warm").unwrap_or(task);
        let task = task.trim_end_matches(" · ");
        let costs = entry(
            &mut by_task,
            |(name, _)| *name == task,
            || (task, BTreeMap::new()),
        );
        costs.1.insert(*memory_mb, cost.value);
    }
    let said: Vec<String> = by_task
        .iter()
        .filter(|(_, costs)| costs.len() > 1)
        .filter_map(|(task, costs)| {
            let cheapest = costs.iter().min_by(|a, b| a.1.total_cmp(b.1))?;
            let dearest = costs.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
            let task = match *task {
                "" => String::new(),
                task => message!("serve-memory-for", task),
            };
            Some(message!(
                "serve-memory-size",
                cheapest = cheapest.0.to_string(),
                task,
                cost = per_million(*cheapest.1, currency),
                dearest = dearest.0.to_string(),
                times = format::ratio(dearest.1 / cheapest.1)
            ))
        })
        .collect();
    (!said.is_empty()).then(|| message!("serve-memory", said = said.join("; ")))
}

/// For every task the one that decides: the cheapest size on demand against the machine that pays soonest. The others
/// are in the table.
fn that_matter(evens: &[BreakEven]) -> Vec<&BreakEven> {
    let rate = |even: &BreakEven| even.requests_per_day.value;
    let phrases = unique(evens.iter().map(|even| even.phrase.as_str()));
    let of_phrase = |phrase: &&str| {
        let own: Vec<&BreakEven> = evens.iter().filter(|e| e.phrase == **phrase).collect();
        let sizes = unique(own.iter().map(|even| even.on_demand_environment.as_str()));
        // The cheaper a size is, the later a machine pays.
        let soonest = sizes.iter().filter_map(|size| {
            let of_size = own.iter().filter(|e| e.on_demand_environment == *size);
            of_size.min_by(|a, b| rate(a).total_cmp(&rate(b))).copied()
        });
        soonest.max_by(|a, b| rate(a).total_cmp(&rate(b)))
    };
    phrases.iter().filter_map(of_phrase).collect()
}

fn break_even(even: &BreakEven) -> String {
    let about = before(&even.phrase);
    let (on_demand, always_on) = (&even.on_demand_environment, &even.always_on_environment);
    let number = |value: f64| format::count(value.round() as usize);
    let rate = &even.requests_per_day;
    let interval = rate.interval.map(|i| {
        let ends = format::interval(i.low, i.high, number);
        format!(" {ends}")
    });
    let ends = interval.unwrap_or_default();
    let rate = number(rate.value);
    message!("serve-even", about, rate, ends, always_on, on_demand)
}

/// Machines that no rate makes cheaper, in one sentence.
fn never(evens: &[BreakEven]) -> Option<String> {
    let mut pairs: Vec<String> = Vec::new();
    for even in evens.iter().filter(|even| !even.within_capacity) {
        let (on_demand, always_on) = (&even.on_demand_environment, &even.always_on_environment);
        let task = match even.phrase.as_str() {
            "" => String::new(),
            phrase => format!(" ({phrase})"),
        };
        push_new(
            &mut pairs,
            message!("serve-against", on_demand, always_on, task),
        );
    }
    let one_by_one = evens.iter().any(|even| even.one_by_one);
    let is_any = !pairs.is_empty();
    is_any.then(|| message!("serve-never", one_by_one, pairs = format::listed(&pairs, 4)))
}

/// An answer costs too little to be said alone.
fn per_million(each: f64, currency: Currency) -> String {
    let amount = format::significant(each * 1e6, 3);
    format::in_currency(currency, &amount)
}
