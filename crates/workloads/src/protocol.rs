//! A workload's side of docs/protocol.md: the job that it reads, the events that it writes.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use model::event::{EVENTS_VARIABLE, JOB_VARIABLE};
use model::{Event, EventKind};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;

pub fn read_job<J: DeserializeOwned>() -> Result<J, Error> {
    let path = std::env::var_os(JOB_VARIABLE).ok_or_else(|| {
        Error::failed(format!(
            "{JOB_VARIABLE} is not set to a job file; bancada run sets it"
        ))
    })?;
    let failed = |why: String| Error::failed(format!("job file {}: {why}", path.to_string_lossy()));
    let bytes = fs::read(&path).map_err(|e| failed(e.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|e| failed(e.to_string()))
}

/// Where a workload says what it does. Without a file nobody listens, and the work goes on in silence.
pub struct Events(Option<File>);

impl Events {
    pub fn open() -> Result<Self, Error> {
        let Some(path) = std::env::var_os(EVENTS_VARIABLE) else {
            return Ok(Events(None));
        };
        let opened = OpenOptions::new().append(true).create(true).open(&path);
        let failed = |e| Error::failed(format!("event file {}: {e}", path.to_string_lossy()));
        Ok(Events(Some(opened.map_err(failed)?)))
    }

    pub fn tell(&mut self, kind: EventKind) {
        self.tell_at(kind, None);
    }

    /// At a time other than now. One write a line, so that a reader never sees half of one. An event
    /// that cannot be written is lost; the work is worth more.
    pub fn tell_at(&mut self, kind: EventKind, unix_seconds: Option<f64>) {
        let Events(Some(file)) = self else { return };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        let at = unix_seconds.or(now.map(|now| now.as_secs_f64()));
        if let Ok(mut line) = serde_json::to_vec(&Event { at, kind }) {
            line.push(b'\n');
            _ = file.write_all(&line);
        }
    }
}

pub(crate) fn begins(phase: &str) -> EventKind {
    EventKind::Phase {
        phase: phase.to_owned(),
    }
}

pub(crate) fn write_report<R: Serialize>(report: &R, path: &Path) -> Result<(), Error> {
    let failed = |why: String| Error::failed(format!("cannot write {}: {why}", path.display()));
    let text = serde_json::to_vec(report).map_err(|e| failed(e.to_string()))?;
    fs::write(path, text).map_err(|e| failed(e.to_string()))
}
