//! Text on its way to a person: safe to show, of a known width, short enough for its column.
//! Whatever comes from a file, a log or a record passes [`safe`] on its way into
//! a table and [`escaped`] on its way to the screen, so that it cannot send control codes to a terminal.

use std::borrow::Cow;

/// What a terminal obeys or hides instead of showing: control characters, and the format
/// characters that reorder text or have no width (UAX #9, UTR #36).
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{061c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// One line: every hidden character becomes a space.
pub fn safe(text: &str) -> Cow<'_, str> {
    replaced(text, is_hidden)
}

/// What is printed as it is: hidden characters become visible as `\u001b`, which is right in JSON
/// too. Tabs and line ends stay.
pub fn escaped(text: &str) -> Cow<'_, str> {
    let plain = |c: char| !is_hidden(c) || matches!(c, '\n' | '\t');
    if text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let ends_line = c == '\r' && chars.peek() == Some(&'\n');
        if plain(c) || ends_line {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    Cow::Owned(out)
}

fn replaced(text: &str, is_bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    match text.contains(&is_bad) {
        false => Cow::Borrowed(text),
        true => Cow::Owned(
            text.chars()
                .map(|c| if is_bad(c) { ' ' } else { c })
                .collect(),
        ),
    }
}

/// Passwords inside web addresses (`https://user:password@host`) become asterisks, one for each
/// character, so that a caret below still points at its place.
pub fn redacted(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    for secret in passwords(text) {
        out.push_str(&text[done..secret.start]);
        out.extend(text[secret.clone()].chars().map(|_| '*'));
        done = secret.end;
    }
    match done {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(out + &text[done..]),
    }
}

/// Whether a web address in the text has a password (RFC 3986, 3.2.1).
pub fn has_password(text: &str) -> bool {
    !passwords(text).is_empty()
}

fn passwords(text: &str) -> Vec<crate::Span> {
    let mut found = Vec::new();
    for (at, mark) in text.match_indices("://") {
        let start = at + mark.len();
        let is_end = |c: char| "/?#\"'<> ".contains(c) || c.is_whitespace();
        let end = text[start..].find(is_end).map_or(text.len(), |n| start + n);
        let Some(user) = text[start..end].rfind('@') else {
            continue;
        };
        if let Some(colon) = text[start..start + user].find(':')
            && colon + 1 < user
        {
            found.push(start + colon + 1..start + user);
        }
    }
    found
}

/// Columns the text takes: two for East Asian characters, none for combining marks.
pub fn width(text: &str) -> usize {
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

/// Padding by `{:width$}` panics above 65,535 columns; this does not.
pub fn pad_right(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}

pub fn pad_left(text: &str, to: usize) -> String {
    format!("{}{text}", " ".repeat(to.saturating_sub(width(text))))
}

/// At most so many columns, with `…` where the middle was cut: names often differ at their ends.
pub fn shortened(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(1);
    let fitting = |chars: &mut dyn Iterator<Item = char>, room: usize| {
        let mut used = 0;
        let fits = |c: &char| {
            used += char_width(*c);
            used <= room
        };
        chars.take_while(fits).collect::<Vec<char>>()
    };
    let head = fitting(&mut text.chars(), room.div_ceil(2));
    let tail = fitting(&mut text.chars().rev(), room / 2);
    let tail = tail.into_iter().rev();
    head.into_iter().chain(['…']).chain(tail).collect()
}

/// Each shortened as [`shortened`] does, wider where two different texts would become the same.
pub fn shortened_apart(texts: &[&str], most: usize) -> Vec<String> {
    let widest = texts.iter().map(|text| width(text)).max().unwrap_or(0);
    let mut distinct: Vec<&str> = texts.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let stay_apart = |most: usize| {
        let mut short: Vec<String> = distinct.iter().map(|text| shortened(text, most)).collect();
        short.sort_unstable();
        short.windows(2).all(|pair| pair[0] != pair[1])
    };
    let mut most = most;
    while most < widest && !stay_apart(most) {
        most = (most + most / 2 + 1).min(widest);
    }
    texts.iter().map(|text| shortened(text, most)).collect()
}

/// A whole number with its digits in groups: `1,000,000`.
pub fn grouped(number: impl std::fmt::Display) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_do_not_reach_the_terminal() {
        let check = |text, expected: &str| assert_eq!(safe(text), expected);
        check("a\u{1b}[31mb\n", "a [31mb ");
        check("a\u{202e}b\u{2066}c\u{9b}d\u{feff}", "a b c d ");
        check("網 ±µ", "網 ±µ");
    }

    #[test]
    fn hidden_characters_become_visible() {
        let check = |text, expected: &str| assert_eq!(escaped(text), expected);
        check("a\u{1b}[2J\tb\r\n", "a\\u001b[2J\tb\r\n");
        check("a\rb", "a\\u000db");
        check(
            "{\"é\": \"\u{202e}\u{e0041}\"}",
            "{\"é\": \"\\u202e\\udb40\\udc41\"}",
        );
    }

    #[test]
    fn passwords_in_addresses_are_hidden() {
        let check = |text, expected: &str| {
            assert_eq!(redacted(text), expected);
            assert_eq!(has_password(text), text != expected, "{text}");
        };
        check("https://me:p@ss@host/x", "https://me:****@host/x");
        check(
            "a http://u:é@h, ftp://u:pw@h",
            "a http://u:*@h, ftp://u:**@h",
        );
        check("https://host:8080/a@b", "https://host:8080/a@b");
        check("https://user@host/", "https://user@host/");
        check("https://:@host/", "https://:@host/");
        check("mailto:a:b@c", "mailto:a:b@c");
    }

    #[test]
    fn widths_count_columns() {
        assert_eq!(width("µ±×"), 3);
        assert_eq!(width("网络"), 4);
        assert_eq!(pad_left("é", 3), "  é");
        assert_eq!(pad_right(&"x".repeat(70_000), 70_001).len(), 70_001);
    }

    #[test]
    fn the_middle_is_cut() {
        let check = |text, most, expected: &str| assert_eq!(shortened(text, most), expected);
        check("mobilenet", 9, "mobilenet");
        check("mobilenet", 6, "mob…et");
        check("网络网络", 5, "网…络");
        check("abc", 0, "…");
    }

    #[test]
    fn different_names_stay_different() {
        let check = |texts: [&str; 2], most, expected: [&str; 2]| {
            assert_eq!(shortened_apart(&texts, most), expected);
        };
        check(
            ["machine-a-large", "machine-b-large"],
            7,
            ["machine-a-large", "machine-b-large"],
        );
        check(
            ["a-long-machine", "b-long-machine"],
            7,
            ["a-l…ine", "b-l…ine"],
        );
        check(["same-name", "same-name"], 5, ["sa…me", "sa…me"]);
    }
}
