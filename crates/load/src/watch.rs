//! Watching a running load from another thread, and stopping it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Shared between the threads of a load and whoever watches it.
#[derive(Debug, Default)]
pub struct Watch {
    stop: AtomicBool,
    ok: AtomicU64,
    failed: AtomicU64,
    most_failures: Option<u64>,
}

impl Watch {
    /// Sends no more requests once so many have failed: enough is known by then.
    pub fn stopping_after_failures(most_failures: u64) -> Self {
        Watch {
            most_failures: Some(most_failures),
            ..Watch::default()
        }
    }

    /// No more requests are sent; those on their way are still waited for.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Requests answered with a status of 200 to 299 so far.
    pub fn ok(&self) -> u64 {
        self.ok.load(Relaxed)
    }

    /// Requests that ended otherwise so far.
    pub fn failed(&self) -> u64 {
        self.failed.load(Relaxed)
    }

    pub(crate) fn ended(&self, ok: bool) {
        let counter = if ok { &self.ok } else { &self.failed };
        counter.fetch_add(1, Relaxed);
    }

    pub(crate) fn stops(&self) -> bool {
        self.stop.load(Relaxed) || self.most_failures.is_some_and(|most| self.failed() >= most)
    }
}
