//! The files that a worker and whoever started it exchange.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use model::Happening;
use model::measurement::PROGRESS_FILE;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::PlaceError;

/// Readable by its owner alone: an order holds the variables of a command.
pub(crate) fn write_private(path: &Path, value: &impl Serialize) -> Result<(), PlaceError> {
    let failed = |error: io::Error| PlaceError::io("write", path, &error);
    let bytes = serde_json::to_vec(value).map_err(|error| failed(error.into()))?;
    let mut file = host::create_private(path).map_err(failed)?;
    file.write_all(&bytes).map_err(failed)
}

/// A line of JSON at the end of a file that others append to as well.
pub(crate) fn append_line(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    let mut options = OpenOptions::new();
    let options = options.append(true).create(true).mode(0o600);
    options.open(path)?.write_all(&line)
}

/// None where there is no such file.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, PlaceError> {
    let failed = |error: io::Error| PlaceError::io("read", path, &error);
    // A workload can write into the folder too: a named pipe would be read for ever.
    let bytes = match host::read_regular(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let parsed = serde_json::from_slice(&bytes);
    parsed.map(Some).map_err(|error| failed(error.into()))
}

/// Files by their paths below `from`, to the same paths below `to`.
pub(crate) fn copy(paths: &[PathBuf], from: &Path, to: &Path) -> Result<(), PlaceError> {
    for path in paths {
        let target = to.join(path);
        let copied = target.parent().map_or(Ok(()), fs::create_dir_all);
        let copied = copied.and_then(|()| fs::copy(from.join(path), &target));
        copied.map_err(|error| PlaceError::io("write", &target, &error))?;
    }
    Ok(())
}

/// Regular files, however deep, by their paths in the folder; no links.
pub(crate) fn list_all(folder: &Path) -> Result<Vec<PathBuf>, PlaceError> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(inner) = folders.pop() {
        let path = folder.join(&inner);
        let entries = fs::read_dir(&path).map_err(|error| PlaceError::io("read", &path, &error))?;
        for entry in entries.flatten() {
            let path = inner.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Follows `progress.jsonl` as it grows.
#[derive(Debug)]
pub(crate) struct ProgressFile {
    path: PathBuf,
    at: u64,
    /// The beginning of a line that is not whole yet.
    rest: Vec<u8>,
}

impl ProgressFile {
    pub(crate) fn new(folder: &Path) -> Self {
        ProgressFile {
            path: folder.join(PROGRESS_FILE),
            at: 0,
            rest: Vec::new(),
        }
    }

    /// From a [`Self::position`] on.
    pub(crate) fn from(folder: &Path, position: u64) -> Self {
        ProgressFile {
            at: position,
            ..ProgressFile::new(folder)
        }
    }

    /// Behind the last whole line that was read.
    pub(crate) fn position(&self) -> u64 {
        self.at - self.rest.len() as u64
    }

    /// Whole lines since the last look. What cannot be read is left out: nothing that counts depends
    /// on it.
    pub(crate) fn read(&mut self) -> Vec<Happening> {
        // The next look finds what this one could not read.
        _ = self.read_bytes();
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
            return Vec::new();
        };
        let whole: Vec<u8> = self.rest.drain(..=end).collect();
        let lines = whole.split(|byte| *byte == b'\n');
        lines
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect()
    }

    fn read_bytes(&mut self) -> io::Result<()> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.at))?;
        self.at += file.read_to_end(&mut self.rest)? as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Event, EventKind};

    #[test]
    fn lines_are_read_once_and_only_when_they_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let mut progress = ProgressFile::new(folder.path());
        assert!(progress.read().is_empty(), "there is no file yet");
        let happening = Happening::Event(Event {
            at: Some(1.0),
            kind: EventKind::Note { text: "é".into() },
        });
        let line = serde_json::to_string(&happening).unwrap();
        let path = folder.path().join(PROGRESS_FILE);
        let (first, second) = line.as_bytes().split_at(line.len() / 2);
        fs::write(&path, [line.as_bytes(), b"\nnonsense\n", first].concat()).unwrap();
        assert_eq!(progress.read(), std::slice::from_ref(&happening));
        assert!(progress.read().is_empty());
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(&[second, b"\n"].concat()).unwrap();
        assert_eq!(progress.read(), [happening]);
    }

    #[test]
    fn what_is_not_a_regular_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str| read::<u32>(&folder.path().join(name));
        assert_eq!(read("missing"), Ok(None));
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("link")).unwrap();
        assert!(read("link").is_err());
        fs::write(folder.path().join("broken"), "{").unwrap();
        assert!(read("broken").is_err());
    }
}
