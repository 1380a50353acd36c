//! One program at a time, by a file that is locked.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::files::open_regular;

/// The holder's process id, filled with blanks, and a line feed: always as long, so that the file
/// is overwritten and never truncated.
const LENGTH: usize = 12;

/// How long the lock of a program that has ended is waited for.
const PATIENCE: Duration = Duration::from_secs(3);
const RETRY: Duration = Duration::from_millis(10);

/// The kernel releases it when the program ends in whatever way, so that nothing needs cleaning up
/// after a kill. The file stays: removing it would let two programs hold two files of one name.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

#[derive(Debug)]
pub enum LockError {
    /// By this process, where it is known.
    Taken {
        holder: Option<u32>,
    },
    /// The file system has no locks.
    Unsupported(io::Error),
    Io(io::Error),
}

impl FileLock {
    /// At once or not at all. The file is created where it is missing; a symbolic link, a pipe or a
    /// file with other content is left as it is.
    pub fn take(path: &Path) -> Result<FileLock, LockError> {
        let until = Instant::now() + PATIENCE;
        FileLock::acquire(path, |file| match file.try_lock() {
            Ok(()) => Ok(true),
            // A killed program's child that was just being started holds it for an instant more.
            Err(TryLockError::WouldBlock) if is_dead(holder(file)) && Instant::now() < until => {
                thread::sleep(RETRY);
                Ok(false)
            }
            Err(TryLockError::WouldBlock) => Err(LockError::Taken {
                holder: holder(file),
            }),
            Err(TryLockError::Error(error)) => Err(LockError::Unsupported(error)),
        })
    }

    /// Waits until it is free.
    pub fn wait(path: &Path) -> Result<FileLock, LockError> {
        FileLock::acquire(path, |file| match file.lock() {
            Ok(()) => Ok(true),
            Err(error) => Err(LockError::Unsupported(error)),
        })
    }

    fn acquire(
        path: &Path,
        lock: impl Fn(&File) -> Result<bool, LockError>,
    ) -> Result<FileLock, LockError> {
        // Removed between being opened and being locked: another program would lock another file.
        let file = loop {
            let mut options = OpenOptions::new();
            let options = options.read(true).write(true).create(true).truncate(false);
            let file = open_regular(path, options).map_err(LockError::Io)?;
            if lock(&file)? && is_at(&file, path) {
                break file;
            }
        };
        if !is_ours(&file).map_err(LockError::Io)? {
            let message = "the file is not a lock of bancada: move it away";
            let error = io::Error::new(io::ErrorKind::InvalidData, message);
            return Err(LockError::Io(error));
        }
        write_holder(&file, &std::process::id().to_string()).map_err(LockError::Io)?;
        Ok(FileLock { file })
    }
}

/// The process that holds the lock at this path, without taking it. Who is named in the file may have
/// been killed, and the number may be another process's by now: only the kernel's list counts.
pub fn lock_holder(path: &Path) -> Option<u32> {
    let file = open_regular(path, OpenOptions::new().read(true)).ok()?;
    let pid = holder(&file)?;
    let inode = file.metadata().ok()?.ino();
    let locks = fs::read_to_string("/proc/locks").ok()?;
    is_listed(&locks, pid, inode).then_some(pid)
}

/// `1: FLOCK  ADVISORY  WRITE 4711 08:01:123456 0 EOF`.
fn is_listed(locks: &str, pid: u32, inode: u64) -> bool {
    locks.lines().any(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, of, file, ..] = fields.as_slice() else {
            return false;
        };
        let at = file.rsplit(':').next().and_then(|n| n.parse().ok());
        of.parse() == Ok(pid) && at == Some(inode)
    })
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Only for a reader of the file.
        let _ = write_holder(&self.file, "");
        // Closing it would do, were no process being started meanwhile that has it open as well.
        let _ = self.file.unlock();
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let both = file.metadata().ok().zip(fs::symlink_metadata(path).ok());
    both.is_some_and(|(ours, there)| (ours.dev(), ours.ino()) == (there.dev(), there.ino()))
}

/// Empty, or as it was written here: a process id or none, in blanks and a line feed.
fn is_ours(file: &File) -> io::Result<bool> {
    if file.metadata()?.len() > LENGTH as u64 {
        return Ok(false);
    }
    let mut bytes = [b' '; LENGTH];
    let length = file.read_at(&mut bytes, 0)?;
    let is_of_lock = |byte: &u8| byte.is_ascii_digit() || b" \n".contains(byte);
    Ok(bytes[..length].iter().all(is_of_lock))
}

/// One whose number is unknown may be alive.
fn is_dead(holder: Option<u32>) -> bool {
    holder.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists())
}

fn holder(file: &File) -> Option<u32> {
    let mut bytes = [b' '; LENGTH];
    file.read_at(&mut bytes, 0).ok()?;
    std::str::from_utf8(&bytes).ok()?.trim().parse().ok()
}

fn write_holder(file: &File, pid: &str) -> io::Result<()> {
    let width = LENGTH - 1;
    file.write_all_at(format!("{pid:<width$}\n").as_bytes(), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(taken: Result<FileLock, LockError>) -> String {
        match taken {
            Ok(_) => "taken".to_owned(),
            Err(LockError::Taken { holder }) => format!("held by {holder:?}"),
            Err(LockError::Io(error) | LockError::Unsupported(error)) => error.to_string(),
        }
    }

    #[test]
    fn one_holder_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".lock");
        let first = FileLock::take(&path).unwrap();
        let held = format!("held by Some({})", std::process::id());
        assert_eq!(why(FileLock::take(&path)), held);
        let waiting = {
            let path = path.clone();
            thread::spawn(move || why(FileLock::wait(&path)))
        };
        drop(first);
        assert_eq!(waiting.join().unwrap(), "taken");
        assert_eq!(why(FileLock::take(&path)), "taken");
        assert_eq!(fs::read(&path).unwrap().len(), LENGTH);
    }

    #[test]
    fn a_holder_is_found_without_taking_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".lock");
        assert_eq!(lock_holder(&path), None);
        let lock = FileLock::take(&path).unwrap();
        assert_eq!(lock_holder(&path), Some(std::process::id()));
        drop(lock);
        assert_eq!(lock_holder(&path), None);
        // One that was killed has left its number, which another process may have now.
        fs::write(&path, format!("{}\n", std::process::id())).unwrap();
        assert_eq!(lock_holder(&path), None);
    }

    #[test]
    fn nothing_else_is_locked_or_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let check = |expected: &str| assert_eq!(why(FileLock::take(&path)), expected);
        let own = folder.path().join("own");
        fs::write(&own, "precious").unwrap();
        std::os::unix::fs::symlink(&own, &path).unwrap();
        check("it is a symbolic link, not a regular file");
        fs::remove_file(&path).unwrap();
        for content in ["precious", "1234567890123"] {
            fs::write(&path, content).unwrap();
            check("the file is not a lock of bancada: move it away");
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        // As an earlier version wrote it.
        fs::write(&path, "123\n").unwrap();
        check("taken");
        assert_eq!(fs::read_to_string(own).unwrap(), "precious");
    }
}
