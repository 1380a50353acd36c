//! Rows below one header, and what becomes of them in each format.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Cells as other programs read them; the first row names the columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grid {
    pub headers: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    /// RFC 4180.
    pub fn csv(&self) -> String {
        let mut builder = csv::WriterBuilder::new();
        let builder = builder.terminator(csv::Terminator::CRLF).flexible(true);
        let mut writer = builder.from_writer(Vec::new());
        for row in std::iter::once(&self.headers).chain(&self.rows) {
            // Writing to memory does not fail.
            _ = writer.write_record(row.iter().map(|cell| harmless(cell).into_owned()));
        }
        let bytes = writer.into_inner().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// One object a row. What is written as a number is one.
    pub fn json(&self) -> String {
        let value = |cell: &String| {
            let number: Option<Value> = serde_json::from_str(cell).ok();
            // `1.10` is a version, not a number.
            let written = number.as_ref().map(Value::to_string);
            let is_same = written.as_deref() == Some(cell.as_str());
            let number = number.filter(|n| n.is_number() && is_same);
            match cell.is_empty() {
                true => Value::Null,
                false => number.unwrap_or_else(|| Value::from(cell.as_str())),
            }
        };
        let object = |row: &Vec<String>| {
            let entries = self.headers.iter().cloned().zip(row.iter().map(value));
            Value::Object(entries.collect::<Map<String, Value>>())
        };
        let rows: Vec<Value> = self.rows.iter().map(object).collect();
        format!("{:#}\n", Value::from(rows))
    }
}

/// Spreadsheets compute cells that begin with one of these; an apostrophe in front makes them text.
/// Numbers stay numbers.
fn harmless(cell: &str) -> Cow<'_, str> {
    let cell = diagnostics::screen::safe(cell);
    let is_formula = cell.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    match is_formula && cell.parse::<f64>().is_err() {
        true => Cow::Owned(format!("'{cell}")),
        false => cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_data_and_nothing_else() {
        let check = |cell: &str, expected: &str| {
            let grid = Grid {
                headers: vec!["a".to_owned(), cell.to_owned()],
                rows: Vec::new(),
            };
            assert_eq!(grid.csv(), format!("a,{expected}\r\n"), "{cell}");
        };
        check("", "");
        check("rede1", "rede1");
        check("a,\"b\"", "\"a,\"\"b\"\"\"");
        check("=1+1", "'=1+1");
        check("@SUM(A1)", "'@SUM(A1)");
        check("+x", "'+x");
        check("-x", "'-x");
        check("-1.5e-3", "-1.5e-3");
        check("+3", "+3");
        check("\t=1", " =1");
        check("a\u{1b}[2J\u{202e}b\nc", "a [2J b c");
    }

    #[test]
    fn numbers_in_json_are_numbers() {
        let grid = Grid {
            headers: ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
            rows: vec![["1.5", "1.50", "", "x"].map(str::to_owned).to_vec()],
        };
        let value: Value = serde_json::from_str(&grid.json()).unwrap();
        let expected = serde_json::json!([{ "a": 1.5, "b": "1.50", "c": null, "d": "x" }]);
        assert_eq!(value, expected);
    }
}
