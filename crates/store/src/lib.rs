//! Keeps run bundles and returns them. It never computes statistics.
//!
//! A results folder:
//!
//! ```text
//! DIR/identity.json        which study these results belong to
//! DIR/study.toml, plan.json, report.html      written atomically
//! DIR/runs/C3-r2/          a bundle: run.json, events.jsonl, samples.csv, log.txt, …
//! DIR/imports/1.jsonl      runs that have no files, one per line: of an import, or too short to be sampled
//! DIR/runs/.C3-r2.partial  a run in progress; garbage when its process is gone
//! DIR/runs/.C3-r2.ticket   where a run goes on without this program, until it is kept
//! DIR/runs/.C3-r2.whole    a finished run about to be renamed
//! DIR/runs/.old/C3-r2.1    an attempt that was re-run
//! DIR/runs/.aside/C3-r2.1  a run of no scenario of the study: from a different study, or of a
//!                          removed level
//! DIR/store.sqlite         index of the bundles, rebuilt from them when missing or wrong
//! DIR/.lock                held by the one process that writes
//! ```
//!
//! Read [`Store`] first, then [`Staging`]: how a run is stored, step by step. The bundles are the
//! truth; the index only saves opening ten thousand files.

mod arrange;
mod bulk;
mod bundle;
mod error;
mod files;
mod folder;
mod import;
mod index;
mod kept_files;
mod layout;
mod lock;
mod reconcile;
mod staging;
mod store;
mod ticket;
mod tracked;

pub use arrange::{Arranged, Renumbered, ScenarioOf, SetAside};
pub use error::StoreError;
pub use host::read_regular;
pub use import::{Imported, ImportedFile};
pub use lock::{StudyLock, writer_of};
pub use staging::Staging;
pub use store::{Store, StudyIdentity};
pub use ticket::Note;
pub use tracked::{TrackedError, TrackedRun, is_database, tracked_runs};

/// A bundle that is there but cannot be read, or a file of one that is not what was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    pub path: std::path::PathBuf,
    pub why: String,
}

#[cfg(test)]
mod tests;
