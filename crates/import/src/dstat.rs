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

use crate::table::{Table, TableProblem, TableRow};

pub(crate) fn begins(row: &TableRow) -> bool {
    let first = row.cell(0).to_lowercase();
    let is_ours = first.contains("dstat ") || first.starts_with("dool ");
    is_ours && first.contains("csv output")
}

pub(crate) fn table(
    preamble: &TableRow,
    rest: impl Iterator<Item = TableRow>,
    delimiter: u8,
) -> Table {
    let mut reading = Reading::default();
    reading.about(preamble);
    let rows: Vec<TableRow> = rest.filter(|row| reading.is_data(row)).collect();
    let names = reading.names.as_ref();
    Table {
        header: reading.header(),
        header_line: names.map_or(preamble.line, |names| names.line),
        rows,
        delimiter,
        written: reading.written,
        problem: reading.problem,
    }
}

#[derive(Default)]
struct Reading {
    written: Option<Date>,
    /// `total cpu usage`, over the first of its columns.
    groups: Option<TableRow>,
    names: Option<TableRow>,
    expects: Expects,
    problem: Option<TableProblem>,
}

/// What the next line is, unless it is about dstat itself.
#[derive(Default)]
enum Expects {
    #[default]
    Groups,
    Names,
    Data,
    /// Columns are others than those at the beginning.
    Nothing,
}

impl Reading {
    fn is_data(&mut self, row: &TableRow) -> bool {
        if begins(row) {
            self.expects = Expects::Groups;
        }
        if begins(row) || row.cell(0).ends_with(':') {
            self.about(row);
            return false;
        }
        match self.expects {
            Expects::Data => return true,
            Expects::Nothing => {}
            Expects::Groups => {
                self.groups.get_or_insert_with(|| row.clone());
                self.expects = Expects::Names;
            }
            Expects::Names => {
                let names = self.names.get_or_insert_with(|| row.clone());
                self.expects = match names.cells().eq(row.cells()) {
                    true => Expects::Data,
                    false => Expects::Nothing,
                };
                if matches!(self.expects, Expects::Nothing) {
                    self.problem.get_or_insert_with(|| TableProblem {
                        line: row.line,
                        what: "the columns change here: the rest of the file is ignored".to_owned(),
                    });
                }
            }
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
