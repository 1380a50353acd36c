//! Slurm's own programs, each with a time limit: without a controller they retry by themselves.

use std::ffi::OsStr;
use std::io;
use std::process::Command;
use std::time::Duration;

use host::Answer;

use crate::error::PlaceError;

/// They give up after 9 s by themselves.
const PATIENCE: Duration = Duration::from_secs(15);

/// What these programs say when the controller does not answer. Anything else is a refusal.
const UNREACHED: &[&str] = &[
    "Unable to contact",
    "Socket timed out",
    "Connection refused",
    "Connection timed out",
    "Connection reset",
    "Communication connection failure",
    "Zero Bytes were transmitted",
    "Transport endpoint",
    "authentication error",
    "temporarily unable",
    "Resource temporarily unavailable",
    "controller not responding",
    "standby mode",
];

/// A program of Slurm's. Variables of a job that this process is itself in are not for other jobs.
pub(super) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let is_of_job = text.starts_with("SLURM_") || text.starts_with("SLURMD_");
        if is_of_job && text != "SLURM_CONF" && text != "SLURM_CLUSTERS" {
            command.env_remove(&name);
        }
    }
    command
}

/// What it printed.
pub(super) fn ask(
    program: &str,
    words: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> Result<String, PlaceError> {
    let mut command = command(program);
    let answer = host::ask(command.args(words), PATIENCE);
    judge(program, answer)
}

fn judge(program: &str, answer: io::Result<Answer>) -> Result<String, PlaceError> {
    let answer = answer.map_err(|error| {
        PlaceError::Refused(format!(
            "cannot start {program}: {error}; Slurm is used from a machine that has its programs, such as a login node"
        ))
    })?;
    if answer.timed_out {
        let seconds = PATIENCE.as_secs();
        return Err(PlaceError::Lost(format!(
            "{program} did not end within {seconds} s"
        )));
    }
    let complaint = String::from_utf8_lossy(&answer.stderr);
    match answer.success() {
        true => Ok(String::from_utf8_lossy(&answer.stdout).into_owned()),
        false if UNREACHED.iter().any(|known| complaint.contains(known)) => Err(PlaceError::Lost(
            format!("{program}: {}", last_line(&complaint)),
        )),
        false => Err(PlaceError::Refused(format!(
            "{program}: {}",
            last_line(&complaint)
        ))),
    }
}

fn last_line(text: &str) -> &str {
    let mut lines = text.lines().rev().map(str::trim);
    let last = lines.find(|line| !line.is_empty());
    let last = last.unwrap_or("it failed without a message");
    // `sbatch: error: Batch job submission failed: Invalid partition name specified`
    last.rsplit_once("error: ").map_or(last, |(_, said)| said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    fn judged(stderr: &str, timed_out: bool) -> PlaceError {
        let answer = Answer {
            status: ExitStatus::from_raw(256),
            timed_out,
            stdout: Vec::new(),
            stderr: stderr.as_bytes().to_vec(),
        };
        judge("sbatch", Ok(answer)).unwrap_err()
    }

    #[test]
    fn a_controller_that_is_away_is_no_refusal() {
        let away = "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)";
        assert!(matches!(judged(away, false), PlaceError::Lost(_)));
        assert!(matches!(judged("", true), PlaceError::Lost(_)));
        let wrong = "sbatch: error: invalid partition specified: x\nsbatch: error: Batch job submission failed: Invalid partition name specified\n";
        let said = "sbatch: Batch job submission failed: Invalid partition name specified";
        assert_eq!(judged(wrong, false), PlaceError::Refused(said.into()));
    }
}
