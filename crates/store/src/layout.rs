//! Where things are in a results folder, and which bundles are there.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use model::RunId;
use serde::{Deserialize, Serialize};

use crate::{StoreError, files};

#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) dir: PathBuf,
}

/// A bundle as listed, unread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    /// `None` if it has no `run.json`.
    pub(crate) stamp: Option<Stamp>,
}

/// Tells, without reading it, that a file is not the one that was indexed or kept: another attempt has
/// taken its place, a bundle was copied over it, or it was damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    pub(crate) modified_nanoseconds: i64,
    pub(crate) bytes: i64,
}

pub(crate) const RECORD: &str = "run.json";
const IMPORT_SUFFIX: &str = ".jsonl";

fn import_number(name: &str) -> Option<u32> {
    name.strip_suffix(IMPORT_SUFFIX)?.parse().ok()
}

impl Layout {
    pub(crate) fn new(dir: &Path) -> Self {
        Layout {
            dir: dir.to_path_buf(),
        }
    }

    pub(crate) fn identity(&self) -> PathBuf {
        self.dir.join("identity.json")
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.dir.join("store.sqlite")
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.dir.join(".lock")
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.dir.join("runs")
    }

    pub(crate) fn old(&self) -> PathBuf {
        self.runs().join(".old")
    }

    /// Of bundles that are of no scenario of the study.
    pub(crate) fn aside(&self) -> PathBuf {
        self.runs().join(".aside")
    }

    pub(crate) fn bundle(&self, run: RunId) -> PathBuf {
        self.runs().join(run.to_string())
    }

    pub(crate) fn partial(&self, run: RunId) -> PathBuf {
        self.runs().join(format!(".{run}.partial"))
    }

    pub(crate) fn whole(&self, run: RunId) -> PathBuf {
        self.runs().join(format!(".{run}.whole"))
    }

    pub(crate) fn imports(&self) -> PathBuf {
        self.dir.join("imports")
    }

    /// `1.jsonl`, in the order in which they were brought.
    pub(crate) fn import_names(&self) -> Result<Vec<String>, StoreError> {
        let mut numbered: Vec<(u32, String)> = names(&self.imports())?
            .into_iter()
            .filter(|name| {
                let found = fs::symlink_metadata(self.imports().join(name));
                found.is_ok_and(|found| found.is_file())
            })
            .filter_map(|name| Some((import_number(&name)?, name)))
            .collect();
        numbered.sort();
        Ok(numbered.into_iter().map(|(_, name)| name).collect())
    }

    pub(crate) fn next_import(&self) -> Result<PathBuf, StoreError> {
        let names = self.import_names()?;
        let last = names.last().and_then(|name| import_number(name));
        let next = last.unwrap_or(0).saturating_add(1);
        Ok(self.imports().join(format!("{next}{IMPORT_SUFFIX}")))
    }

    /// Whether nothing was kept yet, not even what cannot be read.
    pub(crate) fn has_no_runs(&self) -> Result<bool, StoreError> {
        Ok(self.bundles()?.is_empty() && self.import_names()?.is_empty())
    }

    pub(crate) fn import_partial(&self) -> PathBuf {
        self.runs().join(".import.partial")
    }

    pub(crate) fn import_whole(&self) -> PathBuf {
        self.runs().join(".import.whole")
    }

    /// Where the run's bundle is now: by its name, or on the way to it.
    pub(crate) fn current(&self, run: RunId) -> PathBuf {
        let imported = self.import_whole().join(run.to_string());
        [self.whole(run), imported]
            .into_iter()
            .find(|path| path.join(RECORD).exists())
            .unwrap_or_else(|| self.bundle(run))
    }

    /// Where a run's bundle is now. It has one of two names, and may change it between two looks.
    pub(crate) fn find(&self, run: RunId) -> Option<Found> {
        const LOOKS: usize = 4;
        (0..LOOKS).find_map(|_| {
            let path = self.current(run);
            let stamp = stamp(&path.join(RECORD)).ok().flatten();
            stamp.is_some().then_some(Found { path, stamp })
        })
    }

    /// Every bundle once. A finished one on the way to its name counts already: a program killed
    /// between two renames has lost nothing, and a reader meanwhile sees no gap.
    pub(crate) fn bundles(&self) -> Result<BTreeMap<RunId, Found>, StoreError> {
        let mut runs: Vec<RunId> = Vec::new();
        for name in names(&self.runs())? {
            let run = name
                .strip_prefix('.')
                .and_then(|n| n.strip_suffix(".whole"))
                .unwrap_or(&name);
            runs.extend(run.parse::<RunId>());
        }
        for name in names(&self.import_whole())? {
            runs.extend(name.parse::<RunId>());
        }
        let on_the_way = self.on_the_way()?;
        let mut found = BTreeMap::new();
        for run in runs {
            let path = if on_the_way {
                self.current(run)
            } else {
                self.bundle(run)
            };
            let stamp = stamp(&path.join(RECORD))?;
            if stamp.is_some() || path.exists() {
                found.insert(run, Found { path, stamp });
            }
        }
        Ok(found)
    }

    /// Runs that are finished but not yet by their name.
    pub(crate) fn wholes(&self) -> Result<Vec<RunId>, StoreError> {
        let names = names(&self.runs())?;
        let inner = |name: &String| name.strip_prefix('.')?.strip_suffix(".whole")?.parse().ok();
        Ok(names.iter().filter_map(inner).collect())
    }

    /// Left-overs of programs that are gone.
    pub(crate) fn partials(&self) -> Result<Vec<PathBuf>, StoreError> {
        let runs = self.runs();
        let left = |name: &String| name.starts_with('.') && name.ends_with(".partial");
        Ok(names(&runs)?
            .iter()
            .filter(|n| left(n))
            .map(|n| runs.join(n))
            .collect())
    }

    fn on_the_way(&self) -> Result<bool, StoreError> {
        Ok(!self.wholes()?.is_empty() || self.import_whole().exists())
    }
}

/// Names in a folder; none when there is no such folder.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>, StoreError> {
    let list = || -> io::Result<Vec<String>> {
        let entries: io::Result<Vec<fs::DirEntry>> = fs::read_dir(folder)?.collect();
        Ok(entries?
            .iter()
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect())
    };
    match list() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        result => result.map_err(|e| StoreError::io("read", folder, e)),
    }
}

/// `C3-r2.1`, `C3-r2.2`, …: a free name for another bundle of a run, in a folder that is made where
/// it is missing.
pub(crate) fn next_name(folder: &Path, run: RunId) -> Result<PathBuf, StoreError> {
    files::create_folder(folder)?;
    let prefix = format!("{run}.");
    let names = names(folder)?;
    let numbers = names
        .iter()
        .filter_map(|name| name.strip_prefix(&prefix)?.parse::<u32>().ok());
    let next = numbers.max().unwrap_or(0).saturating_add(1);
    Ok(folder.join(format!("{prefix}{next}")))
}

pub(crate) fn stamp(file: &Path) -> Result<Option<Stamp>, StoreError> {
    match fs::symlink_metadata(file) {
        // Only a regular file is read as a record.
        Ok(metadata) if !metadata.is_file() => Ok(None),
        Ok(metadata) => {
            let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
            let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
            Ok(Some(Stamp {
                modified_nanoseconds: i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
                bytes: i64::try_from(metadata.len()).unwrap_or(i64::MAX),
            }))
        }
        // A file where the bundle's folder should be has no record either.
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(e) => Err(StoreError::io("read", file, e)),
    }
}
