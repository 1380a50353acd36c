//! Ctrl-C once ends the current run and finishes; twice stops immediately.

use model::{Asked, Stop};
use place::local::{FINISH, NOW, accept_cancel};

pub(crate) static STOP: Stop = Stop::new();

/// From here on SIGINT, SIGTERM and SIGHUP set [`STOP`] instead of ending the program.
pub(crate) fn listen() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
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

extern "C" fn on_signal(_signal: libc::c_int) {
    if STOP.asked() != Asked::Nothing {
        STOP.request_now();
    } else {
        STOP.request_finish();
    }
}
