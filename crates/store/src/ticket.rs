//! Notes on runs that go on somewhere when this program is gone. One lies beside the folder of its
//! run from before the run is started until it is kept: whoever comes next finds it.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use model::RunId;

use crate::layout::{self, Layout};
use crate::{Store, StoreError};

const SUFFIX: &str = ".ticket";

/// A note as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub run: RunId,
    pub bytes: Vec<u8>,
}

impl Layout {
    fn ticket(&self, run: RunId) -> PathBuf {
        self.runs().join(format!(".{run}{SUFFIX}"))
    }
}

impl Store {
    /// For its owner alone: an order holds the variables of a command.
    pub fn write_ticket(&self, run: RunId, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.shared.layout.ticket(run);
        let written = host::create_private(&path).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        written.map_err(|error| StoreError::io("write", &path, error))
    }

    /// Of runs that were started and not kept, as far as they can be read.
    pub fn tickets(&self) -> Result<Vec<Note>, StoreError> {
        let layout = &self.shared.layout;
        let mut notes = Vec::new();
        for name in layout::names(&layout.runs())? {
            let run = name.strip_prefix('.').and_then(|n| n.strip_suffix(SUFFIX));
            let Some(run) = run.and_then(|run| run.parse().ok()) else {
                continue;
            };
            if let Ok(bytes) = host::read_regular(&layout.ticket(run)) {
                notes.push(Note { run, bytes });
            }
        }
        notes.sort_by_key(|note| note.run);
        Ok(notes)
    }

    /// Of a run that is kept, or will not come.
    pub fn remove_ticket(&self, run: RunId) -> Result<(), StoreError> {
        let path = self.shared.layout.ticket(run);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::io("remove", &path, error))
            }
            _ => Ok(()),
        }
    }
}
