//! How a run is kept. Each step leaves the folder in a state that the next program understands:
//! up to [`Step::Seal`] the run never happened, from there on it did.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{RunId, RunRecord};

use crate::bundle::Bundle;
use crate::layout::{self, Layout, RECORD};
use crate::store::Shared;
use crate::{StoreError, bundle, files, kept_files};

/// A folder for a run in progress. Dropped without [`Staging::commit`], it is removed.
#[derive(Debug)]
pub struct Staging {
    run: RunId,
    folder: PathBuf,
    shared: Arc<Shared>,
    /// The bundle as a reader will see it, once written.
    written: Option<Bundle>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// `run.json` joins the other files.
    WriteRecord,
    /// All files are on the disk.
    Sync,
    /// `.C3-r2.partial` becomes `.C3-r2.whole`: the run is kept from here on.
    Seal,
    /// An earlier attempt goes to `.old`.
    SetAside,
    /// `.C3-r2.whole` becomes `C3-r2`.
    PutInPlace,
    Index,
}

pub(crate) const STEPS: [Step; 6] = [
    Step::WriteRecord,
    Step::Sync,
    Step::Seal,
    Step::SetAside,
    Step::PutInPlace,
    Step::Index,
];

impl Staging {
    pub(crate) fn begin(run: RunId, shared: &Arc<Shared>) -> Result<Staging, StoreError> {
        let folder = shared.layout.partial(run);
        if !shared.begun().insert(run) {
            return Err(StoreError::AlreadyBegun { run });
        }
        let staging = Staging {
            run,
            folder,
            shared: Arc::clone(shared),
            written: None,
        };
        // From here on an early return drops `staging`, which takes the run off the list again.
        files::remove_tree(&staging.folder)?;
        files::create_folder(&staging.folder)?;
        Ok(staging)
    }

    /// Where the run's files are to be written.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps the run: the folder with `record` as its `run.json`. When this returns, the run
    /// outlives a kill of the program and the loss of power. An error of the index alone leaves
    /// the bundle kept; the index is put right when it is next opened.
    pub fn commit(mut self, record: &RunRecord) -> Result<(), StoreError> {
        STEPS
            .iter()
            .try_for_each(|&step| self.carry_out(step, record))
    }

    pub(crate) fn carry_out(&mut self, step: Step, record: &RunRecord) -> Result<(), StoreError> {
        let layout = &self.shared.layout;
        match step {
            Step::WriteRecord => {
                if record.run != self.run {
                    let why = format!("it was started as {}", self.run);
                    return Err(StoreError::bad_record(record.run, why));
                }
                // A workload may have removed what it was given: the measurement is kept all the same.
                files::create_folder(&self.folder)?;
                files::remove_special(&self.folder)?;
                files::remove_unless_regular(&self.folder.join(RECORD))?;
                let files = kept_files::of(&self.folder)?;
                let written =
                    bundle::write_record(&self.folder, record, files, bundle::write_synced)?;
                self.written = Some(written);
                Ok(())
            }
            Step::Sync => files::sync_tree(&self.folder),
            Step::Seal => {
                files::rename(&self.folder, &layout.whole(self.run))?;
                files::sync_folder(&layout.runs())
            }
            Step::SetAside => set_aside(layout, self.run),
            Step::PutInPlace => put_in_place(layout, self.run),
            Step::Index => {
                let stamp = layout::stamp(&layout.bundle(self.run).join(RECORD))?;
                match (&self.written, stamp) {
                    (Some(bundle), Some(stamp)) => self.shared.index_run(bundle, stamp),
                    _ => Ok(()),
                }
            }
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // After sealing there is nothing by this name any more.
        let _ = files::remove_tree(&self.folder);
        self.shared.begun().remove(&self.run);
    }
}

/// Finishes what a killed program had sealed and clears away what it had not. Only the holder of
/// the lock may do so.
pub(crate) fn recover(layout: &Layout) -> Result<(), StoreError> {
    for run in layout.wholes()? {
        set_aside(layout, run)?;
        put_in_place(layout, run)?;
    }
    crate::import::finish(layout)?;
    for partial in layout.partials()? {
        files::remove_tree(&partial)?;
    }
    files::remove_abandoned(&layout.dir);
    files::remove_abandoned(&layout.imports());
    Ok(())
}

fn set_aside(layout: &Layout, run: RunId) -> Result<(), StoreError> {
    let earlier = layout.bundle(run);
    if !earlier.exists() {
        return Ok(());
    }
    let old = layout::next_name(&layout.old(), run)?;
    files::rename(&earlier, &old)?;
    files::sync_folder(&layout.old())
}

fn put_in_place(layout: &Layout, run: RunId) -> Result<(), StoreError> {
    files::rename(&layout.whole(run), &layout.bundle(run))?;
    files::sync_folder(&layout.runs())
}
