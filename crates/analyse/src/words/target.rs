//! The way to an accuracy in words.

use messages::message;
use model::Currency;
use predict::curve::NotContinued;

use crate::continued;
use crate::lists::entry;
use crate::target::{Target, TargetResult};
use crate::words::format;

pub(crate) fn sentences(target: &Target, currency: Currency) -> Vec<String> {
    let percent = target.name();
    let find = |number: Option<u32>| target.scenarios.iter().find(|r| Some(r.scenario) == number);
    if target.scenarios.is_empty() {
        return Vec::new();
    }
    let Some(fastest) = find(target.fastest) else {
        let mut said = vec![nobody(target, &percent)];
        said.extend(predictions(target, &percent));
        return said;
    };
    let alone = target.scenarios.len() == 1;
    let seconds = |r: &TargetResult| {
        let told = r.seconds.as_ref().map(|e| format::duration(e.value));
        let median = r.median.map(|m| format::duration(m.seconds));
        match (r.is_sure(), median) {
            (false, Some(time)) => message!("target-median", time),
            _ => told.unwrap_or_default(),
        }
    };
    let named = |r: &TargetResult| match r.is_sure() {
        true => r.label.clone(),
        false => message!(
            "target-in-some",
            label = r.label,
            reached = r.reached,
            runs = r.runs
        ),
    };
    let mut text = match find(target.cheapest) {
        Some(cheapest) => {
            let cost = cheapest.cost.as_ref();
            let cost = cost.map(|e| format::quantity(e, 1.0).text());
            let cost = format::in_currency(currency, &cost.unwrap_or_default());
            let (who, time) = (named(cheapest), seconds(cheapest));
            let first = message!("target-cheapest", target = percent, alone, who, cost, time);
            let (who, time) = (named(fastest), seconds(fastest));
            match cheapest.scenario == fastest.scenario {
                true => first,
                false => message!("target-cheapest-and-fastest", first, who, time),
            }
        }
        None => {
            let (who, time) = (named(fastest), seconds(fastest));
            message!("target-fastest", target = percent, alone, who, time)
        }
    };
    let named_if = |wanted: &dyn Fn(&TargetResult) -> bool, name: fn(&TargetResult) -> String| {
        let found = target.scenarios.iter().filter(|r| wanted(r));
        found.map(name).collect::<Vec<String>>()
    };
    let never = named_if(&|r| r.reached == 0, |r| r.label.clone());
    if !never.is_empty() {
        let names = format::listed(&never, 6);
        text = message!("target-never", text, names, count = never.len());
    }
    let mut said = vec![text + "."];
    let named_already = [target.cheapest, target.fastest];
    let sometimes = named_if(
        &|r| r.reached > 0 && !r.is_sure() && !named_already.contains(&Some(r.scenario)),
        |r| {
            let (label, reached, runs) = (&r.label, r.reached, r.runs);
            message!("target-some", label, reached, runs)
        },
    );
    if !sometimes.is_empty() {
        let reached = format::listed(&sometimes, 6);
        said.push(message!("target-not-every", target = percent, reached));
    }
    said.extend(predictions(target, &percent));
    said
}

/// Of scenarios in which not every run got there. That a curve is too short to be continued is no news where nobody
/// expects it: it is in the table.
fn predictions(target: &Target, percent: &str) -> Vec<String> {
    const MOST: usize = 3;
    let known = target.scenarios.iter();
    let known = known.filter_map(|r| Some((r, r.predicted.as_ref()?)));
    let mut said: Vec<String> = known
        .take(MOST)
        .map(|(r, predicted)| {
            let when = continued::words(predicted);
            let runs = predicted.runs;
            message!(
                "target-predicted",
                label = r.label,
                target = percent,
                when,
                runs
            )
        })
        .collect();
    let mut refused: Vec<(String, Vec<String>)> = Vec::new();
    for r in &target.scenarios {
        let why = r.not_predicted;
        let why = why.filter(|why| !matches!(why, NotContinued::TooFewEpochs { .. }));
        if let Some(why) = why.map(continued::refusal) {
            let new = || (why.clone(), Vec::new());
            let (_, labels) = entry(&mut refused, |(known, _)| *known == why, new);
            labels.push(r.label.clone());
        }
    }
    let named = refused.iter();
    let named = named.map(|(why, labels)| format!("{} ({why})", format::listed(labels, 6)));
    let refused: Vec<String> = named.collect();
    if !refused.is_empty() {
        let refused = format::listed(&refused, MOST);
        said.push(message!("target-not-predicted", target = percent, refused));
    }
    said
}

fn nobody(target: &Target, percent: &str) -> String {
    let told = target.scenarios.iter();
    let best = told
        .filter_map(|r| Some((r, r.accuracy_percent?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    match best {
        Some((r, value)) => message!(
            "target-nobody-best",
            target = percent,
            label = r.label,
            accuracy = accuracy(value)
        ),
        None => message!("target-nobody", target = percent),
    }
}

/// `98 %`, `97.25 %`: as it was requested.
pub(crate) fn accuracy(percent: f64) -> String {
    let rounded = (percent * 100.0).round() / 100.0;
    format!("{} %", messages::number(&rounded.to_string()))
}
