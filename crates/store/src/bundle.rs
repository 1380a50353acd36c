//! `run.json`: written, and read back with every doubt told as a value.

use std::fs;
use std::path::Path;

use model::run::BUNDLE_SCHEMA;
use model::{RunId, RunRecord};
use serde::{Deserialize, Serialize};

use crate::kept_files::KeptFile;
use crate::layout::RECORD;
use crate::{Damaged, StoreError, files};

/// A record and what it says of the files beside it.
#[derive(Debug, Clone)]
pub(crate) struct Bundle {
    pub(crate) record: RunRecord,
    /// None in bundles of earlier versions.
    pub(crate) files: Vec<KeptFile>,
}

/// `run.json` as written. The files are the store's matter, not the run's.
#[derive(Serialize)]
struct Written<'b> {
    #[serde(flatten)]
    record: &'b RunRecord,
    files: &'b [KeptFile],
}

#[derive(Deserialize)]
struct FilesAlone {
    #[serde(default)]
    files: Vec<KeptFile>,
}

/// Writes the record and returns the bundle as it will be read. A metric that is no finite number (the
/// loss of a training that diverged) is left out: JSON has no word for it, and no mean would.
pub(crate) fn write_record(
    folder: &Path,
    record: &RunRecord,
    files: Vec<KeptFile>,
    write: Write,
) -> Result<Bundle, StoreError> {
    write_record_as(folder, RECORD, record, files, write)
}

type Write = fn(&Path, &[u8]) -> Result<(), StoreError>;

pub(crate) fn write_record_as(
    folder: &Path,
    name: &str,
    record: &RunRecord,
    files: Vec<KeptFile>,
    write: Write,
) -> Result<Bundle, StoreError> {
    let mut kept = record.clone();
    kept.metrics.retain(|_, metric| metric.value.is_finite());
    let wrong = |e: serde_json::Error| StoreError::bad_record(record.run, e);
    let mut text = serde_json::to_vec_pretty(&Written {
        record: &kept,
        files: &files,
    })
    .map_err(wrong)?;
    let record = serde_json::from_slice(&text).map_err(wrong)?;
    text.push(b'\n');
    write(&folder.join(name), &text)?;
    Ok(Bundle { record, files })
}

/// For many files at once, which are brought to the disk together afterwards.
pub(crate) fn write_unsynced(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    fs::write(path, bytes).map_err(|e| StoreError::io("write", path, e))
}

/// On the disk when this returns.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    files::write_synced(path, bytes)
}

pub(crate) fn read(folder: &Path, run: RunId) -> Result<Bundle, Damaged> {
    let bundle = read_any(folder)?;
    let said = bundle.record.run;
    if said != run {
        return Err(Damaged {
            path: folder.join(RECORD),
            why: format!("is the record of {said}, but is in the folder of {run}"),
        });
    }
    Ok(bundle)
}

/// Whatever run it is of.
pub(crate) fn read_any(folder: &Path) -> Result<Bundle, Damaged> {
    let path = folder.join(RECORD);
    let damaged = |why: String| Damaged {
        path: path.clone(),
        why,
    };
    let bytes = host::read_regular(&path).map_err(|e| damaged(format!("cannot be read: {e}")))?;
    let record = serde_json::from_slice(&bytes).map_err(|e| damaged(unreadable(&bytes, &e)))?;
    let files = serde_json::from_slice(&bytes).map(|alone: FilesAlone| alone.files);
    Ok(Bundle {
        record,
        files: files.unwrap_or_default(),
    })
}

fn unreadable(bytes: &[u8], error: &serde_json::Error) -> String {
    let schema = serde_json::from_slice::<serde_json::Value>(bytes)
        .ok()
        .and_then(|value| value.get("schema")?.as_u64());
    match schema {
        Some(schema) if schema > u64::from(BUNDLE_SCHEMA) => format!(
            "has schema {schema}, but this bancada reads only up to {BUNDLE_SCHEMA}: use a newer one"
        ),
        _ => format!("is not a run record: {error}"),
    }
}
