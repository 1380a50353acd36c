//! The index: one SQLite file, made of the bundles and always replaceable by them.
//!
//! A rollback journal, not WAL: one file to copy, readable in a folder that cannot be written,
//! and a writer that inserts one row per run has nothing to gain from WAL. Readers and the writer
//! wait for each other some milliseconds.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::run::{BUNDLE_SCHEMA, Origin};
use model::{Price, RunId, RunRecord, Shared, Status};
use rusqlite::{Connection, OpenFlags, Row, Transaction, TransactionBehavior, params};
use serde_json::Value;

use crate::bundle::Bundle;
use crate::kept_files::KeptFile;
use crate::layout::{Layout, Stamp};
use crate::{StoreError, StudyLock, bulk};

/// Any other number in the file makes it be built anew.
const SCHEMA: i64 = 3000 + BUNDLE_SCHEMA as i64;
const BUSY: Duration = Duration::from_secs(30);

/// The machine is the same for thousands of runs and is kept once; of imported runs the record is
/// what differs from what their import has in common. The views are for people who
/// open the file with their own tools.
const TABLES: &str = "
DROP VIEW IF EXISTS metrics; DROP VIEW IF EXISTS levels; DROP VIEW IF EXISTS whole_records;
DROP TABLE IF EXISTS records; DROP TABLE IF EXISTS runs; DROP TABLE IF EXISTS machines;
DROP TABLE IF EXISTS imports;
CREATE TABLE imports (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    modified_nanoseconds INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    runs INTEGER NOT NULL,
    common TEXT NOT NULL
);
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
    import INTEGER REFERENCES imports (id) ON DELETE CASCADE,
    files TEXT,
    UNIQUE (scenario, repetition)
);
CREATE TABLE records (run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, record TEXT NOT NULL);
CREATE INDEX runs_of_imports ON runs (import) WHERE import IS NOT NULL;
CREATE VIEW whole_records AS
    SELECT records.run AS run, json_patch(coalesce(imports.common, '{}'), records.record) AS record
    FROM records JOIN runs ON runs.id = records.run LEFT JOIN imports ON imports.id = runs.import;
CREATE VIEW metrics AS
    SELECT runs.scenario, runs.repetition, runs.status, m.key AS metric,
           json_extract(m.value, '$.value') AS value, json_extract(m.value, '$.unit') AS unit
    FROM runs JOIN whole_records ON whole_records.run = runs.id, json_each(whole_records.record, '$.metrics') AS m;
CREATE VIEW levels AS
    SELECT runs.scenario, runs.repetition, json_extract(l.value, '$.factor') AS factor,
           json_extract(l.value, '$.level') AS level
    FROM runs JOIN whole_records ON whole_records.run = runs.id, json_each(whole_records.record, '$.scenario.levels') AS l;
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

    pub(crate) fn insert(&self, bundle: &Bundle, stamp: Stamp) -> Result<(), StoreError> {
        self.transaction(|| self.put(bundle, stamp))
    }

    pub(crate) fn statuses(&self) -> Result<BTreeMap<RunId, Status>, StoreError> {
        self.rows("SELECT scenario, repetition, status FROM runs", |row| {
            let word: String = row.get(2)?;
            let status = serde_json::from_value(Value::String(word));
            Ok((run_id(row)?, status.map_err(|e| unreadable(2, e))?))
        })
    }

    /// Sorted by scenario and repetition.
    pub(crate) fn records(&self) -> Result<Vec<RunRecord>, StoreError> {
        // One statement, so that it sees one state of the file.
        let query = "SELECT record, inventory, import, common FROM runs \
                     JOIN records ON records.run = runs.id JOIN machines ON machines.id = runs.machine \
                     LEFT JOIN imports ON imports.id = runs.import ORDER BY scenario, repetition";
        let mut commons: BTreeMap<i64, Value> = BTreeMap::new();
        let mut prices = Prices::default();
        self.rows(query, |row| {
            let text = |column| {
                row.get_ref(column)?
                    .as_str()
                    .map_err(|e| unreadable(column, e))
            };
            let record = match row.get::<_, Option<i64>>(2)? {
                None => join_machine(text(0)?, text(1)?),
                Some(import) => {
                    let common = match commons.entry(import) {
                        Entry::Occupied(known) => known.into_mut(),
                        Entry::Vacant(new) => {
                            let common = serde_json::from_str(text(3)?);
                            new.insert(common.map_err(|e| unreadable(3, e))?)
                        }
                    };
                    bulk::record(common, text(0)?)
                }
            };
            let mut record = record.map_err(|e| unreadable(0, e))?;
            prices.share(&mut record);
            Ok(record)
        })
    }

    /// The stamps of bundles.
    pub(crate) fn stamps(&self) -> Result<BTreeMap<RunId, Stamp>, StoreError> {
        let query = "SELECT scenario, repetition, modified_nanoseconds, bytes FROM runs WHERE import IS NULL";
        self.rows(query, |row| Ok((run_id(row)?, stamp(row, 2)?)))
    }

    /// The files of bundles, as they were kept.
    pub(crate) fn kept_files(&self) -> Result<BTreeMap<RunId, Vec<KeptFile>>, StoreError> {
        let query = "SELECT scenario, repetition, files FROM runs WHERE files IS NOT NULL";
        self.rows(query, |row| {
            let text: String = row.get(2)?;
            let files = serde_json::from_str(&text).map_err(|e| unreadable(2, e))?;
            Ok((run_id(row)?, files))
        })
    }

    pub(crate) fn put(&self, bundle: &Bundle, stamp: Stamp) -> Result<(), StoreError> {
        let Bundle { record, files } = bundle;
        let wrong = |e: serde_json::Error| StoreError::bad_record(record.run, e);
        let parts = split_machine(record).map_err(wrong)?;
        let files = serde_json::to_string(files).map_err(wrong)?;
        self.delete(record.run)?;
        self.put_row(record, &parts, stamp, &Home::Bundle { files })
    }

    fn put_row(
        &self,
        record: &RunRecord,
        parts: &SplitRecord,
        stamp: Stamp,
        home: &Home,
    ) -> Result<(), StoreError> {
        let (import, files) = match home {
            Home::Bundle { files } => (None, Some(files)),
            Home::Import(id) => (Some(id), None),
        };
        let put = || -> rusqlite::Result<()> {
            let prepare = |sql| self.connection.prepare_cached(sql);
            prepare("INSERT OR IGNORE INTO machines (inventory) VALUES (?1)")?
                .execute([&parts.machine])?;
            let machine: i64 = prepare("SELECT id FROM machines WHERE inventory = ?1")?
                .query_row([&parts.machine], |row| row.get(0))?;
            prepare(
                "INSERT INTO runs (scenario, repetition, status, origin, started, seconds, machine, \
                 modified_nanoseconds, bytes, import, files) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?
            .execute(params![
                record.run.scenario,
                record.run.repetition,
                record.outcome.status.word(),
                match record.origin {
                    Origin::Measured { .. } => "measured",
                    Origin::Predicted { .. } => "predicted",
                    Origin::Imported { .. } => "imported",
                },
                record.started.to_string(),
                record.seconds,
                machine,
                stamp.modified_nanoseconds,
                stamp.bytes,
                import,
                files,
            ])?;
            let id = self.connection.last_insert_rowid();
            prepare("INSERT INTO records (run, record) VALUES (?1, ?2)")?
                .execute(params![id, parts.rest])?;
            Ok(())
        };
        put().map_err(|e| self.error(e))
    }

    /// The files of imports, by name.
    pub(crate) fn imports(&self) -> Result<BTreeMap<String, Stamp>, StoreError> {
        let query = "SELECT name, modified_nanoseconds, bytes FROM imports";
        self.rows(query, |row| Ok((row.get(0)?, stamp(row, 1)?)))
    }

    /// Whether a bundle took the place of an imported run.
    pub(crate) fn has_hidden_imports(&self) -> Result<bool, StoreError> {
        let query = "SELECT (SELECT total(runs) FROM imports) > \
                     (SELECT count(*) FROM runs WHERE import IS NOT NULL)";
        let hidden: Vec<bool> = self.rows(query, |row| row.get(0))?;
        Ok(hidden == [true])
    }

    /// With its runs.
    pub(crate) fn delete_import(&self, name: &str) -> Result<(), StoreError> {
        self.connection
            .execute("DELETE FROM imports WHERE name = ?1", [name])
            .map(drop)
            .map_err(|e| self.error(e))
    }

    /// Every run of the file that no bundle has taken the place of; says what is wrong with lines.
    pub(crate) fn put_import(
        &self,
        name: &str,
        stamp: Stamp,
        reader: bulk::Reader,
    ) -> Result<Vec<String>, StoreError> {
        let query = "INSERT INTO imports (name, modified_nanoseconds, bytes, runs, common) \
                     VALUES (?1, ?2, ?3, 0, ?4)";
        let values = params![
            name,
            stamp.modified_nanoseconds,
            stamp.bytes,
            reader.common.to_string()
        ];
        let inserted = self.connection.execute(query, values);
        inserted.map_err(|e| self.error(e))?;
        let import = self.connection.last_insert_rowid();
        let taken = self.statuses()?;
        let (mut runs, mut wrong) = (0_i64, Vec::new());
        for run in reader {
            let run = match run {
                Ok(run) => run,
                Err(why) => {
                    wrong.push(why);
                    continue;
                }
            };
            runs += 1;
            if taken.contains_key(&run.record.run) {
                continue;
            }
            let machine = serde_json::to_string(&run.record.machine);
            let parts = SplitRecord {
                machine: machine.unwrap_or_default(),
                rest: run.patch,
            };
            self.put_row(&run.record, &parts, stamp, &Home::Import(import))?;
        }
        // What cannot be read is looked at again next time.
        let bytes = if wrong.is_empty() { stamp.bytes } else { -1 };
        self.connection
            .execute(
                "UPDATE imports SET runs = ?1, bytes = ?2 WHERE id = ?3",
                params![runs, bytes, import],
            )
            .map_err(|e| self.error(e))?;
        Ok(wrong)
    }

    pub(crate) fn delete(&self, run: RunId) -> Result<(), StoreError> {
        self.connection
            .prepare_cached("DELETE FROM runs WHERE scenario = ?1 AND repetition = ?2")
            .and_then(|mut statement| statement.execute([run.scenario, run.repetition]))
            .map(drop)
            .map_err(|e| self.error(e))
    }

    fn rows<T, All: FromIterator<T>>(
        &self,
        query: &str,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<All, StoreError> {
        let all = || -> rusqlite::Result<All> {
            let mut statement = self.connection.prepare_cached(query)?;
            statement.query_map([], read)?.collect()
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

/// From this column and the next.
fn stamp(row: &Row<'_>, column: usize) -> rusqlite::Result<Stamp> {
    Ok(Stamp {
        modified_nanoseconds: row.get(column)?,
        bytes: row.get(column + 1)?,
    })
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

/// Prices of records, each kept once.
#[derive(Default)]
struct Prices {
    known: Vec<Shared<Price>>,
}

impl Prices {
    /// A price that moves may be another one in every run: so many are looked through.
    const MOST: usize = 16;

    fn share(&mut self, record: &mut RunRecord) {
        let Some(price) = &mut record.price else {
            return;
        };
        match self.known.iter().find(|known| *known == price) {
            Some(known) => *price = known.clone(),
            None if self.known.len() < Self::MOST => self.known.push(price.clone()),
            None => {}
        }
    }
}

/// Where a run is kept.
enum Home {
    /// With its files, as JSON.
    Bundle { files: String },
    /// By the id of its import.
    Import(i64),
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
    Ok(RunId::new(row.get(0)?, row.get(1)?))
}

fn unreadable(
    column: usize,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
}
