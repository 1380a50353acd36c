//! One program writes at a time.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use host::{FileLock, LockError};

use crate::StoreError;
use crate::layout::Layout;

/// Held by the one program that writes.
#[derive(Debug)]
pub struct StudyLock {
    _file: FileLock,
    held: Arc<AtomicBool>,
}

impl StudyLock {
    pub(crate) fn take(layout: &Layout, held: &Arc<AtomicBool>) -> Result<StudyLock, StoreError> {
        let path = layout.lock();
        let file = FileLock::take(&path).map_err(|error| match error {
            LockError::Taken { holder } => StoreError::Locked {
                dir: layout.dir.clone(),
                pid: holder,
            },
            LockError::Unsupported(e) | LockError::Io(e) => StoreError::io("lock", &path, e),
        })?;
        held.store(true, Ordering::SeqCst);
        Ok(StudyLock {
            _file: file,
            held: Arc::clone(held),
        })
    }
}

/// The process that writes to this results folder now.
pub fn writer_of(dir: &Path) -> Option<u32> {
    host::lock_holder(&Layout::new(dir).lock())
}

impl Drop for StudyLock {
    fn drop(&mut self) {
        self.held.store(false, Ordering::SeqCst);
    }
}
