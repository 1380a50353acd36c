//! A job that is no run's: what makes a node ready, followed to its end.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use super::queue::Entry;
use super::{LOOK_EVERY, SUBMIT_PATIENCE, Sbatch, ended};
use crate::error::PlaceError;
use crate::runs::{Job, WORKER_OUTPUT};

/// A node that is made ready may fail, or a restarted controller may end the job.
const READY_TRIES: u32 = 3;

/// Such a job at its end.
struct EndedOnce {
    entry: Option<Entry>,
    /// What it printed.
    said: String,
}

impl EndedOnce {
    fn is_completed(&self) -> bool {
        let state = self.entry.as_ref().map(|entry| entry.state.as_str());
        state == Some("COMPLETED")
    }

    /// A program that fails says why; one that said nothing was not the reason.
    fn may_be_tried_again(&self) -> bool {
        let is_silent = self.said.trim().is_empty() && !self.is_completed();
        is_silent || ended::is_by_others(self.entry.as_ref())
    }

    fn result(&self) -> Result<(), PlaceError> {
        if self.is_completed() {
            return Ok(());
        }
        let said = self.said.trim().trim_start_matches("error: ");
        Err(PlaceError::Refused(match said.is_empty() {
            true => format!(
                "making a node ready: {}",
                ended::sentence(self.entry.as_ref(), None)
            ),
            false => format!("on a node: {said}"),
        }))
    }
}

impl Sbatch {
    pub(super) fn make_ready(&self, words: &[PathBuf], folder: &Path) -> Result<(), PlaceError> {
        let mut tries = 0;
        loop {
            tries += 1;
            let unique = format!("{folder:?} {} {:?}", std::process::id(), Instant::now());
            let name = format!("bancada-ready-{}", host::Digest::of(unique));
            let job = Job {
                name: name.chars().take(40).collect(),
                folder: folder.join("ready-job"),
            };
            let ended = self.carry_out_once(&job, words)?;
            if !ended.may_be_tried_again() || tries == READY_TRIES {
                return ended.result();
            }
        }
    }

    fn carry_out_once(&self, job: &Job, words: &[PathBuf]) -> Result<EndedOnce, PlaceError> {
        let made = host::create_private_folder(&job.folder);
        made.map_err(|error| PlaceError::io("make", &job.folder, &error))?;
        self.submit(job, None, words)?;
        let since = Instant::now();
        let mut lost = None;
        let entry = loop {
            thread::sleep(LOOK_EVERY);
            match self.queue.find(&job.name, since, 3 * LOOK_EVERY) {
                Ok(Some(entry)) if entry.is_active() => lost = None,
                Ok(entry) => break entry,
                Err(PlaceError::Lost(why)) => {
                    let first = *lost.get_or_insert_with(Instant::now);
                    if first.elapsed() > SUBMIT_PATIENCE {
                        return Err(PlaceError::Lost(why));
                    }
                }
                Err(error) => return Err(error),
            }
        };
        let said = fs::read_to_string(job.folder.join(WORKER_OUTPUT)).unwrap_or_default();
        // It is made again the next time.
        _ = fs::remove_dir_all(&job.folder);
        Ok(EndedOnce { entry, said })
    }
}
