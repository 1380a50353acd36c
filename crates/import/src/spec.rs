//! What the columns and the names of the files mean.

use std::fmt;
use std::str::FromStr;

use model::{Level, Timestamp};

use crate::{FilePattern, units};

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

    /// What a person should know of the mapping, though nothing is wrong with it.
    pub fn notes(&self) -> Vec<String> {
        let unknown = self.metrics.iter().filter(|m| !units::is_known(&m.unit));
        let note = |metric: &ColumnMetric| {
            format!(
                "`{}`, the unit of column `{}`, is not a known unit: its numbers are kept unchanged",
                metric.unit, metric.column
            )
        };
        unknown.map(note).collect()
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

/// `COLUMN=UNIT`, `COLUMN=METRIC:UNIT` or `COLUMN=METRIC:UNIT:COUNTED`: the unit is the column's
/// own; known units become seconds, bytes, joules, percent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnMetric {
    pub column: String,
    pub metric: String,
    pub unit: String,
    /// `None` if nobody says it: of each row.
    pub counted: Option<Counted>,
}

/// What the number of a row counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// The row alone.
    Each,
    /// All rows of the run up to this one.
    Cumulative,
}

impl Counted {
    pub fn word(self) -> &'static str {
        match self {
            Counted::Each => "each",
            Counted::Cumulative => "cumulative",
        }
    }
}

impl ColumnMetric {
    /// `means` is what follows `COLUMN=`; fails with what is wrong with it.
    pub(crate) fn new(column: &str, means: &str) -> Result<Self, String> {
        let mut parts = means.splitn(3, ':').map(str::trim);
        let first = parts.next().unwrap_or_default();
        let (metric, unit) = match parts.next() {
            Some(unit) => (first, unit),
            None => (column.trim(), first),
        };
        let counted = match parts.next() {
            None => None,
            Some("each") => Some(Counted::Each),
            Some("cumulative") => Some(Counted::Cumulative),
            Some(word) => return Err(format!("`{word}` is neither `each` nor `cumulative`")),
        };
        if column.trim().is_empty() || metric.is_empty() {
            return Err("a name is missing".to_owned());
        }
        units::check(metric, unit)?;
        Ok(ColumnMetric {
            column: column.trim().to_owned(),
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            counted,
        })
    }

    /// As a study file writes it, behind the column's name.
    pub(crate) fn means(&self) -> String {
        let counted = self
            .counted
            .map_or_else(String::new, |c| format!(":{}", c.word()));
        format!("{}:{}{counted}", self.metric, self.unit)
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
                "`{text}` is not a kind of row: use run, request, step or sample"
            ))),
        }
    }
}

impl DecimalMark {
    /// `None` if it is found in the numbers.
    pub(crate) fn word(self) -> Option<&'static str> {
        match self {
            DecimalMark::Auto => None,
            DecimalMark::Point => Some("point"),
            DecimalMark::Comma => Some("comma"),
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
                "`{text}` is not a decimal mark: use auto, point or comma"
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
        let wrong = |why: &str| {
            SpecError(format!(
                "`{text}` is not COLUMN=UNIT or COLUMN=METRIC:UNIT, such as time=train_seconds:s: {why}"
            ))
        };
        let (column, means) = text
            .split_once('=')
            .ok_or_else(|| wrong("there is no `=`"))?;
        ColumnMetric::new(column, means).map_err(|why| wrong(&why))
    }
}
