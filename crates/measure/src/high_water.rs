//! The most memory the run's first process ever held, followed closely while it cannot yet be
//! known from what the process inherited of this program.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::sampler::task::parse_high_water_bytes;

pub(crate) struct HighWater {
    /// `/proc/<pid>/status`, kept open.
    status: Option<File>,
    /// Above this the kernel's own figure, known at the end, is believed and looking is over.
    enough_bytes: u64,
    pub(crate) bytes: u64,
}

impl HighWater {
    pub(crate) fn of(pid: i32, enough_bytes: u64) -> Self {
        HighWater {
            status: File::open(format!("/proc/{pid}/status")).ok(),
            enough_bytes,
            bytes: 0,
        }
    }

    pub(crate) fn look(&mut self) {
        let Some(status) = &self.status else { return };
        let mut text = [0; 4096];
        let length = status.read_at(&mut text, 0).unwrap_or(0);
        match parse_high_water_bytes(&text[..length]) {
            Some(bytes) => self.bytes = self.bytes.max(bytes),
            // It has ended: a process without memory has no line of it.
            None => self.status = None,
        }
        if self.bytes > self.enough_bytes {
            self.status = None;
        }
    }
}
