//! The files that a run leaves in its folder.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::MeasureError;
use crate::events::EventFile;
use crate::samples;

#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) events: EventFile,
    pub(crate) events_path: PathBuf,
    pub(crate) samples: File,
    pub(crate) samples_path: PathBuf,
    pub(crate) log: File,
    pub(crate) log_path: PathBuf,
}

impl Files {
    pub(crate) fn create(folder: &Path) -> Result<Self, MeasureError> {
        // The workload may be started elsewhere, so that its path must hold from everywhere.
        let absolute = std::path::absolute(folder).map_err(MeasureError::folder(folder))?;
        let path = |name: &str| absolute.join(name);
        let (events_path, samples_path, log_path) =
            (path("events.jsonl"), path("samples.csv"), path("log.txt"));
        Ok(Files {
            events: EventFile::create(&events_path).map_err(MeasureError::folder(&events_path))?,
            samples: File::create(&samples_path).map_err(MeasureError::folder(&samples_path))?,
            log: File::create(&log_path).map_err(MeasureError::folder(&log_path))?,
            events_path,
            samples_path,
            log_path,
        })
    }

    /// For a run that never began: no samples, and a log that says why.
    pub(crate) fn write_nothing(mut self, sentence: &str) -> Result<(), MeasureError> {
        let header = samples::header(0);
        self.samples
            .write_all(header.as_bytes())
            .map_err(MeasureError::folder(&self.samples_path))?;
        writeln!(self.log, "{sentence}").map_err(MeasureError::folder(&self.log_path))
    }
}
