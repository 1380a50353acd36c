//! `run.json`: written, and read back with every doubt told as a value.

use std::fs;
use std::path::Path;

use model::run::BUNDLE_SCHEMA;
use model::{RunId, RunRecord};

use crate::layout::RECORD;
use crate::{Damaged, StoreError, files};

/// Writes the record and returns it as it will be read. A metric that is no finite number (the
/// loss of a training that diverged) is left out: JSON has no word for it, and no mean would.
pub(crate) fn write_record(
    folder: &Path,
    record: &RunRecord,
    write: Write,
) -> Result<RunRecord, StoreError> {
    write_record_as(folder, RECORD, record, write)
}

type Write = fn(&Path, &[u8]) -> Result<(), StoreError>;

pub(crate) fn write_record_as(
    folder: &Path,
    name: &str,
    record: &RunRecord,
    write: Write,
) -> Result<RunRecord, StoreError> {
    let mut kept = record.clone();
    kept.metrics.retain(|_, metric| metric.value.is_finite());
    let wrong = |e: serde_json::Error| StoreError::BadRecord {
        run: record.run,
        why: e.to_string(),
    };
    let mut text = serde_json::to_vec_pretty(&kept).map_err(wrong)?;
    let read_back = serde_json::from_slice(&text).map_err(wrong)?;
    text.push(b'\n');
    write(&folder.join(name), &text)?;
    Ok(read_back)
}

/// For many files at once, which are brought to the disk together afterwards.
pub(crate) fn write_unsynced(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    fs::write(path, bytes).map_err(|e| StoreError::io("write", path, e))
}

/// On the disk when this returns.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    files::write_synced(path, bytes)
}

pub(crate) fn read_record(folder: &Path, run: RunId) -> Result<RunRecord, Damaged> {
    let record = read_any_record(folder)?;
    if record.run != run {
        return Err(Damaged {
            path: folder.join(RECORD),
            why: format!(
                "is the record of {}, but is in the folder of {run}",
                record.run
            ),
        });
    }
    Ok(record)
}

/// Whatever run it is of.
pub(crate) fn read_any_record(folder: &Path) -> Result<RunRecord, Damaged> {
    let path = folder.join(RECORD);
    let damaged = |why: String| Damaged {
        path: path.clone(),
        why,
    };
    let bytes = files::read_regular(&path).map_err(|e| damaged(format!("cannot be read: {e}")))?;
    serde_json::from_slice(&bytes).map_err(|e| damaged(unreadable(&bytes, &e)))
}

fn unreadable(bytes: &[u8], error: &serde_json::Error) -> String {
    let schema = serde_json::from_slice::<serde_json::Value>(bytes)
        .ok()
        .and_then(|value| value.get("schema")?.as_u64());
    match schema {
        Some(schema) if schema > u64::from(BUNDLE_SCHEMA) => {
            format!(
                "has schema {schema}, but this bancada reads only up to {BUNDLE_SCHEMA}: use a newer one"
            )
        }
        _ => format!("is not a run record: {error}"),
    }
}
