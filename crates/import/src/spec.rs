//! What the columns and the names of the files mean.

use std::fmt;
use std::str::FromStr;

use model::{Level, Timestamp};

use crate::FilePattern;

#[derive(Debug, Clone)]
pub struct ImportSpec {
    pub row: RowKind,
    pub factors: Vec<ColumnFactor>,
    pub metrics: Vec<ColumnMetric>,
    pub file_pattern: Option<FilePattern>,
    /// Levels that all the files have in common: factor and level.
    pub constants: Vec<(String, Level)>,
    /// None finds it: comma, semicolon, tab or bar.
    pub delimiter: Option<char>,
    pub decimal_mark: DecimalMark,
    pub repetition_column: Option<String>,
    pub status_column: Option<String>,
    pub started_column: Option<String>,
    /// For runs whose start no column tells.
    pub started_otherwise: Timestamp,
}

impl ImportSpec {
    /// Nothing mapped yet.
    pub fn new(row: RowKind, started_otherwise: Timestamp) -> Self {
        ImportSpec {
            row,
            factors: Vec::new(),
            metrics: Vec::new(),
            file_pattern: None,
            constants: Vec::new(),
            delimiter: None,
            decimal_mark: DecimalMark::Auto,
            repetition_column: None,
            status_column: None,
            started_column: None,
            started_otherwise,
        }
    }
}

/// What one row tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowKind {
    #[default]
    Run,
    Request,
    Step,
    /// A reading of a monitor beside a run.
    Sample,
}

/// `COLUMN` or `COLUMN=FACTOR`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnFactor {
    pub column: String,
    pub factor: String,
}

/// `COLUMN=UNIT` or `COLUMN=METRIC:UNIT`: the unit is the column's own; known units become
/// seconds, bytes, joules, percent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnMetric {
    pub column: String,
    pub metric: String,
    pub unit: String,
}

impl ColumnMetric {
    /// `means` is `UNIT` or `METRIC:UNIT`. None when a name is missing.
    pub(crate) fn new(column: &str, means: &str) -> Option<Self> {
        let (metric, unit) = means.split_once(':').unwrap_or((column, means));
        let (column, metric, unit) = (column.trim(), metric.trim(), unit.trim());
        let named = !column.is_empty() && !metric.is_empty();
        named.then(|| ColumnMetric {
            column: column.to_owned(),
            metric: metric.to_owned(),
            unit: unit.to_owned(),
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DecimalMark {
    /// A comma where the file's numbers show it, otherwise a point.
    #[default]
    Auto,
    Point,
    Comma,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecError(pub String);

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SpecError {}

impl FromStr for RowKind {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        match text {
            "run" => Ok(RowKind::Run),
            "request" => Ok(RowKind::Request),
            "step" => Ok(RowKind::Step),
            "sample" => Ok(RowKind::Sample),
            _ => Err(SpecError(format!(
                "`{text}` is not what a row tells: run, request, step or sample"
            ))),
        }
    }
}

impl FromStr for DecimalMark {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        match text {
            "auto" => Ok(DecimalMark::Auto),
            "point" => Ok(DecimalMark::Point),
            "comma" => Ok(DecimalMark::Comma),
            _ => Err(SpecError(format!(
                "`{text}` is not a decimal mark: auto, point or comma"
            ))),
        }
    }
}

impl FromStr for ColumnFactor {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let (column, factor) = text.split_once('=').unwrap_or((text, text));
        let (column, factor) = (column.trim(), factor.trim());
        if column.is_empty() || factor.is_empty() {
            return Err(SpecError(format!(
                "`{text}` is not COLUMN or COLUMN=FACTOR"
            )));
        }
        Ok(ColumnFactor {
            column: column.to_owned(),
            factor: factor.to_owned(),
        })
    }
}

impl FromStr for ColumnMetric {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let wrong = || {
            SpecError(format!(
                "`{text}` is not COLUMN=UNIT or COLUMN=METRIC:UNIT, such as time=train_seconds:s"
            ))
        };
        let (column, means) = text.split_once('=').ok_or_else(wrong)?;
        ColumnMetric::new(column, means).ok_or_else(wrong)
    }
}
