//! One process creates or removes an environment at a time.

use std::fs;
use std::path::Path;

use host::{FileLock, LockError};

use crate::home::HomeError;
use crate::setup::SetupError;

/// `folder` is the environment's; the lock lies beside it, hidden.
pub(crate) fn take(folder: &Path) -> Result<FileLock, SetupError> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let parent = folder.parent().unwrap_or(folder);
    let path = parent.join(format!(".{name}.lock"));
    fs::create_dir_all(parent).map_err(HomeError::io("create", parent))?;
    FileLock::take(&path).map_err(|error| match error {
        LockError::Taken { holder } => SetupError::Locked {
            environment: name.into_owned(),
            process: holder,
        },
        LockError::Unsupported(source) => HomeError::io("lock", &path)(source).into(),
        LockError::Io(source) => HomeError::io("write", &path)(source).into(),
    })
}
