//! Measurements made elsewhere become run records. Pure: text in, records out.
//!
//! Read [`ImportSpec`] (what the columns mean), then [`read`].

mod spec;

pub use spec::{
    ColumnFactor, ColumnMetric, DecimalMark, FilePattern, ImportSpec, RowKind, SpecError,
};

use model::{Plan, RunRecord, Study};

/// One CSV file, already read.
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

/// A study made of what the files hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Inferred {
    pub study: Study,
    pub problems: Vec<RowProblem>,
}

#[expect(unused_variables, clippy::todo, reason = "body to come")]
pub fn read(files: &[InputFile], spec: &ImportSpec, study: &Study, plan: &Plan) -> Imported {
    todo!()
}

/// For results that have no study file: factors and levels in the order of appearance. Its
/// workload is an empty command, which means "measurements only".
#[expect(unused_variables, clippy::todo, reason = "body to come")]
pub fn infer_study(name: &str, files: &[InputFile], spec: &ImportSpec) -> Inferred {
    todo!()
}

/// The text of a file as people's tools write them: UTF-8 with or without mark, UTF-16 with mark,
/// otherwise Latin-1.
#[expect(unused_variables, clippy::todo, reason = "body to come")]
pub fn decode(bytes: &[u8]) -> String {
    todo!()
}
