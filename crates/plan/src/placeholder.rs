//! `{factor}` in a command is replaced by the level.
//!
//! `{{word}}` is a literal `{word}`, and `${word}` is the shell's own. Braces around anything that
//! is not a word (`{print $1}`, `{"a": 1}`, `{3}`) are left alone.

use std::ops::Range;

/// A part of a text with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece<'t> {
    Literal(&'t str),
    Placeholder { name: &'t str, range: Range<usize> },
}

pub(crate) fn pieces<'t>(text: &'t str, is_factor: impl Fn(&str) -> bool) -> Vec<Piece<'t>> {
    let mut pieces = Vec::new();
    let mut literal_from = 0;
    let mut at = 0;
    while let Some(open) = text[at..].find('{').map(|found| at + found) {
        let rest = &text[open + 1..];
        let Some(length) = rest
            .find(['{', '}'])
            .filter(|end| rest[*end..].starts_with('}'))
        else {
            at = open + 1;
            continue;
        };
        let (name, close) = (&rest[..length], open + 1 + length);
        let doubled = text[..open].ends_with('{') && text[close + 1..].starts_with('}');
        let shell = text[..open].ends_with('$');
        let word = is_word(name) || is_factor(name);
        if word && doubled {
            pieces.push(Piece::Literal(&text[literal_from..open]));
            literal_from = close + 2;
            // One brace of each pair stays: the inner ones.
            let kept = &text[open..=close];
            if let Some(Piece::Literal(before)) = pieces.last_mut() {
                *before = before.strip_suffix('{').unwrap_or(before);
            }
            pieces.push(Piece::Literal(kept));
            at = literal_from;
        } else if word && !shell {
            pieces.push(Piece::Literal(&text[literal_from..open]));
            pieces.push(Piece::Placeholder {
                name,
                range: open..close + 1,
            });
            literal_from = close + 1;
            at = literal_from;
        } else {
            at = open + 1;
        }
    }
    pieces.push(Piece::Literal(&text[literal_from..]));
    pieces
}

/// The text as a study file needs it, so that no brace in it is a placeholder.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (open, _) in text.match_indices('{') {
        let rest = &text[open + 1..];
        let name = rest
            .find(['{', '}'])
            .filter(|end| rest[*end..].starts_with('}'));
        let Some(name) = name.map(|end| &rest[..end]).filter(|name| is_word(name)) else {
            continue;
        };
        if text[..open].ends_with('$') {
            continue;
        }
        let end = open + name.len() + 2;
        out.push_str(&text[from..open]);
        out.push_str(&format!("{{{{{name}}}}}"));
        from = end;
    }
    out.push_str(&text[from..]);
    out
}

/// The text with the levels of a scenario in their places.
pub fn with_levels(text: &str, scenario: &model::Scenario) -> String {
    substitute(text, |name| {
        let mut levels = scenario.levels.iter();
        let level = levels.find(|level| level.factor == name)?;
        Some(level.level.to_string())
    })
}

/// Replaces what `level` knows; other placeholders stay as typed.
pub(crate) fn substitute(text: &str, level: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text, |name| level(name).is_some()) {
        match piece {
            Piece::Literal(literal) => out.push_str(literal),
            Piece::Placeholder { name, range } => match level(name) {
                Some(level) => out.push_str(&level),
                None => out.push_str(&text[range]),
            },
        }
    }
    out
}

fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_take_the_place_of_names_in_braces() {
        let level = |name: &str| match name {
            "batch" => Some("64".to_owned()),
            "image size" => Some("32".to_owned()),
            _ => None,
        };
        let check = |text, expected| assert_eq!(substitute(text, level), expected, "{text}");
        check("--batch={batch}", "--batch=64");
        check("{batch}{batch}", "6464");
        check("{image size} px", "32 px");
        check("{other}", "{other}");
        check("{{batch}}", "{batch}");
        check("{{batch}}{batch}", "{batch}64");
        check("echo ${batch}", "echo ${batch}");
        check("awk '{print $1}'", "awk '{print $1}'");
        check("{\"a\":{\"b\":{batch}}}", "{\"a\":{\"b\":64}}");
        check("{", "{");
        check("}{", "}{");
        check("{{{batch}}}", "{{batch}}");
        check("é{batch}é", "é64é");
        check("", "");
    }

    #[test]
    fn what_is_escaped_is_typed() {
        for text in [
            "{batch}",
            "{{json .}} {{json}}",
            "awk '{print}' ${HOME} {3} {",
            "{a}{{b}}{{{c}}}",
        ] {
            assert_eq!(substitute(&escaped(text), |_| None), text);
            let levels = |name: &str| (name == "batch").then(|| "64".to_owned());
            assert_eq!(substitute(&escaped(text), levels), text);
        }
    }
}
