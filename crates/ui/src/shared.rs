//! What all pages know: the studies of the folder, those that were started here, and what goes on.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use workbench::{EndedStudy, Here, StartedStudy, StudyState, StudySummary, Wish};

use crate::live::Live;
use crate::route::StudyId;

/// How old the list of studies may be, at least.
const FRESH: Duration = Duration::from_secs(2);
/// Listing takes at most one part in so many of the time.
const SHARE: u32 = 50;

pub(crate) struct Shared {
    pub(crate) folder: PathBuf,
    /// `/` and the token: what every address begins with.
    pub(crate) root: String,
    pub(crate) version: &'static str,
    here: Here,
    listed: Mutex<Listed>,
    lives: Mutex<BTreeMap<StudyId, Arc<Mutex<Live>>>>,
    started: Mutex<BTreeMap<StudyId, Started>>,
    asked: Mutex<BTreeMap<StudyId, AskedToEnd>>,
}

/// What was asked here of the process that carries a study out.
#[derive(Clone, Copy)]
struct AskedToEnd {
    pid: u32,
    wish: Wish,
}

/// A study as it is shown.
pub(crate) struct StudyNow {
    pub(crate) state: StudyState,
    /// What was asked of it here, until it goes on.
    pub(crate) asked: Option<Wish>,
}

impl StudyNow {
    pub(crate) fn words(&self) -> &'static str {
        match (&self.state, self.asked) {
            (StudyState::Running { .. }, Some(Wish::Pause)) => "pausing…",
            (StudyState::Running { .. }, Some(Wish::Stop)) => "stopping…",
            (StudyState::Unfinished | StudyState::New, Some(Wish::Pause)) => "paused",
            (StudyState::Unfinished | StudyState::New, Some(Wish::Stop)) => "stopped",
            (state, _) => state.word(),
        }
    }
}

#[derive(Default)]
struct Listed {
    studies: Arc<Vec<Entry>>,
    /// When that was, and how long it took.
    when: Option<(Instant, Duration)>,
}

/// A study of the list.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) id: StudyId,
    pub(crate) summary: StudySummary,
}

enum Started {
    Going(StartedStudy),
    Ended(EndedStudy),
}

impl Shared {
    pub(crate) fn new(
        folder: &Path,
        root: String,
        version: &'static str,
    ) -> Result<Self, workbench::Error> {
        let shared = Shared {
            folder: fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()),
            root,
            version,
            here: Here::find()?,
            listed: Mutex::default(),
            lives: Mutex::default(),
            started: Mutex::default(),
            asked: Mutex::default(),
        };
        // A folder that cannot be read is told at once.
        workbench::studies(folder, &|_| {})?;
        Ok(shared)
    }

    pub(crate) fn studies(&self) -> Arc<Vec<Entry>> {
        let mut listed = lock(&self.listed);
        let is_fresh = |(at, took): (Instant, Duration)| at.elapsed() < FRESH.max(took * SHARE);
        if !listed.when.is_some_and(is_fresh) {
            let begun = Instant::now();
            // A folder that went away has none.
            let found = workbench::studies(&self.folder, &|_| {}).unwrap_or_default();
            let entry = |summary: StudySummary| Entry {
                id: id_of(&summary.results),
                summary,
            };
            listed.studies = Arc::new(found.into_iter().map(entry).collect());
            listed.when = Some((Instant::now(), begun.elapsed()));
        }
        Arc::clone(&listed.studies)
    }

    /// The next list is made anew: something was changed here.
    pub(crate) fn forget_list(&self) {
        lock(&self.listed).when = None;
    }

    pub(crate) fn study(&self, id: &str) -> Option<Entry> {
        let studies = self.studies();
        studies.iter().find(|entry| entry.id == id).cloned()
    }

    /// As it is now, where that has changed since the list was made.
    pub(crate) fn state(&self, entry: &Entry) -> StudyState {
        let listed = &entry.summary.state;
        match (workbench::running(&entry.summary.results), listed) {
            (Some(pid), _) => StudyState::Running { pid },
            (None, StudyState::Running { .. }) => {
                self.forget_list();
                let again = self.study(&entry.id);
                again.map_or(StudyState::Unfinished, |entry| entry.summary.state)
            }
            (None, other) => other.clone(),
        }
    }

    pub(crate) fn now(&self, entry: &Entry) -> StudyNow {
        let state = self.state(entry);
        let mut all = lock(&self.asked);
        if let StudyState::Running { pid } = state {
            // A process that began since was not asked.
            all.retain(|id, asked| *id != entry.id || asked.pid == pid);
        }
        let asked = all.get(&entry.id).map(|asked| asked.wish);
        StudyNow { state, asked }
    }

    pub(crate) fn ask_to_end(&self, entry: &Entry, wish: Wish) -> Result<(), workbench::Error> {
        let results = &entry.summary.results;
        let pid = workbench::running(results);
        workbench::ask_to_end(results, wish)?;
        if let Some(pid) = pid {
            lock(&self.asked).insert(entry.id.clone(), AskedToEnd { pid, wish });
        }
        Ok(())
    }

    /// Followed from the first time that somebody looks.
    pub(crate) fn live(&self, entry: &Entry) -> Arc<Mutex<Live>> {
        let mut lives = lock(&self.lives);
        let new = || Arc::new(Mutex::new(Live::new(&entry.summary.results)));
        Arc::clone(lives.entry(entry.id.clone()).or_insert_with(new))
    }

    pub(crate) fn start(&self, entry: &Entry) -> Result<(), workbench::Error> {
        let summary = &entry.summary;
        let Some(file) = &summary.file else {
            return Ok(());
        };
        let mut started = lock(&self.started);
        if let Some(Started::Going(study)) = started.get_mut(&entry.id)
            && study.ended().is_none()
        {
            return Ok(());
        }
        let said = self.here.scratch.path().join(format!("{}.said", entry.id));
        let study =
            workbench::start_study(&self.here.program, file, summary.scale.as_deref(), said)?;
        started.insert(entry.id.clone(), Started::Going(study));
        drop(started);
        lock(&self.asked).remove(&entry.id);
        self.forget_list();
        Ok(())
    }

    /// Whether it was started here and has not taken its results folder yet.
    pub(crate) fn is_starting(&self, id: &str) -> bool {
        self.look_after(id);
        matches!(lock(&self.started).get(id), Some(Started::Going(_)))
    }

    /// What a study that was started here said at its end.
    pub(crate) fn ended(&self, id: &str) -> Option<EndedStudy> {
        self.look_after(id);
        match lock(&self.started).get(id) {
            Some(Started::Ended(ended)) => Some(ended.clone()),
            _ => None,
        }
    }

    fn look_after(&self, id: &str) {
        let mut started = lock(&self.started);
        let Some(Started::Going(study)) = started.get_mut(id) else {
            return;
        };
        if let Some(ended) = study.ended() {
            started.insert(id.to_owned(), Started::Ended(ended));
            drop(started);
            self.forget_list();
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn id_of(results: &Path) -> StudyId {
    format!(
        "{:016x}",
        seeded::fnv1a(results.as_os_str().as_encoded_bytes())
    )
}
