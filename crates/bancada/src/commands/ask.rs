//! The load client of a serving run, a separate process.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use client::Surroundings;
use model::event::{EVENTS_VARIABLE, STARTED_VARIABLE};
use model::job::AskTarget;
use model::{AskJob, Event, EventKind};

use super::engine_train::read_job;
use crate::exit::{CommandResult, Exit, Failure};

/// Of certificates in PEM form that https trusts beside the well-known authorities.
const ROOTS_VARIABLE: &str = "SSL_CERT_FILE";

static STOP: AtomicBool = AtomicBool::new(false);

pub(super) fn ask() -> CommandResult {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only sets an atomic, and the pointer has the type that is expected.
        unsafe { libc::signal(signal, on_signal as *const () as libc::sighandler_t) };
    }
    let job: AskJob = read_job()?;
    let mut roots = String::new();
    if let AskTarget::Service { .. } = job.target {
        outlive_parent();
        roots = roots_pem()?;
    }
    let path = std::env::var_os(EVENTS_VARIABLE);
    let mut events = path.and_then(|path| OpenOptions::new().append(true).open(path).ok());
    let started = std::env::var(STARTED_VARIABLE).ok();
    let mut tell = |kind: EventKind, at: Option<f64>| {
        let Some(file) = &mut events else { return };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        let at = at.or(now.map(|now| now.as_secs_f64()));
        if let Ok(mut line) = serde_json::to_vec(&Event { at, kind }) {
            line.push(b'\n');
            // The answers are worth more than one line about them.
            _ = file.write_all(&line);
        }
    };
    let surroundings = Surroundings {
        server_started_unix_seconds: started.and_then(|text| text.parse().ok()),
        stop: &STOP,
        roots_pem: roots,
        tell: &mut tell,
    };
    client::ask(&job, surroundings).map_err(Failure::trouble)?;
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
