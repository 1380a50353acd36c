//! Text to cells, with the line of each row.

use csv::{ReaderBuilder, StringRecord, Trim};

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<TableRow>,
    pub(crate) delimiter: u8,
}

#[derive(Debug)]
pub(crate) struct TableRow {
    pub(crate) line: u64,
    cells: StringRecord,
}

impl TableRow {
    /// Empty where the row is too short.
    pub(crate) fn cell(&self, column: usize) -> &str {
        self.cells.get(column).unwrap_or_default()
    }
}

impl Table {
    /// The place of a column: by its exact name, otherwise whatever its case.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        let lower = name.trim().to_lowercase();
        let exact = self.header.iter().position(|column| column == name.trim());
        exact.or_else(|| {
            self.header
                .iter()
                .position(|column| column.to_lowercase() == lower)
        })
    }
}

/// Rows that are all empty are left out.
pub(crate) fn parse(text: &str, delimiter: Option<char>) -> Table {
    let text = text.trim_start_matches('\u{feff}');
    let delimiter = delimiter
        .and_then(|c| u8::try_from(c).ok().filter(u8::is_ascii))
        .unwrap_or_else(|| find_delimiter(text));
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .delimiter(delimiter)
        .from_reader(text.as_bytes());
    let mut rows = reader
        .records()
        .flatten()
        .filter(|r| r.iter().any(|cell| !cell.is_empty()));
    let header = rows
        .next()
        .map(|r| r.iter().map(str::to_owned).collect())
        .unwrap_or_default();
    let mut lines = Lines {
        text,
        at: 0,
        line: 1,
    };
    let rows = rows
        .map(|cells| TableRow {
            line: lines.of(&cells),
            cells,
        })
        .collect();
    Table {
        header,
        rows,
        delimiter,
    }
}

/// Counts lines itself: the reader's own count is that of the end of the row before, so empty
/// lines between would point a person to the wrong place.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line: u64,
}

impl Lines<'_> {
    fn of(&mut self, row: &StringRecord) -> u64 {
        let begin = row.position().map_or(self.at as u64, csv::Position::byte);
        let bytes = self.text.as_bytes();
        let begin = usize::try_from(begin)
            .unwrap_or(bytes.len())
            .clamp(self.at, bytes.len());
        let empty = bytes[begin..]
            .iter()
            .take_while(|b| matches!(b, b'\r' | b'\n'))
            .count();
        let start = begin + empty;
        self.line += bytes[self.at..start]
            .iter()
            .filter(|b| **b == b'\n')
            .count() as u64;
        self.at = start;
        self.line
    }
}

/// The most frequent of the usual ones in the first line, outside quotes.
fn find_delimiter(text: &str) -> u8 {
    let header = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let count = |delimiter: char| {
        let mut quoted = false;
        let outside = header.chars().filter(|&c| {
            quoted ^= c == '"';
            c == delimiter && !quoted
        });
        outside.count()
    };
    let mut best = (b',', count(','));
    for other in [b';', b'\t', b'|'] {
        let found = count(char::from(other));
        if found > best.1 {
            best = (other, found);
        }
    }
    best.0
}

/// The text of a file as people's tools write them: UTF-8 with or without mark, UTF-16 with mark,
/// otherwise Latin-1.
pub fn decode(bytes: &[u8]) -> String {
    let utf16 = |rest: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = rest
            .chunks_exact(2)
            .map(|pair| unit([pair[0], pair[1]]))
            .collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            // Every byte of Latin-1 is the character of that number.
            Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_know_their_lines() {
        let check = |text: &str, expected: &[(u64, &str)]| {
            let table = parse(text, None);
            let rows: Vec<(u64, &str)> = table
                .rows
                .iter()
                .map(|row| (row.line, row.cell(0)))
                .collect();
            assert_eq!(rows, expected, "{text:?}");
        };
        check("a,b\n1,2\n3,4", &[(2, "1"), (3, "3")]);
        check("a,b\r\n1,2\r\n\r\n\r\n3,4\r\n", &[(2, "1"), (5, "3")]);
        check("\n\na,b\n1,2\n\n,\n3\n", &[(4, "1"), (7, "3")]);
        check("a,b\n\"x\ny\",2\n3,4", &[(2, "x\ny"), (4, "3")]);
        check("a", &[]);
        check("", &[]);
    }
}
