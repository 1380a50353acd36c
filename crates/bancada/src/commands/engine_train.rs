//! The embedded engine as a workload: a separate process, so that it is measured like all others.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use model::event::{EVENTS_VARIABLE, JOB_VARIABLE};
use model::run::phase;
use model::{Event, EventKind, TrainJob};

use crate::exit::{CommandResult, Exit, Failure};

pub(super) fn engine_train() -> CommandResult {
    let job: TrainJob = read_job()?;
    if let Some(asked) = &job.verify {
        let report = engine::verify(&job, asked).map_err(Failure::trouble)?;
        let json = serde_json::to_vec(&report).map_err(Failure::trouble)?;
        std::fs::write(&asked.report, json).map_err(|e| {
            Failure::trouble(format!("cannot write {}: {e}", asked.report.display()))
        })?;
        return Ok(Exit::Ok);
    }
    let mut events = open_events()?;
    engine::train(&job, &mut |kind| tell(&mut events, kind)).map_err(Failure::trouble)?;
    tell(
        &mut events,
        EventKind::Phase {
            phase: phase::SHUTDOWN.to_owned(),
        },
    );
    Ok(Exit::Ok)
}

pub(super) fn read_job<J: serde::de::DeserializeOwned>() -> Result<J, Failure> {
    let path = std::env::var_os(JOB_VARIABLE).ok_or_else(|| {
        Failure::trouble(format!(
            "{JOB_VARIABLE} is not set to a job file; bancada run sets it"
        ))
    })?;
    let failed =
        |why: String| Failure::trouble(format!("job file {}: {why}", path.to_string_lossy()));
    let bytes = std::fs::read(&path).map_err(|e| failed(e.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|e| failed(e.to_string()))
}

/// Without the variable nobody listens: training goes on in silence.
pub(super) fn open_events() -> Result<Option<File>, Failure> {
    let Some(path) = std::env::var_os(EVENTS_VARIABLE) else {
        return Ok(None);
    };
    let opened = OpenOptions::new().append(true).create(true).open(&path);
    let opened = opened
        .map_err(|e| Failure::trouble(format!("event file {}: {e}", path.to_string_lossy())))?;
    Ok(Some(opened))
}

/// One write a line, so that a reader never sees half of one. An event that cannot be written is
/// lost; the training is worth more.
pub(super) fn tell(events: &mut Option<File>, kind: EventKind) {
    let Some(file) = events else { return };
    let at = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .map(|d| d.as_secs_f64());
    if let Ok(mut line) = serde_json::to_vec(&Event { at, kind }) {
        line.push(b'\n');
        _ = file.write_all(&line);
    }
}
