//! Text on a screen of fixed characters: widths, padding, wrapping. Whatever comes from a file is
//! made safe first, so that a level's name cannot send control codes to the terminal.

/// Without control characters, which a terminal would obey.
pub(crate) fn safe(text: &str) -> String {
    let is_format = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars()
        .map(|c| {
            if c.is_control() || is_format(c) {
                ' '
            } else {
                c
            }
        })
        .collect()
}

/// Columns the text takes: two for East Asian characters, none for combining marks.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    match c as u32 {
        0x0300..=0x036f | 0x1ab0..=0x1aff | 0x20d0..=0x20ff | 0xfe00..=0xfe0f | 0xfe20..=0xfe2f => {
            0
        }
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe4f => {
            2
        }
        0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

pub(crate) fn pad_right(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}

pub(crate) fn pad_left(text: &str, to: usize) -> String {
    format!("{}{text}", " ".repeat(to.saturating_sub(width(text))))
}

/// At most so many columns, with `…` where something was cut.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        if width(&out) + char_width(c) + 1 > most {
            break;
        }
        out.push(c);
    }
    out + "…"
}

/// Lines of at most `most` columns, broken between words; a longer word gets a line of its own.
pub(crate) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    // A space inside a number with its unit, or inside an interval, is no place to break.
    for word in unbroken(text) {
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

fn unbroken(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let inside = words
            .last()
            .is_some_and(|w| w.starts_with('[') && !w.contains(']') && width(w) < 24);
        let unit = matches!(word, "%" | "s" | "ms" | "MB" | "GB" | "px" | "±")
            || words.last().is_some_and(|w| w.ends_with(['$', '<', '±']));
        match words.last_mut() {
            Some(last) if inside || unit => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
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

    #[test]
    fn control_codes_do_not_reach_the_terminal() {
        assert_eq!(safe("a\u{1b}[31mb\n"), "a [31mb ");
    }

    #[test]
    fn widths_count_columns() {
        assert_eq!(width("µ±×"), 3);
        assert_eq!(width("网络"), 4);
        assert_eq!(shortened("mobilenet", 6), "mobil…");
        assert_eq!(pad_left("é", 3), "  é");
    }
}
