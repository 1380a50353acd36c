//! What can go wrong while keeping or returning bundles: what, where, what to do.

use std::io;
use std::path::{Path, PathBuf};

use model::RunId;

use crate::StudyIdentity;

/// SQLite's longest path is 512 bytes, of which it needs 8 for the journal's name.
const LONGEST_INDEX_PATH: usize = 504;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The folder holds no results.
    #[error(
        "{dir} contains no results: run a study first, or choose a different folder with --out"
    )]
    NotResults { dir: PathBuf },
    /// The folder holds results of another study.
    #[error("{dir} contains results of the study `{}`, not of `{}`: choose a different folder with --out", .found.name, .asked.name)]
    OtherStudy {
        dir: PathBuf,
        found: StudyIdentity,
        asked: StudyIdentity,
    },
    /// Another program is writing to these results.
    #[error("{} is already writing to {dir}: wait for it to end, or stop it", pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}")))]
    Locked { dir: PathBuf, pid: Option<u32> },
    /// A run was begun without holding the lock.
    #[error("{dir} is not locked for writing: take the lock before starting a run")]
    NotLocked { dir: PathBuf },
    /// The run is already in progress in this program.
    #[error("{run} is already in progress in this process")]
    AlreadyBegun { run: RunId },
    #[error(
        "no disk space left to {doing} {path}: free some, then run again; finished runs are kept"
    )]
    DiskFull { doing: String, path: PathBuf },
    #[error(
        "could not {doing} {path}: the disk is read-only; choose a different folder with --out"
    )]
    ReadOnly { doing: String, path: PathBuf },
    #[error(
        "no permission to {doing} {path}: change the folder's permissions, or choose a different folder with --out"
    )]
    Permission { doing: String, path: PathBuf },
    /// Longer than SQLite takes.
    #[error(
        "the path of the index {path} has {bytes} bytes, and SQLite allows {LONGEST_INDEX_PATH}: choose a folder with a shorter path with --out"
    )]
    PathTooLong { path: PathBuf, bytes: usize },
    /// Not a plain file name.
    #[error("`{name}` is not a plain file name: results are saved directly in their folder")]
    BadName { name: String },
    /// A record that would not read back as itself.
    #[error("the record of {run} cannot be stored: {why}")]
    BadRecord { run: RunId, why: String },
    #[error("could not {doing} {path}: {source}")]
    Io {
        doing: String,
        path: PathBuf,
        source: io::Error,
    },
    #[error(
        "the index {path} failed ({source}): delete that file and run the command again; it is rebuilt from the runs"
    )]
    Index {
        path: PathBuf,
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// Sorts an I/O error by what a person can do about it.
    pub(crate) fn io(doing: impl Into<String>, path: &Path, source: io::Error) -> Self {
        let (doing, path) = (doing.into(), path.to_path_buf());
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                StoreError::DiskFull { doing, path }
            }
            io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly { doing, path },
            io::ErrorKind::PermissionDenied => StoreError::Permission { doing, path },
            _ => StoreError::Io {
                doing,
                path,
                source,
            },
        }
    }

    pub(crate) fn bad_record(run: RunId, why: impl ToString) -> Self {
        let why = why.to_string();
        StoreError::BadRecord { run, why }
    }

    pub(crate) fn index(path: &Path, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let (doing, at) = ("write the index".to_owned(), path.to_path_buf());
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::DiskFull { doing, path: at },
            Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { doing, path: at },
            Some(ErrorCode::PermissionDenied) => StoreError::Permission { doing, path: at },
            Some(ErrorCode::CannotOpen) => StoreError::cannot_open(path, source),
            _ => StoreError::Index { path: at, source },
        }
    }

    /// SQLite does not say why; asking for the file again does.
    fn cannot_open(path: &Path, source: rusqlite::Error) -> Self {
        let at = path.to_path_buf();
        let bytes = std::path::absolute(path).map_or(0, |path| path.as_os_str().len());
        if bytes > LONGEST_INDEX_PATH {
            return StoreError::PathTooLong { path: at, bytes };
        }
        let mut options = std::fs::OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        match options.open(path).map_err(|error| error.kind()) {
            // The file may be written, but not the journal next to it.
            Ok(_) | Err(io::ErrorKind::PermissionDenied) => StoreError::Permission {
                doing: "write the index".to_owned(),
                path: at,
            },
            Err(io::ErrorKind::ReadOnlyFilesystem) => StoreError::ReadOnly {
                doing: "write the index".to_owned(),
                path: at,
            },
            Err(_) => StoreError::Index { path: at, source },
        }
    }

    /// Whether reading may go on with an index in memory: the one on the disk cannot be written,
    /// or not be put right.
    pub(crate) fn is_of_index(&self) -> bool {
        matches!(
            self,
            StoreError::ReadOnly { .. }
                | StoreError::Permission { .. }
                | StoreError::PathTooLong { .. }
                | StoreError::DiskFull { .. }
                | StoreError::Index { .. }
        )
    }
}
