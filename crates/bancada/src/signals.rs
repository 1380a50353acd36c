//! Ctrl-C once ends the current run and finishes; twice stops immediately.

use measure::{Asked, Stop};

pub(crate) static STOP: Stop = Stop::new();

/// From here on SIGINT, SIGTERM and SIGHUP set [`STOP`] instead of ending the program.
pub(crate) fn listen() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only touches an atomic, which is async-signal-safe, and the
        // function pointer has the type that `signal` expects.
        unsafe { libc::signal(signal, on_signal as *const () as libc::sighandler_t) };
    }
}

extern "C" fn on_signal(_signal: libc::c_int) {
    if STOP.asked() != Asked::Nothing {
        STOP.request_now();
    } else {
        STOP.request_finish();
    }
}
