//! Many records at once, all or none: runs measured elsewhere.

use std::collections::{BTreeSet, HashMap};
use std::fs;

use model::run::{Origin, metric};
use model::{Metric, RunId, RunRecord};

use crate::layout::{self, Layout};
use crate::{Store, StoreError, bulk, bundle, files, kept_files};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The names they were given, in the order of the records.
    pub added: Vec<RunId>,
    /// Records that an earlier import had brought already.
    pub already_there: usize,
}

/// A file that is kept with an imported run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedFile {
    /// `log.txt`, `events.jsonl`.
    pub name: &'static str,
    pub bytes: Vec<u8>,
}

/// How new records are written: all or none.
type Keep<'k> = &'k dyn Fn(&Layout, &[RunRecord]) -> Result<(), StoreError>;

impl Store {
    /// Keeps records in one file. A record whose name is taken gets the next free repetition of
    /// its scenario; one that was imported before is left out. Takes the lock unless this store
    /// holds it.
    pub fn add_imported(&mut self, records: Vec<RunRecord>) -> Result<Imported, StoreError> {
        self.add(records, &|layout, records| bulk::write(layout, records))
    }

    /// The same as bundles, with files beside each `run.json`.
    pub fn add_imported_with(
        &mut self,
        records: Vec<RunRecord>,
        files: &dyn Fn(&RunRecord) -> Vec<ImportedFile>,
    ) -> Result<Imported, StoreError> {
        self.add(records, &|layout, records| keep(layout, records, files))
    }

    fn add(&mut self, records: Vec<RunRecord>, keep: Keep<'_>) -> Result<Imported, StoreError> {
        let _lock = if self.holds_lock() {
            None
        } else {
            Some(self.lock()?)
        };
        let mut new = records;
        let brought = new.len();
        let kept = self.records()?;
        let earlier = Earlier::of(&kept);
        new.retain(|record| !earlier.has(record));
        drop(kept);
        let already_there = brought - new.len();
        let mut taken: BTreeSet<RunId> = self.statuses()?.into_keys().collect();
        taken.extend(self.shared.layout.bundles()?.into_keys());
        for record in &mut new {
            record.run = free(record.run, &mut taken);
        }
        let added = new.iter().map(|record| record.run).collect();
        if !new.is_empty() {
            keep(&self.shared.layout, &new)?;
            drop(new);
            self.refresh()?;
        }
        Ok(Imported {
            added,
            already_there,
        })
    }
}

/// What earlier imports brought, by file, line and scenario.
struct Earlier<'r> {
    records: HashMap<(&'r str, u64, u32), Vec<&'r RunRecord>>,
}

impl<'r> Earlier<'r> {
    fn of(records: &'r [RunRecord]) -> Self {
        let mut by_place: HashMap<_, Vec<&RunRecord>> = HashMap::new();
        for record in records {
            if let Some(place) = place(record) {
                by_place.entry(place).or_default().push(record);
            }
        }
        Earlier { records: by_place }
    }

    /// The same place and the same numbers: a file that was changed since brings new runs. The
    /// cost is left aside, since prices are put on later.
    fn has(&self, record: &RunRecord) -> bool {
        let numbers = |r: &RunRecord| -> Vec<(String, Metric)> {
            let all = r
                .metrics
                .iter()
                .filter(|(name, m)| *name != metric::COST && m.value.is_finite());
            all.map(|(name, m)| (name.clone(), m.clone())).collect()
        };
        let known = place(record).and_then(|place| self.records.get(&place));
        known.is_some_and(|known| {
            known
                .iter()
                .any(|k| numbers(k) == numbers(record) && k.outcome == record.outcome)
        })
    }
}

fn place(record: &RunRecord) -> Option<(&str, u64, u32)> {
    match &record.origin {
        Origin::Imported { file, line, .. } => Some((file, *line, record.run.scenario)),
        Origin::Measured { .. } | Origin::Predicted { .. } => None,
    }
}

/// The run itself, or the next free repetition of its scenario.
fn free(mut run: RunId, taken: &mut BTreeSet<RunId>) -> RunId {
    if taken.contains(&run) {
        let scenario = run.scenario;
        let all = RunId::new(scenario, 0)..=RunId::new(scenario, u32::MAX);
        let last = taken.range(all).next_back().map_or(0, |run| run.repetition);
        run.repetition = last.saturating_add(1);
    }
    taken.insert(run);
    run
}

/// All bundles are written next to their names and sealed by one rename.
fn keep(
    layout: &Layout,
    records: &[RunRecord],
    files_of: &dyn Fn(&RunRecord) -> Vec<ImportedFile>,
) -> Result<(), StoreError> {
    let staged = stage(layout, records, files_of);
    if staged.is_err() {
        let _ = files::remove_tree(&layout.import_partial());
    }
    staged?;
    files::rename(&layout.import_partial(), &layout.import_whole())?;
    files::sync_folder(&layout.runs())?;
    finish(layout)
}

fn stage(
    layout: &Layout,
    records: &[RunRecord],
    files_of: &dyn Fn(&RunRecord) -> Vec<ImportedFile>,
) -> Result<(), StoreError> {
    let partial = layout.import_partial();
    files::remove_tree(&partial)?;
    for record in records {
        let folder = partial.join(record.run.to_string());
        files::create_folder(&folder)?;
        for file in files_of(record) {
            bundle::write_unsynced(&folder.join(file.name), &file.bytes)?;
        }
        let kept = kept_files::of(&folder)?;
        bundle::write_record(&folder, record, kept, bundle::write_unsynced)?;
    }
    files::sync_filesystem(&partial)
}

/// Gives sealed bundles their names; after a kill, those that have none yet.
pub(crate) fn finish(layout: &Layout) -> Result<(), StoreError> {
    let whole = layout.import_whole();
    if !whole.exists() {
        return Ok(());
    }
    for name in layout::names(&whole)? {
        files::rename(&whole.join(&name), &layout.runs().join(&name))?;
    }
    files::sync_folder(&layout.runs())?;
    fs::remove_dir(&whole).map_err(|e| StoreError::io("remove", &whole, e))?;
    files::sync_folder(&layout.runs())
}
