//! The text format of Protocol Buffers, as prototxt files are written.

use std::fmt::{Display, Write as _};

/// A message being written: fields one a line, messages in braces.
#[derive(Debug, Default)]
pub(super) struct Text {
    written: String,
    depth: usize,
}

impl Text {
    /// Begins with a comment.
    pub(super) fn about(comment: &str) -> Self {
        let lines = comment.lines().map(|line| format!("# {line}\n"));
        Text {
            written: lines.collect(),
            depth: 0,
        }
    }

    pub(super) fn finish(self) -> String {
        self.written
    }

    /// A number, a truth value, or a word of an enumeration.
    pub(super) fn field(&mut self, name: &str, value: impl Display) -> &mut Self {
        self.line(format_args!("{name}: {value}"))
    }

    pub(super) fn text(&mut self, name: &str, value: &str) -> &mut Self {
        self.line(format_args!("{name}: \"{}\"", escaped(value)))
    }

    pub(super) fn message(&mut self, name: &str, fill: impl FnOnce(&mut Text)) -> &mut Self {
        self.line(format_args!("{name} {{"));
        self.depth += 1;
        fill(self);
        self.depth -= 1;
        self.line(format_args!("}}"))
    }

    fn line(&mut self, line: impl Display) -> &mut Self {
        let indent = 2 * self.depth;
        // Writing to a string cannot fail.
        _ = writeln!(self.written, "{:indent$}{line}", "");
        self
    }
}

/// Quotes, backslashes and control characters as in C; everything else is itself.
fn escaped(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\\' => written.extend(['\\', character]),
            '\n' => written.push_str("\\n"),
            control if control.is_ascii_control() => {
                _ = write!(written, "\\{:03o}", u32::from(control));
            }
            other => written.push(other),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_nest_and_text_is_quoted() {
        let mut text = Text::about("two\nlines");
        text.text("name", "a \"b\" \\ ção\n\u{1}")
            .message("layer", |layer| {
                layer.field("scale", 0.5).message("include", |rule| {
                    rule.field("phase", "TRAIN");
                });
            })
            .field("shuffle", false);
        assert_eq!(
            text.finish(),
            "# two\n# lines\nname: \"a \\\"b\\\" \\\\ ção\\n\\001\"\nlayer {\n  scale: 0.5\n  \
             include {\n    phase: TRAIN\n  }\n}\nshuffle: false\n"
        );
    }
}
