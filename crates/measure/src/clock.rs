//! The clock that workloads tell their events by, and the moment in which a run begins.

use std::io::{self, PipeReader, Read as _};
use std::os::fd::RawFd;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Seconds since the Unix epoch, to the microsecond: so many digits survive being written down.
pub(crate) fn unix_seconds() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let microseconds = since.map_or(0, |since| since.as_micros());
    microseconds as f64 / 1e6
}

/// Writes this moment to a pipe. For a new process before it becomes its command: system calls
/// only, no allocation.
pub(crate) fn tell_moment(descriptor: RawFd) -> io::Result<()> {
    let bytes = monotonic_nanoseconds().to_ne_bytes();
    // SAFETY: the bytes are live for the call; whoever starts the process keeps the pipe open.
    let written = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
    match written < 0 {
        true => Err(io::Error::last_os_error()),
        false => Ok(()),
    }
}

/// The moment that was written; none where nobody wrote one.
pub(crate) fn read_moment(mut pipe: PipeReader) -> Option<Instant> {
    let mut bytes = [0; 8];
    pipe.read_exact(&mut bytes).ok()?;
    let passed = monotonic_nanoseconds().checked_sub(u64::from_ne_bytes(bytes))?;
    Instant::now().checked_sub(Duration::from_nanos(passed))
}

/// The same moment by the calendar.
pub(crate) fn timestamp_of(moment: Instant) -> model::Timestamp {
    let now = model::Timestamp::now();
    let passed = i64::try_from(moment.elapsed().as_nanos()).unwrap_or(0);
    let passed = now.as_nanosecond() - i128::from(passed);
    model::Timestamp::from_nanosecond(passed).unwrap_or(now)
}

/// The clock behind `Instant`, the same in all processes.
fn monotonic_nanoseconds() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock exists on every Linux and writes only into `time`.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    let part = |number: i64| u64::try_from(number).unwrap_or(0);
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd as _;

    #[test]
    fn a_moment_goes_through_a_pipe() {
        let (reader, writer) = io::pipe().unwrap();
        let before = Instant::now();
        tell_moment(writer.as_raw_fd()).unwrap();
        let after = Instant::now();
        drop(writer);
        let reported = read_moment(reader).unwrap();
        // Two clocks are read one after the other, in between of which time passes.
        assert!(reported >= before, "{:?}", before - reported);
        assert!(reported <= after + Duration::from_millis(500));
        let timestamp = timestamp_of(reported);
        assert!(timestamp <= model::Timestamp::now());
    }

    #[test]
    fn nobody_told_a_moment() {
        let (reader, writer) = io::pipe().unwrap();
        drop(writer);
        assert_eq!(read_moment(reader), None);
    }
}
