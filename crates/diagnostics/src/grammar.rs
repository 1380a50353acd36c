//! Text that is not TOML, explained: the parser's message, and what people usually meant.

use toml::de::{DeTable, Error};

use crate::{Diagnostic, Span};

/// Earlier keys of the same name that are tried, and the largest file in which they are, so that
/// reading stays quick.
const MOST_TRIED: usize = 20;
const LARGEST_TRIED: usize = 100_000;

/// `is_among_first` allows work that is too slow to do for thousands of errors.
pub(crate) fn explained(text: &str, error: &Error, is_among_first: bool) -> Diagnostic {
    let span = error.span().unwrap_or(0..0);
    let diagnostic = Diagnostic::at(span.clone(), format!("not TOML: {}", error.message()));
    if error.message() == "duplicate key" {
        let first = is_among_first.then(|| first_of(text, &span));
        return match first.flatten() {
            Some(first) => diagnostic.label("again here").other(first, "first here"),
            None => diagnostic,
        };
    }
    if error.message().contains("escape") && text[..span.start.min(text.len())].ends_with('\\') {
        return diagnostic
            .label("a backslash starts an escape sequence here")
            .note("for a regular expression or a Windows path use single quotes: '\\S+'");
    }
    let shown = text.get(span).unwrap_or_default();
    if shown.contains(['“', '”', '„', '‘', '’', '«', '»']) {
        return diagnostic
            .label("these are typographic quotes")
            .note("write straight quotes: \"text\"");
    }
    diagnostic
}

/// Where the key that stands at `again` was given first.
///
/// A candidate is the right one if the error is gone once it has another name.
fn first_of(text: &str, again: &Span) -> Option<Span> {
    let name = text.get(again.clone()).filter(|name| !name.is_empty())?;
    if text.len() > LARGEST_TRIED {
        return None;
    }
    let earlier = text[..again.start].rmatch_indices(name);
    let candidates = earlier.map(|(start, _)| start..start + name.len());
    let is_first = |span: &Span| {
        let other = "_".repeat(span.len());
        let renamed = format!("{}{other}{}", &text[..span.start], &text[span.end..]);
        let (_, errors) = DeTable::parse_recoverable(&renamed);
        errors.iter().all(|e| e.span().as_ref() != Some(again))
    };
    candidates
        .filter(|span| is_key(text, span))
        .take(MOST_TRIED)
        .find(is_first)
}

/// Whether a key may stand here: where a line, a header or an inline table begins, or after a dot.
fn is_key(text: &str, span: &Span) -> bool {
    let before = text[..span.start].trim_end_matches([' ', '\t', '"', '\'']);
    let after = text[span.end..].trim_start_matches([' ', '\t', '"', '\'']);
    (before.is_empty() || before.ends_with(['\n', '[', '.', '{', ',']))
        && after.starts_with(['=', '.', ']'])
}

#[cfg(test)]
mod tests {
    use crate::{Problems, Source, Style, parse};

    fn shown(text: &str) -> String {
        let problems = Problems::default();
        parse(text, &problems, |_| ());
        let source = Source { name: "x", text };
        source.render_all(&problems.into_sorted(), Style::Plain)
    }

    #[test]
    fn usual_mistakes_get_a_hint() {
        let check = |text, expected| {
            let shown = shown(text);
            assert!(shown.contains(expected), "{shown}");
        };
        check("a = “hi”\n", "write straight quotes");
        check("a = ‘hi’\n", "write straight quotes");
        check("p = \"\\S+\"\n", "use single quotes: '\\S+'");
        check("p = \"C:\\data\"\n", "use single quotes");
    }

    #[test]
    fn a_duplicate_key_shows_the_first() {
        let check = |text: &str, line: usize| {
            let shown = shown(text);
            let place = format!("┌ x:{line}\n");
            let first = shown.rsplit_once("┌").map(|(_, rest)| format!("┌{rest}"));
            let first = first.unwrap_or_default();
            assert!(first.starts_with(&place), "{text}\n{shown}");
            assert!(first.contains("first here"), "{shown}");
        };
        check("a = 1\nb = 2\na = 3\n", 1);
        check("[x]\na = 1\n[y]\na = 2\n[x]\nb = 1\n", 1);
        check("x = 1\nt = { x = 2 }\nx = 3\n", 1);
        check("[p]\na = 1\n[q]\na = 2\na = 3\n", 4);
        check("a.b = 1\nc.b = 1\na.b = 2\n", 1);
    }
}
