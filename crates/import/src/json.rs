//! Tables written as JSON: an object a line, one array of objects, or one object. What is nested is
//! named by its way: `optimizer.rate`.

use csv::StringRecord;
use serde_json::{Map, Value};

use crate::table::{Table, TableProblem, TableRow};

pub(crate) fn begins(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

pub(crate) fn table(text: &str) -> Table {
    let mut reading = Reading::default();
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(rows)) => {
            for (line, row) in (1..).zip(rows) {
                reading.row(line, row);
            }
        }
        Ok(row) => reading.row(1, row),
        Err(_) => reading.lines(text),
    }
    reading.table()
}

#[derive(Default)]
struct Reading {
    header: Vec<String>,
    /// With their lines; of each column that a row has its place and its cell.
    rows: Vec<(u64, Vec<(usize, String)>)>,
    problem: Option<TableProblem>,
}

impl Reading {
    fn lines(&mut self, text: &str) {
        for (line, text) in (1..).zip(text.lines()) {
            if text.trim().is_empty() || self.problem.is_some() {
                continue;
            }
            match serde_json::from_str(text) {
                Ok(row) => self.row(line, row),
                Err(error) => self.fails(line, &error.to_string()),
            }
        }
    }

    fn fails(&mut self, line: u64, why: &str) {
        self.problem.get_or_insert_with(|| TableProblem {
            line,
            what: format!("not a JSON object ({why}): the rest of the file is ignored"),
        });
    }

    fn row(&mut self, line: u64, row: Value) {
        match row {
            Value::Object(fields) => {
                let mut cells = Vec::new();
                self.fields(&mut cells, "", fields);
                self.rows.push((line, cells));
            }
            _ => self.fails(line, "a list or a single value"),
        }
    }

    fn fields(&mut self, cells: &mut Vec<(usize, String)>, way: &str, fields: Map<String, Value>) {
        for (name, value) in fields {
            let name = format!("{way}{name}");
            let cell = match value {
                Value::Object(fields) => {
                    self.fields(cells, &format!("{name}."), fields);
                    continue;
                }
                Value::Null => String::new(),
                Value::String(text) => text,
                other => other.to_string(),
            };
            cells.push((self.column(name), cell));
        }
    }

    fn column(&mut self, name: String) -> usize {
        let known = self.header.iter().position(|known| *known == name);
        known.unwrap_or_else(|| {
            self.header.push(name);
            self.header.len() - 1
        })
    }

    fn table(self) -> Table {
        let width = self.header.len();
        let row = |(line, cells): (u64, Vec<(usize, String)>)| {
            let mut all = vec![String::new(); width];
            for (place, cell) in cells {
                all[place] = cell;
            }
            TableRow::new(line, StringRecord::from(all))
        };
        Table {
            header: self.header,
            header_line: 1,
            rows: self.rows.into_iter().map(row).collect(),
            // Numbers of JSON have points.
            delimiter: b',',
            written: None,
            problem: self.problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, header: &[&str], rows: &[(u64, &[&str])]) {
        let table = table(text);
        assert_eq!(table.header, header, "{text}");
        let found: Vec<(u64, Vec<&str>)> = table
            .rows
            .iter()
            .map(|row| (row.line, row.cells().collect()))
            .collect();
        let rows: Vec<(u64, Vec<&str>)> = rows.iter().map(|(n, row)| (*n, row.to_vec())).collect();
        assert_eq!(found, rows, "{text}");
    }

    #[test]
    fn objects_are_rows() {
        check(
            "{\"a\": 1, \"b\": {\"c\": \"x\"}}\n\n{\"a\": null, \"d\": true}\n",
            &["a", "b.c", "d"],
            &[(1, &["1", "x", ""]), (3, &["", "", "true"])],
        );
        check(
            "[{\"a\": 1.5},\n {\"a\": 2}]",
            &["a"],
            &[(1, &["1.5"]), (2, &["2"])],
        );
        check("{\n  \"a\": 1\n}", &["a"], &[(1, &["1"])]);
    }

    #[test]
    fn what_is_no_object_is_reported_with_its_line() {
        let check = |text: &str, line: u64, rows: usize| {
            let table = table(text);
            assert_eq!(
                table.problem.map(|problem| problem.line),
                Some(line),
                "{text}"
            );
            assert_eq!(table.rows.len(), rows, "{text}");
        };
        check("{\"a\": 1}\n{\"a\": \n{\"a\": 3}", 2, 1);
        check("{\"a\": 1}\n[1, 2]", 2, 1);
        check("[1]", 1, 0);
    }
}
