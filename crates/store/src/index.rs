//! The index: one SQLite file, made of the bundles and always replaceable by them.
//!
//! A rollback journal, not WAL: one file to copy, readable in a folder that cannot be written,
//! and a writer that inserts one row per run has nothing to gain from WAL. Readers and the writer
//! wait for each other some milliseconds.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::run::{BUNDLE_SCHEMA, Origin};
use model::{RunId, RunRecord, Status};
use rusqlite::{Connection, OpenFlags, Row, Transaction, TransactionBehavior, params};
use serde_json::Value;

use crate::layout::{Layout, Stamp};
use crate::{StoreError, StudyLock};

/// Any other number in the file makes it be built anew.
const SCHEMA: i64 = 1000 + BUNDLE_SCHEMA as i64;
const BUSY: Duration = Duration::from_secs(30);

/// The machine is the same for thousands of runs and is kept once. The views are for people who
/// open the file with their own tools.
const TABLES: &str = "
DROP VIEW IF EXISTS metrics; DROP VIEW IF EXISTS levels;
DROP TABLE IF EXISTS records; DROP TABLE IF EXISTS runs; DROP TABLE IF EXISTS machines;
CREATE TABLE machines (id INTEGER PRIMARY KEY, inventory TEXT NOT NULL UNIQUE);
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    scenario INTEGER NOT NULL,
    repetition INTEGER NOT NULL,
    status TEXT NOT NULL,
    origin TEXT NOT NULL,
    started TEXT NOT NULL,
    seconds REAL NOT NULL,
    machine INTEGER NOT NULL REFERENCES machines (id),
    modified_nanoseconds INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    UNIQUE (scenario, repetition)
);
CREATE TABLE records (run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, record TEXT NOT NULL);
CREATE VIEW metrics AS
    SELECT runs.scenario, runs.repetition, runs.status, m.key AS metric,
           json_extract(m.value, '$.value') AS value, json_extract(m.value, '$.unit') AS unit
    FROM runs JOIN records ON records.run = runs.id, json_each(records.record, '$.metrics') AS m;
CREATE VIEW levels AS
    SELECT runs.scenario, runs.repetition, json_extract(l.value, '$.factor') AS factor,
           json_extract(l.value, '$.level') AS level
    FROM runs JOIN records ON records.run = runs.id, json_each(records.record, '$.scenario.levels') AS l;
";

#[derive(Debug)]
pub(crate) struct Index {
    connection: Connection,
    path: PathBuf,
    is_in_memory: bool,
}

impl Index {
    /// Made when missing or of another schema; one that is spoilt is an error.
    pub(crate) fn open(layout: &Layout) -> Result<Index, StoreError> {
        let path = layout.index();
        let open = || {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
            let index = Index {
                connection: Connection::open_with_flags(&path, flags)?,
                path: path.clone(),
                is_in_memory: false,
            };
            index.prepare()?;
            Ok(index)
        };
        open().map_err(|e| StoreError::index(&path, e))
    }

    /// As [`Index::open`], but a spoilt file is replaced.
    pub(crate) fn open_or_replace(
        layout: &Layout,
        lock: &Arc<AtomicBool>,
    ) -> Result<Index, StoreError> {
        match Index::open(layout) {
            Err(error) if is_spoilt(&error) => Index::replace(layout, lock),
            result => result,
        }
    }

    /// A new file, empty. Only the holder of the lock may take a file away that others write to;
    /// who does not get it, or cannot write, has an index in memory.
    pub(crate) fn replace(layout: &Layout, lock: &Arc<AtomicBool>) -> Result<Index, StoreError> {
        let temporary = match lock.load(Ordering::SeqCst) {
            true => None,
            false => match StudyLock::take(layout, lock) {
                Ok(lock) => Some(lock),
                Err(_) => return Index::in_memory(layout),
            },
        };
        for suffix in ["", "-journal", "-wal", "-shm"] {
            let mut name = layout.index().into_os_string();
            name.push(suffix);
            let _ = fs::remove_file(PathBuf::from(name));
        }
        let replaced = Index::open(layout);
        drop(temporary);
        replaced.or_else(|_| Index::in_memory(layout))
    }

    /// For folders that cannot be written.
    pub(crate) fn in_memory(layout: &Layout) -> Result<Index, StoreError> {
        let make = || {
            let index = Index {
                connection: Connection::open_in_memory()?,
                path: layout.index(),
                is_in_memory: true,
            };
            index.prepare()?;
            Ok(index)
        };
        make().map_err(|e| StoreError::index(&layout.index(), e))
    }

    pub(crate) fn is_in_memory(&self) -> bool {
        self.is_in_memory
    }

    fn prepare(&self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(BUSY)?;
        self.connection
            .execute_batch("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;")?;
        if self.schema()? == SCHEMA {
            return Ok(());
        }
        let transaction =
            Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        // Looked at again inside the transaction: another program may have been quicker.
        if self.schema()? != SCHEMA {
            transaction.execute_batch(&format!("{TABLES} PRAGMA user_version = {SCHEMA};"))?;
        }
        transaction.commit()
    }

    fn schema(&self) -> rusqlite::Result<i64> {
        self.connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
    }

    pub(crate) fn clear(&self) -> Result<(), StoreError> {
        self.transaction(|| {
            self.connection
                .execute_batch("DELETE FROM records; DELETE FROM runs; DELETE FROM machines;")
                .map_err(|e| self.error(e))
        })
    }

    pub(crate) fn insert(&self, record: &RunRecord, stamp: Stamp) -> Result<(), StoreError> {
        self.transaction(|| self.put(record, stamp))
    }

    pub(crate) fn statuses(&self) -> Result<BTreeMap<RunId, Status>, StoreError> {
        let mut statuses = BTreeMap::new();
        self.rows("SELECT scenario, repetition, status FROM runs", |row| {
            let word: String = row.get(2)?;
            let status =
                serde_json::from_value(Value::String(word)).map_err(|e| unreadable(2, e))?;
            statuses.insert(run_id(row)?, status);
            Ok(())
        })?;
        Ok(statuses)
    }

    /// Sorted by scenario and repetition.
    pub(crate) fn records(&self) -> Result<Vec<RunRecord>, StoreError> {
        let mut records = Vec::new();
        // One statement, so that it sees one state of the file.
        let query = "SELECT record, inventory FROM runs JOIN records ON records.run = runs.id \
                     JOIN machines ON machines.id = runs.machine ORDER BY scenario, repetition";
        self.rows(query, |row| {
            let text = |column| {
                row.get_ref(column)?
                    .as_str()
                    .map_err(|e| unreadable(column, e))
            };
            records.push(join_machine(text(0)?, text(1)?).map_err(|e| unreadable(0, e))?);
            Ok(())
        })?;
        Ok(records)
    }

    pub(crate) fn stamps(&self) -> Result<BTreeMap<RunId, Stamp>, StoreError> {
        let mut stamps = BTreeMap::new();
        let query = "SELECT scenario, repetition, modified_nanoseconds, bytes FROM runs";
        self.rows(query, |row| {
            let stamp = Stamp {
                modified_nanoseconds: row.get(2)?,
                bytes: row.get(3)?,
            };
            stamps.insert(run_id(row)?, stamp);
            Ok(())
        })?;
        Ok(stamps)
    }

    pub(crate) fn put(&self, record: &RunRecord, stamp: Stamp) -> Result<(), StoreError> {
        let parts = split_machine(record).map_err(|e| StoreError::BadRecord {
            run: record.run,
            why: e.to_string(),
        })?;
        self.delete(record.run)?;
        let put = || -> rusqlite::Result<()> {
            let prepare = |sql| self.connection.prepare_cached(sql);
            prepare("INSERT OR IGNORE INTO machines (inventory) VALUES (?1)")?
                .execute([&parts.machine])?;
            let machine: i64 = prepare("SELECT id FROM machines WHERE inventory = ?1")?
                .query_row([&parts.machine], |row| row.get(0))?;
            prepare(
                "INSERT INTO runs (scenario, repetition, status, origin, started, seconds, machine, \
                 modified_nanoseconds, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                record.run.scenario,
                record.run.repetition,
                record.outcome.status.word(),
                match record.origin {
                    Origin::Measured { .. } => "measured",
                    Origin::Imported { .. } => "imported",
                },
                record.started.to_string(),
                record.seconds,
                machine,
                stamp.modified_nanoseconds,
                stamp.bytes,
            ])?;
            let id = self.connection.last_insert_rowid();
            prepare("INSERT INTO records (run, record) VALUES (?1, ?2)")?
                .execute(params![id, parts.rest])?;
            Ok(())
        };
        put().map_err(|e| self.error(e))
    }

    pub(crate) fn delete(&self, run: RunId) -> Result<(), StoreError> {
        self.connection
            .prepare_cached("DELETE FROM runs WHERE scenario = ?1 AND repetition = ?2")
            .and_then(|mut statement| statement.execute([run.scenario, run.repetition]))
            .map(drop)
            .map_err(|e| self.error(e))
    }

    fn rows(
        &self,
        query: &str,
        mut take: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        let mut all = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached(query)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                take(row)?;
            }
            Ok(())
        };
        all().map_err(|e| self.error(e))
    }

    pub(crate) fn transaction<T>(
        &self,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // Dropped without commit, it is rolled back.
        let transaction =
            Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
                .map_err(|e| self.error(e))?;
        let value = work()?;
        transaction.commit().map_err(|e| self.error(e))?;
        Ok(value)
    }

    fn error(&self, error: rusqlite::Error) -> StoreError {
        StoreError::index(&self.path, error)
    }
}

/// Whatever is neither about the right to write nor about others who write: the file is not what
/// we wrote.
pub(crate) fn is_spoilt(error: &StoreError) -> bool {
    use rusqlite::ErrorCode;
    let StoreError::Index { source, .. } = error else {
        return false;
    };
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown) => true,
        Some(_) => false,
        None => matches!(
            source,
            rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::QueryReturnedNoRows
        ),
    }
}

struct SplitRecord {
    machine: String,
    rest: String,
}

fn split_machine(record: &RunRecord) -> serde_json::Result<SplitRecord> {
    let machine = serde_json::to_string(&record.machine)?;
    let mut value = serde_json::to_value(record)?;
    if let Value::Object(fields) = &mut value {
        fields.remove("machine");
    }
    Ok(SplitRecord {
        machine,
        rest: serde_json::to_string(&value)?,
    })
}

fn join_machine(rest: &str, machine: &str) -> serde_json::Result<RunRecord> {
    let fields = rest.strip_prefix('{').unwrap_or(rest);
    serde_json::from_str(&format!("{{\"machine\":{machine},{fields}"))
}

fn run_id(row: &Row<'_>) -> rusqlite::Result<RunId> {
    Ok(RunId {
        scenario: row.get(0)?,
        repetition: row.get(1)?,
    })
}

fn unreadable(
    column: usize,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
}
