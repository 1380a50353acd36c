//! Logs of training programs become runs of a study, one file per run.

use std::fs;
use std::path::PathBuf;

use import::{ImportSpec, LogFile, LogRecords, LogSpec, Logs};
use model::run::Origin;
use model::study::ImportSettings;
use model::{Event, Level, RunRecord, Timestamp, Workload};
use report::format::counted;
use store::ImportedFile;

use super::import::{Made, Question, Untimed, level_of, tell_problems};
use crate::args::ImportLogArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

pub(super) fn import_log(args: &ImportLogArgs, printer: &Printer) -> CommandResult {
    let files = read_files(&args.files)?;
    let opened = match &args.study {
        Some(path) => Some((path, workbench::open_study(path, None, &printer.teller())?)),
        None => None,
    };
    let settings = opened.as_ref().and_then(|(_, o)| o.study.import.as_ref());
    let patterns = opened
        .as_ref()
        .map(|(_, opened)| match &opened.study.workload {
            Workload::Command(command) => command.log.clone(),
            _ => Vec::new(),
        });
    let spec = LogSpec {
        patterns: patterns.unwrap_or_default(),
        ..spec_of(args, settings)?
    };
    let logs = Logs::read(&files, &spec);
    let question = match opened {
        Some((path, opened)) => Question::of_study(path, opened, args.out.as_deref()),
        None => Made {
            name: args.name.as_deref(),
            price: args.price.as_deref(),
            out: args.out.as_deref(),
        }
        .question(&|name| logs.infer_study(name), &spec.levels, printer)?,
    };
    let mut read = logs.records(&question.study, &question.plan);
    tell_problems(&read.problems, printer);
    if read.records.is_empty() {
        return Err(Failure::trouble(
            "no log could be used; nothing was changed",
        ));
    }
    let untimed = Untimed {
        runs: read.records_without_time,
        all: read.records.len(),
        advice: ": their lines have neither timestamps nor step times",
    };
    let records = std::mem::take(&mut read.records);
    let told = told_by_file(&records, &read);
    let kept = question.keep(
        records,
        Some(&|record| files_of(record, &files, &told)),
        printer,
    )?;
    printer.talk(&format!(
        "Read {} with {}, skipped {}; {kept}.",
        counted(read.logs_read, "log", "logs"),
        counted(read.steps_read, "step", "steps"),
        read.logs_left_out
    ));
    untimed.tell(printer);
    kept.report(printer)
}

fn read_files(paths: &[PathBuf]) -> Result<Vec<LogFile>, Failure> {
    let read = |path: &PathBuf| {
        let failed = |e| Failure::trouble(format!("cannot read {}: {e}", path.display()));
        let bytes = fs::read(path).map_err(failed)?;
        let modified = fs::metadata(path).and_then(|file| file.modified()).ok();
        let name = path.display().to_string();
        Ok(LogFile {
            name: name.strip_prefix("./").unwrap_or(&name).to_owned(),
            text: import::decode(&bytes),
            modified: modified.and_then(|moment| Timestamp::try_from(moment).ok()),
        })
    };
    paths.iter().map(read).collect()
}

/// What the study says of levels, and the flags, which go before it.
fn spec_of(args: &ImportLogArgs, settings: Option<&ImportSettings>) -> Result<LogSpec, Failure> {
    let constants: Vec<(String, Level)> = args
        .level
        .iter()
        .map(|text| level_of(text))
        .collect::<Result<_, Failure>>()?;
    let flags = ImportSpec {
        file_pattern: args.file_pattern.clone(),
        constants,
        ..ImportSpec::default()
    };
    let study = match settings {
        Some(settings) => {
            ImportSpec::of_settings(settings).map_err(|e| Failure::new(Exit::BadStudy, e))?
        }
        None => ImportSpec::default(),
    };
    Ok(LogSpec {
        levels: study.overridden_by(flags).for_logs(Timestamp::now()),
        format: args.format.0,
        year: args.year,
        images: args.images,
        batch: args.batch,
        patterns: Vec::new(),
    })
}

/// The events of a log, by its file.
struct ToldBy<'r> {
    file: String,
    events: &'r [Event],
}

fn told_by_file<'r>(records: &[RunRecord], read: &'r LogRecords) -> Vec<ToldBy<'r>> {
    let told = records.iter().zip(&read.events);
    let by_file = |(record, events): (&RunRecord, &'r Vec<Event>)| {
        Some(ToldBy {
            file: file_of(record)?.to_owned(),
            events,
        })
    };
    told.filter_map(by_file).collect()
}

fn file_of(record: &RunRecord) -> Option<&str> {
    match &record.origin {
        Origin::Imported { file, .. } => Some(file),
        Origin::Measured { .. } | Origin::Predicted { .. } => None,
    }
}

/// As beside a run that was measured: its log, and its events as JSON lines.
fn files_of(record: &RunRecord, files: &[LogFile], told: &[ToldBy<'_>]) -> Vec<ImportedFile> {
    let name = file_of(record);
    let log = files.iter().find(|log| Some(log.name.as_str()) == name);
    let log = log.map(|log| ImportedFile {
        name: "log.txt",
        bytes: log.text.clone().into_bytes(),
    });
    let told = told.iter().find(|told| Some(told.file.as_str()) == name);
    let events = told.map(|told| {
        let lines = told.events.iter().map(|event| {
            // An event of finite numbers and plain text is always JSON.
            serde_json::to_string(event).unwrap_or_default() + "\n"
        });
        ImportedFile {
            name: "events.jsonl",
            bytes: lines.collect::<String>().into_bytes(),
        }
    });
    log.into_iter().chain(events).collect()
}
