//! Files are written under a temporary name until they are complete, and removed if they never are.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::ImageError;

/// Another build may write to the same place at the same time.
const TRIES: u32 = 100;

/// A folder beside the place that is written to: on the same file system, so that renaming is enough.
pub(crate) struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    pub(crate) fn beside(to: &Path) -> Result<Unfinished, ImageError> {
        let name = to.file_name().unwrap_or_default().to_string_lossy();
        if let Some(above) = to.parent() {
            fs::create_dir_all(above).map_err(ImageError::io("made", above))?;
        }
        let mut number = 0;
        loop {
            let own = format!(".{name}.{}-{number}.partial", std::process::id());
            let path = to.with_file_name(own);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Unfinished { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < TRIES => {
                    number += 1;
                }
                Err(error) => return Err(ImageError::io("made", &path)(error)),
            }
        }
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// `name` of it becomes `to`; what was there before is removed only once that is done.
    pub(crate) fn publish(&self, name: &str, to: &Path) -> Result<(), ImageError> {
        let failed = || ImageError::io("written", to);
        let earlier = self.join("earlier");
        let replaces = to.symlink_metadata().is_ok();
        if replaces {
            fs::rename(to, &earlier).map_err(failed())?;
        }
        let renamed = fs::rename(self.join(name), to);
        if renamed.is_err() && replaces {
            let _ = fs::rename(&earlier, to);
        }
        renamed.map_err(failed())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
