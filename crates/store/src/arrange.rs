//! Bundles are put under the numbers that their scenarios have, and those of other studies out of
//! the way. A study that grows gives new numbers to scenarios that it had before.
//!
//! Every bundle that is not where it belongs first goes to `.aside` by one rename, and from there to
//! its place by another. It is whole at any moment: a killed program leaves some of them in `.aside`,
//! and the next one goes on from there. So do bundles of levels that a study had, lost and has again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use model::{RunId, RunRecord, Scenario};

use crate::layout::{self, Layout, RECORD};
use crate::{Store, StoreError, bulk, bundle, files};

/// Which scenario of the study a run is of; `None` if it is of another study.
pub type ScenarioOf<'a> = &'a dyn Fn(&RunRecord) -> Option<Scenario>;

/// What was moved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arranged {
    pub renumbered: Vec<Renumbered>,
    /// Of no scenario of the study: out of the way, under another name.
    pub set_aside: Vec<SetAside>,
    /// That an earlier program had set aside.
    pub restored: Vec<RunId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renumbered {
    pub from: RunId,
    pub to: RunId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    pub run: RunId,
    /// The name of the study that it says it is of.
    pub study: String,
    pub path: PathBuf,
}

/// A bundle in `.aside`.
struct Aside {
    path: PathBuf,
    record: RunRecord,
    /// Where this program found it; `None` if it was in `.aside` already.
    from: Option<RunId>,
}

/// A bundle on its way to its place.
struct Move {
    aside: Aside,
    scenario: Scenario,
    to: RunId,
}

impl Store {
    /// Puts every bundle where it belongs, and the folder is this study's from here on. The lock
    /// must be held.
    pub fn arrange(&self, scenario_of: ScenarioOf<'_>) -> Result<Arranged, StoreError> {
        self.check_lock()?;
        let layout = &self.shared.layout;
        let mut aside = already_aside(layout)?;
        let mut arranged = arrange_imports(layout, scenario_of)?;
        for record in self.records()? {
            // Imported runs have no folder of their own.
            if !layout.bundle(record.run).exists() {
                continue;
            }
            let number = scenario_of(&record).map(|scenario| scenario.number);
            if number != Some(record.run.scenario) {
                aside.push(set_aside(layout, record)?);
            }
        }
        let mut taken: BTreeSet<RunId> = layout.bundles()?.into_keys().collect();
        let mut moves = Vec::new();
        for aside in aside {
            let place = scenario_of(&aside.record).map(|scenario| {
                let to = RunId::new(scenario.number, aside.record.run.repetition);
                (scenario, to)
            });
            match place {
                Some((scenario, to)) if taken.insert(to) => moves.push(Move {
                    aside,
                    scenario,
                    to,
                }),
                // Said when it is set aside, not ever after.
                _ => arranged.set_aside.extend(aside.said()),
            }
        }
        carry_out(layout, &moves)?;
        for Move { aside, to, .. } in moves {
            match aside.from {
                Some(from) => arranged.renumbered.push(Renumbered { from, to }),
                None => arranged.restored.push(to),
            }
        }
        self.write_identity()?;
        self.refresh()?;
        Ok(arranged)
    }

    /// Runs that are kept but are no results of the study as it is now.
    pub fn set_aside(&self) -> Result<Vec<RunRecord>, StoreError> {
        let aside = already_aside(&self.shared.layout)?;
        Ok(aside.into_iter().map(|aside| aside.record).collect())
    }
}

impl Aside {
    fn said(self) -> Option<SetAside> {
        Some(SetAside {
            run: self.from?,
            study: self.record.study,
            path: self.path,
        })
    }
}

/// Imports are written anew under the new numbers, one file after the other. What does not belong to
/// the study goes out of a file only when the whole of it is kept aside: it can be imported again.
fn arrange_imports(layout: &Layout, scenario_of: ScenarioOf<'_>) -> Result<Arranged, StoreError> {
    let mut arranged = Arranged::default();
    for name in layout.import_names()? {
        let path = layout.imports().join(&name);
        let Ok(reader) = bulk::Reader::open(&path) else {
            continue;
        };
        let mut fitting = Vec::new();
        let mut set_aside = Vec::new();
        let mut renumbered = Vec::new();
        let mut is_damaged = false;
        for run in reader {
            let Ok(mut record) = run.map(|run| run.record) else {
                is_damaged = true;
                continue;
            };
            let from = record.run;
            match scenario_of(&record) {
                Some(scenario) => {
                    record.run.scenario = scenario.number;
                    record.scenario = scenario;
                    let to = record.run;
                    renumbered.extend((from != to).then_some(Renumbered { from, to }));
                    fitting.push(record);
                }
                None => set_aside.push(record),
            }
        }
        if set_aside.is_empty() && renumbered.is_empty() {
            continue;
        }
        if is_damaged || !set_aside.is_empty() {
            let kept = keep_import(layout, &path, &name)?;
            let said = |record: RunRecord| SetAside {
                run: record.run,
                study: record.study,
                path: kept.clone(),
            };
            arranged.set_aside.extend(set_aside.into_iter().map(said));
        }
        match fitting.is_empty() {
            true => files::remove_file(&path)?,
            false => bulk::write_to(&path, &fitting)?,
        }
        arranged.renumbered.extend(renumbered);
    }
    Ok(arranged)
}

/// A copy of an import, on the disk when this returns.
fn keep_import(layout: &Layout, path: &Path, name: &str) -> Result<PathBuf, StoreError> {
    let folder = layout.imports().join(".aside");
    files::create_folder(&folder)?;
    let stem = name.split('.').next().unwrap_or(name);
    let free = (1..).map(|count: u32| folder.join(format!("{stem}.{count}.jsonl")));
    let kept = free.into_iter().find(|path| !path.exists());
    let kept = kept.unwrap_or_else(|| folder.join(name));
    let bytes = host::read_regular(path).map_err(|e| StoreError::io("read", path, e))?;
    files::write_whole(&kept, &bytes)?;
    Ok(kept)
}

/// What cannot be read stays where it is.
fn already_aside(layout: &Layout) -> Result<Vec<Aside>, StoreError> {
    let folder = layout.aside();
    let mut names = layout::names(&folder)?;
    names.sort();
    let read = |name: String| {
        let path = folder.join(name);
        let record = bundle::read_any(&path).ok()?.record;
        Some(Aside {
            path,
            record,
            from: None,
        })
    };
    Ok(names.into_iter().filter_map(read).collect())
}

fn set_aside(layout: &Layout, record: RunRecord) -> Result<Aside, StoreError> {
    let path = layout::next_name(&layout.aside(), record.run)?;
    files::rename(&layout.bundle(record.run), &path)?;
    Ok(Aside {
        path,
        from: Some(record.run),
        record,
    })
}

/// The new numbers are written next to the old records, brought to the disk together, and put in
/// their places one after the other.
fn carry_out(layout: &Layout, moves: &[Move]) -> Result<(), StoreError> {
    if moves.is_empty() {
        return files::sync_folder(&layout.runs());
    }
    for Move {
        aside,
        scenario,
        to,
    } in moves
    {
        let mut record = aside.record.clone();
        record.run = *to;
        record.scenario = scenario.clone();
        // As they were kept, not as they are: damage stays damage.
        let files = bundle::read_any(&aside.path).map(|bundle| bundle.files);
        let files = files.unwrap_or_default();
        let write = bundle::write_unsynced;
        bundle::write_record_as(&aside.path, NEW_RECORD, &record, files, write)?;
    }
    files::sync_filesystem(&layout.runs())?;
    for Move { aside, to, .. } in moves {
        files::rename(&aside.path.join(NEW_RECORD), &aside.path.join(RECORD))?;
        files::rename(&aside.path, &layout.bundle(*to))?;
    }
    files::sync_filesystem(&layout.runs())
}

/// The record with its new number, not yet in force.
const NEW_RECORD: &str = ".run.json.new";
