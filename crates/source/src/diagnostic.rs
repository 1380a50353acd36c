use std::fmt::Write as _;

use crate::Span;

/// One mistake: what, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub message: String,
    pub span: Option<Span>,
    /// Stands after the carets: `did you mean …?`
    pub label: Option<String>,
    /// Lines of their own below: `known: …`
    pub notes: Vec<String>,
    /// A second place that the mistake is about.
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
        let list: Vec<&str> = known.into_iter().collect();
        if !list.is_empty() {
            diagnostic = diagnostic.note(format!("known: {}", list.join(", ")));
        }
        diagnostic
    }
}

/// The mistakes of one file, gathered while reading goes on.
#[derive(Debug, Default)]
pub struct Problems {
    list: Vec<Diagnostic>,
}

impl Problems {
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// In the order of the file; those about the whole of it last.
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.list
            .sort_by_key(|d| d.span.as_ref().map_or(usize::MAX, |s| s.start));
        self.list
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
        let rendered: Vec<String> = diagnostics.iter().map(|d| self.render(d, style)).collect();
        rendered.join("\n")
    }

    pub fn render(&self, diagnostic: &Diagnostic, style: Style) -> String {
        let paint = Paint(style);
        let mut out = format!(
            "{}: {}\n",
            paint.red("error"),
            paint.bold(&diagnostic.message)
        );
        match &diagnostic.span {
            Some(span) => self.render_place(&mut out, span, diagnostic.label.as_deref(), paint),
            None => _ = writeln!(out, "  {} {}", paint.blue("┌"), self.name),
        }
        if let Some((span, label)) = &diagnostic.other {
            self.render_place(&mut out, span, Some(label), paint);
        }
        if let (None, Some(label)) = (&diagnostic.span, &diagnostic.label) {
            _ = writeln!(out, "  {} {label}", paint.blue("="));
        }
        for note in &diagnostic.notes {
            _ = writeln!(out, "  {} {note}", paint.blue("="));
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
        let show = |text: &str| {
            text.replace('\t', "    ")
                .replace(|c: char| c.is_control(), "·")
        };
        let indent = show(&self.text[line_start..start]).chars().count();
        let carets = show(&self.text[start..end]).chars().count().max(1);
        _ = writeln!(out, "  {} {}:{number}", paint.blue("┌"), self.name);
        _ = writeln!(out, "  {} {}", paint.blue("│"), show(line));
        let marks = format!("{}{}", " ".repeat(indent), paint.red(&"^".repeat(carets)));
        let label = label
            .map(|l| format!(" {}", paint.red(l)))
            .unwrap_or_default();
        _ = writeln!(out, "  {} {marks}{label}", paint.blue("│"));
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
