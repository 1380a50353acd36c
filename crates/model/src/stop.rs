//! A wish to stop, shared with a signal handler.

use std::sync::atomic::{AtomicU8, Ordering};

/// Lives in a `static`; its methods may be called from a signal handler.
#[derive(Debug, Default)]
pub struct Stop(AtomicU8);

/// What was asked so far. Later wishes are stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    Nothing,
    /// Start no further run; those in progress go on to their end.
    Pause,
    /// End the run in progress (SIGTERM, then SIGKILL after the grace time) and finish cleanly.
    Finish,
    /// End it at once (SIGKILL).
    Now,
}

impl Stop {
    pub const fn new() -> Self {
        Stop(AtomicU8::new(0))
    }

    pub fn request_pause(&self) {
        self.0.fetch_max(1, Ordering::SeqCst);
    }

    pub fn request_finish(&self) {
        self.0.fetch_max(2, Ordering::SeqCst);
    }

    pub fn request_now(&self) {
        self.0.fetch_max(3, Ordering::SeqCst);
    }

    pub fn asked(&self) -> Asked {
        match self.0.load(Ordering::SeqCst) {
            0 => Asked::Nothing,
            1 => Asked::Pause,
            2 => Asked::Finish,
            _ => Asked::Now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_never_weakened() {
        static STOP: Stop = Stop::new();
        assert_eq!(STOP.asked(), Asked::Nothing);
        STOP.request_pause();
        assert_eq!(STOP.asked(), Asked::Pause);
        STOP.request_finish();
        STOP.request_pause();
        assert_eq!(STOP.asked(), Asked::Finish);
        STOP.request_now();
        STOP.request_finish();
        assert_eq!(STOP.asked(), Asked::Now);
    }
}
