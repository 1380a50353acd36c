//! Small readers that every section uses. An invalid value becomes a problem and `None`.

use std::ops::RangeInclusive;

use diagnostics::{Diagnostic, Located, Problems, Span, Table, Value};
use model::Level;

use super::Typed;
use crate::values;

/// Reads a text by a function of [`crate::values`] or another that explains itself.
pub(crate) fn parsed<T>(
    table: &Table<'_>,
    key: &str,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Option<Located<T>> {
    let text = text_of(&table.get(key)?, key)?;
    parse_located(text, parse, table.problems)
}

/// The same for a key that must be there.
pub(crate) fn required_parsed<T>(
    table: &Table<'_>,
    key: &str,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Option<Located<T>> {
    let text = text_of(&table.required(key)?, key)?;
    parse_located(text, parse, table.problems)
}

/// A bare number is passed on too: whoever parses it says which unit is missing.
fn text_of(value: &Value<'_>, key: &str) -> Option<Located<String>> {
    match value.as_number() {
        Some(number) => Some(Located::new(number.to_string(), value.span.clone())),
        None => value.text(key),
    }
}

/// A date in quotes, or bare as TOML has it.
pub(crate) fn date(typed: &Typed<'_>, table: &Table<'_>, key: &str) -> Option<Located<String>> {
    let value = table.get(key)?;
    let text = match value.kind() {
        "datetime" => Located::new(typed.at(&value.span).to_owned(), value.span.clone()),
        _ => text_of(&value, key)?,
    };
    let date = parse_located(text, values::date, table.problems)?;
    if typed.is_future(&date.value) {
        let future = date.wrong(format!("{} is in the future", date.value));
        table.complain(future.label("use the day on which it was read"));
    }
    Some(date)
}

pub(crate) fn parse_located<T>(
    text: Located<String>,
    parse: impl FnOnce(&str) -> Result<T, String>,
    problems: &Problems,
) -> Option<Located<T>> {
    match parse(&text.value) {
        Ok(value) => Some(Located::new(value, text.span)),
        Err(message) => {
            problems.push(text.wrong(message));
            None
        }
    }
}

pub(crate) fn whole(
    table: &Table<'_>,
    key: &str,
    range: RangeInclusive<i64>,
) -> Option<Located<i64>> {
    let number = table.integer(key)?;
    if range.contains(&number.value) {
        return Some(number);
    }
    let (from, to) = (range.start(), range.end());
    let message = match *to == i64::MAX {
        true => format!("`{key}` must be {from} or more"),
        false => format!("`{key}` must be from {from} to {to}"),
    };
    table.complain(number.wrong(message));
    None
}

/// A word out of a list; the kind is for the message: `order`.
pub(crate) fn word<'k>(table: &Table<'_>, key: &str, known: &[&'k str]) -> Option<&'k str> {
    let text = table.text(key)?;
    let found = known.iter().find(|k| **k == text.value).copied();
    if found.is_none() {
        table.complain(Diagnostic::unknown(
            key,
            &text.value,
            text.span,
            known.iter().copied(),
        ));
    }
    found
}

/// A list of texts, none of them empty.
pub(crate) fn texts(value: &Value<'_>, key: &str) -> Vec<Located<String>> {
    let items = value.array(key).unwrap_or_default();
    items.iter().filter_map(|item| item.text(key)).collect()
}

/// One or a list of them.
pub(crate) fn levels(value: &Value<'_>, key: &str) -> Vec<Located<Level>> {
    let items = match value.kind() {
        "array" => value.array(key).unwrap_or_default(),
        _ => vec![value.clone()],
    };
    let levels = items.iter().filter_map(|item| level(item, key));
    levels.collect()
}

/// A text, number or truth value.
pub(crate) fn level(value: &Value<'_>, key: &str) -> Option<Located<Level>> {
    let level = if let Some(text) = value.as_text() {
        Some(Level::Text(text.to_owned()))
    } else if let Some(flag) = value.as_boolean() {
        Some(Level::Bool(flag))
    } else if let Some(integer) = value.as_integer() {
        Some(Level::Int(integer))
    } else {
        value
            .as_number()
            .filter(|n| n.is_finite())
            .map(Level::Float)
    };
    if level.is_none() {
        let message = match value.kind() {
            "integer" => format!("this level of `{key}` is too large a number"),
            "float" => format!("this level of `{key}` is not a finite number"),
            kind => format!(
                "a level of `{key}` must be a string, a number, true or false; this is of type {kind}"
            ),
        };
        value.complain(value.wrong(message));
    }
    level.map(|level| Located::new(level, value.span.clone()))
}

/// The place of a key, for an error about its being there at all.
pub(crate) fn key_span(table: &Table<'_>, key: &str) -> Span {
    table.key_span(key).unwrap_or_else(|| table.span.clone())
}
