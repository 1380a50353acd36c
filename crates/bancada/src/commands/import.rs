//! Measurements made elsewhere become runs of a study, marked as imported.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use diagnostics::Mistakes;
use import::{ImportSpec, Inferred, InputFile, MlflowRun, RowProblem, SpecError};
use model::study::ImportSettings;
use model::{Level, Plan, RunRecord, Study, Timestamp};
use plan::WhatIf;
use report::format::counted;
use store::ImportedFile;
use workbench::{
    Claim, Claimed, Opened, Results, open_study, quoted, results_folder, save_question,
};

use super::import_log::import_log;
use super::results::meta;
use crate::args::{ImportArgs, ImportCommand};
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

pub(super) fn import(args: &ImportArgs, printer: &Printer) -> CommandResult {
    if let Some(ImportCommand::Log(args)) = &args.command {
        return import_log(args, printer);
    }
    let Read { files, tracked } = read_files(&args.files)?;
    let opened = match &args.study {
        Some(path) => Some((path, open_study(path, None, &printer.teller())?)),
        None => None,
    };
    let settings = opened.as_ref().and_then(|(_, o)| o.study.import.as_ref());
    let spec = spec_of(args, settings, tracked.map(|place| &files[place]))?;
    let question = match opened {
        Some((path, opened)) => Question::of_study(path, opened, args.out.as_deref()),
        None => Made {
            name: args.name.as_deref(),
            price: args.price.as_deref(),
            out: args.out.as_deref(),
        }
        .question(
            &|name| import::infer_study(name, &files, &spec),
            &spec,
            printer,
        )?,
    };
    for note in spec.notes() {
        printer.talk(&format!("! {note}"));
    }
    let imported = import::read(&files, &spec, &question.study, &question.plan);
    tell_problems(&imported.problems, printer);
    if imported.records.is_empty() {
        return Err(Failure::trouble(
            "no row could be used; nothing was changed",
        ));
    }
    let untimed = Untimed {
        runs: imported.records_without_time,
        all: imported.records.len(),
        advice: ": add a time column, such as --metric time=total_seconds:s",
    };
    let kept = question.keep(imported.records, None, printer)?;
    printer.talk(&format!(
        "Read {}, skipped {}; {kept}.",
        counted(imported.rows_read, "row", "rows"),
        imported.rows_left_out
    ));
    untimed.tell(printer);
    kept.report(printer)
}

/// The study that the runs are of.
pub(super) struct Question {
    pub(super) study: Study,
    pub(super) plan: Plan,
    folder: PathBuf,
    /// Of the study file.
    text: String,
}

/// What is said of a study that is made of what is imported.
pub(super) struct Made<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) price: Option<&'a str>,
    pub(super) out: Option<&'a Path>,
}

impl Made<'_> {
    /// A study made of the levels that are there, and a study file that says the same.
    pub(super) fn question(
        &self,
        infer: &dyn Fn(&str) -> Inferred,
        spec: &ImportSpec,
        printer: &Printer,
    ) -> Result<Question, Failure> {
        let name = self.name.unwrap_or("imported");
        if !plan::is_study_name(name) {
            let message = format!(
                "--name `{name}` must be a valid folder name: letters, digits, `-`, `_` and `.`"
            );
            return Err(Failure::new(Exit::BadStudy, message));
        }
        let inferred = infer(name);
        if !inferred.problems.is_empty() {
            tell_problems(&inferred.problems, printer);
            let failed = "no study can be created from these files; nothing was changed";
            return Err(Failure::trouble(failed));
        }
        let mut study = inferred.study;
        if let Some(price) = self.price {
            study = priced(study, price, printer)?;
        }
        let folder = self.out.map(Path::to_owned);
        Ok(Question {
            plan: plan::plan(&study),
            text: import::study_text(&study, spec, self.price),
            study,
            folder: folder.unwrap_or_else(|| PathBuf::from("results").join(name)),
        })
    }
}

/// One price for all environments, as a study file may write it.
fn priced(study: Study, price: &str, printer: &Printer) -> Result<Study, Failure> {
    let price = quoted(price);
    let lines = study.environments.iter().map(|environment| {
        let name = quoted(&environment.name);
        format!("[environments.{name}]\nprice = {price}\n")
    });
    let (name, text) = ("--price", lines.collect::<String>());
    let catalog = workbench::catalog(&printer.teller());
    let asked = WhatIf::of(study).asking(name, &text, &catalog);
    let mut study = match asked {
        Ok(what_if) => what_if.study,
        Err(mut found) => {
            // All environments have the same price: one error is enough.
            found.truncate(1);
            return Err(Failure::mistakes(&Mistakes::new(name, &text, found)));
        }
    };
    let prices = study.environments.iter().filter_map(|e| e.price.as_ref());
    if let Some(currency) = prices.map(|price| price.per_hour.currency).next() {
        study.currency = currency;
    }
    Ok(study)
}

/// Results with what was added to them.
pub(super) struct Kept {
    results: Results,
    added: store::Imported,
}

/// `2 runs added, 1 known already`.
impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store::Imported {
            added,
            already_there,
        } = &self.added;
        let added = counted(added.len(), "run", "runs");
        write!(f, "{added} added, {already_there} already there")
    }
}

/// What is kept next to a run.
type FilesOf<'f> = &'f dyn Fn(&RunRecord) -> Vec<ImportedFile>;

impl Question {
    pub(super) fn of_study(path: &Path, opened: Opened, out: Option<&Path>) -> Self {
        Question {
            folder: results_folder(path, &opened.study, out),
            study: opened.study,
            plan: opened.plan,
            text: opened.text,
        }
    }

    /// Prices the records and keeps them, with these files where they have any.
    pub(super) fn keep(
        self,
        mut records: Vec<RunRecord>,
        files: Option<FilesOf<'_>>,
        printer: &Printer,
    ) -> Result<Kept, Failure> {
        let Question {
            study,
            plan,
            folder,
            text,
        } = self;
        let fingerprints: BTreeMap<u32, String> = plan
            .scenarios
            .iter()
            .map(|scenario| {
                let fingerprint = plan::scenario_fingerprint(&study, scenario);
                (scenario.number, fingerprint)
            })
            .collect();
        for record in &mut records {
            let fingerprint = fingerprints.get(&record.run.scenario);
            record.fingerprint = fingerprint.cloned().unwrap_or_default();
            give_price(record, &study);
        }
        let claim = Claim {
            folder: &folder,
            study: &study,
            plan: &plan,
            start_again: None,
        };
        let Claimed { mut store, lock } = claim.make(&printer.teller())?;
        save_question(&store, &study, &plan, &text)?;
        let added = match files {
            Some(files) => store.add_imported_with(records, files),
            None => store.add_imported(records),
        };
        let added = added?;
        drop(lock);
        let results = Results {
            study,
            plan,
            store,
            folder,
        };
        Ok(Kept { results, added })
    }
}

impl Kept {
    pub(super) fn report(&self, printer: &Printer) -> CommandResult {
        let tell = printer.teller();
        let analysis = workbench::analyse(&self.results, None, &tell)?;
        let report = workbench::write_report(&analysis, &self.results, None, meta(), &tell)?;
        printer.data(&report.display().to_string());
        Ok(Exit::Ok)
    }
}

struct Read {
    files: Vec<InputFile>,
    /// The first of them that MLflow tracked: its columns have known names.
    tracked: Option<usize>,
}

fn read_files(paths: &[PathBuf]) -> Result<Read, Failure> {
    let read = |path: &PathBuf| {
        if path.is_dir() {
            Ok((read_mlflow(path)?, true))
        } else if store::is_database(path) {
            Ok((read_database(path)?, true))
        } else {
            Ok((read_file(path, path.display().to_string())?, false))
        }
    };
    let read: Vec<(InputFile, bool)> = paths.iter().map(read).collect::<Result<_, Failure>>()?;
    Ok(Read {
        tracked: read.iter().position(|(_, is_tracked)| *is_tracked),
        files: read.into_iter().map(|(file, _)| file).collect(),
    })
}

/// A table of the runs in a database of MLflow.
fn read_database(path: &Path) -> Result<InputFile, Failure> {
    let name = path.display().to_string();
    let runs = store::tracked_runs(path)
        .map_err(|error| Failure::trouble(format!("cannot read {name}: {error}")))?;
    let run = |run: store::TrackedRun| {
        let mut values = run.values;
        values.insert("experiment".to_owned(), run.experiment);
        MlflowRun {
            status: MlflowRun::status_of(&run.status),
            id: run.id,
            name: run.name,
            start_ms: run.start_ms,
            end_ms: run.end_ms,
            values,
        }
    };
    let runs = runs.into_iter().map(run).collect();
    import::mlflow_runs_table(&name, runs)
        .ok_or_else(|| Failure::trouble(format!("{name} is a database of MLflow without runs")))
}

fn read_file(path: &Path, name: String) -> Result<InputFile, Failure> {
    let bytes = fs::read(path)
        .map_err(|e| Failure::trouble(format!("cannot read {}: {e}", path.display())))?;
    Ok(InputFile {
        name,
        text: import::decode(&bytes),
    })
}

/// A table of the runs in a tracking folder.
fn read_mlflow(folder: &Path) -> Result<InputFile, Failure> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let failed = |e| Failure::trouble(format!("cannot read {}: {e}", next.display()));
        for entry in fs::read_dir(&next).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, name) = (entry.path(), entry.file_name());
            let kind = entry.file_type().map_err(failed)?;
            // Artifacts may be of any size; what was deleted is no run.
            if kind.is_dir() && name != "artifacts" && name != ".trash" {
                folders.push(path);
            } else if kind.is_file() {
                let below = path.strip_prefix(folder).unwrap_or(&path);
                files.push(read_file(&path, below.display().to_string())?);
            }
        }
    }
    let name = folder.display().to_string();
    import::mlflow_table(&name, &files).ok_or_else(|| {
        Failure::trouble(format!(
            "{name} is a folder without runs of MLflow: give files, a tracking folder (mlruns), or a database (mlflow.db)"
        ))
    })
}

/// What the study says of the columns, and the flags, which go before it.
fn spec_of(
    args: &ImportArgs,
    settings: Option<&ImportSettings>,
    tracked: Option<&InputFile>,
) -> Result<ImportSpec, Failure> {
    let bad = |error: SpecError| Failure::new(Exit::BadStudy, error);
    let constants: Result<Vec<(String, Level)>, Failure> =
        args.level.iter().map(|text| level_of(text)).collect();
    let flags = ImportSpec {
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
        ..ImportSpec::default()
    };
    let mut study = match settings {
        Some(settings) => ImportSpec::of_settings(settings).map_err(bad)?,
        None => ImportSpec::default(),
    };
    if args.no_study_metrics {
        study.metrics.clear();
    }
    let mut spec = study.overridden_by(flags);
    if let Some(table) = tracked.filter(|_| spec.factors.is_empty() && spec.metrics.is_empty()) {
        // Nobody says what its columns mean: they are what MLflow calls them.
        spec = import::mlflow_spec(table).overridden_by(spec);
    }
    let spec = spec.checked(Timestamp::now());
    spec.map_err(bad)
}

/// `FACTOR=LEVEL`, the level a number where it looks like one.
pub(super) fn level_of(text: &str) -> Result<(String, Level), Failure> {
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

/// Runs without a time.
pub(super) struct Untimed {
    pub(super) runs: usize,
    pub(super) all: usize,
    /// For when all runs lack it: some may have failed too early, but all means a missing column.
    pub(super) advice: &'static str,
}

impl Untimed {
    pub(super) fn tell(&self, printer: &Printer) {
        let Untimed { runs, all, advice } = self;
        if runs == all && *all > 0 {
            printer.talk(&format!(
                "! No run has a time, so no cost can be computed{advice}."
            ));
        } else if *runs > 0 {
            printer.talk(&format!(
                "! {runs} of {all} runs have no time, so their cost cannot be computed."
            ));
        }
    }
}

/// All are counted, the first are shown.
pub(super) fn tell_problems(problems: &[RowProblem], printer: &Printer) {
    const SHOWN: usize = 20;
    for problem in problems.iter().take(SHOWN) {
        printer.talk(&format!("! {problem}"));
    }
    if problems.len() > SHOWN {
        printer.talk(&format!("! and {} more", problems.len() - SHOWN));
    }
}
