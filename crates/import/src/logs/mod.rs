//! Logs of training programs: one file is one run.
//!
//! The way of a log: a file per format (`caffe`, `slim`, `keras`, `pytorch`, `dawnbench`), or the
//! regular expressions of a study (`patterned`), read its lines into what it told (`told`), with a
//! `clock` for lines that lack the year; `counted` settles what a log counts; `run` makes the numbers of a run record of that.

mod caffe;
mod clock;
mod counted;
mod dawnbench;
mod keras;
mod patterned;
mod pytorch;
mod run;
mod slim;
mod told;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use model::run::Origin;
use model::study::LogPattern;
use model::{Event, Plan, RunRecord, Study, Timestamp};

use crate::infer::{self, Inferred};
use crate::levels::Scenarios;
use crate::rows::{self, REPETITION, Row, Rows};
use crate::runs;
use crate::spec::Words;
use crate::{ImportSpec, RowProblem, SpecError, plain_name};
use run::Run;
use told::Told;

/// One log, already read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    /// Its path as the user gave it.
    pub name: String,
    pub text: String,
    /// When it was last written: logs without a year are of the year before this moment.
    pub modified: Option<Timestamp>,
}

/// What is said of logs from outside.
#[derive(Debug, Clone)]
pub struct LogSpec {
    /// Where levels come from.
    pub levels: ImportSpec,
    /// None finds it, log by log.
    pub format: Option<LogFormat>,
    /// Of the first line, for logs that do not tell it.
    pub year: Option<i16>,
    /// Images of an epoch; a level of the factor `images` tells it too.
    pub images: Option<u64>,
    /// Images of a step; a level of the factor `batch`, or the log itself, tells it too.
    pub batch: Option<u64>,
    /// Of the study: they read logs whose format is not named.
    pub patterns: Vec<LogPattern>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// What `caffe train` and `caffe time` write.
    Caffe,
    /// What `slim.learning.train`, estimators and the older training loops of TensorFlow's models
    /// write.
    TensorflowSlim,
    /// What `fit` of Keras prints.
    Keras,
    /// What the CSVLogger of Keras writes.
    KerasCsv,
    /// What PyTorch's examples `mnist` and `imagenet` print.
    Pytorch,
    /// An entry of DAWNBench: accuracy by epoch and hour.
    Dawnbench,
}

impl LogFormat {
    /// What trained, as studies name it.
    fn framework(self) -> Option<&'static str> {
        match self {
            LogFormat::Caffe => Some("caffe"),
            LogFormat::TensorflowSlim => Some("tensorflow"),
            LogFormat::Keras | LogFormat::KerasCsv => Some("keras"),
            LogFormat::Pytorch => Some("pytorch"),
            LogFormat::Dawnbench => None,
        }
    }

    /// By the lines that only one of them writes; `None` if there are none.
    fn find(text: &str) -> Option<LogFormat> {
        if dawnbench::is_own(text) {
            return Some(LogFormat::Dawnbench);
        }
        if keras::is_csv(text) {
            return Some(LogFormat::KerasCsv);
        }
        type IsOwn = fn(&str) -> bool;
        let all: [(LogFormat, IsOwn); 4] = [
            (LogFormat::Caffe, caffe::is_own),
            (LogFormat::TensorflowSlim, slim::is_own),
            (LogFormat::Keras, keras::is_own),
            (LogFormat::Pytorch, pytorch::is_own),
        ];
        let count = |is_own: IsOwn| text.lines().filter(|line| is_own(line)).count();
        let found = all.map(|(format, is_own)| (count(is_own), format));
        // Of equal ones the first.
        let most = found.iter().rev().max_by_key(|(count, _)| *count);
        most.filter(|(count, _)| *count > 0)
            .map(|(_, format)| *format)
    }

    fn read(self, text: &str, year: Option<i16>, modified: Timestamp) -> Told {
        match self {
            LogFormat::Caffe => caffe::read(text, year, modified),
            LogFormat::TensorflowSlim => slim::read(text, year, modified),
            LogFormat::Keras => keras::read(text),
            LogFormat::KerasCsv => keras::read_csv(text),
            LogFormat::Pytorch => pytorch::read(text),
            LogFormat::Dawnbench => dawnbench::read(text),
        }
    }
}

impl Words for LogFormat {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("caffe", LogFormat::Caffe),
        ("tensorflow-slim", LogFormat::TensorflowSlim),
        ("keras", LogFormat::Keras),
        ("keras-csv", LogFormat::KerasCsv),
        ("pytorch", LogFormat::Pytorch),
        ("dawnbench", LogFormat::Dawnbench),
    ];
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl FromStr for LogFormat {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Words::parse(
            text,
            "a log format: use caffe, tensorflow-slim, keras, keras-csv, pytorch, dawnbench or auto",
        )
    }
}

/// Logs, understood.
#[derive(Debug)]
pub struct Logs<'s> {
    spec: &'s LogSpec,
    logs: Vec<Log>,
    problems: Vec<RowProblem>,
    files: usize,
}

#[derive(Debug)]
struct Log {
    name: String,
    /// None where the study's own regular expressions read it.
    format: Option<LogFormat>,
    told: Told,
}

/// Logs as runs of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRecords {
    pub records: Vec<RunRecord>,
    /// Of each record, what its log told, as a workload would have told it: every loss.
    pub events: Vec<Vec<Event>>,
    pub problems: Vec<RowProblem>,
    pub logs_read: usize,
    pub logs_left_out: usize,
    pub steps_read: usize,
    /// Records of which nothing tells how long they took: they cannot be costed.
    pub records_without_time: usize,
}

impl<'s> Logs<'s> {
    pub fn read(files: &[LogFile], spec: &'s LogSpec) -> Self {
        let mut all = Logs {
            spec,
            logs: Vec::new(),
            problems: Vec::new(),
            files: files.len(),
        };
        for file in files {
            let name = plain_name(&file.name);
            match understand(file, spec) {
                Ok(log) => {
                    let unread = log.told.unread.as_ref();
                    let problem = unread.map(|u| RowProblem::new(name, u.line, u.sentence()));
                    all.problems.extend(problem);
                    all.logs.push(log);
                }
                Err(what) => all.problems.push(RowProblem::new(name, 1, what)),
            }
        }
        all
    }

    /// A study made of the levels that names of files and flags tell; what wrote a log is a level
    /// too, and so is the batch where all logs tell it.
    pub fn infer_study(&self, name: &str) -> Inferred {
        let all_tell_batch = self.logs.iter().all(|log| log.told.batch.is_some());
        let is_known = |log: &Log| {
            log.format
                .is_some_and(|format| format.framework().is_some())
        };
        let all_tell_framework = self.logs.iter().all(is_known);
        let rows = self.rows(&|factor| match factor {
            FRAMEWORK => all_tell_framework,
            _ => all_tell_batch,
        });
        let first = self.logs.first().map_or("", |log| log.name.as_str());
        infer::of_rows(name, &rows, &self.spec.levels, first)
    }

    pub fn records(mut self, study: &Study, plan: &Plan) -> LogRecords {
        let has = |name: &str| study.factors.iter().any(|f| f.name.to_lowercase() == name);
        let mut rows = self.rows(&has);
        let levels = levels_by_file(&rows);
        self.settle(&levels);
        let first = self.logs.first().map_or("", |log| log.name.as_str());
        let placed = Scenarios::of(study, plan).place(&mut rows, first);
        let made = runs::records(placed, &self.spec.levels, study, &mut rows.problems);
        let mut records = made.records;
        let events = records
            .iter_mut()
            .map(|record| self.fill(record, &levels))
            .collect();
        let mut problems = self.problems;
        problems.extend(rows.problems);
        LogRecords {
            records_without_time: records.iter().filter(|r| r.seconds <= 0.0).count(),
            logs_read: self.files,
            logs_left_out: self.files - records.len(),
            steps_read: self.logs.iter().map(|log| log.told.steps.len()).sum(),
            records,
            events,
            problems,
        }
    }

    /// A row for each log, with its levels alone. A factor that nothing names is taken from the
    /// log itself where it is wanted.
    fn rows(&self, wanted: &dyn Fn(&str) -> bool) -> Rows {
        let spec = &self.spec.levels;
        let mut all = Rows {
            factors: rows::factors(spec),
            ..Rows::default()
        };
        for own in [FRAMEWORK, BATCH] {
            if wanted(own) && !all.factors.iter().any(|known| known == own) {
                all.factors.push(own.to_owned());
            }
        }
        for log in &self.logs {
            match row(log, &all.factors, spec) {
                Ok(row) => all.rows.push(row),
                Err(what) => all.problems.push(RowProblem::new(&log.name, 1, what)),
            }
        }
        rows::count_from_one(&mut all.rows);
        all
    }

    /// What its levels and the flags say of a log decides what it counted.
    fn settle(&mut self, levels: &BTreeMap<String, Levels>) {
        for log in &mut self.logs {
            let levels = levels.get(&log.name).copied().unwrap_or_default();
            let batch = self.spec.batch.or(levels.batch);
            let images = self.spec.images.or(levels.images);
            let unclear = counted::settle(&mut log.told, batch, images);
            let problem = unclear.map(|what| RowProblem::new(&log.name, 1, what));
            self.problems.extend(problem);
        }
    }

    /// What a log tells beyond its levels; its events.
    fn fill(&self, record: &mut RunRecord, levels: &BTreeMap<String, Levels>) -> Vec<Event> {
        let Origin::Imported { file, .. } = &record.origin else {
            return Vec::new();
        };
        let Some(log) = self.logs.iter().find(|log| log.name == *file) else {
            return Vec::new();
        };
        let levels = levels.get(file).copied().unwrap_or_default();
        let run = Run {
            told: &log.told,
            batch: self.spec.batch.or(levels.batch).or(log.told.batch),
            images: self.spec.images.or(levels.images).or(log.told.images),
        };
        record.metrics = run.metrics();
        record.phases = run.phases();
        record.seconds = record.phases.iter().map(|phase| phase.seconds).sum();
        record.epochs = run.epochs();
        record.outcome = run.outcome(file);
        record.warnings = run.warnings();
        run.events()
    }
}

const FRAMEWORK: &str = "framework";
const BATCH: &str = "batch";
const IMAGES: &str = "images";

fn understand(file: &LogFile, spec: &LogSpec) -> Result<Log, String> {
    let own_patterns = spec.format.is_none() && !spec.patterns.is_empty();
    let format = match own_patterns {
        true => None,
        false => Some(format_of(file, spec)?),
    };
    let modified = file.modified.unwrap_or(spec.levels.started_otherwise);
    let told = match format {
        Some(format) => format.read(&file.text, spec.year, modified),
        None => patterned::read(&file.text, &spec.patterns)?,
    };
    if told.is_empty() {
        let why = match format {
            Some(format) => format!("it contains no training step in the format {format}"),
            None => "the log patterns of the study find nothing in it".to_owned(),
        };
        return Err(format!("{why}; the file is skipped"));
    }
    Ok(Log {
        name: plain_name(&file.name).to_owned(),
        format,
        told,
    })
}

fn format_of(file: &LogFile, spec: &LogSpec) -> Result<LogFormat, String> {
    let format = spec.format.or_else(|| LogFormat::find(&file.text));
    format.ok_or_else(|| {
        "its format is not known (caffe, tensorflow-slim, keras, keras-csv, pytorch, dawnbench): a study with [[workload.log]] can read it; the file is skipped".to_owned()
    })
}

fn row(log: &Log, factors: &[String], spec: &ImportSpec) -> Result<Row, String> {
    let named = rows::file_values(&log.name, spec)?;
    let own = |factor: &str| match factor {
        FRAMEWORK => log.format?.framework().map(str::to_owned),
        BATCH => log.told.batch.map(|batch| batch.to_string()),
        _ => None,
    };
    let level = |factor: &String| {
        let fixed = rows::fixed_level(spec, &named, factor);
        fixed.or_else(|| own(factor)).unwrap_or_default()
    };
    let repetition = named.get(REPETITION).map(|text| {
        rows::parse_repetition(text)
            .ok_or_else(|| format!("`{text}` is not a repetition number; the log is skipped"))
    });
    Ok(Row {
        file: log.name.clone(),
        line: 1,
        levels: factors.iter().map(level).collect(),
        repetition: repetition.transpose()?,
        status: rows::Ended {
            status: log.told.ended.status(),
            exit_code: None,
        },
        started: log.told.started,
        metrics: Vec::new(),
    })
}

/// What levels tell of how much was trained.
#[derive(Debug, Clone, Copy, Default)]
struct Levels {
    batch: Option<u64>,
    images: Option<u64>,
}

fn levels_by_file(rows: &Rows) -> BTreeMap<String, Levels> {
    let place = |name: &str| rows.factors.iter().position(|f| f.to_lowercase() == name);
    let (batch, images) = (place(BATCH), place(IMAGES));
    let number = |row: &Row, place: Option<usize>| row.levels.get(place?)?.trim().parse().ok();
    let levels = |row: &Row| Levels {
        batch: number(row, batch),
        images: number(row, images),
    };
    let all = rows.rows.iter();
    all.map(|row| (row.file.clone(), levels(row))).collect()
}
