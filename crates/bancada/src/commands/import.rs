//! Measurements made elsewhere become runs of a study, marked as imported.

use std::fs;
use std::path::PathBuf;

use import::{ImportSpec, InputFile, RowProblem};
use model::{Environment, Level, Limits, Plan, RunRecord, Study, Timestamp};

use super::results::{analysis_of, write_report};
use crate::args::ImportArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::locate::{
    Results, create_store, open_study, results_folder, save_question, store_failure,
};
use crate::printer::Printer;

pub(super) fn import(args: &ImportArgs, printer: &Printer) -> CommandResult {
    let files = read_files(&args.files)?;
    let spec = spec_of(args)?;
    let question = question_of(args, &files, &spec, printer)?;
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

fn question_of(
    args: &ImportArgs,
    files: &[InputFile],
    spec: &ImportSpec,
    printer: &Printer,
) -> Result<Question, Failure> {
    if let Some(path) = &args.study {
        let opened = open_study(path, printer)?;
        let folder = results_folder(path, &opened.study, args.out.as_deref());
        return Ok(Question {
            study: opened.study,
            plan: opened.plan,
            folder,
            text: Some(opened.text),
        });
    }
    let name = args.name.as_deref().unwrap_or("imported");
    let mut study = import::infer_study(name, files, spec).study;
    if let Some(price) = &args.price {
        let price = cost::find(price).map_err(|e| Failure::new(Exit::BadStudy, e))?;
        study.currency = price.per_hour.currency;
        let environment = Environment {
            name: "imported".to_owned(),
            price: Some(price),
            limits: Limits::default(),
            device: None,
        };
        study.environments = vec![environment];
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

fn spec_of(args: &ImportArgs) -> Result<ImportSpec, Failure> {
    let constants: Result<Vec<(String, Level)>, Failure> =
        args.level.iter().map(|text| level_of(text)).collect();
    Ok(ImportSpec {
        factors: args.factor.clone(),
        metrics: args.metric.clone(),
        file_pattern: args.file_pattern.clone(),
        constants: constants?,
        delimiter: args.delimiter,
        repetition_column: args.repetition.clone(),
        status_column: args.status.clone(),
        started_column: args.started.clone(),
        ..ImportSpec::new(args.row, Timestamp::now())
    })
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

fn give_price(record: &mut RunRecord, study: &Study) {
    record.price = plan::resolve(study, &record.scenario).environment.price;
    runner::price_record(record, study);
}

/// All are counted, the first are shown.
fn tell_problems(problems: &[RowProblem], printer: &Printer) {
    const SHOWN: usize = 20;
    for problem in problems.iter().take(SHOWN) {
        printer.talk(&format!(
            "! {}:{}: {}",
            problem.file, problem.line, problem.what
        ));
    }
    if problems.len() > SHOWN {
        printer.talk(&format!("! and {} more", problems.len() - SHOWN));
    }
}
