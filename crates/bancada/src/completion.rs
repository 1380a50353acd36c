//! What a shell offers while a command is typed: names that this program knows, and those of the
//! study on the command line.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use clap_complete::CompleteEnv;
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _,
};
use model::{Factor, Plan, Study};

use crate::args::Args;

/// Set by the scripts of `bancada completions`, to the name of the shell.
pub(crate) const VARIABLE: &str = "BANCADA_COMPLETE";

/// Answers and ends the program where a shell asks.
pub(crate) fn answer() {
    CompleteEnv::with_factory(Args::command)
        .var(VARIABLE)
        .complete();
}

pub(crate) fn networks() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let about = |name: &str| network::load(name).ok().and_then(|d| d.about);
        let named = |name| CompletionCandidate::new(name).help(about(name).map(Into::into));
        network::names().map(named).collect()
    })
}

pub(crate) fn frameworks() -> ArgValueCandidates {
    ArgValueCandidates::new(|| frameworks::names().map(CompletionCandidate::new).collect())
}

pub(crate) fn datasets() -> ArgValueCandidates {
    ArgValueCandidates::new(|| data::names().map(CompletionCandidate::new).collect())
}

pub(crate) fn machines() -> ArgValueCandidates {
    ArgValueCandidates::new(|| machine_names().collect())
}

/// After studies and folders, too.
pub(crate) fn machines_or_paths() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let mut found = paths(current);
        found.extend(beginning(current, machine_names()));
        found
    })
}

/// `FACTOR=LEVEL,…` of the study on the command line.
pub(crate) fn levels() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let Some(study) = study_typed().map(|opened| opened.0) else {
            return Vec::new();
        };
        let typed = current.to_string_lossy();
        let all = study
            .factors
            .iter()
            .flat_map(|factor| match typed.split_once('=') {
                Some((name, levels)) if name == factor.name => of_factor(factor, levels),
                _ => vec![format!("{}=", factor.name)],
            });
        beginning(current, all.map(CompletionCandidate::new))
    })
}

/// With every level in the place of the last one that was typed.
fn of_factor(factor: &Factor, typed: &str) -> Vec<String> {
    let before = typed.rfind(',').map_or("", |comma| &typed[..=comma]);
    let levels = factor.levels.iter();
    levels
        .map(|level| format!("{}={before}{level}", factor.name))
        .collect()
}

/// `STUDY:C1`.
pub(crate) fn sides() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let typed = current.to_string_lossy();
        match typed.rsplit_once(':') {
            Some((path, _)) => {
                let plan = opened(Path::new(path)).map(|(_, plan)| plan);
                beginning(current, scenarios(plan, &format!("{path}:")))
            }
            None => paths(current),
        }
    })
}

/// The second of two: `C2` alone is one of the first.
pub(crate) fn second_sides() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let mut found = sides().complete(current);
        let plan = study_typed().map(|(_, plan)| plan);
        found.extend(beginning(current, scenarios(plan, "")));
        found
    })
}

fn scenarios(plan: Option<Plan>, before: &str) -> impl Iterator<Item = CompletionCandidate> {
    let scenarios = plan.map(|plan| plan.scenarios).unwrap_or_default();
    scenarios.into_iter().map(move |scenario| {
        let levels = scenario.levels_label();
        CompletionCandidate::new(format!("{before}{}", scenario.label())).help(Some(levels.into()))
    })
}

fn machine_names() -> impl Iterator<Item = CompletionCandidate> {
    let catalog = workbench::catalog(&|_| ());
    let entries = catalog.entries.into_iter();
    entries.map(|entry| CompletionCandidate::new(entry.name()))
}

fn paths(current: &OsStr) -> Vec<CompletionCandidate> {
    PathCompleter::any().complete(current)
}

fn beginning(
    current: &OsStr,
    candidates: impl Iterator<Item = CompletionCandidate>,
) -> Vec<CompletionCandidate> {
    let current = current.as_encoded_bytes();
    let fits = |candidate: &CompletionCandidate| {
        candidate
            .get_value()
            .as_encoded_bytes()
            .starts_with(current)
    };
    candidates.filter(fits).collect()
}

/// The first study that is named on the command line.
fn study_typed() -> Option<(Study, Plan)> {
    let words = std::env::args_os().skip_while(|word| word != "--").skip(2);
    let without_scenario = |word: std::ffi::OsString| {
        let text = word.to_string_lossy().into_owned();
        let path = text
            .rsplit_once(':')
            .map_or(text.as_str(), |(path, _)| path);
        PathBuf::from(path)
    };
    let mut paths = words.map(without_scenario).filter(|path| path.exists());
    paths.find_map(|path| opened(&path))
}

/// A study file, or a folder of results. One with mistakes has nothing to offer.
fn opened(path: &Path) -> Option<(Study, Plan)> {
    if path.is_dir() {
        let request = workbench::ResultsRequest {
            study: path,
            out: None,
            scale: None,
        };
        let results = workbench::open_results(request, &|_| ()).ok()?;
        return Some((results.study, results.plan));
    }
    let opened = workbench::open_study(path, None, &|_| ()).ok()?;
    Some((opened.study, opened.plan))
}
