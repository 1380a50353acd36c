//! Clocks: of the load, and of the calling thread's share of the machine.

use std::fs;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

use crate::pace::Nanos;

/// Nanoseconds since a moment that all threads of a load share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Clock {
            origin: Instant::now(),
        }
    }

    pub(crate) fn now(&self) -> Nanos {
        self.origin.elapsed().as_nanos() as Nanos
    }
}

/// Seconds since 1970.
pub(crate) fn unix_seconds() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs_f64()
}

/// What the calling thread had of the machine so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    /// Time it computed.
    pub(crate) cpu: Nanos,
    /// Time it could have computed while others had the cores; zero where the kernel does not tell.
    pub(crate) queued: Nanos,
}

impl Usage {
    pub(crate) fn now() -> Self {
        let cpu = clock_gettime(ClockId::ThreadCPUTime);
        let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        Usage {
            cpu: cpu.tv_sec as Nanos * 1_000_000_000 + cpu.tv_nsec as Nanos,
            queued: queued(&told).unwrap_or(0),
        }
    }

    pub(crate) fn since(self, before: Usage) -> Usage {
        Usage {
            cpu: self.cpu.saturating_sub(before.cpu),
            queued: self.queued.saturating_sub(before.queued),
        }
    }
}

/// The second number of `schedstat`: nanoseconds spent waiting on a run queue.
fn queued(text: &str) -> Option<Nanos> {
    text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waiting_is_read() {
        assert_eq!(queued("291377 97761 1\n"), Some(97_761));
        assert_eq!(queued(""), None);
        assert_eq!(queued("1 x 2"), None);
    }
}
