//! One process creates or removes an environment at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::Path;

use crate::home::HomeError;
use crate::setup::SetupError;

/// The kernel lets go of it when the program ends in whatever way.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// `folder` is the environment's; the lock is next to it, hidden, and stays there: removing it
    /// would let two programs hold two files of one name.
    pub(crate) fn take(folder: &Path) -> Result<Lock, SetupError> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let parent = folder.parent().unwrap_or(folder);
        let path = parent.join(format!(".{name}.lock"));
        fs::create_dir_all(parent).map_err(HomeError::io("create", parent))?;
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(HomeError::io("write", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = file.read_to_string(&mut holder);
                return Err(SetupError::Locked {
                    environment: name.into_owned(),
                    process: holder.trim().parse().ok(),
                });
            }
            Err(TryLockError::Error(source)) => {
                return Err(HomeError::io("lock", &path)(source).into());
            }
        }
        // Only for whoever finds it taken.
        let _ = file
            .set_len(0)
            .and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Lock { file })
    }
}

impl Drop for Lock {
    /// Closing it would do, were no process being started meanwhile that has it open as well.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}
