//! A server's first pings.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::ClientError;
use super::get::get;
use super::unix_seconds;

/// Fine enough for servers that start in tens of milliseconds, and cheap.
const BETWEEN: Duration = Duration::from_millis(1);
/// A server that takes long is not asked so often.
const BETWEEN_LATER: Duration = Duration::from_millis(20);
const LATER: Duration = Duration::from_secs(2);

pub(crate) struct Pings {
    /// Any answer at all.
    pub(crate) first_unix_seconds: f64,
    pub(crate) healthy_unix_seconds: f64,
}

pub(crate) fn for_ping(
    address: &str,
    timeout_seconds: f64,
    stop: &AtomicBool,
) -> Result<Pings, ClientError> {
    let began = Instant::now();
    let mut first = None;
    loop {
        let answer = get(address, "/ping");
        if answer.is_ok() {
            first.get_or_insert_with(unix_seconds);
        }
        let last = match answer {
            Ok(answer) if answer.status == 200 => {
                let healthy_unix_seconds = unix_seconds();
                return Ok(Pings {
                    first_unix_seconds: first.unwrap_or(healthy_unix_seconds),
                    healthy_unix_seconds,
                });
            }
            Ok(answer) => format!("its last ping returned status {}", answer.status),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                "nothing is listening on its port".to_owned()
            }
            Err(error) => format!("its last ping: {error}"),
        };
        if began.elapsed().as_secs_f64() >= timeout_seconds {
            return Err(ClientError::failed(format!(
                "the server had no healthy ping within {timeout_seconds} s: {last}"
            )));
        }
        if stop.load(Ordering::Relaxed) {
            return Err(ClientError::Stopped);
        }
        thread::sleep(match began.elapsed() < LATER {
            true => BETWEEN,
            false => BETWEEN_LATER,
        });
    }
}

/// A pause that somebody may end.
pub(crate) fn pause(length: Duration, stop: &AtomicBool) {
    let begin = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        let left = length.saturating_sub(begin.elapsed());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(Duration::from_millis(100)));
    }
}
