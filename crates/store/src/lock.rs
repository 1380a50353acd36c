//! One program writes at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::StoreError;
use crate::layout::Layout;

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
        // Not truncated: the file names the holder until the lock is ours.
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|e| StoreError::io("lock", &path, e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                let _ = file.read_to_string(&mut pid);
                return Err(StoreError::Locked {
                    dir: layout.dir.clone(),
                    pid: pid.trim().parse().ok(),
                });
            }
            Err(TryLockError::Error(e)) => return Err(StoreError::io("lock", &path, e)),
        }
        file.set_len(0)
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .map_err(|e| StoreError::io("lock", &path, e))?;
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
        let _ = self.file.set_len(0);
    }
}
