//! What the columns and the names of the files mean.

use std::str::FromStr;

use model::{Level, Timestamp};

use crate::{FilePattern, units};

/// What a study and the flags of a command say. What it says nothing of has the default.
#[derive(Debug, Clone, Default)]
pub struct ImportSpec {
    pub row: Option<RowKind>,
    pub factors: Vec<ColumnFactor>,
    pub metrics: Vec<ColumnMetric>,
    pub file_pattern: Option<FilePattern>,
    /// Levels that all the files have in common: factor and level.
    pub constants: Vec<(String, Level)>,
    /// None finds it: comma, semicolon, tab or bar.
    pub delimiter: Option<char>,
    pub decimal_mark: Option<DecimalMark>,
    pub repetition_column: Option<String>,
    pub status_column: Option<String>,
    pub started_column: Option<String>,
    /// For runs whose start no column tells.
    pub started_otherwise: Timestamp,
}

impl ImportSpec {
    pub(crate) fn row(&self) -> RowKind {
        self.row.unwrap_or_default()
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

impl Words for Counted {
    const WORDS: &'static [(&'static str, Self)] =
        &[("each", Counted::Each), ("cumulative", Counted::Cumulative)];
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
        let wrong = |word| format!("`{word}` is neither `each` nor `cumulative`");
        let counted = parts.next();
        let counted = counted.map(|word| Counted::named(word).ok_or_else(|| wrong(word)));
        let counted = counted.transpose()?;
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

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SpecError(pub String);

/// Values that are written as one word each.
pub(crate) trait Words: Copy + PartialEq + 'static {
    const WORDS: &'static [(&'static str, Self)];

    fn word(self) -> &'static str {
        let found = Self::WORDS.iter().find(|(_, value)| *value == self);
        found.map_or("", |(word, _)| word)
    }

    fn named(text: &str) -> Option<Self> {
        let found = Self::WORDS.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value)
    }

    /// `expected` says what `text` is not, and which words there are.
    fn parse(text: &str, expected: &str) -> Result<Self, SpecError> {
        Self::named(text).ok_or_else(|| SpecError(format!("`{text}` is not {expected}")))
    }
}

impl Words for RowKind {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("run", RowKind::Run),
        ("request", RowKind::Request),
        ("step", RowKind::Step),
        ("sample", RowKind::Sample),
    ];
}

impl FromStr for RowKind {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Words::parse(text, "a kind of row: use run, request, step or sample")
    }
}

impl Words for DecimalMark {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("auto", DecimalMark::Auto),
        ("point", DecimalMark::Point),
        ("comma", DecimalMark::Comma),
    ];
}

impl FromStr for DecimalMark {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Words::parse(text, "a decimal mark: use auto, point or comma")
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
