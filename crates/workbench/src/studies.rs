//! The studies of a folder: what each is, how far it has come, what it has cost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cost::Catalog;
use diagnostics::read_text;
use model::{Money, Plan, RunId, RunRecord, Status, Study, Timestamp};
use plan::Recognizer;
use runner::{Ledger, RunSelection};
use serde::Serialize;
use store::Store;

use crate::Tell;
use crate::catalog::catalog;
use crate::error::Error;
use crate::open::{Opened, has_question, open_with, read_question, results_folder};

/// The folder beside study files that results go to.
const RESULTS: &str = "results";

/// A study at a glance. Serialisable, for lists that programs read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudySummary {
    /// The study file; none where only its results are there.
    pub file: Option<PathBuf>,
    pub name: String,
    pub objective: Option<String>,
    /// Of the study file, where the results are of a `[scale.NAME]`.
    pub scale: Option<String>,
    /// Where its results are, or would be.
    pub results: PathBuf,
    pub state: StudyState,
    pub runs: RunCounts,
    /// When a run last began or ended; none before the first.
    pub last_activity: Option<Timestamp>,
    /// Spent so far; none where no environment has a price.
    pub cost: Option<Money>,
    /// In the currency of the study.
    pub budget: Option<Money>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum StudyState {
    /// The file, or its results, cannot be read.
    Unreadable {
        why: String,
    },
    /// No run yet.
    New,
    /// Carried out now, by this process.
    Running {
        pid: u32,
    },
    /// Runs are missing, and nobody makes them.
    Unfinished,
    Done,
}

impl StudyState {
    pub fn word(&self) -> &'static str {
        match self {
            StudyState::Unreadable { .. } => "unreadable",
            StudyState::New => "new",
            StudyState::Running { .. } => "running",
            StudyState::Unfinished => "unfinished",
            StudyState::Done => "done",
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RunCounts {
    pub planned: usize,
    /// Kept, however they ended; not those that were interrupted, which are missing.
    pub done: usize,
    /// Of these, runs that failed, ran out of memory or timed out.
    pub failed: usize,
}

/// Every study file in the folder, sorted by name, each followed by the scales of it that have
/// results; then results in `results/` of studies that have no file here.
pub fn studies(folder: &Path, tell: Tell<'_>) -> Result<Vec<StudySummary>, Error> {
    let catalog = catalog(tell);
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for file in study_files(folder)? {
        let opened = open_with(&file, None, &catalog);
        let summary = of_file(&file, &opened);
        seen.insert(summary.results.clone());
        found.push(summary);
        let scales = opened.iter().flat_map(scales_with_results);
        for (scale, results) in scales {
            found.push(of_scale(&file, &scale, results.clone(), &catalog));
            seen.insert(results);
        }
    }
    let others = results_folders(folder).into_iter();
    found.extend(
        others
            .filter(|results| !seen.contains(results))
            .map(of_results),
    );
    Ok(found)
}

/// TOML files with a table `study`; other files of that kind are networks, prices and the like.
fn study_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder)
        .map_err(|error| Error::bad_study(format!("cannot read {}: {error}", folder.display())))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let is_study = |path: &PathBuf| {
        let is_toml = path
            .extension()
            .is_some_and(|extension| extension == "toml");
        is_toml && read_text(path).is_ok_and(|text| has_study_table(&text))
    };
    let mut files: Vec<PathBuf> = paths.filter(is_study).collect();
    files.sort();
    Ok(files)
}

fn has_study_table(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    lines.any(|line| {
        let inner = line.strip_prefix('[').map(str::trim_start);
        let after = inner.and_then(|inner| inner.strip_prefix("study"));
        after.is_some_and(|after| after.trim_start().starts_with(']'))
    })
}

/// With a saved question, sorted.
fn results_folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join(RESULTS)).into_iter().flatten();
    let paths = entries.flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = paths.filter(|path| has_question(path)).collect();
    folders.sort();
    folders
}

/// Names of scales and the folders of their results.
fn scales_with_results(opened: &Opened) -> Vec<(String, PathBuf)> {
    let beside = opened.path.parent().unwrap_or(Path::new(""));
    let of_this = |results: PathBuf| {
        let scale = read_question(&results).ok()?.study.scale?;
        let whole = results_folder(&opened.path, &opened.study, None);
        let name = format!("{}-{}", whole.file_name()?.to_str()?, scale.name);
        (results.file_name()?.to_str()? == name).then_some((scale.name, results))
    };
    results_folders(beside)
        .into_iter()
        .filter_map(of_this)
        .collect()
}

fn of_file(file: &Path, opened: &Result<Opened, Error>) -> StudySummary {
    match opened {
        Ok(opened) => {
            let results = results_folder(file, &opened.study, None);
            let mut summary = summary(&opened.study, &opened.plan, results);
            summary.file = Some(file.to_owned());
            summary
        }
        Err(error) => StudySummary {
            file: Some(file.to_owned()),
            ..unreadable_study(file, file.to_owned(), error)
        },
    }
}

/// Of a scale that the file may not have any more.
fn of_scale(file: &Path, scale: &str, results: PathBuf, catalog: &Catalog) -> StudySummary {
    match open_with(file, Some(scale), catalog) {
        Ok(opened) => of_file(file, &Ok(opened)),
        Err(_) => of_results(results),
    }
}

/// As it was planned when it was last run.
fn of_results(results: PathBuf) -> StudySummary {
    match read_question(&results) {
        Ok(question) => summary(&question.study, &question.plan, results),
        Err(error) => unreadable_study(&results.clone(), results, &error),
    }
}

fn unreadable_study(named: &Path, results: PathBuf, error: &Error) -> StudySummary {
    let name = named.file_stem().unwrap_or(named.as_os_str());
    StudySummary {
        file: None,
        name: name.to_string_lossy().into_owned(),
        objective: None,
        scale: None,
        results,
        state: StudyState::Unreadable {
            why: error.to_string(),
        },
        runs: RunCounts::default(),
        last_activity: None,
        cost: None,
        budget: None,
    }
}

fn summary(study: &Study, plan: &Plan, results: PathBuf) -> StudySummary {
    let progress = match results.is_dir() {
        true => Progress::read(study, plan, &results),
        false => Ok(Progress::nothing(plan)),
    };
    let progress = progress.unwrap_or_else(|why| Progress {
        state: StudyState::Unreadable { why },
        ..Progress::nothing(plan)
    });
    let is_priced = study.environments.iter().any(|e| e.price.is_some());
    StudySummary {
        file: None,
        name: study.name.clone(),
        objective: study.objective.clone(),
        scale: study.scale.as_ref().map(|scale| scale.name.clone()),
        last_activity: last_activity(&results),
        results,
        state: progress.state,
        runs: progress.runs,
        cost: progress.spent.filter(|_| is_priced),
        budget: Ledger::new(study).allowed,
    }
}

struct Progress {
    state: StudyState,
    runs: RunCounts,
    spent: Option<Money>,
}

impl Progress {
    fn nothing(plan: &Plan) -> Self {
        Progress {
            state: StudyState::New,
            runs: RunCounts {
                planned: plan.runs.len(),
                ..RunCounts::default()
            },
            spent: None,
        }
    }

    fn read(study: &Study, plan: &Plan, results: &Path) -> Result<Self, String> {
        let running = store::writer_of(results);
        if !has_question(results) && running.is_none() {
            return Ok(Progress::nothing(plan));
        }
        let read = || -> Result<Progress, store::StoreError> {
            let store = Store::open(results)?;
            // A study that has grown since numbers its scenarios anew.
            let records = Recognizer::new(study, plan).renumbered(store.records()?);
            let searched = runner::searched(&store)?;
            let is_settled = searched.is_some_and(|searched| searched.is_settled);
            let left = left(study, plan, &records);
            let runs = counts(plan, &records);
            let state = match running {
                Some(pid) => StudyState::Running { pid },
                None if left == 0 || (study.goal.is_some() && is_settled) => StudyState::Done,
                None if records.is_empty() => StudyState::New,
                None => StudyState::Unfinished,
            };
            Ok(Progress {
                state,
                runs,
                spent: Some(Ledger::open(study, &store, &[])?.spent()),
            })
        };
        match (read(), running) {
            (Ok(progress), _) => Ok(progress),
            // Its first run is on the way.
            (Err(_), Some(pid)) => Ok(Progress {
                state: StudyState::Running { pid },
                ..Progress::nothing(plan)
            }),
            (Err(error), None) => Err(error.to_string()),
        }
    }
}

/// Runs that `bancada run` would make, at most.
fn left(study: &Study, plan: &Plan, records: &[RunRecord]) -> usize {
    let status = |record: &RunRecord| (record.run, record.outcome.status);
    let statuses: BTreeMap<RunId, Status> = records.iter().map(status).collect();
    let due = runner::due_runs(plan, &statuses, &RunSelection::default());
    runner::open_runs(study, plan, due, records).len()
}

fn counts(plan: &Plan, records: &[RunRecord]) -> RunCounts {
    let is_planned: BTreeSet<RunId> = plan.runs.iter().copied().collect();
    let ended = |record: &&RunRecord| {
        is_planned.contains(&record.run) && record.outcome.status != Status::Interrupted
    };
    let ended: Vec<&RunRecord> = records.iter().filter(ended).collect();
    let is_bad = |record: &&&RunRecord| record.outcome.status != Status::Ok;
    RunCounts {
        planned: plan.runs.len(),
        done: ended.len(),
        failed: ended.iter().filter(is_bad).count(),
    }
}

/// Folders of runs come and go with them.
fn last_activity(results: &Path) -> Option<Timestamp> {
    let changed = |name: &str| fs::metadata(results.join(name)).ok()?.modified().ok();
    let last = [changed("runs"), changed("imports")]
        .into_iter()
        .flatten()
        .max()?;
    Timestamp::try_from(last).ok()
}
