//! Text to cells, with the line of each row.

use csv::{ReaderBuilder, StringRecord, Trim};
use jiff::civil::Date;

use crate::{dstat, json};

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) header: Vec<String>,
    pub(crate) header_line: u64,
    pub(crate) rows: Vec<TableRow>,
    pub(crate) delimiter: u8,
    /// When the file was begun, by a preamble that says so.
    pub(crate) written: Option<Date>,
    pub(crate) problem: Option<TableProblem>,
}

/// Rows from this line on could not be read.
#[derive(Debug)]
pub(crate) struct TableProblem {
    pub(crate) line: u64,
    pub(crate) what: String,
}

#[derive(Debug, Clone)]
pub(crate) struct TableRow {
    pub(crate) line: u64,
    cells: StringRecord,
}

impl TableRow {
    pub(crate) fn new(line: u64, cells: StringRecord) -> Self {
        TableRow { line, cells }
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = &str> {
        self.cells.iter()
    }

    /// Empty where the row is too short.
    pub(crate) fn cell(&self, column: usize) -> &str {
        self.cells.get(column).unwrap_or_default()
    }
}

impl Table {
    /// The place of a column: by its exact name, otherwise whatever its case, otherwise by its
    /// number from 1 (`#1`): pandas writes its index without a name.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        let name = name.trim();
        let lower = name.to_lowercase();
        let exact = self.header.iter().position(|column| column == name);
        let same = |column: &String| column.to_lowercase() == lower;
        exact
            .or_else(|| self.header.iter().position(same))
            .or_else(|| {
                let number: usize = name.strip_prefix('#')?.parse().ok()?;
                number.checked_sub(1).filter(|at| *at < self.header.len())
            })
    }

    /// For a person who asked for a column that is not there.
    pub(crate) fn no_column(&self, name: &str) -> String {
        let shown = |(number, name): (usize, &String)| match name.as_str() {
            "" => format!("#{number} (unnamed)"),
            name => name.to_owned(),
        };
        let known: Vec<String> = (1..).zip(&self.header).map(shown).collect();
        format!(
            "there is no column `{name}`; the columns are {}",
            known.join(", ")
        )
    }
}

/// Rows that are all empty are left out.
pub(crate) fn parse(text: &str, delimiter: Option<char>) -> Table {
    let text = text.trim_start_matches('\u{feff}');
    if json::begins(text) {
        return json::table(text);
    }
    let delimiter = delimiter
        .and_then(|c| u8::try_from(c).ok().filter(u8::is_ascii))
        .unwrap_or_else(|| find_delimiter(text));
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .delimiter(delimiter)
        .from_reader(text.as_bytes());
    let rows = reader
        .records()
        .flatten()
        .filter(|r| r.iter().any(|cell| !cell.is_empty()));
    let mut rows = rows.map(|cells| TableRow {
        line: cells.position().map_or(0, |at| {
            diagnostics::row_line(text, at.byte(), at.line(), None)
        }),
        cells,
    });
    let first = rows.next();
    if let Some(preamble) = first.as_ref().filter(|row| dstat::begins(row)) {
        return dstat::table(preamble, rows, delimiter);
    }
    let header = first
        .as_ref()
        .map(|row| row.cells.iter().map(str::to_owned));
    Table {
        header: header.map(Iterator::collect).unwrap_or_default(),
        header_line: first.as_ref().map_or(1, |row| row.line),
        rows: rows.collect(),
        delimiter,
        written: None,
        problem: None,
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
