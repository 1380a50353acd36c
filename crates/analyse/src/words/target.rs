//! The way to an accuracy in words.

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
            (false, Some(median)) => format!("{median} (median of all runs)"),
            _ => told.unwrap_or_default(),
        }
    };
    let named = |r: &TargetResult| match r.is_sure() {
        true => r.label.clone(),
        false => format!("{} (in {} of {} runs)", r.label, r.reached, r.runs),
    };
    let mut text = match find(target.cheapest) {
        Some(cheapest) => {
            let cost = cheapest.cost.as_ref();
            let cost = cost.map(|e| format::quantity(e, 1.0).text());
            let cost = format!("{} {}", currency.symbol(), cost.unwrap_or_default());
            let how = if alone { "" } else { " cheapest" };
            let first = format!(
                "{percent} is reached{how} by {}: {cost}, in {}",
                named(cheapest),
                seconds(cheapest)
            );
            match cheapest.scenario == fastest.scenario {
                true => first,
                false => format!(
                    "{first}; fastest by {}, in {}",
                    named(fastest),
                    seconds(fastest)
                ),
            }
        }
        None => {
            let how = if alone { "" } else { " fastest" };
            let (who, when) = (named(fastest), seconds(fastest));
            format!("{percent} is reached{how} by {who}, in {when}")
        }
    };
    let named_if = |wanted: &dyn Fn(&TargetResult) -> bool, name: fn(&TargetResult) -> String| {
        let found = target.scenarios.iter().filter(|r| wanted(r));
        found.map(name).collect::<Vec<String>>()
    };
    let never = named_if(&|r| r.reached == 0, |r| r.label.clone());
    if !never.is_empty() {
        let verb = if never.len() == 1 { "reaches" } else { "reach" };
        text += &format!("; {} never {verb} it", format::listed(&never, 6));
    }
    let mut said = vec![text + "."];
    let named_already = [target.cheapest, target.fastest];
    let sometimes = named_if(
        &|r| r.reached > 0 && !r.is_sure() && !named_already.contains(&Some(r.scenario)),
        |r| format!("{} in {} of {}", r.label, r.reached, r.runs),
    );
    if !sometimes.is_empty() {
        let reached = format::listed(&sometimes, 6);
        said.push(format!("{percent} is not reached in every run: {reached}."));
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
            let runs = format::counted(predicted.runs, "run", "runs");
            format!(
                "Predicted, not measured: {} reaches {percent} {when}, from the learning curves of {runs} that did not reach it.",
                r.label
            )
        })
        .collect();
    let mut refused: Vec<(String, Vec<String>)> = Vec::new();
    for r in &target.scenarios {
        let why = r.not_predicted;
        let why = why.filter(|why| !matches!(why, NotContinued::TooFewEpochs { .. }));
        if let Some(why) = why.map(|why| why.to_string()) {
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
        said.push(format!(
            "Not predicted when {percent} is reached: {refused}."
        ));
    }
    said
}

fn nobody(target: &Target, percent: &str) -> String {
    let told = target.scenarios.iter();
    let best = told
        .filter_map(|r| Some((r, r.accuracy_percent?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let best =
        best.map(|(r, value)| format!(": the best, {}, ends at {}", r.label, accuracy(value)));
    format!("No run reaches {percent}{}.", best.unwrap_or_default())
}

/// `98 %`, `97.25 %`: as it was requested.
pub(crate) fn accuracy(percent: f64) -> String {
    let rounded = (percent * 100.0).round() / 100.0;
    format!("{rounded} %")
}
