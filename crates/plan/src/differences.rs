//! What differs between two versions of a study, for a person.

use model::study::Exclusion;
use model::{Factor, Study};
use serde_json::Value;

use crate::digest::question_parts;

/// More than a person reads in one message.
const LONGEST_VALUE: usize = 80;

/// One line for each difference that decides which runs there are and what they do:
/// `n: 200, 400 → 200, 400, 600`. Empty where both ask for the same runs.
pub fn differences(before: &Study, now: &Study) -> Vec<String> {
    let mut all = of_factors(&before.factors, &now.factors);
    if before.repetitions != now.repetitions {
        all.push(changed(
            "repetitions",
            &before.repetitions.to_string(),
            &now.repetitions.to_string(),
        ));
    }
    if before.exclude != now.exclude {
        let rules = |rules: &[Exclusion]| match rules.len() {
            1 => "1 rule".to_owned(),
            count => format!("{count} rules"),
        };
        all.push(changed(
            "exclude",
            &rules(&before.exclude),
            &rules(&now.exclude),
        ));
    }
    if before.design != now.design {
        let (old, new) = (before.design.word(), now.design.word());
        all.push(match old == new {
            true => format!("settings of the design `{new}`"),
            false => changed("design", old, new),
        });
    }
    compare("", &question_parts(before), &question_parts(now), &mut all);
    all
}

fn of_factors(before: &[Factor], now: &[Factor]) -> Vec<String> {
    let mut all = Vec::new();
    let levels = |factor: &Factor| {
        let levels: Vec<String> = factor.levels.iter().map(ToString::to_string).collect();
        levels.join(", ")
    };
    for factor in before {
        match now.iter().find(|other| other.name == factor.name) {
            None => all.push(format!("factor `{}` removed", factor.name)),
            Some(other) if other.levels != factor.levels => {
                all.push(changed(&factor.name, &levels(factor), &levels(other)));
            }
            Some(_) => {}
        }
    }
    let is_known = |factor: &&Factor| before.iter().any(|other| other.name == factor.name);
    for factor in now.iter().filter(|factor| !is_known(factor)) {
        all.push(format!("factor `{}` added", factor.name));
    }
    let names = |factors: &[Factor]| -> Vec<String> {
        factors.iter().map(|factor| factor.name.clone()).collect()
    };
    let (before, now) = (names(before), names(now));
    let is_permuted = before.len() == now.len() && before.iter().all(|name| now.contains(name));
    if is_permuted && before != now {
        all.push(changed(
            "order of factors",
            &before.join(", "),
            &now.join(", "),
        ));
    }
    all
}

fn compare(path: &str, before: &Value, now: &Value, all: &mut Vec<String>) {
    if before == now {
        return;
    }
    let (Value::Object(old), Value::Object(new)) = (before, now) else {
        all.push(changed(path, &said(before), &said(now)));
        return;
    };
    let mut keys: Vec<&String> = old.keys().chain(new.keys()).collect();
    keys.sort();
    keys.dedup();
    for key in keys {
        let path = match path {
            "" => key.clone(),
            path => format!("{path}.{key}"),
        };
        let nothing = Value::Null;
        let side = |object: &serde_json::Map<String, Value>| object.get(key).cloned();
        let (old, new) = (side(old), side(new));
        compare(
            &path,
            old.as_ref().unwrap_or(&nothing),
            new.as_ref().unwrap_or(&nothing),
            all,
        );
    }
}

fn said(value: &Value) -> String {
    match value {
        Value::Null => "not set".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(words) if words.iter().all(Value::is_string) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            words.join(" ")
        }
        other => other.to_string(),
    }
}

fn changed(what: &str, before: &str, now: &str) -> String {
    format!("{what}: {} → {}", shortened(before), shortened(now))
}

/// On one line, its end where it is long.
fn shortened(text: &str) -> String {
    let line = text.replace(char::is_control, " ");
    match line.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
