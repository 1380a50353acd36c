use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::Span;
use crate::screen::{redacted, safe};

/// Mistakes of one file that are shown; the rest is counted.
pub const MOST_SHOWN: usize = 20;
/// Columns of a line of the file that are shown around an error.
const WIDEST_LINE: usize = 320;
const MOST_KNOWN: usize = 80;

/// One error: what, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub message: String,
    pub span: Option<Span>,
    /// Stands after the carets: `did you mean …?`
    pub label: Option<String>,
    /// Lines of their own below: `known: …`
    pub notes: Vec<String>,
    /// A second place that the error is about.
    pub other: Option<(Span, String)>,
}

impl Diagnostic {
    pub fn at(span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            span: Some(span),
            ..Diagnostic::whole(message)
        }
    }

    /// About the whole file.
    pub fn whole(message: impl Into<String>) -> Self {
        Diagnostic {
            message: message.into(),
            span: None,
            label: None,
            notes: Vec::new(),
            other: None,
        }
    }

    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    pub fn other(mut self, span: Span, label: impl Into<String>) -> Self {
        self.other = Some((span, label.into()));
        self
    }

    /// An unknown word: suggests the nearest known one and lists them all.
    pub fn unknown<'k>(
        kind: &str,
        word: &str,
        span: Span,
        known: impl IntoIterator<Item = &'k str> + Clone,
    ) -> Self {
        let mut diagnostic = Diagnostic::at(span, format!("unknown {kind} `{word}`"));
        if let Some(meant) = crate::closest(word, known.clone()) {
            diagnostic = diagnostic.label(format!("did you mean `{meant}`?"));
        }
        // A key that is read twice is known once.
        let mut seen = BTreeSet::new();
        let known = few_of(known.into_iter().filter(|word| seen.insert(*word)));
        if !known.is_empty() {
            diagnostic = diagnostic.note(format!("known: {known}"));
        }
        diagnostic
    }
}

/// `a, b, c and 12 more`, so that a list of thousands does not bury the error.
pub fn few_of<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> String {
    let mut words = words.into_iter();
    let mut text = String::new();
    for word in words.by_ref().take(MOST_KNOWN) {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(word.as_ref());
    }
    match words.count() {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// The errors of one file, gathered while reading goes on.
#[derive(Debug, Default)]
pub struct Problems {
    list: RefCell<Vec<Diagnostic>>,
}

impl Problems {
    pub fn push(&self, diagnostic: Diagnostic) {
        self.list.borrow_mut().push(diagnostic);
    }

    pub fn is_empty(&self) -> bool {
        self.list.borrow().is_empty()
    }

    /// In the order of the file; those about the whole of it last.
    pub fn into_sorted(self) -> Vec<Diagnostic> {
        let mut list = self.list.into_inner();
        list.sort_by_key(|d| d.span.as_ref().map_or(usize::MAX, |s| s.start));
        list
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    #[default]
    Plain,
    Coloured,
}

/// A file as the person knows it.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

impl Source<'_> {
    pub fn render_all(&self, diagnostics: &[Diagnostic], style: Style) -> String {
        let shown = diagnostics.iter().take(MOST_SHOWN);
        let mut rendered: Vec<String> = shown.map(|d| self.render(d, style)).collect();
        match diagnostics.len().saturating_sub(MOST_SHOWN) {
            0 => {}
            1 => rendered.push("and 1 more error in this file\n".to_owned()),
            more => rendered.push(format!("and {more} more errors in this file\n")),
        }
        rendered.join("\n")
    }

    pub fn render(&self, diagnostic: &Diagnostic, style: Style) -> String {
        let paint = Paint(style);
        let mut out = format!(
            "{}: {}\n",
            paint.red("error"),
            paint.bold(&sentence(&diagnostic.message))
        );
        let label = diagnostic.label.as_deref().map(sentence);
        match &diagnostic.span {
            Some(span) => self.render_place(&mut out, span, label.as_deref(), paint),
            None => _ = writeln!(out, "  {} {}", paint.blue("┌"), safe(self.name)),
        }
        if let Some((span, label)) = &diagnostic.other {
            self.render_place(&mut out, span, Some(&sentence(label)), paint);
        }
        if let (None, Some(label)) = (&diagnostic.span, &label) {
            _ = writeln!(out, "  {} {label}", paint.blue("="));
        }
        for note in &diagnostic.notes {
            _ = writeln!(out, "  {} {}", paint.blue("="), sentence(note));
        }
        out
    }

    fn render_place(&self, out: &mut String, span: &Span, label: Option<&str>, paint: Paint) {
        let start = floor_char(self.text, span.start);
        let line_start = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = self.text[start..]
            .find('\n')
            .map_or(self.text.len(), |at| start + at);
        let line = self.text[line_start..line_end].trim_end_matches('\r');
        let number = self.text[..line_start].matches('\n').count() + 1;
        let end = floor_char(self.text, span.end.min(line_start + line.len())).max(start);
        let Excerpt {
            text,
            indent,
            carets,
        } = excerpt(line, start - line_start..end - line_start);
        let bar = paint.blue("│");
        _ = writeln!(out, "  {} {}:{number}", paint.blue("┌"), safe(self.name));
        _ = writeln!(out, "  {bar} {text}");
        let marks = format!("{}{}", " ".repeat(indent), paint.red(&"^".repeat(carets)));
        let label = label
            .map(|l| format!(" {}", paint.red(l)))
            .unwrap_or_default();
        _ = writeln!(out, "  {bar} {marks}{label}");
    }
}

/// Messages quote what stands in the file: safe, without passwords, and never a page long.
fn sentence(text: &str) -> String {
    const LONGEST: usize = 2_000;
    crate::screen::shortened(&redacted(&safe(text)), LONGEST)
}

/// The part of a line that is shown, and where the carets go below it.
struct Excerpt {
    text: String,
    indent: usize,
    carets: usize,
}

/// Of a long line only what stands around the error: thousands of errors in one line must not
/// show it thousands of times.
fn excerpt(line: &str, span: Span) -> Excerpt {
    let visible = |c: char| match c {
        '\t' => "    ".to_owned(),
        c if crate::screen::is_hidden(c) => "·".to_owned(),
        c => c.to_string(),
    };
    let line = redacted(line);
    // Asterisks may take fewer bytes than what they hide, which stands inside the span.
    let start = floor_char(&line, span.start);
    let end = floor_char(&line, span.end).max(start);
    let show = |text: &str| text.chars().map(visible).collect::<String>();
    let room = WIDEST_LINE / 2;
    let mut before: Vec<char> = line[..start].chars().rev().take(room + 1).collect();
    let cut_before = before.len() > room;
    before.truncate(room);
    let before: String = before.into_iter().rev().collect();
    let marked: String = line[start..end].chars().take(room).collect();
    let rest = &line[start + marked.len()..];
    let after: String = rest.chars().take(room).collect();
    let cut_after = after.len() < rest.len();
    let (lead, trail) = (
        if cut_before { "…" } else { "" },
        if cut_after { "…" } else { "" },
    );
    let (before, marked) = (show(&before), show(&marked));
    Excerpt {
        indent: lead.chars().count() + before.chars().count(),
        carets: marked.chars().count().max(1),
        text: format!("{lead}{before}{marked}{}{trail}", show(&after)),
    }
}

/// The nearest place at or before `at` where a character begins.
fn floor_char(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[derive(Clone, Copy)]
struct Paint(Style);

impl Paint {
    fn red(self, text: &str) -> String {
        self.wrap(text, "1;31")
    }

    fn blue(self, text: &str) -> String {
        self.wrap(text, "34")
    }

    fn bold(self, text: &str) -> String {
        self.wrap(text, "1")
    }

    fn wrap(self, text: &str, code: &str) -> String {
        match self.0 {
            Style::Plain => text.to_owned(),
            Style::Coloured => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_shows_line_caret_and_hint() {
        let source = Source {
            name: "study.toml",
            text: "a = 1\nnetwork = [\"redee1\", \"rede2\"]\n",
        };
        let diagnostic = Diagnostic::unknown("network", "redee1", 17..25, ["rede1", "rede2"]);
        let expected = "error: unknown network `redee1`\n  ┌ study.toml:2\n  │ network = [\"redee1\", \"rede2\"]\n  │            ^^^^^^^^ did you mean `rede1`?\n  = known: rede1, rede2\n";
        assert_eq!(source.render(&diagnostic, Style::Plain), expected);
    }

    #[test]
    fn thousands_of_mistakes_are_counted() {
        let text = "x".repeat(1_000_000);
        let source = Source {
            name: "s.toml",
            text: &text,
        };
        let mistakes: Vec<Diagnostic> = (0..20_000)
            .map(|at| Diagnostic::at(at * 50..at * 50 + 50, "wrong"))
            .collect();
        let shown = source.render_all(&mistakes, Style::Plain);
        assert!(shown.ends_with("and 19980 more errors in this file\n"));
        assert!(shown.len() < 20_000, "{}", shown.len());
    }

    #[test]
    fn a_long_line_is_cut_around_the_mistake() {
        let text = format!("{}HERE{}", "a".repeat(500), "b".repeat(500));
        let source = Source {
            name: "x",
            text: &text,
        };
        let shown = source.render(&Diagnostic::at(500..504, "wrong"), Style::Plain);
        let lines: Vec<&str> = shown.lines().collect();
        let at = lines[2]
            .find("HERE")
            .map(|at| lines[2][..at].chars().count());
        let caret = lines[3].find('^').map(|at| lines[3][..at].chars().count());
        assert_eq!(at, caret);
        assert!(lines[2].chars().count() < 400);
        assert!(lines[2].ends_with("b…"));
    }

    #[test]
    fn control_codes_and_passwords_of_the_file_are_not_shown() {
        let source = Source {
            name: "x",
            text: "u = \"http://me:geheim@h\" # \u{1b}[2J\u{202e}\n",
        };
        let diagnostic = Diagnostic::at(4..25, "bad `http://me:geheim@h` \u{1b}[2J");
        let shown = source.render(&diagnostic, Style::Plain);
        assert!(!shown.contains("geheim"), "{shown}");
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
        assert!(shown.contains("me:******@h"), "{shown}");
    }

    #[test]
    fn odd_spans_do_not_panic() {
        let source = Source {
            name: "x",
            text: "é = \"日\"\n",
        };
        for start in 0..12 {
            for end in 0..12 {
                source.render(&Diagnostic::at(start..end, "odd"), Style::Coloured);
            }
        }
    }
}
