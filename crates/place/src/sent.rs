//! Files of this machine that orders need elsewhere: which, and whether they were sent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::Order;
use model::run::RunInput;

use crate::error::PlaceError;
use crate::wire::{FileOf, Folder, stays_inside};

/// The files of a study's folder that one machine got.
#[derive(Debug)]
pub(crate) struct SentFiles {
    folder: PathBuf,
    /// By path, as they were when they were sent.
    sent: Mutex<BTreeMap<PathBuf, FileOf>>,
}

impl SentFiles {
    pub(crate) fn new(folder: &Path) -> Self {
        SentFiles {
            folder: folder.to_owned(),
            sent: Mutex::default(),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    fn sent(&self) -> MutexGuard<'_, BTreeMap<PathBuf, FileOf>> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn describe(
        &self,
        folder: Folder,
        root: &Path,
        path: &Path,
    ) -> Result<FileOf, PlaceError> {
        let described = FileOf::of(folder, root, path.to_owned());
        described.map_err(|error| PlaceError::io("read", &root.join(path), &error))
    }

    /// Inputs of these orders that this machine has and the other one did not get yet.
    pub(crate) fn unsent(&self, orders: &[Order]) -> Result<Vec<FileOf>, PlaceError> {
        let mut unsent: BTreeMap<PathBuf, FileOf> = BTreeMap::new();
        let mut refused = Vec::new();
        for input in orders.iter().flat_map(|order| &order.inputs) {
            let path = PathBuf::from(&input.path);
            let is_known = unsent.contains_key(&path) || self.was_sent(&path, input);
            if is_known || self.is_pattern(input) {
                continue;
            }
            match where_from(&path, input.listed) {
                WhereFrom::Here => {
                    let file = self.describe(Folder::Study, &self.folder, &path)?;
                    unsent.insert(path, file);
                }
                WhereFrom::TheOtherMachine => {}
                WhereFrom::Nowhere => refused.push(input.path.clone()),
            }
        }
        refused.dedup();
        match refused.is_empty() {
            true => Ok(unsent.into_values().collect()),
            false => Err(PlaceError::Refused(format!(
                "cannot send {}: only files below the folder of the study file are sent to another \
                 machine; move them there, or install them on that machine and give an absolute \
                 path in the command",
                refused.join(", ")
            ))),
        }
    }

    /// The entry for the names that a pattern of the study matched; the files have their own.
    fn is_pattern(&self, input: &RunInput) -> bool {
        input.listed
            && input.path.contains(['*', '?', '['])
            && !self.folder.join(&input.path).is_file()
    }

    fn was_sent(&self, path: &Path, input: &RunInput) -> bool {
        let sent = self.sent();
        let is_same = |file: &FileOf| match &input.sha256 {
            Some(sha256) => file.sha256 == *sha256,
            None => file.bytes == input.bytes,
        };
        sent.get(path).is_some_and(is_same)
    }

    pub(crate) fn were_sent(&self, files: Vec<FileOf>) {
        let files = files.into_iter().map(|file| (file.path.clone(), file));
        self.sent().extend(files);
    }
}

enum WhereFrom {
    Here,
    /// A program such as /bin/sh: each machine has its own.
    TheOtherMachine,
    Nowhere,
}

fn where_from(path: &Path, listed: bool) -> WhereFrom {
    match () {
        () if stays_inside(path) => WhereFrom::Here,
        () if path.is_absolute() && !listed => WhereFrom::TheOtherMachine,
        () => WhereFrom::Nowhere,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::command_order;

    fn input(path: &str, listed: bool) -> RunInput {
        RunInput {
            path: path.to_owned(),
            bytes: 1,
            sha256: None,
            modified: None,
            listed,
        }
    }

    #[test]
    fn files_below_the_study_are_sent_once_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.py"), "1").unwrap();
        let files = SentFiles::new(folder.path());
        let unsent = |inputs: &[RunInput]| {
            let mut order = command_order("1", &["true"]);
            order.inputs = inputs.to_vec();
            files.unsent(&[order.clone(), order])
        };
        let first = unsent(&[input("a.py", false), input("/bin/sh", false)]).unwrap();
        assert_eq!(first.len(), 1);
        assert_eq!(first[0].path, Path::new("a.py"));
        files.were_sent(first);
        assert_eq!(unsent(&[input("a.py", false)]), Ok(Vec::new()));
        assert_eq!(unsent(&[input("*.py", true)]), Ok(Vec::new()));
        for (path, listed) in [
            ("../a.py", false),
            ("/etc/passwd", true),
            ("a/../../b", true),
        ] {
            let refused = unsent(&[input(path, listed)]).unwrap_err().to_string();
            assert!(refused.contains(path), "{refused}");
        }
    }
}
