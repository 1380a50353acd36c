//! Imported runs, many in one file: `imports/1.jsonl`.
//!
//! The first line holds what the runs have in common, every other line is a run as a JSON merge
//! patch (RFC 7396) over it: what differs alone. A folder and a file for each of a hundred
//! thousand rows took a gigabyte.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use model::run::BUNDLE_SCHEMA;
use model::{RunId, RunRecord};
use serde_json::{Map, Value, json};

use crate::layout::Layout;
use crate::{Damaged, StoreError, files};

/// One line of a file.
pub(crate) struct BulkRun {
    pub(crate) record: RunRecord,
    /// As it stands in the file.
    pub(crate) patch: String,
}

/// Writes a file of these records, whole or not at all.
pub(crate) fn write(layout: &Layout, records: &[RunRecord]) -> Result<(), StoreError> {
    files::create_folder(&layout.imports())?;
    write_to(&layout.next_import()?, records)
}

/// The same, over the file of this name where there is one.
pub(crate) fn write_to(path: &Path, records: &[RunRecord]) -> Result<(), StoreError> {
    let Some(first) = records.first() else {
        return Ok(());
    };
    let common = value_of(first)?;
    let mut wrong = None;
    let written = host::write_whole_by(path, |file| {
        writeln!(
            file,
            "{}",
            json!({ "schema": BUNDLE_SCHEMA, "common": common })
        )?;
        for record in records {
            match value_of(record) {
                Ok(value) => {
                    let patch = difference(&common, &value);
                    writeln!(file, "{}", patch.unwrap_or(Value::Object(Map::new())))?;
                }
                Err(error) => {
                    wrong = Some(error);
                    return Err(io::ErrorKind::InvalidData.into());
                }
            }
        }
        Ok(())
    });
    match wrong {
        Some(error) => Err(error),
        None => written.map_err(|e| StoreError::io("write", path, e)),
    }
}

/// What the runs of a file have in common.
pub(crate) struct Reader {
    pub(crate) common: Value,
    lines: io::Lines<BufReader<File>>,
    line: u64,
}

impl Reader {
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        let file = host::open_regular(path, OpenOptions::new().read(true))
            .map_err(|e| format!("cannot be read: {e}"))?;
        let mut lines = BufReader::new(file).lines();
        let first = lines.next().transpose();
        let first = first.map_err(|e| format!("cannot be read: {e}"))?;
        let head: Value = serde_json::from_str(first.as_deref().unwrap_or_default())
            .map_err(|e| format!("line 1 is not the header of an import: {e}"))?;
        let schema = head.get("schema").and_then(Value::as_u64);
        match (schema, head.get("common")) {
            (Some(schema), _) if schema > u64::from(BUNDLE_SCHEMA) => Err(format!(
                "has schema {schema}, but this bancada reads only up to {BUNDLE_SCHEMA}: use a newer one"
            )),
            (Some(_), Some(common)) => Ok(Reader {
                common: common.clone(),
                lines,
                line: 1,
            }),
            _ => Err("line 1 is not the header of an import".to_owned()),
        }
    }
}

impl Iterator for Reader {
    /// Or what is wrong with the line.
    type Item = Result<BulkRun, String>;

    fn next(&mut self) -> Option<Self::Item> {
        let patch = self.lines.next()?;
        self.line += 1;
        let line = self.line;
        let run =
            patch
                .map_err(|e| e.to_string())
                .and_then(|patch| match record(&self.common, &patch) {
                    Ok(record) => Ok(BulkRun { record, patch }),
                    Err(e) => Err(e.to_string()),
                });
        Some(run.map_err(|why| format!("line {line} is not a run: {why}")))
    }
}

/// A run of the file, whole.
pub(crate) fn record(common: &Value, patch: &str) -> serde_json::Result<RunRecord> {
    let mut whole = common.clone();
    merge(&mut whole, serde_json::from_str(patch)?);
    serde_json::from_value(whole)
}

/// Of all files, runs that a bundle has taken the place of.
pub(crate) fn superseded(
    layout: &Layout,
    is_superseded: &dyn Fn(RunId) -> bool,
) -> Result<Vec<RunRecord>, StoreError> {
    let mut superseded = Vec::new();
    for name in layout.import_names()? {
        let Ok(reader) = Reader::open(&layout.imports().join(name)) else {
            continue;
        };
        let records = reader.flatten().map(|run| run.record);
        superseded.extend(records.filter(|record| is_superseded(record.run)));
    }
    Ok(superseded)
}

pub(crate) fn damaged(layout: &Layout, name: &str, why: String) -> Damaged {
    Damaged {
        path: layout.imports().join(name),
        why,
    }
}

/// A metric that is not a finite number is left out, as in a bundle: JSON has no word for it.
fn value_of(record: &RunRecord) -> Result<Value, StoreError> {
    let value = serde_json::to_value(record);
    let mut value = value.map_err(|e| StoreError::bad_record(record.run, e))?;
    if let Some(metrics) = value.get_mut("metrics").and_then(Value::as_object_mut) {
        metrics.retain(|_, metric| metric.get("value").is_some_and(Value::is_number));
    }
    Ok(value)
}

/// The patch that makes `value` of `common`; `None` if they are the same.
fn difference(common: &Value, value: &Value) -> Option<Value> {
    let (Value::Object(common), Value::Object(value)) = (common, value) else {
        return (common != value).then(|| value.clone());
    };
    let mut patch = Map::new();
    for (key, value) in value {
        match common.get(key) {
            Some(common) => {
                let different = difference(common, value);
                patch.extend(different.map(|different| (key.clone(), different)));
            }
            None if value.is_null() => {}
            None => _ = patch.insert(key.clone(), value.clone()),
        }
    }
    let gone = common.keys().filter(|key| !value.contains_key(*key));
    patch.extend(gone.map(|key| (key.clone(), Value::Null)));
    (!patch.is_empty()).then_some(Value::Object(patch))
}

fn merge(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else {
        return;
    };
    for (key, value) in patch {
        match value {
            Value::Null => _ = target.remove(&key),
            value => merge(target.entry(key).or_insert(Value::Null), value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_makes_the_one_of_the_other() {
        let check = |common: Value, value: Value, expected: Value| {
            let patch = difference(&common, &value).unwrap_or(json!({}));
            assert_eq!(patch, expected);
            let mut merged = common;
            merge(&mut merged, patch);
            assert_eq!(merged, value);
        };
        check(json!({"a": 1, "b": 2}), json!({"a": 1, "b": 2}), json!({}));
        check(
            json!({"a": 1, "b": 2}),
            json!({"a": 1, "b": 3}),
            json!({"b": 3}),
        );
        check(json!({"a": 1, "b": 2}), json!({"a": 1}), json!({"b": null}));
        check(
            json!({"m": {"x": {"value": 1, "unit": "s"}}}),
            json!({"m": {"x": {"value": 2, "unit": "s"}, "y": {"value": 3, "unit": ""}}}),
            json!({"m": {"x": {"value": 2}, "y": {"value": 3, "unit": ""}}}),
        );
        check(json!({"l": [1, 2]}), json!({"l": [1]}), json!({"l": [1]}));
        check(
            json!({"l": null}),
            json!({"l": {"a": 1}}),
            json!({"l": {"a": 1}}),
        );
        check(
            json!({"l": {"a": 1}}),
            json!({"l": {}}),
            json!({"l": {"a": null}}),
        );
    }
}
