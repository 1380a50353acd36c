//! Cells to numbers and levels: what one row of one file says.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use model::{Status, Timestamp};

use crate::number::{self, Cell};
use crate::summary::EPOCH;
use crate::table::{self, Table, TableRow};
use crate::units::{self, Conversion};
use crate::{ColumnMetric, ImportSpec, InputFile, RowKind, RowProblem, plain_name};

/// All files together.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// The factors the rows' levels belong to, in order.
    pub(crate) factors: Vec<String>,
    pub(crate) rows: Vec<Row>,
    pub(crate) left_out: usize,
    pub(crate) problems: Vec<RowProblem>,
}

#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) file: String,
    pub(crate) line: u64,
    /// As written, one for each factor.
    pub(crate) levels: Vec<String>,
    /// Counted from one.
    pub(crate) repetition: Option<u32>,
    pub(crate) status: Ended,
    pub(crate) started: Option<Timestamp>,
    /// One for each metric of the spec, in the unit kept.
    pub(crate) metrics: Vec<Option<f64>>,
}

impl Row {
    pub(crate) fn problem(&self, what: impl Into<String>) -> RowProblem {
        RowProblem::new(&self.file, self.line, what)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) status: Status,
    pub(crate) exit_code: Option<i32>,
}

pub(crate) const REPETITION: &str = "repetition";

pub(crate) fn read(files: &[InputFile], spec: &ImportSpec) -> Rows {
    let mut all = Rows {
        factors: factors(spec),
        ..Rows::default()
    };
    for file in files {
        let table = table::parse(&file.text, spec.delimiter);
        let name = plain_name(&file.name);
        let problem = table.problem.as_ref();
        let problem = problem.map(|p| RowProblem::new(name, p.line, p.what.as_str()));
        all.problems.extend(problem);
        match FileReader::new(name, &table, spec, &all.factors) {
            Ok(mut reader) => {
                let rows: Vec<Row> = table
                    .rows
                    .iter()
                    .filter_map(|row| reader.row(row))
                    .collect();
                all.left_out += table.rows.len() - rows.len();
                all.rows.extend(rows);
                all.problems.append(&mut reader.problems);
            }
            Err(problems) => {
                all.left_out += table.rows.len();
                all.problems.extend(problems);
            }
        }
    }
    count_from_one(&mut all.rows);
    count_epochs_from_one(&mut all.rows, spec);
    all
}

/// The same for epochs of steps.
fn count_epochs_from_one(rows: &mut [Row], spec: &ImportSpec) {
    let place = spec.metrics.iter().position(|m| m.metric == EPOCH);
    let Some(place) = place.filter(|_| spec.row() == RowKind::Step) else {
        return;
    };
    let epoch = |row: &Row| row.metrics.get(place).copied().flatten();
    if !rows
        .iter()
        .filter_map(epoch)
        .any(|n| (0.0..1.0).contains(&n))
    {
        return;
    }
    for row in rows {
        if let Some(Some(epoch)) = row.metrics.get_mut(place) {
            *epoch += 1.0;
        }
    }
}

/// Programs that count from zero: the first repetition is ours of number one.
pub(crate) fn count_from_one(rows: &mut [Row]) {
    if rows.iter().any(|row| row.repetition == Some(0)) {
        for repetition in rows.iter_mut().filter_map(|row| row.repetition.as_mut()) {
            *repetition = repetition.saturating_add(1);
        }
    }
}

/// In the order of columns, names of files, constants. Where a factor has several sources, a
/// column counts before a constant and that before the name of the file.
pub(crate) fn factors(spec: &ImportSpec) -> Vec<String> {
    let columns = spec.factors.iter().map(|f| f.factor.as_str());
    let named = spec
        .file_pattern
        .iter()
        .flat_map(|p| p.names())
        .map(String::as_str);
    let constants = spec.constants.iter().map(|(factor, _)| factor.as_str());
    let mut factors: Vec<String> = Vec::new();
    for factor in columns
        .chain(named.filter(|name| *name != REPETITION))
        .chain(constants)
    {
        if !factors.iter().any(|known| known == factor) {
            factors.push(factor.to_owned());
        }
    }
    factors
}

enum LevelSource {
    Column(usize),
    Fixed(String),
}

struct FileReader<'s> {
    file: &'s str,
    spec: &'s ImportSpec,
    levels: Vec<LevelSource>,
    /// One for each metric of the spec; `None` if the file lacks the column.
    metrics: Vec<Option<(usize, Conversion<'s>)>>,
    /// To read moments that lack the year.
    written: Option<Date>,
    repetition: Option<usize>,
    status: Option<usize>,
    started: Option<usize>,
    file_repetition: Option<String>,
    decimal_comma: bool,
    problems: Vec<RowProblem>,
}

impl<'s> FileReader<'s> {
    /// Fails with every column that is missing and without which rows have no place or no number.
    fn new(
        file: &'s str,
        table: &Table,
        spec: &'s ImportSpec,
        factors: &[String],
    ) -> Result<Self, Vec<RowProblem>> {
        let mut columns = Columns {
            table,
            missing: Vec::new(),
        };
        let named = file_values(file, spec).unwrap_or_else(|what| {
            columns.missing.push(what);
            NamedValues::new()
        });
        let level = |factor: &String| match spec.factors.iter().find(|f| f.factor == *factor) {
            Some(mapped) => LevelSource::Column(columns.find(&mapped.column)),
            None => LevelSource::Fixed(fixed_level(spec, &named, factor).unwrap_or_default()),
        };
        let levels = factors.iter().map(level).collect();
        let mut optional = |name: &Option<String>| name.as_ref().map(|name| columns.find(name));
        let repetition = optional(&spec.repetition_column);
        let status = optional(&spec.status_column);
        let mut lacking = Vec::new();
        let mut there = |name: &str, lack: &str| {
            let found = table.column(name);
            if found.is_none() {
                lacking.push((table.no_column(name), lack.to_owned()));
            }
            found
        };
        let started = spec.started_column.as_deref();
        let started = started.and_then(|name| there(name, "its runs have no date"));
        let metrics: Vec<Option<(usize, Conversion<'_>)>> = spec
            .metrics
            .iter()
            .map(|m| {
                let lack = format!("its runs have no `{}`", m.metric);
                Some((there(&m.column, &lack)?, units::conversion(&m.unit)))
            })
            .collect();
        if metrics.iter().all(Option::is_none) {
            let missing = lacking.drain(..).map(|(missing, _)| missing);
            columns.missing.extend(missing);
        }
        let problem = |what: String| RowProblem::new(file, table.header_line, what);
        if !columns.missing.is_empty() {
            return Err(columns.missing.into_iter().map(problem).collect());
        }
        let cells = table.rows.iter().flat_map(|row| {
            let columns = metrics.iter().flatten();
            columns.map(|(column, _)| row.cell(*column))
        });
        let mark = spec.decimal_mark.unwrap_or_default();
        let decimal_comma = number::uses_decimal_comma(mark, table.delimiter, cells);
        Ok(FileReader {
            file,
            spec,
            levels,
            metrics,
            repetition,
            status,
            started,
            file_repetition: named.get(REPETITION).cloned(),
            decimal_comma,
            written: table.written,
            problems: lacking
                .into_iter()
                .map(|(missing, lack)| problem(format!("{missing}; {lack}")))
                .collect(),
        })
    }

    /// None, with a problem, for a row that cannot be placed.
    fn row(&mut self, row: &TableRow) -> Option<Row> {
        match self.placed(row) {
            Ok(placed) => Some(Row {
                started: self.started(row),
                metrics: self.metrics(row),
                ..placed
            }),
            Err(what) => {
                self.tell(row, format!("{what}; the row is skipped"));
                None
            }
        }
    }

    /// The run a row is of, without its numbers.
    fn placed(&self, row: &TableRow) -> Result<Row, String> {
        let level = |source: &LevelSource| match source {
            LevelSource::Column(column) => row.cell(*column).to_owned(),
            LevelSource::Fixed(text) => text.clone(),
        };
        let own = self.repetition.map(|column| row.cell(column));
        let text = own.filter(|text| !text.is_empty());
        let repetition = text.or(self.file_repetition.as_deref()).map(|text| {
            let wrong = || format!("`{text}` is not a repetition number");
            parse_repetition(text).ok_or_else(wrong)
        });
        let word = self.status.map_or("", |column| row.cell(column));
        let status = parse_status(word, self.spec.row()).ok_or_else(|| {
            let known = "ok, failed, out-of-memory, timed-out, interrupted or an exit code";
            format!("`{word}` is not an outcome: write {known}")
        });
        Ok(Row {
            file: self.file.to_owned(),
            line: row.line,
            levels: self.levels.iter().map(level).collect(),
            repetition: repetition.transpose()?,
            status: status?,
            started: None,
            metrics: Vec::new(),
        })
    }

    /// A cell that is not a number is reported; the rest of its row is used.
    fn metrics(&mut self, row: &TableRow) -> Vec<Option<f64>> {
        let metrics = self.metrics.iter().zip(&self.spec.metrics);
        let values: Vec<Result<Option<f64>, String>> = metrics
            .map(|(found, metric)| match found {
                Some((column, conversion)) => self.value(row.cell(*column), metric, conversion),
                None => Ok(None),
            })
            .collect();
        let mut used = |value: Result<Option<f64>, String>| {
            value.unwrap_or_else(|what| {
                self.tell(row, what);
                None
            })
        };
        values.into_iter().map(&mut used).collect()
    }

    fn value(
        &self,
        text: &str,
        metric: &ColumnMetric,
        conversion: &Conversion<'_>,
    ) -> Result<Option<f64>, String> {
        // Monitors write the unit of the column into every cell: `3000 MiB`.
        let unit = metric.unit.as_str();
        let bare = text.trim_end().strip_suffix(unit);
        let bare = bare.filter(|_| !unit.is_empty()).unwrap_or(text);
        let wrong = |what: &str| {
            let column = &metric.column;
            Err(format!("`{text}` in column `{column}` is {what}; ignored"))
        };
        match number::cell(bare, self.decimal_comma) {
            Cell::Missing => Ok(None),
            Cell::Number(value) if value < 0.0 && conversion.unit == "s" => {
                wrong("a negative time")
            }
            Cell::Number(value) => Ok(Some(conversion.apply(value))),
            Cell::Other => wrong("not a number"),
        }
    }

    fn started(&mut self, row: &TableRow) -> Option<Timestamp> {
        let text = row.cell(self.started?);
        let parsed = parse_started(text).or_else(|| without_year(text, self.written?));
        if parsed.is_none() && !text.is_empty() {
            self.tell(
                row,
                format!("`{text}` is not a date and time such as 2024-03-01T12:00:00Z; ignored"),
            );
        }
        parsed
    }

    fn tell(&mut self, row: &TableRow, what: String) {
        self.problems
            .push(RowProblem::new(self.file, row.line, what));
    }
}

struct Columns<'t> {
    table: &'t Table,
    missing: Vec<String>,
}

impl Columns<'_> {
    /// Any place for a missing one: the file is not read then.
    fn find(&mut self, name: &str) -> usize {
        self.table.column(name).unwrap_or_else(|| {
            self.missing.push(self.table.no_column(name));
            0
        })
    }
}

pub(crate) type NamedValues = BTreeMap<String, String>;

/// The levels a file's name carries, by the name of their factor.
pub(crate) fn file_values(file: &str, spec: &ImportSpec) -> Result<NamedValues, String> {
    let Some(pattern) = &spec.file_pattern else {
        return Ok(NamedValues::new());
    };
    let values = pattern.values(file)?;
    Ok(pattern.names().iter().cloned().zip(values).collect())
}

/// The level that all rows of a file have, by a constant or by the file's name.
pub(crate) fn fixed_level(spec: &ImportSpec, named: &NamedValues, factor: &str) -> Option<String> {
    let constant = spec.constants.iter().find(|(name, _)| name == factor);
    let constant = constant.map(|(_, level)| level.to_string());
    constant.or_else(|| named.get(factor).cloned())
}

/// `2`, `r2`, `2.0`.
pub(crate) fn parse_repetition(text: &str) -> Option<u32> {
    let digits = text.trim().trim_start_matches(['r', 'R']);
    let value: f64 = digits.parse().ok()?;
    (value.fract() == 0.0 && (0.0..=1e9).contains(&value)).then_some(value as u32)
}

fn parse_status(word: &str, row: RowKind) -> Option<Ended> {
    let word = word.trim().to_lowercase().replace(['_', ' '], "-");
    if let Ok(code) = word.parse::<i32>() {
        // A request is answered with the codes of HTTP.
        let answered = row == RowKind::Request && (200..300).contains(&code);
        let status = if code == 0 || answered {
            Status::Ok
        } else {
            Status::Failed
        };
        return Some(Ended {
            status,
            exit_code: Some(code),
        });
    }
    let status = match word.as_str() {
        "" | "ok" | "success" | "succeeded" | "passed" | "pass" | "done" | "completed"
        | "finished" | "true" => Status::Ok,
        "failed" | "fail" | "failure" | "error" | "false" | "crashed" => Status::Failed,
        "out-of-memory" | "oom" | "outofmemory" => Status::OutOfMemory,
        "timed-out" | "timeout" | "timedout" => Status::TimedOut,
        "interrupted" | "killed" | "cancelled" | "canceled" | "aborted" | "stopped" => {
            Status::Interrupted
        }
        _ => return None,
    };
    Some(Ended {
        status,
        exit_code: None,
    })
}

/// RFC 3339, the same without zone (taken as UTC), or seconds since the Unix epoch.
fn parse_started(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    // nvidia-smi writes 2024/03/01 12:00:00.123.
    let dashed = text.replace('/', "-");
    if let Ok(civil) = dashed.parse::<jiff::civil::DateTime>() {
        return TimeZone::UTC.to_timestamp(civil).ok();
    }
    let seconds: f64 = text.parse().ok().filter(|s: &f64| s.abs() < 1e11)?;
    Timestamp::from_nanosecond((seconds * 1e9) as i128).ok()
}

/// dstat writes `15-05 10:11:12`, and into its preamble when it was started: of that year, or of the
/// next where the month has turned; taken as UTC.
fn without_year(text: &str, written: Date) -> Option<Timestamp> {
    let (date, time) = text.trim().split_once(' ')?;
    let (day, month) = date.split_once('-')?;
    let (day, month): (i8, i8) = (day.parse().ok()?, month.parse().ok()?);
    let turned = i16::from(month < written.month());
    let date = Date::new(written.year() + turned, month, day).ok()?;
    let time: jiff::civil::Time = time.parse().ok()?;
    TimeZone::UTC.to_timestamp(date.to_datetime(time)).ok()
}
