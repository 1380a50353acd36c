//! Keeps run bundles and returns them. It never computes statistics.
//!
//! A results folder:
//!
//! ```text
//! DIR/identity.json        which study these results are of
//! DIR/study.toml, plan.json, report.html      saved whole or not at all
//! DIR/runs/C3-r2/          a bundle: run.json, events.jsonl, samples.csv, log.txt, …
//! DIR/imports/1.jsonl      runs of one import without files of their own, a line each
//! DIR/runs/.C3-r2.partial  a run under way; worthless when its program is gone
//! DIR/runs/.C3-r2.whole    a finished run about to get its name
//! DIR/runs/.old/C3-r2.1    an attempt that a later one took the place of
//! DIR/runs/.aside/C3-r2.1  a run of no scenario of the study: of another study, or of a level that
//!                          is gone
//! DIR/store.sqlite         index of the bundles, made again from them when missing or wrong
//! DIR/.lock                held by the one program that writes
//! ```
//!
//! Read [`Store`] first, then [`Staging`]: how a run is kept, step by step. The bundles are the
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

pub use arrange::{Arranged, Renumbered, ScenarioOf, SetAside};
pub use error::StoreError;
pub use files::read_regular;
pub use import::{Imported, ImportedFile};
pub use lock::StudyLock;
pub use staging::Staging;
pub use store::{Rebuilt, Store, StudyIdentity};

/// A bundle that is there but cannot be read, or a file of one that is not what was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    pub path: std::path::PathBuf,
    pub why: String,
}

#[cfg(test)]
mod tests;
