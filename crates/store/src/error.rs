//! What can go wrong while keeping or returning bundles: what, where, what to do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use model::RunId;

use crate::StudyIdentity;

/// SQLite's longest path is 512 bytes, of which it needs 8 for the journal's name.
const LONGEST_INDEX_PATH: usize = 504;

#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The folder holds no results.
    NotResults {
        dir: PathBuf,
    },
    /// The folder holds results of another study.
    OtherStudy {
        dir: PathBuf,
        found: StudyIdentity,
        asked: StudyIdentity,
    },
    /// Another program is writing to these results.
    Locked {
        dir: PathBuf,
        pid: Option<u32>,
    },
    /// A run was begun without holding the lock.
    NotLocked {
        dir: PathBuf,
    },
    /// The run is already in progress in this program.
    AlreadyBegun {
        run: RunId,
    },
    DiskFull {
        doing: String,
        path: PathBuf,
    },
    ReadOnly {
        doing: String,
        path: PathBuf,
    },
    Permission {
        doing: String,
        path: PathBuf,
    },
    /// Longer than SQLite takes.
    PathTooLong {
        path: PathBuf,
        bytes: usize,
    },
    /// Not a plain file name.
    BadName {
        name: String,
    },
    /// A record that would not read back as itself.
    BadRecord {
        run: RunId,
        why: String,
    },
    Io {
        doing: String,
        path: PathBuf,
        source: io::Error,
    },
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

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::NotResults { dir } => write!(
                f,
                "{} contains no results: run a study first, or choose a different folder with --out",
                dir.display()
            ),
            StoreError::OtherStudy { dir, found, asked } => write!(
                f,
                "{} contains results of the study `{}`, not of `{}`: choose a different folder with --out",
                dir.display(),
                found.name,
                asked.name
            ),
            StoreError::Locked {
                dir,
                pid: Some(pid),
            } => write!(
                f,
                "process {pid} is already writing to {}: wait for it to end, or stop it",
                dir.display()
            ),
            StoreError::Locked { dir, pid: None } => write!(
                f,
                "another process is already writing to {}: wait for it to end, or stop it",
                dir.display()
            ),
            StoreError::NotLocked { dir } => {
                write!(
                    f,
                    "{} is not locked for writing: take the lock before starting a run",
                    dir.display()
                )
            }
            StoreError::AlreadyBegun { run } => {
                write!(f, "{run} is already in progress in this process")
            }
            StoreError::DiskFull { doing, path } => write!(
                f,
                "no disk space left to {doing} {}: free some, then run again; finished runs are kept",
                path.display()
            ),
            StoreError::ReadOnly { doing, path } => write!(
                f,
                "could not {doing} {}: the disk is read-only; choose a different folder with --out",
                path.display()
            ),
            StoreError::Permission { doing, path } => write!(
                f,
                "no permission to {doing} {}: change the folder's permissions, or choose a different folder with --out",
                path.display()
            ),
            StoreError::PathTooLong { path, bytes } => write!(
                f,
                "the path of the index {} has {bytes} bytes, and SQLite allows {LONGEST_INDEX_PATH}: choose a folder with a shorter path with --out",
                path.display()
            ),
            StoreError::BadName { name } => {
                write!(
                    f,
                    "`{name}` is not a plain file name: results are saved directly in their folder"
                )
            }
            StoreError::BadRecord { run, why } => {
                write!(f, "the record of {run} cannot be stored: {why}")
            }
            StoreError::Io {
                doing,
                path,
                source,
            } => {
                write!(f, "could not {doing} {}: {source}", path.display())
            }
            StoreError::Index { path, source } => write!(
                f,
                "the index {} failed ({source}): delete that file and run the command again; it is rebuilt from the runs",
                path.display()
            ),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StoreError::Io { source, .. } => Some(source),
            StoreError::Index { source, .. } => Some(source),
            _ => None,
        }
    }
}
