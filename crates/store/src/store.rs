//! Signatures first; bodies are being written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{RunId, RunRecord, Status};
use serde::{Deserialize, Serialize};

use crate::StoreError;

/// Which study a results folder belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyIdentity {
    pub name: String,
    /// Equal for files that ask the same question; what goes into it is the caller's matter.
    pub fingerprint: String,
}

/// A bundle that is there but cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    pub path: PathBuf,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The names they were given, in the order of the records.
    pub added: Vec<RunId>,
    /// Records that an earlier import had brought already.
    pub already_there: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebuilt {
    pub runs: usize,
    pub damaged: Vec<Damaged>,
}

pub struct Store;
pub struct StudyLock;
pub struct Staging;

#[expect(unused_variables, clippy::todo, reason = "bodies to come")]
impl Store {
    pub fn create_or_open(dir: &Path, identity: &StudyIdentity) -> Result<Store, StoreError> {
        todo!()
    }
    pub fn open(dir: &Path) -> Result<Store, StoreError> {
        todo!()
    }
    pub fn lock(&self) -> Result<StudyLock, StoreError> {
        todo!()
    }
    pub fn identity(&self) -> &StudyIdentity {
        todo!()
    }
    pub fn dir(&self) -> &Path {
        todo!()
    }
    pub fn save_file(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        todo!()
    }
    pub fn read_file(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        todo!()
    }
    pub fn statuses(&self) -> Result<BTreeMap<RunId, Status>, StoreError> {
        todo!()
    }
    /// The lock must be held.
    pub fn begin(&self, run: RunId) -> Result<Staging, StoreError> {
        todo!()
    }
    pub fn records(&self) -> Result<Vec<RunRecord>, StoreError> {
        todo!()
    }
    pub fn damaged(&self) -> Vec<Damaged> {
        todo!()
    }
    pub fn bundle_path(&self, run: RunId) -> PathBuf {
        todo!()
    }
    pub fn add_imported(&mut self, records: &[RunRecord]) -> Result<Imported, StoreError> {
        todo!()
    }
    pub fn rebuild(&mut self) -> Result<Rebuilt, StoreError> {
        todo!()
    }
}

#[expect(unused_variables, clippy::todo, reason = "bodies to come")]
impl Staging {
    pub fn folder(&self) -> &Path {
        todo!()
    }
    pub fn commit(self, record: &RunRecord) -> Result<(), StoreError> {
        todo!()
    }
}
