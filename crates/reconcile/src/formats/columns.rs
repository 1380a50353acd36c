//! Which column of a file holds what.

use super::Format;
use super::layout::{Field, Layout, layouts};
use super::tags::is_key;
use crate::charge::Tag;
use crate::values::DayOrder;

pub(super) struct Columns {
    pub(super) layout: &'static Layout,
    places: [Option<usize>; Field::COUNT],
    /// The column of the tag requested, in formats that give every tag a column.
    pub(super) tag: Option<usize>,
    /// What dates such as 03/04/2024 mean until one of them proves it.
    pub(super) order: DayOrder,
    /// As the file writes them.
    header: Vec<String>,
}

impl Columns {
    /// Fails with the format that it is nearest to and what that one still needs, if there is one.
    pub(super) fn find(header: &[String], tag: &Tag) -> Result<Columns, Option<String>> {
        let keys: Vec<String> = header.iter().map(|name| key_of(name)).collect();
        let mut nearest: Option<(usize, String)> = None;
        for layout in layouts() {
            let places = places(layout, &keys);
            let needed = layout.needed.iter();
            let missing = needed.filter(|field| places[**field as usize].is_none());
            let missing: Vec<&str> = missing.map(|f| preferred_name(layout, *f)).collect();
            if missing.is_empty() {
                return Ok(Columns {
                    layout,
                    places,
                    tag: tag_column(layout, header, tag),
                    order: day_order(header),
                    header: header.to_vec(),
                });
            }
            let found = places.iter().flatten().count();
            if found >= 3 && nearest.as_ref().is_none_or(|(most, _)| found > *most) {
                let title = layout.format.title();
                let missing = missing.join(", ");
                let near = format!("the most similar format is {title}, but {missing} is missing");
                nearest = Some((found, near));
            }
        }
        Err(nearest.map(|(_, near)| near))
    }

    pub(super) fn format(&self) -> Format {
        self.layout.format
    }

    pub(super) fn place(&self, field: Field) -> Option<usize> {
        self.places[field as usize]
    }

    /// What the file calls a column.
    pub(super) fn name(&self, field: Field) -> &str {
        let own = self.place(field).and_then(|place| self.header.get(place));
        own.map_or_else(|| preferred_name(self.layout, field), String::as_str)
    }

    pub(super) fn width(&self) -> usize {
        self.header.len()
    }
}

fn places(layout: &Layout, keys: &[String]) -> [Option<usize>; Field::COUNT] {
    let mut places = [None; Field::COUNT];
    for (field, names) in &layout.columns {
        places[*field as usize] = names
            .iter()
            .find_map(|name| keys.iter().position(|key| *key == key_of(name)));
    }
    places
}

fn preferred_name(layout: &'static Layout, field: Field) -> &'static str {
    let names = layout.columns.get(&field);
    names
        .and_then(|names| names.first())
        .map_or("?", String::as_str)
}

/// Letters and digits alone, in lower case; of `Ressourcengruppe (ResourceGroup)` what is in
/// brackets.
fn key_of(name: &str) -> String {
    let name = in_brackets(name).unwrap_or(name);
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

fn in_brackets(name: &str) -> Option<&str> {
    let (_, rest) = name.trim().strip_suffix(')')?.rsplit_once('(')?;
    (!rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric())).then_some(rest)
}

/// English exports write the month first; translated ones are taken to write the day first.
fn day_order(header: &[String]) -> DayOrder {
    let is_translated = |name: &String| {
        in_brackets(name).is_some_and(|inside| !name.trim().starts_with(inside))
            || !name.is_ascii()
            || ["Fecha", "Datum", "Data"].contains(&name.trim())
    };
    match header.iter().any(is_translated) {
        true => DayOrder::DayFirst,
        false => DayOrder::MonthFirst,
    }
}

fn tag_column(layout: &Layout, header: &[String], tag: &Tag) -> Option<usize> {
    layout.tag_prefixes.iter().find_map(|prefix| {
        header.iter().position(|name| {
            name.strip_prefix(prefix.as_str())
                .is_some_and(|key| is_key(key, &tag.key))
        })
    })
}

/// The most frequent of the usual ones in any of the first lines, outside quotes.
pub(super) fn delimiter(head: &[u8]) -> u8 {
    let most = |delimiter: u8| {
        let lines = head.split(|b| *b == b'\n').take(super::TALK_LINES);
        lines.map(|line| count(line, delimiter)).max().unwrap_or(0)
    };
    let mut best = b',';
    for other in [b';', b'\t', b'|'] {
        if most(other) > most(best) {
            best = other;
        }
    }
    best
}

fn count(line: &[u8], delimiter: u8) -> usize {
    let mut quoted = false;
    let outside = line.iter().filter(|b| {
        quoted ^= **b == b'"';
        **b == delimiter && !quoted
    });
    outside.count()
}
