//! The server's own prediction time, found in its answer.
//!
//! A byte search for the key, no JSON tree: at tens of thousands of answers a second a parser
//! would be most of the client's work.

use memchr::memmem;
/// Where an answer tells its prediction time, in milliseconds: a header, which wins, or a number in
/// a JSON body, the first one of that name.
pub(crate) const PREDICTION_HEADER: &str = "x-prediction-ms";
const PREDICTION_FIELD: &[u8] = b"\"prediction_ms\"";
/// The header in which a service that starts workers on demand tells how long one took to start,
/// in milliseconds; only on answers that had to wait for it.
pub(crate) const SETUP_HEADER: &str = "x-bancada-setup-ms";

/// The server's own times, as one answer tells them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ServerTimes {
    pub(crate) prediction_ms: Option<f64>,
    pub(crate) setup_ms: Option<f64>,
}

/// A number longer than this, including leading spaces, is ignored.
const LONGEST_VALUE: usize = 64;

/// Looks for the prediction time in a body that comes in pieces.
pub(crate) struct Finder {
    searcher: memmem::Finder<'static>,
    /// The end of the pieces before, where the key or its number may have begun.
    carry: Vec<u8>,
    found: Option<f64>,
}

impl Finder {
    pub(crate) fn new() -> Self {
        Finder {
            searcher: memmem::Finder::new(PREDICTION_FIELD),
            carry: Vec::new(),
            found: None,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.carry.clear();
        self.found = None;
    }

    /// Milliseconds told so far.
    pub(crate) fn found(&self) -> Option<f64> {
        self.found
    }

    pub(crate) fn feed(&mut self, piece: &[u8], last: bool) {
        if self.found.is_some() {
            return;
        }
        if self.carry.is_empty() {
            let look = self.look(piece, last);
            self.found = look.found;
            if !last {
                self.carry.extend_from_slice(&piece[look.keep_from..]);
            }
            return;
        }
        self.carry.extend_from_slice(piece);
        let look = self.look(&self.carry, last);
        self.found = look.found;
        self.carry.drain(..look.keep_from);
    }

    fn look(&self, text: &[u8], last: bool) -> Look {
        let mut from = 0;
        while let Some(at) = self.searcher.find(&text[from..]) {
            let start = from + at;
            let after = start + PREDICTION_FIELD.len();
            match number_after(&text[after..], last) {
                Value::Number(found) => {
                    return Look {
                        found: Some(found),
                        keep_from: text.len(),
                    };
                }
                Value::Cut => {
                    return Look {
                        found: None,
                        keep_from: start,
                    };
                }
                Value::Other => from = after,
            }
        }
        let tail = text.len().saturating_sub(PREDICTION_FIELD.len() - 1);
        Look {
            found: None,
            keep_from: tail.max(from),
        }
    }
}

struct Look {
    found: Option<f64>,
    /// What comes before this need not be looked at again.
    keep_from: usize,
}

enum Value {
    Number(f64),
    /// The text ends before one can tell.
    Cut,
    Other,
}

/// The number after `: `.
fn number_after(text: &[u8], last: bool) -> Value {
    let text = &text[..text.len().min(LONGEST_VALUE)];
    let whole = last || text.len() == LONGEST_VALUE;
    let rest = text.trim_ascii_start();
    let Some(rest) = rest.strip_prefix(b":") else {
        return if rest.is_empty() && !whole {
            Value::Cut
        } else {
            Value::Other
        };
    };
    let rest = rest.trim_ascii_start();
    let in_number = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    let length = rest.iter().take_while(|byte| in_number(byte)).count();
    if length == rest.len() && !whole {
        return Value::Cut;
    }
    match parse_ms(&rest[..length]) {
        Some(number) => Value::Number(number),
        None => Value::Other,
    }
}

/// A time in milliseconds as a decimal number, not below zero.
pub(crate) fn parse_ms(text: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(text).ok()?.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same is found however the body is cut.
    fn check(body: &str, expected: Option<f64>) {
        let mut finder = Finder::new();
        for size in 1..=body.len().max(1) {
            finder.clear();
            let pieces: Vec<&[u8]> = body.as_bytes().chunks(size).collect();
            for (index, piece) in pieces.iter().enumerate() {
                finder.feed(piece, index + 1 == pieces.len());
            }
            assert_eq!(finder.found(), expected, "{body} in pieces of {size}");
        }
    }

    #[test]
    fn the_number_is_found() {
        check(r#"{"prediction_ms":7.25}"#, Some(7.25));
        check(
            r#"{"classes":["a"], "prediction_ms" : 1e1, "x":1}"#,
            Some(10.0),
        );
        check("{\"a\":{\"prediction_ms\":\n\t0}}", Some(0.0));
        check(
            r#"{"prediction_ms":"soon","b":{"prediction_ms":3}}"#,
            Some(3.0),
        );
        check(r#""prediction_ms":12"#, Some(12.0));
    }

    #[test]
    fn what_is_not_told_is_none() {
        check("", None);
        check(r#"{"prediction_ms_total":1}"#, None);
        check(r#"{"note":"\"prediction_ms\": 5"}"#, None);
        check(r#"{"prediction_ms":null}"#, None);
        check(r#"{"prediction_ms":-1}"#, None);
        check(r#"{"prediction_ms":1e999}"#, None);
        check(r#"{"prediction_ms""#, None);
        check(r#"{"prediction_ms":"#, None);
    }

    #[test]
    fn an_endless_body_is_not_kept() {
        let mut finder = Finder::new();
        for _ in 0..1000 {
            finder.feed(&[b'"'; 1000], false);
            finder.feed(br#""prediction_ms":"#, false);
            finder.feed(&[b' '; 1000], false);
        }
        assert!(finder.carry.capacity() < 10_000);
    }
}
