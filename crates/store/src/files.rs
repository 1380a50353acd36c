//! Files that survive the loss of power, and errors that say which file.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use crate::StoreError;

/// Opens a regular file and nothing else: a symbolic link is not followed, and a named pipe, which
/// would wait for its other end for ever, is an error.
pub(crate) fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let opened = options.custom_flags(flags).open(path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => not_regular("a symbolic link"),
        Some(libc::ENXIO) => not_regular("a named pipe or a socket"),
        _ => error,
    })?;
    let kind = file.metadata()?.file_type();
    match kind.is_file() {
        true => Ok(file),
        false => Err(not_regular(kind_name(kind))),
    }
}

/// The bytes of a regular file. Whatever else has its name is an error, see [`open_regular`].
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path, OpenOptions::new().read(true))?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn not_regular(kind: &str) -> io::Error {
    let message = format!("it is {kind}, not a regular file");
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

fn kind_name(kind: FileType) -> &'static str {
    match () {
        () if kind.is_dir() => "a folder",
        () if kind.is_symlink() => "a symbolic link",
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }
}

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
    write_whole_by(path, |file| file.write_all(bytes))
}

/// The same, for what is written piece by piece.
pub(crate) fn write_whole_by(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The process id keeps two programs that save the same file out of each other's way.
    let beside = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let all = || -> io::Result<()> {
        let mut file = BufWriter::new(File::create(&beside)?);
        write(&mut file)?;
        file.flush()?;
        file.get_ref().sync_all()
    };
    let written = all().map_err(|e| StoreError::io("write", &beside, e));
    let written = written.and_then(|()| {
        fs::rename(&beside, path).map_err(|e| StoreError::io("write", path, e))?;
        sync_folder(folder)
    });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
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
pub(crate) fn remove_stale_temporaries(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let pid = name
            .strip_prefix('.')
            .and_then(|rest| rest.strip_suffix(".tmp"))
            .and_then(|rest| rest.rsplit_once('.'))
            .and_then(|(_, pid)| pid.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A new name in a folder is on the disk only after the folder is.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    File::open(folder)
        .and_then(|file| file.sync_all())
        .map_err(|e| StoreError::io("write", folder, e))
}

/// Every file and folder below, then the folder itself.
pub(crate) fn sync_tree(folder: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(folder).map_err(|e| StoreError::io("read", folder, e))? {
        let entry = entry.map_err(|e| StoreError::io("read", folder, e))?;
        let kind = entry
            .file_type()
            .map_err(|e| StoreError::io("read", &entry.path(), e))?;
        if kind.is_dir() {
            sync_tree(&entry.path())?;
        } else if kind.is_file() {
            sync_folder(&entry.path())?;
        }
    }
    sync_folder(folder)
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
