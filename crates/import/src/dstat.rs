//! CSV files of dstat, which begin with lines about dstat and have two lines of names:
//!
//! ```text
//! "Dstat 0.7.2 CSV output"
//! "Author:","…",,,,"URL:","…"
//! "Host:","gpu1",,,,"User:","root"
//! "Cmdline:","dstat -tcm --output a.csv",,,,"Date:","15 May 2017 10:11:12 UTC"
//!
//! "system","total cpu usage",,,"memory usage",
//! "time","usr","sys","idl","used","free"
//! 15-05 10:11:12,1.5,0.5,98,123456,654321
//! ```
//!
//! A dstat that is started again adds to its file, beginning with the same lines.

use jiff::civil::Date;

use crate::table::{Table, TableRow};

pub(crate) fn begins(row: &TableRow) -> bool {
    let first = row.cell(0).to_lowercase();
    (first.starts_with("dstat ") || first.starts_with("dool ")) && first.contains("csv output")
}

pub(crate) fn table(
    preamble: &TableRow,
    rest: impl Iterator<Item = TableRow>,
    delimiter: u8,
) -> Table {
    let mut reading = Reading {
        written: None,
        groups: None,
        names: None,
        in_head: true,
    };
    reading.about(preamble);
    let rows: Vec<TableRow> = rest.filter(|row| reading.is_data(row)).collect();
    let header_line = reading
        .names
        .as_ref()
        .map_or(preamble.line, |names| names.line);
    Table {
        header: reading.header(),
        header_line,
        rows,
        delimiter,
        written: reading.written,
    }
}

struct Reading {
    written: Option<Date>,
    /// `total cpu usage`, over the first of its columns.
    groups: Option<TableRow>,
    names: Option<TableRow>,
    in_head: bool,
}

impl Reading {
    fn is_data(&mut self, row: &TableRow) -> bool {
        self.in_head |= begins(row);
        if !self.in_head {
            return true;
        }
        let is_about = begins(row) || row.cell(0).ends_with(':');
        if is_about {
            self.about(row);
        } else if row
            .cells()
            .any(|cell| cell.starts_with(|c: char| c.is_ascii_digit()))
        {
            // No line of names is like that: the head was cut.
            self.in_head = false;
            return true;
        } else if self.groups.is_none() {
            self.groups = Some(row.clone());
        } else if self.names.is_none() {
            self.names = Some(row.clone());
            self.in_head = false;
        } else {
            // The names once more, after the groups once more.
            let again = |known: &Option<TableRow>| {
                known
                    .as_ref()
                    .is_some_and(|known| known.cells().eq(row.cells()))
            };
            self.in_head = !again(&self.names);
        }
        false
    }

    /// `"Cmdline:","…",,,,"Date:","15 May 2017 10:11:12 UTC"`.
    fn about(&mut self, row: &TableRow) {
        let mut cells = row.cells().skip_while(|cell| *cell != "Date:").skip(1);
        let date = cells.find(|cell| !cell.is_empty());
        let words: Option<Vec<&str>> = date.map(|date| date.split_whitespace().take(3).collect());
        if let (None, Some(words)) = (self.written, words) {
            self.written = Date::strptime("%d %b %Y", words.join(" ")).ok();
        }
    }

    /// Names that several groups have bear the group before them: `dsk/total:read`.
    fn header(&self) -> Vec<String> {
        let Some(names) = &self.names else {
            return Vec::new();
        };
        let count = |name: &str| names.cells().filter(|other| *other == name).count();
        let mut group = String::new();
        let mut header = Vec::new();
        for (place, name) in names.cells().enumerate() {
            let own = self.groups.as_ref().map_or("", |groups| groups.cell(place));
            if !own.is_empty() {
                group = own.to_owned();
            }
            header.push(match count(name) {
                1 => name.to_owned(),
                _ => format!("{group}:{name}"),
            });
        }
        header
    }
}
