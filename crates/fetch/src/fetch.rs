//! Downloads one dataset to the folder where studies look for it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use data::{Counts, DataRequest};
use host::{FileLock, LockError};

use crate::catalog::{self, DataSource, Dataset};
use crate::digest;
use crate::download::Limits;
use crate::error::FetchError;
use crate::places::Fetcher;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub dataset: String,
    /// Bancada's cache folder.
    pub home: PathBuf,
    /// A copy, instead of the usual places.
    pub from: Option<Origin>,
    pub limits: Limits,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Folder(PathBuf),
    Url(String),
}

/// What happens on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchEvent<'t> {
    Trying {
        place: &'t str,
    },
    /// The place did not give the files; the next one is tried.
    Failed {
        place: &'t str,
        why: &'t str,
    },
    Received {
        file: &'t str,
        received_bytes: u64,
        total_bytes: Option<u64>,
    },
    /// A program of this machine gets a package.
    Getting {
        what: &'t str,
    },
    /// The file is the published one.
    Checked {
        file: &'t str,
        bytes: u64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    pub folder: PathBuf,
    /// The place that gave the files; `None` if they were there already.
    pub place: Option<String>,
    pub bytes: u64,
    pub counts: Counts,
}

pub fn fetch(
    request: &Request,
    tell: &mut dyn FnMut(FetchEvent<'_>),
) -> Result<Fetched, FetchError> {
    let dataset = catalog::find(&request.dataset).ok_or_else(|| not_fetched(&request.dataset))?;
    fetch_dataset(request, dataset, tell)
}

fn not_fetched(name: &str) -> FetchError {
    let known: Vec<&str> = crate::names().collect();
    let problem = match data::info(name) {
        Some(_) => format!("`{name}` is generated and needs no files"),
        None if name == data::FOLDER => {
            "`folder` is a folder of your own pictures: set it as `data_dir` in the study"
                .to_owned()
        }
        None => format!("unknown dataset `{name}`"),
    };
    FetchError::new(format!("{problem}; downloadable: {}", known.join(", ")))
}

pub(crate) fn fetch_dataset(
    request: &Request,
    dataset: &'static Dataset,
    tell: &mut dyn FnMut(FetchEvent<'_>),
) -> Result<Fetched, FetchError> {
    let folder = data::fetched_folder(&request.home, dataset.name);
    let place = match is_there(dataset, &folder) {
        true => None,
        false => Some(bring(request, dataset, &folder, tell)?),
    };
    Ok(Fetched {
        counts: count(dataset, &request.home)?,
        folder,
        place,
        bytes: dataset.bytes(),
    })
}

/// Whether all files are there, by their sizes alone.
pub fn is_here(dataset: &str, home: &Path) -> bool {
    let folder = data::fetched_folder(home, dataset);
    let length = |name: &str| fs::metadata(folder.join(name)).map(|m| m.len()).ok();
    let is_whole = |file: catalog::DatasetFile| length(file.name) == Some(file.bytes);
    catalog::find(dataset).is_some_and(|dataset| dataset.files().all(is_whole))
}

fn is_there(dataset: &Dataset, folder: &Path) -> bool {
    let mut files = dataset.files();
    files.all(|file| digest::check(&folder.join(file.name), &file).is_ok())
}

/// Gets the files beside their folder and moves them there when all are right.
fn bring(
    request: &Request,
    dataset: &'static Dataset,
    folder: &Path,
    tell: &mut dyn FnMut(FetchEvent<'_>),
) -> Result<String, FetchError> {
    let root = request.home.join("data").join(".fetch");
    let work = root.join(dataset.name);
    let files = work.join("files");
    fs::create_dir_all(&files).map_err(failed("create the folder", &files))?;
    let _lock = lock(dataset, &root)?;
    let place = try_places(request, dataset, &work, &files, tell)?;
    fs::create_dir_all(folder).map_err(failed("create the folder", folder))?;
    for file in dataset.files() {
        let to = folder.join(file.name);
        fs::rename(files.join(file.name), &to).map_err(failed("write", &to))?;
    }
    // Packages and parts of other places; what stays there harms nobody.
    let _ = fs::remove_dir_all(&work);
    Ok(place)
}

fn try_places(
    request: &Request,
    dataset: &'static Dataset,
    work: &Path,
    files: &Path,
    tell: &mut dyn FnMut(FetchEvent<'_>),
) -> Result<String, FetchError> {
    let mut sentence = format!("{} could not be downloaded", dataset.name);
    let copy = request.from.as_ref().map(|origin| match origin {
        Origin::Folder(folder) => DataSource::Folder(folder),
        Origin::Url(url) => DataSource::Url(url),
    });
    let places = copy.as_ref().map_or(dataset.places, std::slice::from_ref);
    for place in places {
        let words = place.words();
        tell(FetchEvent::Trying { place: &words });
        let mut fetcher = Fetcher {
            dataset,
            work,
            files,
            limits: request.limits,
            tell,
        };
        match fetcher.bring(*place) {
            Ok(()) => return Ok(words),
            Err(error) => {
                let why = error.to_string();
                tell(FetchEvent::Failed {
                    place: &words,
                    why: &why,
                });
                sentence += &format!("\n  {words}: {why}");
            }
        }
    }
    Err(FetchError::new(format!(
        "{sentence}\n  Try again later, or use a copy: bancada data fetch {} --from FOLDER or URL",
        dataset.name
    )))
}

/// Released when dropped or when the process ends.
fn lock(dataset: &Dataset, root: &Path) -> Result<Option<FileLock>, FetchError> {
    let path = root.join(format!("{}.lock", dataset.name));
    match FileLock::take(&path) {
        Ok(lock) => Ok(Some(lock)),
        Err(LockError::Taken { .. }) => Err(FetchError::new(format!(
            "another bancada is downloading {}: wait for it",
            dataset.name
        ))),
        // Without locks, two at once would get the same bytes.
        Err(LockError::Unsupported(_)) => Ok(None),
        Err(LockError::Io(error)) => Err(failed("write", &path)(error)),
    }
}

/// Reads every label, as a study would.
fn count(dataset: &Dataset, home: &Path) -> Result<Counts, FetchError> {
    let request = DataRequest {
        dataset: dataset.name.to_owned(),
        data_dir: None,
        image: 32,
        images: None,
        held_out: None,
        seed: 0,
    };
    data::count(&request, home).map_err(FetchError::new)
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FetchError {
    move |error| FetchError::new(format!("cannot {what} {}: {error}", path.display()))
}
