//! What a test reads out of a page or a table.

#![allow(
    dead_code,
    clippy::panic,
    clippy::unwrap_used,
    clippy::allow_attributes,
    reason = "each test file uses its own part"
)]

use report::Analysis;
use serde_json::Value;

/// The numbers of every figure.
pub(crate) fn figures(own: &str) -> Vec<Value> {
    let places = own.split("class=\"figure-data\"").skip(1);
    let read = |place: &str| {
        let (_, rest) = place.split_once('>').unwrap();
        let (json, _) = rest.split_once("</script>").unwrap();
        serde_json::from_str(json).unwrap()
    };
    places.map(read).collect()
}

/// The part of the page with this id.
pub(crate) fn section(own: &str, id: &str) -> Option<String> {
    let (_, rest) = own.split_once(&format!("<section id=\"{id}\""))?;
    rest.split_once("</section>")
        .map(|(part, _)| part.replace('\u{a0}', " "))
}

/// RFC 4180, enough for a check.
pub(crate) fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field).trim_end_matches('\r').to_owned());
                rows.push(std::mem::take(&mut row));
            }
            c => field.push(c),
        }
    }
    rows
}

/// A table as `bancada export` writes it; no run has steps.
pub(crate) fn csv(table: &str, analysis: &Analysis) -> String {
    match exported("csv", Some(table), analysis) {
        report::Output::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn exported(format: &str, table: Option<&str>, analysis: &Analysis) -> report::Output {
    let table = table.map(|name| report::TABLES.iter().find(|t| t.name == name).unwrap());
    let format = report::FORMATS.iter().find(|f| f.name == format).unwrap();
    let what = report::Exported {
        analysis,
        meta: &report::ReportMeta {
            generated: "2026-07-01T12:00:00Z".parse().unwrap(),
            bancada_version: "0.0.0",
            command: None,
            study_file: None,
        },
        steps: &|_| Vec::new(),
        folder_uri: "file:///tmp/runs",
    };
    report::export(&what, format, table)
}
