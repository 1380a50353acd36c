//! The index is made to tell what the folders hold.

use std::collections::BTreeMap;

use model::RunId;

use crate::bundle::Bundle;
use crate::index::Index;
use crate::layout::{self, Found, Layout, RECORD, Stamp};
use crate::{Damaged, StoreError, bulk, bundle};

impl Index {
    /// Reads only the bundles and imports it does not know; returns those that cannot be read.
    pub(crate) fn reconcile(&self, layout: &Layout) -> Result<Vec<Damaged>, StoreError> {
        let difference = Difference::between(self.stamps()?, layout)?;
        if self.imports()? == import_stamps(layout)?
            && let Some(damaged) = difference.only_damaged(layout)
        {
            return Ok(damaged);
        }
        // The index is read before the folders and nobody can insert meanwhile: a row without a
        // folder then really lost it.
        self.transaction(|| {
            let difference = Difference::between(self.stamps()?, layout)?;
            let mut damaged = Vec::new();
            for run in &difference.stale {
                self.delete(*run)?;
            }
            for (run, found) in &difference.unknown {
                match read(layout, *run, found) {
                    Read::Bundle(bundle, stamp) => self.put(&bundle, stamp)?,
                    Read::Damaged(why) => damaged.push(why),
                    Read::Gone => {}
                }
            }
            // A bundle that is gone may have stood before an imported run.
            damaged.extend(self.reconcile_imports(layout, !difference.stale.is_empty())?);
            Ok(damaged)
        })
    }

    fn reconcile_imports(&self, layout: &Layout, anew: bool) -> Result<Vec<Damaged>, StoreError> {
        let (known, there) = (self.imports()?, import_stamps(layout)?);
        let is_known =
            |name: &String, stamp: &Stamp| !anew && known.get(name).copied() == Some(*stamp);
        for name in known.keys() {
            if there.get(name).is_none_or(|stamp| !is_known(name, stamp)) {
                self.delete_import(name)?;
            }
        }
        let mut damaged = Vec::new();
        for (name, stamp) in &there {
            if is_known(name, stamp) {
                continue;
            }
            let wrong = match bulk::Reader::open(&layout.imports().join(name)) {
                Ok(reader) => self.put_import(name, *stamp, reader)?,
                Err(why) => vec![why],
            };
            let told = wrong
                .into_iter()
                .map(|why| bulk::damaged(layout, name, why));
            damaged.extend(told);
        }
        Ok(damaged)
    }
}

fn import_stamps(layout: &Layout) -> Result<BTreeMap<String, Stamp>, StoreError> {
    let mut stamps = BTreeMap::new();
    for name in layout.import_names()? {
        let stamp = layout::stamp(&layout.imports().join(&name))?;
        stamps.extend(stamp.map(|stamp| (name, stamp)));
    }
    Ok(stamps)
}

/// What the folders hold and the index does not tell, and the other way round.
struct Difference {
    /// Rows whose bundle is gone or another one now.
    stale: Vec<RunId>,
    unknown: Vec<(RunId, Found)>,
}

impl Difference {
    fn between(known: BTreeMap<RunId, Stamp>, layout: &Layout) -> Result<Self, StoreError> {
        let mut there = layout.bundles()?;
        // A listing may miss what is renamed meanwhile; a look at its names does not.
        for run in known
            .keys()
            .filter(|run| !there.contains_key(run))
            .copied()
            .collect::<Vec<_>>()
        {
            there.extend(layout.find(run).map(|found| (run, found)));
        }
        let is_stale =
            |(run, stamp): &(&RunId, &Stamp)| there.get(run).and_then(|f| f.stamp) != Some(**stamp);
        let stale: Vec<RunId> = known.iter().filter(is_stale).map(|(run, _)| *run).collect();
        let is_unknown = |(run, found): &(RunId, Found)| {
            found.stamp.is_none() || known.get(run).copied() != found.stamp
        };
        let unknown = there.into_iter().filter(is_unknown).collect();
        Ok(Difference { stale, unknown })
    }

    /// The unreadable bundles, when there is nothing else: then nothing is to be written.
    fn only_damaged(&self, layout: &Layout) -> Option<Vec<Damaged>> {
        if !self.stale.is_empty() {
            return None;
        }
        let damaged = |(run, found): &(RunId, Found)| match read(layout, *run, found) {
            Read::Damaged(why) => Some(why),
            Read::Bundle(..) | Read::Gone => None,
        };
        self.unknown.iter().map(damaged).collect()
    }
}

enum Read {
    Bundle(Box<Bundle>, Stamp),
    Damaged(Damaged),
    Gone,
}

/// A bundle may get its name, or give way to another attempt, between being listed and being
/// read: it is then looked for again. The stamp is taken before reading, so that a record that
/// changes meanwhile is read again next time.
fn read(layout: &Layout, run: RunId, found: &Found) -> Read {
    let mut found = found.clone();
    for _ in 0..10 {
        let result = bundle::read(&found.path, run);
        match (result, found.stamp) {
            (Ok(bundle), Some(stamp)) => return Read::Bundle(Box::new(bundle), stamp),
            (result, _) => {
                let path = layout.current(run);
                let stamp = layout::stamp(&path.join(RECORD)).unwrap_or_default();
                let now = Found { path, stamp };
                match result {
                    Err(_) if now == found && !now.path.exists() => return Read::Gone,
                    Err(damaged) if now == found => return Read::Damaged(damaged),
                    _ => found = now,
                }
            }
        }
    }
    Read::Gone
}
