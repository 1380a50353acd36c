//! Cells to numbers and levels: what one row of one file says.

use model::{Level, Status, Timestamp};

use crate::number::{self, Cell};
use crate::summary::EPOCH;
use crate::table::{self, Table, TableRow};
use crate::units::{self, Conversion};
use crate::{ImportSpec, InputFile, RowKind, RowProblem};

/// All files together.
#[derive(Debug)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) status: Status,
    pub(crate) exit_code: Option<i32>,
}

pub(crate) const REPETITION: &str = "repetition";

pub(crate) fn read(files: &[InputFile], spec: &ImportSpec) -> Rows {
    let mut all = Rows {
        factors: factors(spec),
        rows: Vec::new(),
        left_out: 0,
        problems: Vec::new(),
    };
    for file in files {
        let table = table::parse(&file.text, spec.delimiter);
        let name = file.name.strip_prefix("./").unwrap_or(&file.name);
        all.problems
            .extend(table.problem.as_ref().map(|problem| RowProblem {
                file: name.to_owned(),
                line: problem.line,
                what: problem.what.clone(),
            }));
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
    let Some(place) = place.filter(|_| spec.row == RowKind::Step) else {
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
    metrics: Vec<Option<(usize, Conversion)>>,
    /// To read moments that lack the year.
    year: Option<YearOf>,
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
            Vec::new()
        });
        let value = |name: &str| {
            named
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, value)| value.clone())
        };
        let levels = factors
            .iter()
            .map(
                |factor| match spec.factors.iter().find(|f| f.factor == *factor) {
                    Some(mapped) => LevelSource::Column(columns.find(&mapped.column)),
                    None => LevelSource::Fixed(
                        constant(spec, factor)
                            .or_else(|| value(factor))
                            .unwrap_or_default(),
                    ),
                },
            )
            .collect();
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
        let metrics: Vec<Option<(usize, Conversion)>> = spec
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
        let problem = |what: String| RowProblem {
            file: file.to_owned(),
            line: table.header_line,
            what,
        };
        if !columns.missing.is_empty() {
            return Err(columns.missing.into_iter().map(problem).collect());
        }
        let cells = table.rows.iter().flat_map(|row| {
            let columns = metrics.iter().flatten();
            columns.map(|(column, _)| row.cell(*column))
        });
        let decimal_comma = number::uses_decimal_comma(spec.decimal_mark, table.delimiter, cells);
        Ok(FileReader {
            file,
            spec,
            levels,
            metrics,
            repetition,
            status,
            started,
            file_repetition: value(REPETITION),
            decimal_comma,
            year: table.written.map(|written| YearOf { written }),
            problems: lacking
                .into_iter()
                .map(|(missing, lack)| problem(format!("{missing}; {lack}")))
                .collect(),
        })
    }

    /// None, with a problem, for a row that cannot be placed.
    fn row(&mut self, row: &TableRow) -> Option<Row> {
        let level = |source: &LevelSource| match source {
            LevelSource::Column(column) => row.cell(*column).to_owned(),
            LevelSource::Fixed(text) => text.clone(),
        };
        let levels = self.levels.iter().map(level).collect();
        let repetition = self.repetition.map(|column| row.cell(column).to_owned());
        let repetition = match repetition
            .filter(|text| !text.is_empty())
            .or_else(|| self.file_repetition.clone())
        {
            None => None,
            Some(text) => match parse_repetition(&text) {
                Some(number) => Some(number),
                None => {
                    return self.leave_out(row, format!("`{text}` is not a repetition number"));
                }
            },
        };
        let status = match self.status.map(|column| row.cell(column)) {
            None => Some(OK),
            Some(word) => parse_status(word, self.spec.row),
        };
        let Some(status) = status else {
            let word = self.status.map_or("", |column| row.cell(column));
            let known = "ok, failed, out-of-memory, timed-out, interrupted or an exit code";
            return self.leave_out(row, format!("`{word}` is not an outcome: write {known}"));
        };
        Some(Row {
            file: self.file.to_owned(),
            line: row.line,
            levels,
            repetition,
            status,
            started: self.started(row),
            metrics: self.metrics(row),
        })
    }

    /// A cell that is not a number is reported; the rest of its row is used.
    fn metrics(&mut self, row: &TableRow) -> Vec<Option<f64>> {
        let mut values = Vec::with_capacity(self.metrics.len());
        let mut wrong = Vec::new();
        for (found, metric) in self.metrics.iter().zip(&self.spec.metrics) {
            let Some((column, conversion)) = found else {
                values.push(None);
                continue;
            };
            let text = row.cell(*column);
            // Monitors write the unit of the column into every cell: `3000 MiB`.
            let unit = metric.unit.as_str();
            let bare = text
                .trim_end()
                .strip_suffix(unit)
                .filter(|_| !unit.is_empty());
            values.push(
                match number::cell(bare.unwrap_or(text), self.decimal_comma) {
                    Cell::Missing => None,
                    Cell::Number(value) if value < 0.0 && conversion.unit == "s" => {
                        wrong.push(format!(
                            "`{text}` in column `{}` is a negative time; ignored",
                            metric.column
                        ));
                        None
                    }
                    Cell::Number(value) => Some(conversion.apply(value)),
                    Cell::Other => {
                        wrong.push(format!(
                            "`{text}` in column `{}` is not a number; ignored",
                            metric.column
                        ));
                        None
                    }
                },
            );
        }
        wrong.into_iter().for_each(|what| self.tell(row, what));
        values
    }

    fn started(&mut self, row: &TableRow) -> Option<Timestamp> {
        let text = row.cell(self.started?);
        let parsed = parse_started(text).or_else(|| self.year.and_then(|year| year.moment(text)));
        if parsed.is_none() && !text.is_empty() {
            self.tell(
                row,
                format!("`{text}` is not a date and time such as 2024-03-01T12:00:00Z; ignored"),
            );
        }
        parsed
    }

    fn leave_out(&mut self, row: &TableRow, what: String) -> Option<Row> {
        self.tell(row, format!("{what}; the row is skipped"));
        None
    }

    fn tell(&mut self, row: &TableRow, what: String) {
        self.problems.push(RowProblem {
            file: self.file.to_owned(),
            line: row.line,
            what,
        });
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

/// The levels a file's name carries.
pub(crate) fn file_values(file: &str, spec: &ImportSpec) -> Result<Vec<(String, String)>, String> {
    let Some(pattern) = &spec.file_pattern else {
        return Ok(Vec::new());
    };
    let values = pattern.values(file)?;
    Ok(pattern.names().iter().cloned().zip(values).collect())
}

pub(crate) fn constant(spec: &ImportSpec, factor: &str) -> Option<String> {
    let found = spec.constants.iter().find(|(name, _)| name == factor);
    found.map(|(_, level): &(String, Level)| level.to_string())
}

/// `2`, `r2`, `2.0`.
pub(crate) fn parse_repetition(text: &str) -> Option<u32> {
    let digits = text.trim().trim_start_matches(['r', 'R']);
    let value: f64 = digits.parse().ok()?;
    (value.fract() == 0.0 && (0.0..=1e9).contains(&value)).then_some(value as u32)
}

const OK: Ended = Ended {
    status: Status::Ok,
    exit_code: None,
};

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
        let utc = jiff::tz::TimeZone::UTC.to_timestamp(civil);
        return utc.ok();
    }
    let seconds: f64 = text.parse().ok().filter(|s: &f64| s.abs() < 1e11)?;
    Timestamp::from_nanosecond((seconds * 1e9) as i128).ok()
}

/// dstat writes `15-05 10:11:12`, and into its preamble when it was started.
#[derive(Debug, Clone, Copy)]
struct YearOf {
    written: jiff::civil::Date,
}

impl YearOf {
    /// Of that year, or of the next where the month has turned; taken as UTC.
    fn moment(self, text: &str) -> Option<Timestamp> {
        let (date, time) = text.trim().split_once(' ')?;
        let (day, month) = date.split_once('-')?;
        let (day, month): (i8, i8) = (day.parse().ok()?, month.parse().ok()?);
        let turned = i16::from(month < self.written.month());
        let date = jiff::civil::Date::new(self.written.year() + turned, month, day).ok()?;
        let time: jiff::civil::Time = time.parse().ok()?;
        let utc = jiff::tz::TimeZone::UTC.to_timestamp(date.to_datetime(time));
        utc.ok()
    }
}
