//! `[factors]`: what is varied. Any names; a list of levels, a single one, or a range.

use diagnostics::screen::is_hidden;
use diagnostics::{Located, Problems, Table, Value};
use model::Level;

use super::draft::DraftFactor;
use super::take;
use crate::scenarios::same_level;

/// More levels than anyone measures; a range beyond it is a slip of the finger.
const MAX_LEVELS: usize = 10_000;

pub(crate) fn read(top: &Table<'_>) -> Vec<DraftFactor> {
    let Some(table) = top.table("factors") else {
        return Vec::new();
    };
    table
        .entries()
        .map(|(name, value)| DraftFactor {
            name: name.clone().map(str::to_owned),
            levels: read_levels(name.value, value),
        })
        .collect()
}

fn read_levels(name: &str, value: &Value<'_>) -> Vec<Located<Level>> {
    let is_empty = |items: Vec<Value<'_>>| items.is_empty();
    if value.kind() == "array" && value.array(name).is_some_and(is_empty) {
        let empty = value.wrong(format!("factor `{name}` has no levels"));
        value.complain(empty.label("list at least one, or remove the factor"));
    }
    let levels = match value.kind() {
        "table" => read_range(name, value),
        _ => take::levels(value, name),
    };
    let levels = without_hidden(name, levels, value.problems);
    let levels = without_mixed(name, levels, value.problems);
    let levels = without_doubles(name, levels, value.problems);
    alike_numbers(levels)
}

/// `{ from = 1, to = 24, step = 1 }` or `{ powers_of = 2, from = 1, to = 512 }`.
fn read_range(name: &str, value: &Value<'_>) -> Vec<Located<Level>> {
    let Some(table) = value.table(&format!("factors.{name}")) else {
        return Vec::new();
    };
    let from = table.required("from").and_then(|v| v.integer("from"));
    let to = table.required("to").and_then(|v| v.integer("to"));
    let step = take::whole(&table, "step", 1..=i64::MAX);
    let base = take::whole(&table, "powers_of", 2..=i64::MAX);
    table.finish();
    let (Some(from), Some(to)) = (from.map(|f| f.value), to.map(|t| t.value)) else {
        return Vec::new();
    };
    let complaint = match (&base, &step) {
        (Some(_), Some(_)) => Some("a range can have `step` or `powers_of`, not both"),
        (Some(_), None) if from < 1 => Some("with `powers_of`, `from` must be 1 or more"),
        _ if to < from => Some("`to` must not be below `from`"),
        _ => None,
    };
    let next = |last: &i64| match &base {
        Some(base) => last.checked_mul(base.value),
        None => last.checked_add(step.as_ref().map_or(1, |s| s.value)),
    };
    let numbers = std::iter::successors(Some(from), next).take_while(|number| *number <= to);
    let numbers: Vec<i64> = match complaint {
        Some(_) => Vec::new(),
        None => numbers.take(MAX_LEVELS + 1).collect(),
    };
    let too_many = (numbers.len() > MAX_LEVELS).then_some("a range can have at most 10000 levels");
    if let Some(complaint) = complaint.or(too_many) {
        value.complain(value.wrong(complaint));
        return Vec::new();
    }
    let level = |number| Located::new(Level::Int(number), value.span.clone());
    numbers.into_iter().map(level).collect()
}

/// A level stands in tables, file names and on screens: what cannot be seen there is refused.
fn without_hidden(
    name: &str,
    levels: Vec<Located<Level>>,
    problems: &Problems,
) -> Vec<Located<Level>> {
    let hidden = |level: &Located<Level>| level.value.as_text()?.chars().find(|c| is_hidden(*c));
    let (bad, good): (Vec<_>, Vec<_>) = levels.into_iter().partition(|l| hidden(l).is_some());
    for level in &bad {
        let c = hidden(level).unwrap_or_default() as u32;
        let message = format!("a level of `{name}` contains a control character (U+{c:04X})");
        let diagnostic = level.wrong(message);
        problems.push(diagnostic.label("use visible characters only"));
    }
    good
}

/// Levels of one factor are of one kind; the first decides.
fn without_mixed(
    name: &str,
    levels: Vec<Located<Level>>,
    problems: &Problems,
) -> Vec<Located<Level>> {
    let Some(first) = levels.first().cloned() else {
        return levels;
    };
    let (odd, alike): (Vec<_>, Vec<_>) = levels
        .into_iter()
        .partition(|level| kind(&level.value) != kind(&first.value));
    if let Some(level) = odd.first() {
        let message = format!("levels of `{name}` have different types");
        problems.push(
            level
                .wrong(message)
                .label(format!("this is {}", kind(&level.value)))
                .other(first.span, format!("this is {}", kind(&first.value))),
        );
    }
    alike
}

fn without_doubles(
    name: &str,
    levels: Vec<Located<Level>>,
    problems: &Problems,
) -> Vec<Located<Level>> {
    let mut unique: Vec<Located<Level>> = Vec::new();
    // Ranges have no doubles, and searching thousands of levels for them would take long.
    let searched = levels.len().min(1000);
    for (index, level) in levels.into_iter().enumerate() {
        let first = match index < searched {
            true => unique.iter().find(|u| same_level(&u.value, &level.value)),
            false => None,
        };
        match first {
            Some(first) => problems.push(
                level
                    .wrong(format!(
                        "level `{}` of `{name}` is listed twice",
                        level.value
                    ))
                    .other(first.span.clone(), "first here"),
            ),
            None => unique.push(level),
        }
    }
    unique
}

/// `[1, 2.5]` are two floats.
fn alike_numbers(mut levels: Vec<Located<Level>>) -> Vec<Located<Level>> {
    if levels.iter().any(|l| matches!(l.value, Level::Float(_))) {
        for level in &mut levels {
            if let Some(number) = level.value.as_float() {
                level.value = Level::Float(number);
            }
        }
    }
    levels
}

fn kind(level: &Level) -> &'static str {
    match level {
        Level::Text(_) => "a string",
        Level::Int(_) | Level::Float(_) => "a number",
        Level::Bool(_) => "true or false",
    }
}
