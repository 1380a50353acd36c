//! Break-evens in sentences: one for each two environments, whatever else varies.

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
                    Some(_) => {
                        ", though within the interval of the times it may never happen,".to_owned()
                    }
                    None => ", without an interval,".to_owned(),
                },
                |i| format!(" {}", format::interval(i.low, i.high, number)),
            );
            format!(
                "From {} hours of work per month{ends} on, buying {own} is cheaper than renting {rented}.",
                number(hours.value)
            )
        }
        (Buying::NotWithinAMonth, Some(hours)) => format!(
            "Buying {own} would be cheaper than renting {rented} from {} hours of work per month on, more than a month has.",
            number(hours.value)
        ),
        (Buying::Inconclusive, _) => format!(
            "Whether buying {own} becomes cheaper than renting {rented} within a month is inconclusive: by the mean times it does not, within their interval it may."
        ),
        _ => format!(
            "Renting {rented} costs no more than the electricity of {own} for the same work: buying is never cheaper."
        ),
    }
}

fn buying_many(first: &BuyOrRent, pair: &[&BuyOrRent]) -> String {
    let (own, rented) = (&first.own_environment, &first.rented_environment);
    let pays = pair.iter().filter(|one| one.verdict == Buying::Pays);
    let hours = pays.filter_map(|one| Some(one.hours_per_month.as_ref()?.value));
    let hours: Vec<f64> = hours.collect();
    let all = format::counted(pair.len(), "combination", "combinations");
    let or_open = match pair.iter().any(|one| one.verdict == Buying::Inconclusive) {
        true => ", or that is inconclusive",
        false => "",
    };
    if hours.is_empty() {
        return format!(
            "Buying {own} is not cheaper than renting {rented} within a month, in any of {all}{or_open}."
        );
    }
    let range = range(&hours, format::whole);
    let of = match hours.len() == pair.len() {
        true => format!("over {all}"),
        false => format!(
            "in {} of {all}, in the others not within a month{or_open}",
            format::count(hours.len())
        ),
    };
    format!(
        "From {range} hours of work per month on, buying {own} is cheaper than renting {rented}, {of}."
    )
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
    let pays = match pair.iter().all(|one| one.basis == Basis::Hours) || even == hour {
        true => format!(
            "{expensive} costs {hour} times as much per hour as {cheap}, so it is worth it from a speed-up of {even}"
        ),
        false => format!(
            "{expensive} costs {hour} times as much per hour as {cheap} (as its runs were billed, {even} times for the same time), so it is worth it from that speed-up"
        ),
    };
    let (measured, verdict) = match pair {
        [only] => one_verdict(only),
        _ => many_verdicts(pair),
    };
    format!("{pays}; measured {measured}: {verdict}.")
}

fn one_verdict(one: &ExpensiveMachine) -> (String, String) {
    let times = Times::of(&one.speed_up);
    let measured = times.value + &times.bounds;
    let ratio = one.cost_ratio.value;
    let verdict = match (one.verdict, one.cost_ratio.interval) {
        (CostVerdict::Cheaper, _) => {
            format!("it is {} cheaper", format::percent(1.0 - 1.0 / ratio))
        }
        (CostVerdict::MoreExpensive, _) => costs_more(1.0 / ratio),
        (CostVerdict::Inconclusive, Some(i)) => {
            let inverse = |value: f64| format::percent(1.0 / value);
            let ends = format::interval(i.high, i.low, inverse);
            format!("inconclusive: its cost is {ends} of the other's")
        }
        (CostVerdict::Inconclusive, None) => "inconclusive: too few repetitions".to_owned(),
    };
    (measured, verdict)
}

/// `it costs 3.3 times as much`, `it is 8 % more expensive`.
fn costs_more(times: f64) -> String {
    match times >= 1.25 {
        true => format!("it costs {} times as much", format::bare_ratio(times)),
        false => format!("it is {} more expensive", format::percent(times - 1.0)),
    }
}

/// Combinations; more are in the table.
const MOST_NAMED: usize = 2;

fn many_verdicts(pair: &[&ExpensiveMachine]) -> (String, String) {
    let speeds: Vec<f64> = pair.iter().map(|one| one.speed_up.value).collect();
    let all = format::count(pair.len());
    let measured = format!(
        "{} over {all} combinations",
        range(&speeds, format::bare_ratio)
    );
    let of = |verdict: CostVerdict| pair.iter().filter(move |one| one.verdict == verdict);
    let kinds = [
        (CostVerdict::Cheaper, "cheaper"),
        (CostVerdict::MoreExpensive, "more expensive"),
        (CostVerdict::Inconclusive, "inconclusive"),
    ];
    let said = kinds.iter().filter_map(|(verdict, word)| {
        let count = of(*verdict).count();
        match count {
            0 => None,
            _ if count == pair.len() => Some(format!("{word} in all of them")),
            few if few <= MOST_NAMED => {
                let named: Vec<String> = of(*verdict).map(|one| one.phrase.clone()).collect();
                let named = format::listed(&named, MOST_NAMED);
                Some(format!("{word} in {few} ({named})"))
            }
            _ => Some(format!("{word} in {}", format::count(count))),
        }
    });
    let said: Vec<String> = said.collect();
    (measured, format!("it is {}", said.join(", ")))
}

/// `3.1`, or `3.1 to 3.4` where they do not look the same.
fn range(values: &[f64], write: impl Fn(f64) -> String) -> String {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = (write(low), write(high));
    match low == high {
        true => low,
        false => format!("{low} to {high}"),
    }
}
