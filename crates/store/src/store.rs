//! A results folder, opened.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{RunId, RunRecord, Status};
use serde::{Deserialize, Serialize};

use crate::bundle::Bundle;
use crate::folder::NewFolder;
use crate::index::{self, Index};
use crate::layout::{Layout, Stamp};
use crate::{
    Damaged, Staging, StoreError, StudyLock, bulk, bundle, files, kept_files, layout, staging,
};

/// Which study a results folder belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyIdentity {
    pub name: String,
    /// Equal for files that ask the same question; what goes into it is the caller's matter.
    pub fingerprint: String,
}

/// The results of one study. Any number of programs read; one, the holder of the lock, writes.
#[derive(Debug)]
pub struct Store {
    identity: StudyIdentity,
    pub(crate) shared: Arc<Shared>,
    /// For writing: what was made when it was opened.
    made: Option<NewFolder>,
}

type OpenIndex = fn(&Layout, &Arc<AtomicBool>) -> Result<Index, StoreError>;

/// What a store and the runs begun from it have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) layout: Layout,
    index: Mutex<Index>,
    begun: Mutex<BTreeSet<RunId>>,
    damaged: Mutex<Vec<Damaged>>,
    locked: Arc<AtomicBool>,
}

impl Store {
    /// For writing: creates the folder if it is missing. Results of a study of another name are an
    /// error, unless there are no runs among them yet. Whether the runs that are there are of this
    /// study is for [`Store::arrange`] to see.
    pub fn create_or_open(dir: &Path, identity: &StudyIdentity) -> Result<Store, StoreError> {
        let layout = Layout::new(dir);
        let made = NewFolder::make(&layout)?;
        let opened = Store::over(layout.clone(), identity.clone(), Index::open_or_replace);
        let mut store = opened.inspect_err(|_| made.remove(&layout))?;
        store.made = Some(made);
        store.check_name()?;
        if store.recorded_identity()?.is_none() && store.is_empty()? {
            store.write_identity()?;
        }
        Ok(store)
    }

    /// Takes away again what [`Store::create_or_open`] made, where no run was kept: a program that
    /// refuses leaves nothing behind. What was there before stays.
    pub fn remove_if_empty(mut self, lock: StudyLock) {
        let made = self.made.take();
        if let Some(made) = made
            && made.is_new
            && self.is_empty().unwrap_or(false)
        {
            made.remove(&self.shared.layout);
        }
        drop(lock);
    }

    fn is_empty(&self) -> Result<bool, StoreError> {
        let layout = &self.shared.layout;
        let is_aside = !layout::names(&layout.aside())?.is_empty();
        Ok(!is_aside && layout.has_no_runs()?)
    }

    /// Whether the folder is this study's, or nobody's yet.
    fn check_name(&self) -> Result<(), StoreError> {
        match self.recorded_identity()? {
            Some(found) if found.name != self.identity.name && !self.is_empty()? => {
                Err(StoreError::OtherStudy {
                    dir: self.dir().to_path_buf(),
                    found,
                    asked: self.identity.clone(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Over another identity only by the holder of the lock: that study's first run may be under
    /// way.
    pub(crate) fn write_identity(&self) -> Result<(), StoreError> {
        self.check_name()?;
        if self.recorded_identity()?.as_ref() != Some(&self.identity) {
            let text = serde_json::to_vec_pretty(&self.identity).unwrap_or_default();
            files::write_whole(&self.shared.layout.identity(), &text)?;
        }
        Ok(())
    }

    /// For reading: a folder that cannot be written will do.
    pub fn open(dir: &Path) -> Result<Store, StoreError> {
        let layout = Layout::new(dir);
        let unknown = StudyIdentity {
            name: String::new(),
            fingerprint: String::new(),
        };
        if !layout.identity().exists() && layout.has_no_runs()? {
            return Err(StoreError::NotResults {
                dir: dir.to_path_buf(),
            });
        }
        let mut store = match Store::over(layout.clone(), unknown.clone(), Index::open_or_replace) {
            Err(error) if error.is_of_index() => {
                Store::over(layout, unknown, |layout, _| Index::in_memory(layout))?
            }
            result => result?,
        };
        if let Some(identity) = store.recorded_identity()? {
            store.identity = identity;
        } else if let Some(record) = store.records()?.into_iter().next() {
            // Bundles that were copied without the rest of their folder name their study.
            store.identity.name = record.study;
        }
        Ok(store)
    }

    /// Held until dropped. Finishes first what a killed program left half done.
    pub fn lock(&self) -> Result<StudyLock, StoreError> {
        let lock = StudyLock::take(&self.shared.layout, &self.shared.locked)?;
        staging::recover(&self.shared.layout)?;
        match self.is_empty()? {
            true => self.write_identity()?,
            false => self.check_name()?,
        }
        if self.shared.index().is_in_memory() {
            self.shared.reopen_index(Index::open_or_replace)?;
        }
        self.shared.reconcile()?;
        Ok(lock)
    }

    pub fn dir(&self) -> &Path {
        &self.shared.layout.dir
    }

    pub fn identity(&self) -> &StudyIdentity {
        &self.identity
    }

    /// `study.toml`, `plan.json`, `report.html`: old or new, never a part.
    pub fn save_file(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        files::write_whole(&self.file(name)?, bytes)
    }

    /// `None` if there is no such file.
    pub fn read_file(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        read_if_there(&self.file(name)?)
    }

    /// A file of a run's bundle; `None` if there is no such file.
    pub fn read_run_file(&self, run: RunId, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        read_if_there(&self.shared.layout.bundle(run).join(name))
    }

    /// How every kept run ended.
    pub fn statuses(&self) -> Result<BTreeMap<RunId, Status>, StoreError> {
        self.shared.repairing(Index::statuses)
    }

    /// Every kept run once, sorted by scenario and repetition.
    pub fn records(&self) -> Result<Vec<RunRecord>, StoreError> {
        self.shared.repairing(Index::records)
    }

    /// Bundles that are there but cannot be read, as of the last look at the folders.
    pub fn damaged(&self) -> Vec<Damaged> {
        self.shared
            .damaged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Files beside records that are not what they were when their runs were kept. The runs count all
    /// the same: their results are in their records.
    pub fn damaged_files(&self) -> Result<Vec<Damaged>, StoreError> {
        let mut damaged = Vec::new();
        for (run, files) in self.shared.repairing(Index::kept_files)? {
            let folder = self.shared.layout.bundle(run);
            if kept_files::look_untouched(&folder, &files) {
                continue;
            }
            // Another attempt may have taken its place: what its own record says is what counts.
            if let Ok(bundle) = bundle::read(&folder, run) {
                damaged.extend(kept_files::damaged(&folder, &bundle.files));
            }
        }
        Ok(damaged)
    }

    /// A fresh folder for a run. The lock must be held. An earlier attempt of the run stays what
    /// counts until this one is committed.
    pub fn begin(&self, run: RunId) -> Result<Staging, StoreError> {
        self.check_lock()?;
        Staging::begin(run, &self.shared)
    }

    /// Attempts that later ones took the place of: no results, but they were paid for.
    pub fn superseded(&self) -> Result<Vec<RunRecord>, StoreError> {
        let old = self.shared.layout.old();
        let read = |name: String| {
            let run = name.rsplit_once('.')?.0.parse().ok()?;
            Some(bundle::read(&old.join(&name), run).ok()?.record)
        };
        let mut superseded: Vec<RunRecord> =
            layout::names(&old)?.into_iter().filter_map(read).collect();
        if self.shared.index().has_hidden_imports()? {
            let layout = &self.shared.layout;
            let is_superseded = |run: RunId| layout.bundle(run).exists();
            superseded.extend(bulk::superseded(layout, &is_superseded)?);
        }
        Ok(superseded)
    }

    /// Looks at the folders again: runs that another program kept meanwhile are found.
    pub fn refresh(&self) -> Result<(), StoreError> {
        self.shared.reconcile()
    }

    pub(crate) fn check_lock(&self) -> Result<(), StoreError> {
        let dir = self.dir().to_path_buf();
        match self.holds_lock() {
            true => Ok(()),
            false => Err(StoreError::NotLocked { dir }),
        }
    }

    pub(crate) fn holds_lock(&self) -> bool {
        self.shared.locked.load(Ordering::SeqCst)
    }

    fn over(layout: Layout, identity: StudyIdentity, open: OpenIndex) -> Result<Store, StoreError> {
        let locked = Arc::default();
        let shared = Shared {
            index: Mutex::new(open(&layout, &locked)?),
            layout,
            begun: Mutex::default(),
            damaged: Mutex::default(),
            locked,
        };
        shared.reconcile()?;
        Ok(Store {
            identity,
            shared: Arc::new(shared),
            made: None,
        })
    }

    /// As the folder says, which study its results are of; `None` if it does not, or the file that
    /// says so is damaged.
    pub fn recorded_identity(&self) -> Result<Option<StudyIdentity>, StoreError> {
        let bytes = read_if_there(&self.shared.layout.identity())?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    fn file(&self, name: &str) -> Result<PathBuf, StoreError> {
        let mut parts = Path::new(name).components();
        match (parts.next(), parts.next()) {
            (Some(Component::Normal(part)), None) if part == name => Ok(self.dir().join(name)),
            _ => Err(StoreError::BadName {
                name: name.to_owned(),
            }),
        }
    }
}

impl Shared {
    pub(crate) fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begun(&self) -> MutexGuard<'_, BTreeSet<RunId>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reconcile(&self) -> Result<(), StoreError> {
        let damaged = self.repairing(|index| index.reconcile(&self.layout))?;
        self.set_damaged(damaged);
        Ok(())
    }

    fn set_damaged(&self, damaged: Vec<Damaged>) {
        *self.damaged.lock().unwrap_or_else(PoisonError::into_inner) = damaged;
    }

    /// The bundle is kept already. An index that fails, because it is spoilt or was taken away,
    /// is opened anew and learns of the run from its folder.
    pub(crate) fn index_run(&self, bundle: &Bundle, stamp: Stamp) -> Result<(), StoreError> {
        let first = self.index().insert(bundle, stamp);
        let Err(error) = first else { return Ok(()) };
        self.reopen_index(opener(&error))?;
        self.reconcile()
    }

    /// An index that turns out to be spoilt is rebuilt from the bundles, and asked again.
    fn repairing<T>(&self, ask: impl Fn(&Index) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let first = ask(&self.index());
        match first {
            Err(error) if index::is_spoilt(&error) => {}
            result => return result,
        }
        self.reopen_index(Index::replace)?;
        let index = self.index();
        self.set_damaged(index.reconcile(&self.layout)?);
        ask(&index)
    }

    fn reopen_index(&self, open: OpenIndex) -> Result<(), StoreError> {
        let mut index = self.index();
        // The old one is closed before its file may be removed.
        *index = Index::in_memory(&self.layout)?;
        *index = open(&self.layout, &self.locked)?;
        Ok(())
    }
}

/// A file that was only taken away, or cannot be written any more, is not thrown away.
fn opener(error: &StoreError) -> OpenIndex {
    match index::is_spoilt(error) {
        true => Index::replace,
        false => Index::open_or_replace,
    }
}

fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match host::read_regular(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(StoreError::io("read", path, e)),
    }
}
