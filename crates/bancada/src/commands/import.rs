//! Measurements made elsewhere become runs of a study, marked as imported.

use std::fs;
use std::path::{Path, PathBuf};

use import::{ImportSpec, Imported, InputFile, Mapping, RowProblem, SpecError};
use model::study::ImportSettings;
use model::{Level, Plan, RunRecord, Study, Timestamp};

use super::results::{analysis_of, write_report};
use crate::args::ImportArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::locate::{
    Opened, Results, create_store, open_study, results_folder, save_question, store_failure,
};
use crate::printer::Printer;

pub(super) fn import(args: &ImportArgs, printer: &Printer) -> CommandResult {
    let files = read_files(&args.files)?;
    let opened = match &args.study {
        Some(path) => Some((path, open_study(path, None, printer)?)),
        None => None,
    };
    let settings = opened.as_ref().and_then(|(_, o)| o.study.import.as_ref());
    let spec = spec_of(args, settings)?;
    let question = match opened {
        Some((path, opened)) => question_of_study(path, opened, args),
        None => question_of_rows(args, &files, &spec, printer)?,
    };
    let mut imported = import::read(&files, &spec, &question.study, &question.plan);
    tell_problems(&imported.problems, printer);
    if imported.records.is_empty() {
        return Err(Failure::trouble(
            "no row could be used; nothing was changed",
        ));
    }
    for record in &mut imported.records {
        give_price(record, &question.study);
    }
    let mut store = create_store(&question.folder, &question.study)?;
    let lock = store.lock().map_err(store_failure)?;
    save_question(
        &store,
        &question.study,
        &question.plan,
        question.text.as_deref(),
    )?;
    let added = store
        .add_imported(&imported.records)
        .map_err(store_failure)?;
    drop(lock);
    printer.talk(&format!(
        "Read {} rows, left out {}; {} runs added, {} known already.",
        imported.rows_read,
        imported.rows_left_out,
        added.added.len(),
        added.already_there
    ));
    tell_untimed(&imported, printer);
    let Question {
        study,
        plan,
        folder,
        ..
    } = question;
    let results = Results {
        study,
        plan,
        store,
        folder,
    };
    let report = write_report(&analysis_of(&results, printer)?, &results, None)?;
    printer.data(&report.display().to_string());
    Ok(Exit::Ok)
}

struct Question {
    study: Study,
    plan: Plan,
    folder: PathBuf,
    /// Of the study file, where there is one.
    text: Option<String>,
}

fn question_of_study(path: &Path, opened: Opened, args: &ImportArgs) -> Question {
    Question {
        folder: results_folder(path, &opened.study, args.out.as_deref()),
        study: opened.study,
        plan: opened.plan,
        text: Some(opened.text),
    }
}

/// A study made of the rows' levels.
fn question_of_rows(
    args: &ImportArgs,
    files: &[InputFile],
    spec: &ImportSpec,
    printer: &Printer,
) -> Result<Question, Failure> {
    let name = args.name.as_deref().unwrap_or("imported");
    if !plan::is_study_name(name) {
        let message =
            format!("--name `{name}` must do as a folder name: letters, digits, `-`, `_` and `.`");
        return Err(Failure::new(Exit::BadStudy, message));
    }
    let inferred = import::infer_study(name, files, spec);
    if !inferred.problems.is_empty() {
        tell_problems(&inferred.problems, printer);
        let failed = "no study can be made of these rows; nothing was changed";
        return Err(Failure::trouble(failed));
    }
    let mut study = inferred.study;
    if let Some(price) = &args.price {
        let price = cost::find(price).map_err(|e| Failure::new(Exit::BadStudy, e))?;
        study.currency = price.per_hour.currency;
        for environment in &mut study.environments {
            environment.price = Some(price.clone());
        }
    }
    let plan = plan::plan(&study);
    let folder = args
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("results").join(name));
    Ok(Question {
        study,
        plan,
        folder,
        text: None,
    })
}

fn read_files(paths: &[PathBuf]) -> Result<Vec<InputFile>, Failure> {
    let read = |path: &PathBuf| {
        let bytes = fs::read(path)
            .map_err(|e| Failure::trouble(format!("cannot read {}: {e}", path.display())))?;
        Ok(InputFile {
            name: path.display().to_string(),
            text: import::decode(&bytes),
        })
    };
    paths.iter().map(read).collect()
}

/// What the study says of the columns, and the flags, which go before it.
fn spec_of(args: &ImportArgs, settings: Option<&ImportSettings>) -> Result<ImportSpec, Failure> {
    let bad = |error: SpecError| Failure::new(Exit::BadStudy, error);
    let constants: Result<Vec<(String, Level)>, Failure> =
        args.level.iter().map(|text| level_of(text)).collect();
    let flags = Mapping {
        row: args.row,
        factors: args.factor.clone(),
        metrics: args.metric.clone(),
        file_pattern: args.file_pattern.clone(),
        constants: constants?,
        delimiter: args.delimiter,
        decimal_mark: args.decimal_mark,
        repetition_column: args.repetition.clone(),
        status_column: args.status.clone(),
        started_column: args.started.clone(),
    };
    let study = match settings {
        Some(settings) => Mapping::of_settings(settings).map_err(bad)?,
        None => Mapping::default(),
    };
    let spec = study.overridden_by(flags).into_spec(Timestamp::now());
    spec.map_err(bad)
}

/// `FACTOR=LEVEL`, the level a number where it looks like one.
fn level_of(text: &str) -> Result<(String, Level), Failure> {
    let (factor, level) = text
        .split_once('=')
        .ok_or_else(|| Failure::trouble(format!("--level `{text}` is not FACTOR=LEVEL")))?;
    let level = match (level.parse(), level.parse()) {
        (Ok(int), _) => Level::Int(int),
        (_, Ok(float)) => Level::Float(float),
        _ => Level::Text(level.to_owned()),
    };
    Ok((factor.to_owned(), level))
}

/// A run whose time nobody told would cost nothing, which is not what it cost.
fn give_price(record: &mut RunRecord, study: &Study) {
    if record.seconds <= 0.0 {
        return;
    }
    record.price = plan::resolve(study, &record.scenario).environment.price;
    runner::price_record(record, study);
}

/// Some may have failed too early to tell; where all lack it, a column was forgotten.
fn tell_untimed(imported: &Imported, printer: &Printer) {
    let (untimed, all) = (imported.records_without_time, imported.records.len());
    let advice = match untimed == all {
        true => ": name a column of time, such as --metric time=total_seconds:s",
        false => "",
    };
    if untimed > 0 {
        printer.talk(&format!(
            "! No time is told of {untimed} of {all} runs, which cannot be costed{advice}."
        ));
    }
}

/// All are counted, the first are shown.
fn tell_problems(problems: &[RowProblem], printer: &Printer) {
    const SHOWN: usize = 20;
    for problem in problems.iter().take(SHOWN) {
        printer.talk(&format!("! {problem}"));
    }
    if problems.len() > SHOWN {
        printer.talk(&format!("! and {} more", problems.len() - SHOWN));
    }
}
