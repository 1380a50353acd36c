//! Ctrl-C once ends the current run and finishes; twice stops immediately. SIGUSR1 lets the runs in
//! progress end by themselves and starts no other.

use std::sync::atomic::{AtomicU32, Ordering};

use model::{Asked, Stop};
use place::local::{FINISH, NOW, accept_cancel};

pub(crate) static STOP: Stop = Stop::new();

/// From here on these signals set [`STOP`] instead of ending the program.
pub(crate) fn listen() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1] {
        // SAFETY: the handler only touches an atomic, which is async-signal-safe, and the
        // function pointer has the type that `signal` expects.
        unsafe { libc::signal(signal, on_signal as *const () as libc::sighandler_t) };
    }
}

/// A coordinator says by the signal what it wants: to finish, or to stop now.
pub(crate) fn listen_as_worker() -> std::io::Result<()> {
    for signal in [libc::SIGINT, libc::SIGHUP, FINISH, NOW] {
        // SAFETY: as above.
        unsafe { libc::signal(signal, on_worker_signal as *const () as libc::sighandler_t) };
    }
    accept_cancel()
}

extern "C" fn on_worker_signal(signal: libc::c_int) {
    match signal {
        NOW => STOP.request_now(),
        _ => STOP.request_finish(),
    }
}

extern "C" fn on_signal(signal: libc::c_int) {
    if signal == libc::SIGUSR1 {
        STOP.request_pause();
    } else if STOP.asked() >= Asked::Finish {
        STOP.request_now();
    } else {
        STOP.request_finish();
    }
}

/// Signals that came since they were last taken, a bit each.
static COLLECTED: AtomicU32 = AtomicU32::new(0);
const COLLECTABLE: [libc::c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGWINCH];

/// From here on they are [`collected`], for a program that passes them on.
pub(crate) fn collect() {
    for signal in COLLECTABLE {
        // SAFETY: as above.
        unsafe { libc::signal(signal, on_collected as *const () as libc::sighandler_t) };
    }
}

pub(crate) fn collected() -> impl Iterator<Item = libc::c_int> {
    let came = COLLECTED.swap(0, Ordering::Relaxed);
    COLLECTABLE
        .into_iter()
        .filter(move |signal| came & bit(*signal) != 0)
}

extern "C" fn on_collected(signal: libc::c_int) {
    COLLECTED.fetch_or(bit(signal), Ordering::Relaxed);
}

fn bit(signal: libc::c_int) -> u32 {
    1_u32.checked_shl(signal.unsigned_abs()).unwrap_or(0)
}
