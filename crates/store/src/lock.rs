//! One program writes at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::layout::Layout;
use crate::{StoreError, files};

/// The holder's process id in blanks and a line feed: always as long, so that the file is written
/// over and never cut.
const LENGTH: usize = 12;

/// How long a lock of a program that is gone is waited for.
const PATIENCE: Duration = Duration::from_secs(3);
const RETRY: Duration = Duration::from_millis(10);

/// Held by the one program that writes. The kernel lets go of it when the program ends in
/// whatever way, so that nothing needs cleaning up after a kill.
#[derive(Debug)]
pub struct StudyLock {
    file: File,
    held: Arc<AtomicBool>,
}

impl StudyLock {
    pub(crate) fn take(layout: &Layout, held: &Arc<AtomicBool>) -> Result<StudyLock, StoreError> {
        let path = layout.lock();
        let wrong = |e: io::Error| StoreError::io("lock", &path, e);
        // Removed between being opened and being locked: somebody gave up the folder.
        let until = Instant::now() + PATIENCE;
        let file = loop {
            let mut options = OpenOptions::new();
            let options = options.read(true).write(true).create(true).truncate(false);
            let file = files::open_regular(&path, options).map_err(wrong)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => break file,
                Ok(()) => {}
                // A killed program's child that was just being started holds it for an instant more.
                Err(TryLockError::WouldBlock)
                    if is_dead(holder(&file)) && Instant::now() < until =>
                {
                    thread::sleep(RETRY);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::Locked {
                        dir: layout.dir.clone(),
                        pid: holder(&file),
                    });
                }
                Err(TryLockError::Error(e)) => return Err(wrong(e)),
            }
        };
        if !is_ours(&file).map_err(wrong)? {
            let message = "the file is not a lock of bancada: move it elsewhere";
            return Err(wrong(io::Error::new(io::ErrorKind::InvalidData, message)));
        }
        write_holder(&file, &std::process::id().to_string()).map_err(wrong)?;
        held.store(true, Ordering::SeqCst);
        Ok(StudyLock {
            file,
            held: Arc::clone(held),
        })
    }
}

impl Drop for StudyLock {
    fn drop(&mut self) {
        self.held.store(false, Ordering::SeqCst);
        // Only for a reader of the file; closing it is what lets go.
        let _ = write_holder(&self.file, "");
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

/// One whose number nobody knows may live.
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
