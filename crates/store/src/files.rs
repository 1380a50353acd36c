//! The host's files with errors that say which file.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use crate::StoreError;

/// Removes pipes, sockets and devices, which hold no data, from everything below `folder`.
pub(crate) fn remove_special(folder: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(folder).map_err(|e| StoreError::io("read", folder, e))? {
        let entry = entry.map_err(|e| StoreError::io("read", folder, e))?;
        let path = entry.path();
        let kind = entry.file_type();
        let kind = kind.map_err(|e| StoreError::io("read", &path, e))?;
        if kind.is_dir() {
            remove_special(&path)?;
        } else if !kind.is_file() && !kind.is_symlink() {
            fs::remove_file(&path).map_err(|e| StoreError::io("remove", &path, e))?;
        }
    }
    Ok(())
}

/// Makes room for a regular file: what is not one is removed, not written through.
pub(crate) fn remove_unless_regular(path: &Path) -> Result<(), StoreError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(found) if !found.is_file() => fs::remove_file(path),
        _ => Ok(()),
    };
    removed.map_err(|e| StoreError::io("remove", path, e))
}

/// The file has the old bytes or the new ones, never a part.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    host::write_whole(path, bytes).map_err(|e| StoreError::io("write", path, e))
}

/// Written and on the disk, but not in one step.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let write = || -> io::Result<()> {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|e| StoreError::io("write", path, e))
}

/// Left behind by programs that were killed while saving a file.
pub(crate) fn remove_abandoned(folder: &Path) {
    let leftovers = host::leftovers(folder).into_iter();
    leftovers
        .filter(|left| left.is_abandoned)
        .for_each(|left| left.remove());
}

/// A new name in a folder is on the disk only after the folder is.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    host::sync_folder(folder).map_err(|e| StoreError::io("write", folder, e))
}

/// Every file and folder below, then the folder itself.
pub(crate) fn sync_tree(folder: &Path) -> Result<(), StoreError> {
    host::sync_tree(folder).map_err(|e| StoreError::io("write", folder, e))
}

/// Everything written to the disk that holds this folder: one call where ten thousand small
/// files would need ten thousand.
pub(crate) fn sync_filesystem(folder: &Path) -> Result<(), StoreError> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        let sync = || -> io::Result<()> {
            let file = File::open(folder)?;
            // SAFETY: the descriptor is open for as long as `file` lives.
            match unsafe { libc::syncfs(file.as_raw_fd()) } {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        };
        sync().map_err(|e| StoreError::io("write", folder, e))
    }
    #[cfg(not(target_os = "linux"))]
    sync_tree(folder)
}

pub(crate) fn create_folder(path: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(path).map_err(|e| StoreError::io("create", path, e))
}

pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), StoreError> {
    fs::rename(from, to).map_err(|e| StoreError::io("move a finished run to", to, e))
}

pub(crate) fn remove_file(path: &Path) -> Result<(), StoreError> {
    fs::remove_file(path).map_err(|e| StoreError::io("remove", path, e))
}

/// Nothing there is fine.
pub(crate) fn remove_tree(path: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::io("remove", path, e)),
        _ => Ok(()),
    }
}
