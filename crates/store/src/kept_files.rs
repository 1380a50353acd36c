//! The files beside a record, as they were when the run was kept.
//!
//! `run.json` holds their size, time and digest. Whether one is damaged is then seen by its size and
//! time, without reading ten thousand of them; only what was written since is read.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use host::Digester;
use serde::{Deserialize, Serialize};

use crate::layout::{self, Stamp};
use crate::{Damaged, StoreError};

/// Those that Bancada writes and reads again. What else a workload leaves may be large and is its own.
const NAMES: [&str; 3] = ["events.jsonl", "samples.csv", "log.txt"];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptFile {
    name: String,
    #[serde(flatten)]
    stamp: Stamp,
    sha256: String,
}

/// The files of a bundle that is about to be kept.
pub(crate) fn of(folder: &Path) -> Result<Vec<KeptFile>, StoreError> {
    let mut kept = Vec::new();
    for name in NAMES {
        let path = folder.join(name);
        if let Some(stamp) = layout::stamp(&path)? {
            kept.push(KeptFile {
                name: name.to_owned(),
                stamp,
                sha256: digest(&path).map_err(|e| StoreError::io("read", &path, e))?,
            });
        }
    }
    Ok(kept)
}

/// Whether all of them have the size and the time they had.
pub(crate) fn look_untouched(folder: &Path, kept: &[KeptFile]) -> bool {
    let is_same = |file: &KeptFile| {
        let stamp = layout::stamp(&folder.join(&file.name));
        !file.is_ours() || stamp.is_ok_and(|stamp| stamp == Some(file.stamp))
    };
    kept.iter().all(is_same)
}

/// Those that are not what they were, by their content.
pub(crate) fn damaged(folder: &Path, kept: &[KeptFile]) -> Vec<Damaged> {
    let ours = kept.iter().filter(|file| file.is_ours());
    let damage = ours.filter_map(|file| {
        let path = folder.join(&file.name);
        let why = file.damage(&path)?;
        Some(Damaged { path, why })
    });
    damage.collect()
}

impl KeptFile {
    /// A record can be edited: its names lead to no other place.
    fn is_ours(&self) -> bool {
        NAMES.contains(&self.name.as_str())
    }

    fn damage(&self, path: &Path) -> Option<String> {
        match layout::stamp(path) {
            Err(error) => Some(error.to_string()),
            Ok(None) => Some(match digest(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => error.to_string(),
                _ => "it is missing".to_owned(),
            }),
            Ok(Some(found)) if found == self.stamp => None,
            Ok(Some(found)) if found.bytes != self.stamp.bytes => Some(format!(
                "it has {} bytes, and had {} when the run was kept",
                found.bytes, self.stamp.bytes
            )),
            Ok(Some(_)) => match digest(path) {
                Ok(digest) if digest == self.sha256 => None,
                Ok(_) => Some("its content has changed since the run was kept".to_owned()),
                Err(error) => Some(format!("it cannot be read: {error}")),
            },
        }
    }
}

/// SHA-256 in hexadecimal.
fn digest(path: &Path) -> io::Result<String> {
    let mut file = host::open_regular(path, OpenOptions::new().read(true))?;
    let mut digester = Digester::default();
    io::copy(&mut file, &mut digester)?;
    Ok(digester.finish().to_string())
}
