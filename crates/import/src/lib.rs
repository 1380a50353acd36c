//! Measurements made elsewhere become run records. Pure: text in, records out.
//!
//! For tables read [`ImportSpec`] (what the columns mean, by a study and by flags), then [`read`]. Inside: `table` (text to cells;
//! `json` and `dstat` for those formats, `mlflow` for a folder of runs), `rows` (cells to numbers and
//! levels), `levels` (levels to scenarios), `runs` (rows to records).
//!
//! For logs of training programs read [`LogSpec`], then [`Logs`].

mod cumulative;
mod dstat;
mod infer;
mod json;
mod levels;
mod logs;
mod mapping;
mod mlflow;
mod number;
mod pattern;
mod rows;
mod runs;
mod spec;
mod study_text;
mod summary;
mod table;
mod times;
mod units;

pub use infer::{Inferred, infer_study};
pub use logs::{LogFile, LogFormat, LogRecords, LogSpec, Logs};
pub use mlflow::{MlflowRun, mlflow_runs_table, mlflow_spec, mlflow_table};
pub use pattern::FilePattern;
pub use spec::{ColumnFactor, ColumnMetric, Counted, DecimalMark, ImportSpec, RowKind, SpecError};
pub use study_text::study_text;
pub use table::decode;

use levels::Scenarios;
use model::{Plan, RunRecord, Study};

/// One file of rows, already read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    /// Its path as the user gave it: file patterns match it, messages and records name it.
    pub name: String,
    pub text: String,
}

/// What came out of the files. Every row is in a record, in a problem, or empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    pub records: Vec<RunRecord>,
    pub problems: Vec<RowProblem>,
    pub rows_read: usize,
    pub rows_left_out: usize,
    /// Records whose duration no column told: they cannot be costed.
    pub records_without_time: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowProblem {
    pub file: String,
    pub line: u64,
    /// What is wrong and what to do.
    pub what: String,
}

impl RowProblem {
    pub(crate) fn new(file: &str, line: u64, what: impl Into<String>) -> Self {
        RowProblem {
            file: file.to_owned(),
            line,
            what: what.into(),
        }
    }
}

/// `old.csv:7: …`
impl std::fmt::Display for RowProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// As messages and records name it.
fn plain_name(name: &str) -> &str {
    name.strip_prefix("./").unwrap_or(name)
}

/// Reads the files as runs of the study. What cannot be used is told and the rest is used.
pub fn read(files: &[InputFile], spec: &ImportSpec, study: &Study, plan: &Plan) -> Imported {
    let mut read = rows::read(files, spec);
    let rows_read = read.rows.len() + read.left_out;
    let first = files.first().map_or("", |file| file.name.as_str());
    let placed = Scenarios::of(study, plan).place(&mut read, first);
    let made = runs::records(placed, spec, study, &mut read.problems);
    Imported {
        records_without_time: made.records.iter().filter(|r| r.seconds <= 0.0).count(),
        rows_left_out: rows_read - made.rows_used,
        records: made.records,
        problems: read.problems,
        rows_read,
    }
}
