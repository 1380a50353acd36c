//! Text broken into lines. Widths, padding and what makes text safe to show are `diagnostics::screen`'s.

use std::fmt::Display;

pub(crate) use diagnostics::screen::{pad_left, pad_right, shortened, shortened_apart, width};

/// As `diagnostics::screen::safe`, owned.
pub(crate) fn safe(text: &str) -> String {
    diagnostics::screen::safe(text).into_owned()
}

/// `2026-11-18 16:00 UTC`, the day in the language's order.
pub(crate) fn minute(moment: model::Timestamp) -> String {
    let day = messages::date(&moment.strftime("%Y-%m-%d").to_string());
    format!("{day} {}", moment.strftime("%H:%M UTC"))
}

/// Lines of at most `most` columns, broken between words; a longer word gets a line of its own.
pub(crate) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    // A space inside a number with its unit, or inside an interval, is no place to break.
    for word in unbroken(text, most) {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(&word) <= most => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

fn unbroken(text: &str, most: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let inside = words
            .last()
            .is_some_and(|w| w.starts_with('[') && !w.contains(']') && width(w) < 24);
        let unit = matches!(word, "%" | "s" | "ms" | "MB" | "GB" | "px" | "±")
            || words.last().is_some_and(|w| w.ends_with(['$', '<', '±']));
        match words.last_mut() {
            Some(last) if (inside || unit) && width(last) + 1 + width(word) <= most => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// A number as a program writes it, with the language's decimal mark.
pub(crate) fn decimal(number: impl Display) -> String {
    let mark = messages::decimal_mark().to_string();
    number.to_string().replace('.', &mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_to_the_width() {
        let lines = wrapped("64 px takes 2.9× as long as 32 px [2.8, 3.0]", 20);
        assert_eq!(
            lines,
            ["64 px takes 2.9× as", "long as 32 px", "[2.8, 3.0]"]
        );
        assert_eq!(wrapped("", 10), Vec::<String>::new());
        assert_eq!(wrapped("incomprehensibility", 5), ["incomprehensibility"]);
    }
}
