//! `[import]`: what the columns and names of files of measurements made elsewhere mean.

use diagnostics::{Located, Table, Value};

use super::draft::{DraftColumn, DraftConstant, DraftImport};
use super::take;

pub(crate) const ROWS: &[&str] = &["run", "request", "step", "sample"];
pub(crate) const DECIMAL_MARKS: &[&str] = &["auto", "point", "comma"];

pub(super) fn read(top: &Table<'_>) -> Option<DraftImport> {
    let table = top.table("import")?;
    let row = take::word(&table, "row", ROWS);
    let factors = table.get("factors");
    let metrics = table.get("metrics");
    let levels = table.table("levels");
    let file_pattern = table.text("file_pattern");
    let column = |key: &str| take::parsed(&table, key, column_name).map(|c| c.value);
    let (repetition, status, started) = (column("repetition"), column("status"), column("started"));
    let delimiter = take::parsed(&table, "delimiter", delimiter);
    let import = DraftImport {
        factors: factors.map_or_else(Vec::new, |value| read_factors(&value)),
        metrics: metrics.map_or_else(Vec::new, |value| read_metrics(&value)),
        levels: levels.map_or_else(Vec::new, |table| read_levels(&table)),
        file_pattern,
        row,
        repetition,
        status,
        started,
        delimiter: delimiter.map(|d| d.value),
        decimal_mark: take::word(&table, "decimal_mark", DECIMAL_MARKS),
    };
    table.finish();
    Some(import)
}

/// `["framework", "batch"]` or `{ size = "image" }`.
fn read_factors(value: &Value<'_>) -> Vec<DraftColumn> {
    let named = |name: Located<String>| DraftColumn {
        column: name.value.clone(),
        means: name,
    };
    match value.kind() {
        "array" => {
            let names = take::texts(value, "factors");
            names.into_iter().map(named).collect()
        }
        "table" => read_columns(value, "factors"),
        _ => {
            let message = "the factors of [import] must be a list of columns, or a table";
            let example = "such as [\"framework\"] or { size = \"image\" }";
            value.complain(value.wrong(message).label(example));
            Vec::new()
        }
    }
}

/// `{ time_ms = "train_seconds:ms" }`.
fn read_metrics(value: &Value<'_>) -> Vec<DraftColumn> {
    if value.kind() == "array" {
        let message = "the metrics of [import] need the units of their columns";
        let example = "such as { time_ms = \"train_seconds:ms\", loss = \"\" }";
        value.complain(value.wrong(message).label(example));
        return Vec::new();
    }
    read_columns(value, "metrics")
}

fn read_columns(value: &Value<'_>, key: &str) -> Vec<DraftColumn> {
    let Some(table) = value.table(&format!("import.{key}")) else {
        return Vec::new();
    };
    let mut columns = Vec::new();
    for (name, value) in table.entries() {
        match column_name(name.value) {
            Ok(column) => columns.extend(
                value
                    .text(name.value)
                    .map(|means| DraftColumn { column, means }),
            ),
            Err(message) => value.complain(name.wrong(message)),
        }
    }
    columns
}

fn read_levels(table: &Table<'_>) -> Vec<DraftConstant> {
    let mut levels = Vec::new();
    for (name, value) in table.entries() {
        let factor = name.clone().map(str::to_owned);
        let level = take::level(value, name.value);
        levels.extend(level.map(|level| DraftConstant { factor, level }));
    }
    levels
}

fn column_name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("the name of a column is missing".to_owned()),
        name => Ok(name.to_owned()),
    }
}

fn delimiter(text: &str) -> Result<char, String> {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(one), None) if one.is_ascii() && !matches!(one, '"' | '\n' | '\r') => Ok(one),
        _ => Err("`delimiter` must be one character, such as \";\" or \"\\t\"".to_owned()),
    }
}
