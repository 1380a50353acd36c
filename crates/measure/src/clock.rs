//! The clock that workloads tell their events by.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since the Unix epoch, to the microsecond: so many digits survive being written down.
pub(crate) fn unix_seconds() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let microseconds = since.map_or(0, |since| since.as_micros());
    microseconds as f64 / 1e6
}
