//! Runs that MLflow tracked in its SQLite database, which it writes by default since version 3.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, Row};
use thiserror::Error;

/// How every SQLite database begins (https://sqlite.org/fileformat2.html, 1.3).
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// A run, as MLflow has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackedRun {
    pub id: String,
    pub name: String,
    /// `FINISHED`, `FAILED`, `KILLED`, `RUNNING`, `SCHEDULED`.
    pub status: String,
    pub start_ms: Option<i64>,
    pub end_ms: Option<i64>,
    pub experiment: String,
    /// `params.NAME`, `metrics.NAME` (the last value) and `tags.NAME`.
    pub values: BTreeMap<String, String>,
}

#[derive(Debug, Error)]
pub enum TrackedError {
    #[error("it is an SQLite database without runs of MLflow{}: export its rows as CSV or JSON", tables_words(.tables))]
    OtherDatabase { tables: Vec<String> },
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
}

fn tables_words(tables: &[String]) -> String {
    const SHOWN: usize = 5;
    let more = match tables.len() > SHOWN {
        true => ", …",
        false => "",
    };
    match tables {
        [] => String::new(),
        tables => format!(
            " (its tables: {}{more})",
            tables[..tables.len().min(SHOWN)].join(", ")
        ),
    }
}

/// By the beginning of the file; of one that cannot be read somebody else will say so.
pub fn is_database(path: &Path) -> bool {
    let mut begin = [0; MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == *MAGIC
}

/// All runs that are not deleted, of experiments that are not, in the order of their beginnings.
pub fn tracked_runs(path: &Path) -> Result<Vec<TrackedRun>, TrackedError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(path, flags)?;
    let tables = rows(
        &database,
        "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
        |row| row.get::<_, String>(0),
    )?;
    let needed = ["runs", "params", "latest_metrics", "tags", "experiments"];
    if !needed.iter().all(|name| tables.iter().any(|t| t == name)) {
        return Err(TrackedError::OtherDatabase { tables });
    }
    let mut values = values(&database)?;
    let run = |row: &Row<'_>| -> rusqlite::Result<TrackedRun> {
        let id: String = row.get(0)?;
        let text = |column: usize| -> rusqlite::Result<String> {
            let text: Option<String> = row.get(column)?;
            Ok(text.unwrap_or_default())
        };
        Ok(TrackedRun {
            name: text(1)?,
            status: text(2)?,
            start_ms: row.get(3)?,
            end_ms: row.get(4)?,
            experiment: text(5)?,
            values: values.remove(&id).unwrap_or_default(),
            id,
        })
    };
    let all = "SELECT run_uuid, runs.name, status, start_time, end_time, experiments.name \
        FROM runs LEFT JOIN experiments USING (experiment_id) \
        WHERE runs.lifecycle_stage IS NOT 'deleted' \
        AND experiments.lifecycle_stage IS NOT 'deleted' \
        ORDER BY start_time, run_uuid";
    Ok(rows(&database, all, run)?)
}

/// By run.
fn values(database: &Connection) -> rusqlite::Result<BTreeMap<String, BTreeMap<String, String>>> {
    let mut all: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut put = |kind: &str, run: String, key: String, value: String| {
        let own = all.entry(run).or_default();
        own.insert(format!("{kind}.{key}"), value);
    };
    for kind in ["params", "tags"] {
        let select = format!("SELECT run_uuid, key, value FROM {kind}");
        let text = |row: &Row<'_>| -> rusqlite::Result<(String, String, String)> {
            let value: Option<String> = row.get(2)?;
            Ok((row.get(0)?, row.get(1)?, value.unwrap_or_default()))
        };
        for (run, key, value) in rows(database, &select, text)? {
            put(kind, run, key, value);
        }
    }
    let select = "SELECT run_uuid, key, value, is_nan FROM latest_metrics";
    let number = |row: &Row<'_>| -> rusqlite::Result<(String, String, String)> {
        let value: f64 = row.get(2)?;
        // Infinity is kept as the largest number.
        let is_number = !row.get::<_, bool>(3)? && value.abs() < f64::MAX;
        let value = is_number.then(|| value.to_string());
        Ok((row.get(0)?, row.get(1)?, value.unwrap_or_default()))
    };
    for (run, key, value) in rows(database, select, number)? {
        put("metrics", run, key, value);
    }
    Ok(all)
}

fn rows<T>(
    database: &Connection,
    select: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    database.prepare(select)?.query_map([], read)?.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns of MLflow 3.17 that are read.
    const SCHEMA: &str = "
        CREATE TABLE experiments (experiment_id INTEGER, name VARCHAR, lifecycle_stage VARCHAR);
        CREATE TABLE runs (run_uuid VARCHAR, name VARCHAR, status VARCHAR, start_time BIGINT,
            end_time BIGINT, lifecycle_stage VARCHAR, experiment_id INTEGER);
        CREATE TABLE params (key VARCHAR, value VARCHAR, run_uuid VARCHAR);
        CREATE TABLE tags (key VARCHAR, value VARCHAR, run_uuid VARCHAR);
        CREATE TABLE latest_metrics (key VARCHAR, value FLOAT, timestamp BIGINT, step BIGINT,
            is_nan BOOLEAN, run_uuid VARCHAR);
        INSERT INTO experiments VALUES (1, 'demo', 'active'), (2, 'old', 'deleted');
        INSERT INTO runs VALUES
            ('b', 'second', 'FAILED', 2000, NULL, 'active', 1),
            ('a', 'first', 'FINISHED', 1000, 2500, 'active', 1),
            ('c', 'gone', 'FINISHED', 1000, 2500, 'deleted', 1),
            ('d', 'gone', 'FINISHED', 1000, 2500, 'active', 2);
        INSERT INTO params VALUES ('batch', '32', 'a'), ('batch', '64', 'b');
        INSERT INTO tags VALUES ('mlflow.user', NULL, 'a');
        INSERT INTO latest_metrics VALUES ('train_seconds', 3.5, 1, 0, 0, 'a'),
            ('loss', 0.0, 1, 0, 1, 'a'), ('speed', 1.7976931348623157e308, 1, 0, 0, 'a');";

    fn database(schema: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let database = Connection::open(file.path()).unwrap();
        database.execute_batch(schema).unwrap();
        file
    }

    #[test]
    fn runs_of_a_database_have_their_values() {
        let file = database(SCHEMA);
        assert!(is_database(file.path()));
        let runs = tracked_runs(file.path()).unwrap();
        let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
        assert_eq!(names, ["first", "second"]);
        let cells: Vec<(&str, &str)> = runs[0]
            .values
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let expected = [
            ("metrics.loss", ""),
            ("metrics.speed", ""),
            ("metrics.train_seconds", "3.5"),
            ("params.batch", "32"),
            ("tags.mlflow.user", ""),
        ];
        assert_eq!(cells, expected);
        assert_eq!((runs[1].status.as_str(), runs[1].end_ms), ("FAILED", None));
        assert_eq!(runs[0].experiment, "demo");
    }

    #[test]
    fn another_database_is_not_one_of_mlflow() {
        let file = database("CREATE TABLE bills (day TEXT); CREATE TABLE runs (x TEXT);");
        let error = tracked_runs(file.path()).unwrap_err().to_string();
        assert!(
            error.contains("without runs of MLflow (its tables: bills, runs)"),
            "{error}"
        );
        let text = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(text.path(), "SQLite format").unwrap();
        assert!(!is_database(text.path()));
    }
}
