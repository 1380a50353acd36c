//! `[factors]`: what is varied. Any names; a list of levels, a single one, or a range.

use model::Level;
use source::screen::is_hidden;
use source::{Diagnostic, Located, Problems, Table, Value};

use super::draft::DraftFactor;
use super::take;
use crate::design::same_level;

/// More levels than anyone measures; a range beyond it is a slip of the finger.
const MAX_LEVELS: usize = 10_000;

pub(crate) fn read(top: &Table<'_>, problems: &mut Problems) -> Vec<DraftFactor> {
    let Some(table) = top.table("factors", problems) else {
        return Vec::new();
    };
    table
        .entries()
        .map(|(name, value)| DraftFactor {
            name: Located {
                value: name.value.to_owned(),
                span: name.span.clone(),
            },
            levels: read_levels(name.value, value, problems),
        })
        .collect()
}

fn read_levels(name: &str, value: &Value<'_>, problems: &mut Problems) -> Vec<Located<Level>> {
    let levels: Vec<Located<Level>> = match value.kind() {
        "array" => {
            let items = value.array(name, problems).unwrap_or_default();
            if items.is_empty() {
                let empty =
                    Diagnostic::at(value.span.clone(), format!("factor `{name}` has no levels"));
                problems.push(empty.label("list at least one, or remove the factor"));
            }
            items
                .iter()
                .filter_map(|item| take::level(item, name, problems))
                .collect()
        }
        "table" => read_range(name, value, problems),
        _ => take::level(value, name, problems).into_iter().collect(),
    };
    let levels = without_hidden(name, levels, problems);
    let levels = without_mixed(name, levels, problems);
    let levels = without_doubles(name, levels, problems);
    alike_numbers(levels)
}

/// `{ from = 1, to = 24, step = 1 }` or `{ powers_of = 2, from = 1, to = 512 }`.
fn read_range(name: &str, value: &Value<'_>, problems: &mut Problems) -> Vec<Located<Level>> {
    let Some(table) = value.table(&format!("factors.{name}"), problems) else {
        return Vec::new();
    };
    let from = table
        .required("from", problems)
        .and_then(|v| v.integer("from", problems));
    let to = table
        .required("to", problems)
        .and_then(|v| v.integer("to", problems));
    let step = take::whole(&table, "step", 1..=i64::MAX, problems);
    let base = take::whole(&table, "powers_of", 2..=i64::MAX, problems);
    table.finish(problems);
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
        problems.push(Diagnostic::at(value.span.clone(), complaint));
        return Vec::new();
    }
    let level = |number| Located {
        value: Level::Int(number),
        span: value.span.clone(),
    };
    numbers.into_iter().map(level).collect()
}

/// A level stands in tables, file names and on screens: what cannot be seen there is refused.
fn without_hidden(
    name: &str,
    levels: Vec<Located<Level>>,
    problems: &mut Problems,
) -> Vec<Located<Level>> {
    let hidden = |level: &Located<Level>| level.value.as_text()?.chars().find(|c| is_hidden(*c));
    let (bad, good): (Vec<_>, Vec<_>) = levels.into_iter().partition(|l| hidden(l).is_some());
    for level in &bad {
        let c = hidden(level).unwrap_or_default() as u32;
        let message = format!("a level of `{name}` contains a control character (U+{c:04X})");
        let diagnostic = Diagnostic::at(level.span.clone(), message);
        problems.push(diagnostic.label("use visible characters only"));
    }
    good
}

/// Levels of one factor are of one kind; the first decides.
fn without_mixed(
    name: &str,
    levels: Vec<Located<Level>>,
    problems: &mut Problems,
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
            Diagnostic::at(level.span.clone(), message)
                .label(format!("this is {}", kind(&level.value)))
                .other(first.span, format!("this is {}", kind(&first.value))),
        );
    }
    alike
}

fn without_doubles(
    name: &str,
    levels: Vec<Located<Level>>,
    problems: &mut Problems,
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
                Diagnostic::at(
                    level.span,
                    format!("level `{}` of `{name}` is listed twice", level.value),
                )
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
