//! Break-evens in sentences: one for each two environments, whatever else varies.

use messages::{message, word};

use crate::breakeven::{Basis, BreakEvens, BuyOrRent, Buying, CostVerdict, ExpensiveMachine};
use crate::lists::entry;
use crate::words::comparison::Times;
use crate::words::format;

pub(crate) fn sentences(found: &BreakEvens) -> Vec<String> {
    let buying = pairs(&found.buying, |one| {
        (&one.own_environment, &one.rented_environment)
    });
    let more_expensive = pairs(&found.more_expensive, |one| {
        (&one.expensive_environment, &one.cheap_environment)
    });
    let mut said: Vec<String> = buying.iter().map(|pair| buying_words(pair)).collect();
    said.extend(more_expensive.iter().map(|pair| more_expensive_words(pair)));
    said
}

/// Of the same two environments, in the order they come.
fn pairs<T>(all: &[T], names: impl Fn(&T) -> (&String, &String)) -> Vec<Vec<&T>> {
    let mut groups: Vec<Vec<&T>> = Vec::new();
    for one in all {
        entry(&mut groups, |group| names(group[0]) == names(one), Vec::new).push(one);
    }
    groups
}

fn buying_words(pair: &[&BuyOrRent]) -> String {
    match pair {
        [] => String::new(),
        [only] => buying_one(only),
        [first, ..] => buying_many(first, pair),
    }
}

fn buying_one(one: &BuyOrRent) -> String {
    let (own, rented) = (&one.own_environment, &one.rented_environment);
    let hours = one.hours_per_month.as_ref();
    let number = |value: f64| format::whole(value);
    match (one.verdict, hours) {
        (Buying::Pays, Some(hours)) => {
            let ends = hours.interval.map_or_else(
                || match one.time_ratio.interval {
                    Some(_) => word!("buy-never-within").to_owned(),
                    None => word!("buy-no-interval").to_owned(),
                },
                |i| format!(" {}", format::interval(i.low, i.high, number)),
            );
            message!("buy-pays", hours = number(hours.value), ends, own, rented)
        }
        (Buying::NotWithinAMonth, Some(hours)) => {
            message!("buy-too-late", own, rented, hours = number(hours.value))
        }
        (Buying::Inconclusive, _) => message!("buy-inconclusive", own, rented),
        _ => message!("buy-never", own, rented),
    }
}

fn buying_many(first: &BuyOrRent, pair: &[&BuyOrRent]) -> String {
    let (own, rented) = (&first.own_environment, &first.rented_environment);
    let pays = pair.iter().filter(|one| one.verdict == Buying::Pays);
    let hours = pays.filter_map(|one| Some(one.hours_per_month.as_ref()?.value));
    let hours: Vec<f64> = hours.collect();
    let all = pair.len();
    let open = pair.iter().any(|one| one.verdict == Buying::Inconclusive);
    if hours.is_empty() {
        return message!("buy-none", own, rented, all, open);
    }
    let range = range(&hours, format::whole);
    let of = match hours.len() == all {
        true => message!("buy-over", all),
        false => message!("buy-in-some", some = hours.len(), all, open),
    };
    message!("buy-many", range, own, rented, of)
}

fn more_expensive_words(pair: &[&ExpensiveMachine]) -> String {
    let Some(first) = pair.first() else {
        return String::new();
    };
    let times = |value: f64| format::bare_ratio(value);
    let evens: Vec<f64> = pair.iter().map(|one| one.break_even).collect();
    let even = range(&evens, times);
    let (expensive, cheap) = (&first.expensive_environment, &first.cheap_environment);
    let hour = times(first.hour_ratio);
    let (measured, verdict) = match pair {
        [only] => one_verdict(only),
        _ => many_verdicts(pair),
    };
    let by_hours = pair.iter().all(|one| one.basis == Basis::Hours) || even == hour;
    match by_hours {
        true => message!(
            "even-by-hours",
            expensive,
            hour,
            cheap,
            even,
            measured,
            verdict
        ),
        false => message!(
            "even-by-bills",
            expensive,
            hour,
            cheap,
            even,
            measured,
            verdict
        ),
    }
}

fn one_verdict(one: &ExpensiveMachine) -> (String, String) {
    let times = Times::of(&one.speed_up);
    let measured = times.value + &times.bounds;
    let ratio = one.cost_ratio.value;
    let verdict = match (one.verdict, one.cost_ratio.interval) {
        (CostVerdict::Cheaper, _) => {
            message!("even-cheaper", percent = format::percent(1.0 - 1.0 / ratio))
        }
        (CostVerdict::MoreExpensive, _) => costs_more(1.0 / ratio),
        (CostVerdict::Inconclusive, Some(i)) => {
            let inverse = |value: f64| format::percent(1.0 / value);
            let ends = format::interval(i.high, i.low, inverse);
            message!("even-inconclusive", ends)
        }
        (CostVerdict::Inconclusive, None) => message!("even-too-few"),
    };
    (measured, verdict)
}

/// `it costs 3.3 times as much`, `it is 8 % more expensive`.
fn costs_more(times: f64) -> String {
    match times >= 1.25 {
        true => message!("even-costs-times", times = format::bare_ratio(times)),
        false => message!("even-costs-more", percent = format::percent(times - 1.0)),
    }
}

/// Combinations; more are in the table.
const MOST_NAMED: usize = 2;

fn many_verdicts(pair: &[&ExpensiveMachine]) -> (String, String) {
    let speeds: Vec<f64> = pair.iter().map(|one| one.speed_up.value).collect();
    let range = range(&speeds, format::bare_ratio);
    let measured = message!("even-over", range, all = pair.len());
    let of = |verdict: CostVerdict| pair.iter().filter(move |one| one.verdict == verdict);
    let kinds = [
        (CostVerdict::Cheaper, word!("even-verdict-cheaper")),
        (CostVerdict::MoreExpensive, word!("even-verdict-dearer")),
        (CostVerdict::Inconclusive, word!("verdict-inconclusive")),
    ];
    let said = kinds.iter().filter_map(|(kind, verdict)| {
        let some = of(*kind).count();
        match some {
            0 => None,
            _ if some == pair.len() => Some(message!("even-in-all", verdict)),
            few if few <= MOST_NAMED => {
                let named: Vec<String> = of(*kind).map(|one| one.phrase.clone()).collect();
                let named = format::listed(&named, MOST_NAMED);
                Some(message!("even-in-some-named", verdict, some, named))
            }
            _ => Some(message!("even-in-some", verdict, some)),
        }
    });
    let said: Vec<String> = said.collect();
    let said = said.join(", ");
    (measured, message!("even-verdicts", said))
}

/// `3.1`, or `3.1 to 3.4` where they do not look the same.
fn range(values: &[f64], write: impl Fn(f64) -> String) -> String {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = (write(low), write(high));
    match low == high {
        true => low,
        false => message!("even-range", low, high),
    }
}
