//! Comma-separated rows out of a stream, one at a time, in a buffer that never grows beyond
//! [`LONGEST_ROW`].
//!
//! Written out because a bill may have a quote that never ends: a reader that gathers a row
//! whole would then gather the file.

use std::borrow::Cow;
use std::io::{self, Read};

use memchr::{memchr, memchr2};

/// Bytes of the longest row that is read. Rows of real bills have some thousand.
pub(crate) const LONGEST_ROW: usize = 1 << 20;
/// Stays in the processor's cache.
const FIRST_BUFFER: usize = 1 << 16;

pub(crate) struct Records<R> {
    reader: R,
    buffer: Vec<u8>,
    /// What is read and not yet given out: `buffer[begin..end]`.
    begin: usize,
    end: usize,
    at_end: bool,
    pub(crate) delimiter: u8,
    /// Of the next row.
    line: u64,
    row_begin: usize,
    row_line: u64,
    fields: Vec<Span>,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    begin: usize,
    end: usize,
    /// Has doubled quotes inside.
    escaped: bool,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// [`Records::row`] has it.
    Row,
    /// Longer than [`LONGEST_ROW`], or with a quote that does not end. The reader goes on with
    /// the line after.
    Unreadable {
        line: u64,
    },
    End,
}

impl<R: Read> Records<R> {
    pub(crate) fn new(reader: R) -> Self {
        Records {
            reader,
            buffer: vec![0; FIRST_BUFFER],
            begin: 0,
            end: 0,
            at_end: false,
            delimiter: b',',
            line: 1,
            row_begin: 0,
            row_line: 0,
            fields: Vec::new(),
        }
    }

    /// The bytes that come next, at least `count` of them where the file has so many.
    pub(crate) fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.end - self.begin < count && !self.at_end {
            self.fill()?;
        }
        Ok(&self.buffer[self.begin..self.end])
    }

    /// All that is not yet given out, and what the reader still has.
    pub(crate) fn into_rest(mut self) -> impl Read {
        self.buffer.truncate(self.end);
        self.buffer.drain(..self.begin);
        io::Cursor::new(self.buffer).chain(self.reader)
    }

    pub(crate) fn skip(&mut self, count: usize) {
        self.begin = (self.begin + count).min(self.end);
    }

    pub(crate) fn next(&mut self) -> io::Result<Next> {
        loop {
            match self.scan() {
                Scan::Row { end, lines } => {
                    self.row_begin = self.begin;
                    self.row_line = self.line;
                    self.begin = end;
                    self.line += lines;
                    if !self.is_blank() {
                        return Ok(Next::Row);
                    }
                }
                Scan::More if self.at_end && self.begin == self.end => return Ok(Next::End),
                Scan::More if self.at_end || self.end - self.begin >= LONGEST_ROW => {
                    let line = self.line;
                    self.skip_line()?;
                    return Ok(Next::Unreadable { line });
                }
                Scan::More => self.fill()?,
            }
        }
    }

    pub(crate) fn row(&self) -> Row<'_> {
        let bytes = &self.buffer[self.row_begin..self.begin];
        Row {
            bytes,
            text: std::str::from_utf8(bytes).ok(),
            fields: &self.fields,
            line: self.row_line,
        }
    }

    /// The next line as it stands, without regard to quotes. None at the end.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<Result<Line<'_>, u64>>> {
        loop {
            let waiting = &self.buffer[self.begin..self.end];
            let found = match memchr(b'\n', waiting) {
                Some(at) => Some((at, 1)),
                None if self.at_end && !waiting.is_empty() => Some((waiting.len(), 0)),
                None => None,
            };
            if let Some((length, newline)) = found {
                let (begin, number) = (self.begin, self.line);
                self.begin += length + newline;
                self.line += 1;
                let bytes = &self.buffer[begin..begin + length];
                return Ok(Some(Ok(Line { bytes, number })));
            }
            if self.at_end {
                return Ok(None);
            }
            if self.end - self.begin >= LONGEST_ROW {
                let number = self.line;
                self.skip_line()?;
                return Ok(Some(Err(number)));
            }
            self.fill()?;
        }
    }

    /// Reads more, making room first.
    fn fill(&mut self) -> io::Result<()> {
        if self.begin > 0 {
            self.buffer.copy_within(self.begin..self.end, 0);
            self.end -= self.begin;
            self.begin = 0;
        }
        if self.end == self.buffer.len() {
            let size = (self.buffer.len() * 2).min(LONGEST_ROW);
            self.buffer.resize(size.max(self.end + 1), 0);
        }
        loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            if let Some(at) = memchr(b'\n', &self.buffer[self.begin..self.end]) {
                self.begin += at + 1;
                self.line += 1;
                return Ok(());
            }
            self.begin = self.end;
            if self.at_end {
                return Ok(());
            }
            self.fill()?;
        }
    }

    fn is_blank(&self) -> bool {
        match self.fields.as_slice() {
            [only] => only.begin == only.end,
            _ => false,
        }
    }

    /// Finds the fields of the row at `begin`. Their places count from there.
    fn scan(&mut self) -> Scan {
        let bytes = &self.buffer[self.begin..self.end];
        self.fields.clear();
        let mut at = 0;
        let mut any_quoted = false;
        loop {
            let mut closing = None;
            let mut begin = at;
            if bytes.get(at) == Some(&b'"') {
                closing = closing_quote(bytes, at + 1, self.at_end);
                let Some(quote) = closing else {
                    return Scan::More;
                };
                any_quoted = true;
                begin = at + 1;
                at = quote.at + 1;
            }
            let stop = match bytes.get(at) {
                // Most cells of a wide report are empty.
                Some(byte) if *byte == self.delimiter => Some(at),
                _ => memchr2(self.delimiter, b'\n', &bytes[at..]).map(|found| at + found),
            };
            let stop = match stop {
                Some(stop) => stop,
                None if self.at_end && at <= bytes.len() && !bytes.is_empty() => bytes.len(),
                None => return Scan::More,
            };
            let ends = bytes.get(stop) != Some(&self.delimiter);
            // Made in one piece: a span written to in parts would lie in memory, and wait for it.
            self.fields.push(match closing {
                Some(quote) => Span {
                    begin,
                    end: quote.at,
                    escaped: quote.any_doubled,
                },
                None => Span {
                    begin,
                    end: match ends && bytes[begin..stop].ends_with(b"\r") {
                        true => stop - 1,
                        false => stop,
                    },
                    escaped: false,
                },
            });
            if ends {
                let end = self.begin + (stop + 1).min(bytes.len());
                let inside = match any_quoted {
                    true => newlines(&bytes[..stop]),
                    false => 0,
                };
                return Scan::Row {
                    end,
                    lines: inside + 1,
                };
            }
            at = stop + 1;
        }
    }
}

enum Scan {
    /// `end` is a place in the buffer.
    Row { end: usize, lines: u64 },
    /// The buffer ends before the row.
    More,
}

/// The end of a quoted field.
#[derive(Clone, Copy)]
struct ClosingQuote {
    at: usize,
    /// Before it.
    any_doubled: bool,
}

/// A quote that is not doubled. A quote at the end of what is read may be the first of two.
fn closing_quote(bytes: &[u8], from: usize, at_end: bool) -> Option<ClosingQuote> {
    let mut at = from;
    let mut any_doubled = false;
    loop {
        let quote = at + memchr(b'"', bytes.get(at..)?)?;
        match bytes.get(quote + 1) {
            Some(b'"') => {
                any_doubled = true;
                at = quote + 2;
            }
            None if !at_end => return None,
            _ => {
                return Some(ClosingQuote {
                    at: quote,
                    any_doubled,
                });
            }
        }
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

pub(crate) struct Line<'b> {
    pub(crate) bytes: &'b [u8],
    pub(crate) number: u64,
}

#[derive(Clone, Copy)]
pub(crate) struct Row<'b> {
    bytes: &'b [u8],
    /// `None` if the row is not all UTF-8.
    text: Option<&'b str>,
    fields: &'b [Span],
    pub(crate) line: u64,
}

impl<'b> Row<'b> {
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    /// As it stands in the file, quotes inside still doubled.
    pub(crate) fn raw(&self, column: usize) -> &'b [u8] {
        match self.fields.get(column) {
            Some(field) => &self.bytes[field.begin..field.end],
            None => &[],
        }
    }

    /// Empty where the row is too short. `NULL` is how some write an empty one.
    pub(crate) fn cell(&self, column: usize) -> Cow<'b, str> {
        let Some(field) = self.fields.get(column) else {
            return Cow::Borrowed("");
        };
        let text = match self.text.and_then(|row| row.get(field.begin..field.end)) {
            Some(text) => Cow::Borrowed(text.trim_ascii()),
            None => {
                let raw = &self.bytes[field.begin..field.end];
                Cow::Owned(String::from_utf8_lossy(raw).trim().to_owned())
            }
        };
        match text {
            Cow::Borrowed("NULL" | "null") => Cow::Borrowed(""),
            text if field.escaped => Cow::Owned(text.replace("\"\"", "\"")),
            text => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time, as a network does.
    struct Trickle<'t>(&'t [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(into.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn rows(text: &[u8], step: usize) -> Vec<String> {
        let mut records = Records::new(Trickle(text, step));
        let mut found = Vec::new();
        loop {
            match records.next().unwrap() {
                Next::End => return found,
                Next::Unreadable { line } => found.push(format!("{line}!")),
                Next::Row => {
                    let row = records.row();
                    let cells: Vec<_> = (0..row.len()).map(|c| row.cell(c).into_owned()).collect();
                    found.push(format!("{}:{}", row.line, cells.join("|")));
                }
            }
        }
    }

    #[test]
    fn rows_are_found_whatever_the_pieces() {
        let check = |text: &str, expected: &[&str]| {
            for step in [1, 2, 3, 7, 4096] {
                assert_eq!(rows(text.as_bytes(), step), expected, "{text:?} by {step}");
            }
        };
        check("a,b\n1,2\n", &["1:a|b", "2:1|2"]);
        check("a,b\r\n1,2", &["1:a|b", "2:1|2"]);
        check("a,\"b\"\r\n\"1\",\n", &["1:a|b", "2:1|"]);
        check("a\n\n\nb\n", &["1:a", "4:b"]);
        check("\"x\ny\",1\nz,2\n", &["1:x\ny|1", "3:z|2"]);
        check("\"say \"\"hi\"\"\",1\n", &["1:say \"hi\"|1"]);
        check("5\" disk,1\n", &["1:5\" disk|1"]);
        check("NULL, x ,\"\"\n", &["1:|x|"]);
        check("a,b,", &["1:a|b|"]);
        check("", &[]);
    }

    #[test]
    fn a_quote_without_end_costs_a_line() {
        for step in [1, 4096] {
            assert_eq!(
                rows(b"a,b\n\"never,1\n2,3\n4,5", step),
                ["1:a|b", "2!", "3:2|3", "4:4|5"]
            );
        }
    }

    #[test]
    fn a_long_line_is_passed_by_and_memory_stays() {
        let mut text = b"a,b\n".to_vec();
        text.resize(text.len() + 10 * LONGEST_ROW, b'x');
        text.extend_from_slice(b"\n1,2\n");
        let mut records = Records::new(text.as_slice());
        assert_eq!(records.next().unwrap(), Next::Row);
        assert_eq!(records.next().unwrap(), Next::Unreadable { line: 2 });
        assert_eq!(records.next().unwrap(), Next::Row);
        assert_eq!(records.row().line, 3);
        assert!(records.buffer.len() <= LONGEST_ROW + 1);
    }
}
