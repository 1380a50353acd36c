//! Studies and their results, opened.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use cost::Catalog;
use diagnostics::read_text;
use model::{Environment, Plan, Service, Study};
use serde_json::json;
use store::{Store, StudyIdentity};

use crate::Tell;
use crate::catalog::{catalog, today};
use crate::error::Error;

/// The file in the folder of results that says which question they answer.
const PLAN_FILE: &str = "plan.json";
pub(crate) const STUDY_COPY: &str = "study.toml";

/// A study file, read and planned.
#[derive(Debug, Clone)]
pub struct Opened {
    pub study: Study,
    pub plan: Plan,
    pub text: String,
    /// The file as it was named, and the folder where it lies.
    pub path: PathBuf,
    pub folder: PathBuf,
}

/// `scale` is a `[scale.NAME]` of the study; none is the whole study.
pub fn open_study(path: &Path, scale: Option<&str>, tell: Tell<'_>) -> Result<Opened, Error> {
    open_with(path, scale, &catalog(tell))
}

pub(crate) fn open_with(
    path: &Path,
    scale: Option<&str>,
    catalog: &Catalog,
) -> Result<Opened, Error> {
    let text = study_file_text(path)?;
    open_text(path, text, scale, catalog)
}

/// As if the file had this text.
pub fn open_text(
    path: &Path,
    text: String,
    scale: Option<&str>,
    catalog: &Catalog,
) -> Result<Opened, Error> {
    let folder = folder_of(path);
    let study = with_catalog(&folder, scale, catalog, |options| {
        plan::read_study(&text, options)
    })
    .map_err(|found| Error::mistakes(&path.display().to_string(), &text, found))?;
    let plan = plan::plan(&study);
    Ok(Opened {
        study,
        plan,
        text,
        path: path.to_owned(),
        folder,
    })
}

/// What reading a study in that folder needs.
pub(crate) fn with_options<T>(
    folder: &Path,
    scale: Option<&str>,
    tell: Tell<'_>,
    read: impl FnOnce(&plan::ReadOptions<'_>) -> T,
) -> T {
    with_catalog(folder, scale, &catalog(tell), read)
}

fn with_catalog<T>(
    folder: &Path,
    scale: Option<&str>,
    catalog: &Catalog,
    read: impl FnOnce(&plan::ReadOptions<'_>) -> T,
) -> T {
    let today = today();
    read(&plan::ReadOptions {
        folder: Some(folder),
        read: &read_text,
        requests_in: &requests_in,
        scale,
        catalog,
        today: Some(&today),
    })
}

fn requests_in(sent: plan::Sent<'_>) -> Result<u64, String> {
    let sentence = |error: &dyn std::fmt::Display| error.to_string();
    let count = match sent {
        plan::Sent::Trace(path) => {
            let text = read_text(path).map_err(|error| sentence(&error))?;
            let times = load::parse_trace(&text).map_err(|error| sentence(&error))?;
            times.len()
        }
        plan::Sent::Bodies(path) => {
            let files = load::body_files(path).map_err(|error| sentence(&error))?;
            files.len()
        }
    };
    Ok(count as u64)
}

pub fn study_file_text(path: &Path) -> Result<String, Error> {
    read_text(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    let hint = match error.kind() {
        std::io::ErrorKind::NotFound => " (bancada init writes a study file)",
        _ => "",
    };
    Error::bad_study(format!(
        "cannot read the study {}: {error}{hint}",
        path.display()
    ))
}

/// An absolute folder, so that a run in another directory finds what the study names.
fn folder_of(path: &Path) -> PathBuf {
    let parent = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned())
}

/// The folder as a person would type it: relative where the study was given so.
pub fn results_folder(study_path: &Path, study: &Study, out: Option<&Path>) -> PathBuf {
    match out {
        Some(out) => out.to_owned(),
        None => study_path
            .parent()
            .unwrap_or(Path::new(""))
            .join("results")
            .join(&study.name),
    }
}

pub(crate) fn create_store(folder: &Path, study: &Study) -> Result<Store, Error> {
    let identity = StudyIdentity {
        name: study.name.clone(),
        fingerprint: plan::digest(study),
    };
    Store::create_or_open(folder, &identity).map_err(Error::from)
}

/// Writes down the question beside the answers.
pub fn save_question(store: &Store, study: &Study, plan: &Plan, text: &str) -> Result<(), Error> {
    let json = serde_json::to_vec_pretty(&json!({ "study": study, "plan": plan }))
        .map_err(Error::other)?;
    store.save_file(PLAN_FILE, &json)?;
    store.save_file(STUDY_COPY, text.as_bytes())?;
    if may_hold_tokens(study) {
        for name in [PLAN_FILE, STUDY_COPY] {
            keep_private(&store.dir().join(name))?;
        }
    }
    Ok(())
}

/// Variables and headers are where tokens usually stand.
fn may_hold_tokens(study: &Study) -> bool {
    let program = study.workload.user_program();
    let has_variables = program.is_some_and(|program| !program.env.is_empty());
    let has_headers = |environment: &Environment| match &environment.service {
        Some(Service::Url(url)) => !url.headers.is_empty(),
        _ => false,
    };
    has_variables || study.environments.iter().any(has_headers)
}

/// Readable by its owner alone.
fn keep_private(path: &Path) -> Result<(), Error> {
    if !path.is_file() {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
        .map_err(|error| Error::other(format!("{}: {error}", path.display())))
}

/// The study that the results in a folder are of, as it was last saved there.
pub fn saved_study(store: &Store) -> Option<Study> {
    let text = store.read_file(PLAN_FILE).ok()??;
    let question: Question = serde_json::from_slice(&text).ok()?;
    Some(question.study)
}

/// Results to look at.
pub struct Results {
    pub study: Study,
    pub plan: Plan,
    pub store: Store,
    pub folder: PathBuf,
}

/// Which results.
#[derive(Debug, Clone, Copy)]
pub struct ResultsRequest<'a> {
    /// A study file, or a folder of results.
    pub study: &'a Path,
    /// The folder of the results of a study file, where it is not the default one.
    pub out: Option<&'a Path>,
    pub scale: Option<&'a str>,
}

pub fn open_results(asked: ResultsRequest<'_>, tell: Tell<'_>) -> Result<Results, Error> {
    let ResultsRequest {
        study: path,
        out,
        scale,
    } = asked;
    let mut file = None;
    let folder = if path.is_dir() {
        if out.is_some() {
            let message = "--out sets the results folder of a study file, but this is already a results folder (to write a file, use --to)";
            return Err(Error::bad_study(message));
        }
        path.to_owned()
    } else {
        let opened = open_study(path, scale, tell)?;
        let folder = results_folder(path, &opened.study, out);
        file = Some(opened.study);
        folder
    };
    let nothing = || {
        Error::other(format!(
            "no results in {} yet (bancada run creates them)",
            folder.display()
        ))
    };
    if !has_question(&folder) {
        return Err(nothing());
    }
    let store = Store::open(&folder)?;
    let question = read_question(&folder)?;
    if let Some(study) = file {
        let differences = plan::differences(&question.study, &study);
        if !differences.is_empty() {
            tell(&format!(
                "! {} has changed since these results were measured ({}): they are shown as planned then; bancada run measures what is missing",
                path.display(),
                differences.join("; ")
            ));
        }
    }
    Ok(Results {
        study: question.study,
        plan: question.plan,
        store,
        folder,
    })
}

/// The study file as it is now, or its copy beside the results, with its name.
pub(crate) fn study_text(path: &Path, results: &Results) -> Result<(String, String), Error> {
    if !path.is_dir() {
        return Ok((path.display().to_string(), study_file_text(path)?));
    }
    let copy = results.folder.join(STUDY_COPY).display().to_string();
    let bytes = results.store.read_file(STUDY_COPY)?;
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let missing = || Error::other(format!("{copy} is missing: name the study file itself"));
    Ok((copy.clone(), text.ok_or_else(missing)?))
}

/// What the results in a folder answer, as it was last saved there.
#[derive(serde::Deserialize)]
pub(crate) struct Question {
    pub(crate) study: Study,
    pub(crate) plan: Plan,
}

pub(crate) fn has_question(folder: &Path) -> bool {
    folder.join(PLAN_FILE).is_file()
}

pub(crate) fn read_question(folder: &Path) -> Result<Question, Error> {
    let path = folder.join(PLAN_FILE);
    let wrong =
        |error: &dyn std::fmt::Display| Error::other(format!("{}: {error}", path.display()));
    let text = store::read_regular(&path).map_err(|error| wrong(&error))?;
    serde_json::from_slice(&text).map_err(|error| wrong(&error))
}
