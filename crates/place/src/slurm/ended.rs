//! A job that ended without a measurement. Where something outside ended it, that is no failure of
//! the run: the launcher then writes the measurement that the worker could not.

use model::{Measurement, Order, Status, Timestamp};

use super::accounting::{ACCOUNTING_FILE, Accounting};
use super::queue::Entry;
use super::time_limit::TimeLimit;
use crate::error::PlaceError;
use crate::files;
use crate::runs::{Job, JobState};
use crate::unattended::{self, Claim};
use model::measurement::{MEASUREMENT_FILE, ORDER_FILE};

/// Whether a worker may still be at work although the queue has the job in this state: a node that
/// is cut off, or a file that has not come through yet.
pub(super) fn may_live(state: &str) -> bool {
    matches!(state, "NODE_FAIL" | "BOOT_FAIL" | "COMPLETED" | "REVOKED")
}

pub(super) fn is_over(accounting: &Accounting) -> bool {
    !matches!(
        accounting.state.as_str(),
        "PENDING" | "RUNNING" | "COMPLETING" | "CONFIGURING" | "SUSPENDED"
    )
}

/// For people.
pub(super) fn sentence(entry: Option<&Entry>, limit: Option<TimeLimit>) -> String {
    let Some(Entry {
        id, state, nodes, ..
    }) = entry
    else {
        return "Slurm does not know its job any more, and its worker gives no sign of life"
            .to_owned();
    };
    let on = match nodes.is_empty() {
        true => String::new(),
        false => format!(" on {nodes}"),
    };
    let what = match state.as_str() {
        "NODE_FAIL" | "BOOT_FAIL" => "its node failed",
        "TIMEOUT" | "DEADLINE" => &format!("it reached {}", TimeLimit::words(limit)),
        "PREEMPTED" => "it was preempted by another job",
        "OUT_OF_MEMORY" => "it ran out of the memory that Slurm gave it",
        "CANCELLED" => "it was cancelled in Slurm",
        "COMPLETED" => "its worker ended without writing anything",
        _ => "its worker was killed or failed",
    };
    format!("{what} (job {id}{on}, {state})")
}

fn status(entry: Option<&Entry>) -> Option<Status> {
    match entry.map(|entry| entry.state.as_str()) {
        None | Some("NODE_FAIL" | "BOOT_FAIL" | "PREEMPTED" | "CANCELLED" | "REVOKED") => {
            Some(Status::Interrupted)
        }
        Some("TIMEOUT" | "DEADLINE") => Some(Status::TimedOut),
        Some("OUT_OF_MEMORY") => Some(Status::OutOfMemory),
        // Its own output says why.
        Some(_) => None,
    }
}

/// Whether a second try may end better.
pub(super) fn is_by_others(entry: Option<&Entry>) -> bool {
    status(entry) == Some(Status::Interrupted)
}

/// Writes what is known of it. A worker that begins at this moment goes on: who claims the order
/// first has it.
pub(super) fn leave(
    job: &Job,
    entry: Option<&Entry>,
    accounting: Option<&Accounting>,
    limit: Option<TimeLimit>,
) -> Result<JobState, PlaceError> {
    let sentence = sentence(entry, limit);
    let Some(status) = status(entry) else {
        return Ok(JobState::Ended(sentence));
    };
    let began = unattended::is_claimed(&job.folder);
    if !began {
        let taken = unattended::claim(&job.folder, &Claim::default());
        let taken = taken.map_err(|error| PlaceError::io("write", &job.folder, &error))?;
        if !taken {
            return Ok(JobState::Running);
        }
    }
    if let Some(accounting) = accounting {
        files::write_private(&job.folder.join(ACCOUNTING_FILE), accounting)?;
    }
    let order: Option<Order> = files::read(&job.folder.join(ORDER_FILE))?;
    let Some(order) = order else {
        return Ok(JobState::Ended(sentence));
    };
    let seen = unattended::seen_for(&job.folder).as_secs_f64();
    let counted = accounting.and_then(|accounting| accounting.run_seconds);
    let seconds = began.then(|| counted.map_or(seen, |counted| seen.max(counted as f64)));
    let detail = match began || unattended::end_was_requested(&job.folder) {
        true => sentence.clone(),
        false => format!("before it began: {sentence}"),
    };
    let measurement = Measurement::not_left(&order, status, detail, seconds, Timestamp::now());
    let path = job.folder.join(MEASUREMENT_FILE);
    let bytes = serde_json::to_vec(&measurement);
    let written = bytes.map_err(std::io::Error::from);
    let written = written.and_then(|bytes| host::write_whole(&path, bytes));
    written.map_err(|error| PlaceError::io("write", &path, &error))?;
    Ok(JobState::Ended(sentence))
}

/// Whether something outside may have ended it: Slurm signals all processes of a job, and the
/// workload may end before its worker knows why.
pub(super) fn is_doubtful(measurement: &Measurement) -> bool {
    let outcome = &measurement.outcome;
    let is_killed = matches!(outcome.signal, Some(libc::SIGTERM | libc::SIGKILL));
    // What the launcher wrote itself has no command.
    let by_worker = !measurement.command.is_empty();
    let is_interrupted = outcome.status == Status::Interrupted;
    by_worker && (is_interrupted || (outcome.status == Status::Failed && is_killed))
}

/// A worker that is asked to end does not know by whom. Slurm does.
pub(super) fn correct(
    job: &Job,
    accounting: Option<&Accounting>,
    limit: Option<TimeLimit>,
    measurement: &mut Measurement,
) {
    let by_us = unattended::end_was_requested(&job.folder);
    let Some(accounting) = accounting.filter(|_| !by_us && is_doubtful(measurement)) else {
        return;
    };
    let entry = Entry {
        id: accounting.job.clone(),
        state: accounting.state.clone(),
        nodes: accounting.nodes.clone(),
        reason: accounting.reason.clone(),
    };
    if let Some(status) = status(Some(&entry)) {
        measurement.outcome.status = status;
        measurement.outcome.detail = Some(sentence(Some(&entry), limit));
    }
}
