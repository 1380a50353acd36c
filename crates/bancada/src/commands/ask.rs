//! The load client of a serving run, a separate process.

use std::sync::atomic::{AtomicBool, Ordering};

use load::client::Context;
use model::event::STARTED_VARIABLE;
use model::job::LoadTarget;
use model::{EventKind, LoadClientJob};
use workloads::protocol::{Events, read_job};

use crate::exit::{CommandResult, Exit, Failure};

/// Of certificates in PEM form that https trusts beside the well-known authorities.
const ROOTS_VARIABLE: &str = "SSL_CERT_FILE";

static STOP: AtomicBool = AtomicBool::new(false);

pub(super) fn ask() -> CommandResult {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only sets an atomic, and the pointer has the type that is expected.
        unsafe { libc::signal(signal, on_signal as *const () as libc::sighandler_t) };
    }
    let job: LoadClientJob = read_job()?;
    let mut roots = String::new();
    if let LoadTarget::Service { .. } = job.target {
        outlive_parent();
        roots = roots_pem()?;
    }
    let mut events = Events::open()?;
    let started = std::env::var(STARTED_VARIABLE).ok();
    let mut emit = |kind: EventKind, at: Option<f64>| events.tell_at(kind, at);
    let context = Context {
        server_started_unix_seconds: started.and_then(|text| text.parse().ok()),
        stop: &STOP,
        roots_pem: roots,
        emit: &mut emit,
    };
    load::client::run(&job, context).map_err(Failure::trouble)?;
    Ok(Exit::Ok)
}

/// Whoever measures dies with SIGKILL for its runs. An endpoint has to be torn down even then.
fn outlive_parent() {
    // SAFETY: it takes numbers alone.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM as libc::c_ulong) };
}

/// As other programs are told of certificates to trust.
fn roots_pem() -> Result<String, Failure> {
    let Some(path) = std::env::var_os(ROOTS_VARIABLE) else {
        return Ok(String::new());
    };
    std::fs::read_to_string(&path).map_err(|error| {
        let path = path.to_string_lossy();
        Failure::trouble(format!("{ROOTS_VARIABLE} is {path}: {error}"))
    })
}

extern "C" fn on_signal(_signal: libc::c_int) {
    STOP.store(true, Ordering::Relaxed);
}
