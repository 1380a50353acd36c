//! A job that is not a run of a study and ends with a report: carried out here, in its own folder.

use std::fs;
use std::path::Path;

use measure::Stop;
use model::TrainJob;
use model::event::JOB_VARIABLE;
use model::run::Status;
use model::study::{Limits, MeasureSettings};
use serde::de::DeserializeOwned;

use crate::bind::Start;
use crate::error::WorkError;
use crate::work::write_json;

pub(crate) struct Reported<'a> {
    pub(crate) start: Start,
    pub(crate) job: &'a TrainJob,
    /// An existing folder.
    pub(crate) folder: &'a Path,
    /// Where the job leaves its report.
    pub(crate) report: &'a Path,
    pub(crate) limits: Limits,
    pub(crate) timeout_seconds: f64,
}

impl Reported<'_> {
    /// The report, or why there is none.
    pub(crate) fn carry_out<R: DeserializeOwned>(
        self,
        stop: &Stop,
    ) -> Result<Result<R, String>, WorkError> {
        let path = self.folder.join("job.json");
        write_json(&path, self.job)?;
        let Start {
            command, mut env, ..
        } = self.start;
        env.push((JOB_VARIABLE.to_owned(), path.to_string_lossy().into_owned()));
        let request = measure::Request {
            command,
            env,
            directory: None,
            folder: self.folder.to_owned(),
            limits: self.limits,
            settings: MeasureSettings {
                interval_seconds: 1.0,
                timeout_seconds: Some(self.timeout_seconds),
                grace_seconds: 5.0,
            },
            log: Vec::new(),
            progress: None,
            reports_steps: false,
            client: None,
            container: None,
            outlives: false,
            cgroup_name: format!("bancada-{}-report", std::process::id()),
        };
        let measured = measure::run(&request, stop, &mut |_| ()).map_err(WorkError::Measure)?;
        if measured.outcome.status != Status::Ok {
            let detail = measured.outcome.in_a_line();
            return Ok(Err(detail.unwrap_or_else(|| "failed".to_owned())));
        }
        Ok(read(self.report))
    }
}

fn read<R: DeserializeOwned>(path: &Path) -> Result<R, String> {
    let bytes = fs::read(path).map_err(|_| "it succeeded but reported nothing".to_owned())?;
    serde_json::from_slice(&bytes).map_err(|e| format!("its output cannot be parsed: {e}"))
}
