//! One run and its outcome: the content of `run.json`.

pub mod metric;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::capacity::{Capacity, UnmetLimit};
use crate::event::CountUnit;
use crate::machine::Inventory;
use crate::money::{Bill, Price};
use crate::serving::ServingRecord;
use crate::shared::Shared;
use crate::study::{Limits, Scenario};
use crate::warning::Warning;

/// Version of the run bundle's layout, in every `run.json`.
pub const BUNDLE_SCHEMA: u32 = 1;

/// `C3-r2`: scenario 3, repetition 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId {
    pub scenario: u32,
    pub repetition: u32,
}

impl RunId {
    pub fn new(scenario: u32, repetition: u32) -> Self {
        RunId {
            scenario,
            repetition,
        }
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("C{}-r{}", self.scenario, self.repetition))
    }
}

impl FromStr for RunId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text
            .strip_prefix('C')
            .and_then(|rest| rest.split_once("-r"));
        parts
            .and_then(|(scenario, repetition)| {
                let id = RunId::new(scenario.parse().ok()?, repetition.parse().ok()?);
                // `C03-r2` and `C+3-r2` parse as numbers but are not names we write.
                (id.to_string() == text && id.scenario > 0 && id.repetition > 0).then_some(id)
            })
            .ok_or_else(|| format!("`{text}` is not a run such as C3-r2"))
    }
}

impl Serialize for RunId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RunId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// The whole of one run, as kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    pub schema: u32,
    pub study: String,
    pub run: RunId,
    pub scenario: Scenario,
    /// Of everything that decides what a run of this scenario is: equal for runs that may be
    /// averaged, whatever the number of their scenario.
    pub fingerprint: String,
    /// Files that the run's program consists of, as they were when it began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<RunInput>,
    pub origin: Origin,
    pub outcome: Outcome,
    pub started: Timestamp,
    /// From start of the process to its end, by the monotonic clock.
    pub seconds: f64,
    pub phases: Vec<Phase>,
    pub epochs: Vec<Epoch>,
    /// Every number of this run by name; the unit is in the name's metric.
    pub metrics: BTreeMap<String, Metric>,
    pub environment: EnvironmentRecord,
    pub command: Vec<String>,
    pub machine: Inventory,
    pub price: Option<Shared<Price>>,
    /// The rental that the run was part of; `None` if nothing is known of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rental: Option<RentalPart>,
    /// Of a run in a shared rental, as kept: its own time only. What the rental adds (time between
    /// runs, the machine's start and end, rounding, minimum) is known when all its runs are.
    pub bill: Option<Shared<Bill>>,
    pub warnings: Vec<Warning>,
    /// What trained, for runs that train.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framework: Option<FrameworkRecord>,
    /// What its client saw, for runs that serve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serving: Option<Box<ServingRecord>>,
    /// Time by operator, largest first; empty unless the study asked for a profile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profile: Vec<OperatorTime>,
    /// Digest of the profile of its machine, as it was probed before the run; the profile is in the
    /// folder of the results ([`machine_profile_file`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_profile: Option<String>,
}

/// In the folder of the results, once for all runs that name it.
pub fn machine_profile_file(digest: &str) -> String {
    format!("machine-{digest}.json")
}

impl RunRecord {
    /// What it was predicted from; `None` for a run that was measured, here or elsewhere.
    pub fn prediction(&self) -> Option<&Prediction> {
        match &self.origin {
            Origin::Predicted { prediction, .. } => Some(prediction),
            Origin::Measured { .. } | Origin::Imported { .. } => None,
        }
    }

    /// Whether `started` is when the run began.
    pub fn is_dated(&self) -> bool {
        !matches!(self.origin, Origin::Imported { undated: true, .. })
    }

    /// Limits of its environment that this run did not have. Nothing may be concluded from such a
    /// run.
    pub fn unmet_limits(&self) -> Vec<UnmetLimit> {
        let unmet = self.warnings.iter().filter_map(|warning| match warning {
            Warning::LimitUnmet { unmet } => Some(unmet.clone()),
            _ => None,
        });
        unmet.collect()
    }

    /// Cores that the run kept busy: while it worked where that is known, otherwise over its whole
    /// life. `None` if nobody measured that.
    pub fn cores_kept_busy(&self) -> Option<f64> {
        let told = |name: &str| self.metrics.get(name).map(|metric| metric.value);
        let Capacity { cores, .. } = self.machine.capacity();
        let given = self.environment.limits.cores.unwrap_or(cores).min(cores);
        let working = told(metric::CPU_PERCENT).map(|percent| percent / 100.0 * given);
        let busy = working.into_iter().chain(told(metric::CORES_USED));
        busy.filter(|cores| cores.is_finite()).reduce(f64::max)
    }

    /// In which requests were handled: what a service bills, where it tells; otherwise the time
    /// that the client saw, which is more.
    pub fn request_seconds(&self) -> Option<f64> {
        let told = |name: &str| self.metrics.get(name).map(|metric| metric.value);
        told(metric::BILLED_SECONDS).or_else(|| told(metric::BUSY_SECONDS))
    }

    /// That are paid: those the service billed, where it tells, otherwise those that count.
    pub fn requests(&self) -> u64 {
        let told = |name: &str| self.metrics.get(name).map(|metric| metric.value);
        let billed = told(metric::BILLED_SECONDS).zip(told(metric::BILLED_SECONDS_PER_REQUEST));
        let counted = || self.serving.as_deref().map_or(0, ServingRecord::requests);
        match billed {
            Some((all, each)) if all > 0.0 && each > 0.0 => (all / each).round() as u64,
            _ => counted(),
        }
    }
}

/// A run's place in a rental: a machine from its first run to its last.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RentalPart {
    /// The same for all runs of one `bancada run`: when it began. Each environment and price of it
    /// is a rental of its own.
    pub id: String,
    /// Since the run before it ended. A machine is paid for it, although nothing runs.
    pub idle_seconds: f64,
}

/// A rented machine from the moment that it was asked for to the one that it was gone, measured: all
/// of it is paid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineLife {
    /// [`RentalPart::id`] of the runs that were on it.
    pub rental: String,
    pub environment: String,
    pub began: Timestamp,
    /// Until it answered.
    pub startup_seconds: f64,
    /// From there until it could work.
    pub install_seconds: f64,
    /// From the wish to end it until it was gone.
    pub shutdown_seconds: f64,
    pub total_seconds: f64,
}

/// A file that a run depends on, as it was when the run began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInput {
    /// Relative to the folder of the study file where it is below it.
    pub path: String,
    pub bytes: u64,
    /// In hexadecimal; `None` for a file that is too large to be read before every run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// When it was last written, where there is no digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<Timestamp>,
    /// Whether the study lists it under `inputs`; else the command names it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub listed: bool,
}

impl RunInput {
    pub fn has_same_content(&self, other: &RunInput) -> bool {
        match (&self.sha256, &other.sha256) {
            (Some(this), Some(other)) => this == other,
            (None, None) => (self.bytes, self.modified) == (other.bytes, other.modified),
            _ => false,
        }
    }

    /// For a person: the first digits of the digest, or how large and how old it is.
    pub fn version(&self) -> String {
        match (&self.sha256, self.modified) {
            (Some(digest), _) => format!("sha256 {}", digest.get(..12).unwrap_or(digest)),
            (None, Some(modified)) => format!("{} bytes of {modified}", self.bytes),
            (None, None) => format!("{} bytes", self.bytes),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameworkRecord {
    pub name: String,
    /// By the framework's own word; `None` if it did not get so far.
    pub version: Option<String>,
    /// What `bancada verify` had found for this framework and network; `None` if it was not done.
    pub verified: Option<Verified>,
}

/// Whether a framework computes what the others compute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    pub when: Timestamp,
    /// Of the first batch's loss, relative to the embedded engine's.
    pub first_loss_difference: f64,
    /// Of the first batch's loss after the steps.
    pub last_loss_difference: f64,
    pub steps: u32,
    /// The first layer that differs by more than the tolerance; `None` if all agree.
    pub differs_at: Option<String>,
}

/// Time in one operator over the profiled steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperatorTime {
    pub name: String,
    pub kind: String,
    pub calls: u64,
    pub seconds: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Origin {
    Measured {
        bancada: String,
    },
    /// Only its beginning was carried out; everything that depends on its length is a prediction.
    Predicted {
        bancada: String,
        prediction: Prediction,
    },
    /// Brought by `bancada import` from this file and line.
    Imported {
        file: String,
        line: u64,
        /// It does not tell when the run began: `started` is when it was imported.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        undated: bool,
    },
}

/// What a predicted run was made from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// In `unit`.
    pub steps_seen: u64,
    /// Of the whole run.
    pub steps: u64,
    /// Epochs of a command that prints no steps.
    #[serde(default)]
    pub unit: CountUnit,
    /// That the beginning took, with start and end.
    pub seen_seconds: f64,
    /// Standard error of the whole time by what was seen of this run, relative.
    pub relative_error: f64,
    /// Whether the warm-up was over before the second half of what was seen.
    pub is_settled: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub status: Status,
    /// A sentence for whatever is not ok, with the last lines of the log where there are any.
    pub detail: Option<String>,
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
}

impl Outcome {
    /// The detail where there is room for a line only: what happened, and where that names no
    /// cause the last line of the log, which most programs end with it.
    pub fn in_a_line(&self) -> Option<String> {
        let mut lines = self.detail.as_deref()?.lines();
        let first = lines.next()?.trim_end_matches("; the log ends:");
        let has_cause = first.contains(": ");
        let is_word = |line: &&str| line.contains(char::is_alphanumeric);
        let last = lines.map(str::trim).rfind(is_word).filter(|_| !has_cause);
        let said = last.map(|line| format!(": {line}")).unwrap_or_default();
        // A log may hold anything; a line of ours must stay one.
        Some(format!("{first}{said}").replace(|c: char| c.is_control(), " "))
    }

    /// Of a process of which nobody knows how it ended, if it ever began.
    pub fn without_end(status: Status, why: impl Into<String>) -> Self {
        Outcome {
            status,
            detail: Some(why.into()),
            exit_code: None,
            signal: None,
        }
    }

    pub fn ok() -> Self {
        Outcome {
            status: Status::Ok,
            detail: None,
            exit_code: Some(0),
            signal: None,
        }
    }
}

words! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum Status {
        Ok = "ok",
        Failed = "failed",
        OutOfMemory = "out-of-memory",
        TimedOut = "timed-out",
        Interrupted = "interrupted",
    }
}

impl Status {
    /// Whether the run answered the question. Not fitting in memory, or in the time allowed, is
    /// an answer (study D of docs/studies.md); failing or being interrupted is not.
    pub fn is_result(self) -> bool {
        matches!(self, Status::Ok | Status::OutOfMemory | Status::TimedOut)
    }
}

/// The phases a run's life is reported in, in the order of study C of docs/studies.md.
pub mod phase {
    pub const STARTUP: &str = "startup";
    pub const INSTALL: &str = "install";
    pub const LOAD_DATA: &str = "load-data";
    pub const START: &str = "start";
    pub const TRAIN: &str = "train";
    pub const VERIFY: &str = "verify";
    pub const SAVE: &str = "save";
    pub const PROFILE: &str = "profile";
    /// Of a server: to its first healthy ping.
    pub const SETUP: &str = "setup";
    /// Answers of a worker that had to be started for them, or its first one.
    pub const COLD: &str = "cold";
    /// The load on a server that has answered before.
    pub const WARM: &str = "warm";
    pub const SHUTDOWN: &str = "shutdown";
    /// The endpoint is gone; what its provider counted is waited for. Nobody is paid for it.
    pub const FIGURES: &str = "figures";

    /// As a run lives through them.
    pub const ORDER: [&str; 13] = [
        STARTUP, INSTALL, LOAD_DATA, START, TRAIN, VERIFY, SAVE, PROFILE, SETUP, COLD, WARM,
        SHUTDOWN, FIGURES,
    ];

    /// The phases that a run is there for: use of the machine is told of these.
    pub fn is_work(name: &str) -> bool {
        [TRAIN, COLD, WARM].contains(&name)
    }
}

/// A named part of a run's life. Phases follow one another without gap and sum to the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    pub name: String,
    /// Since the start of the run.
    pub begin_seconds: f64,
    pub seconds: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    pub epoch: u32,
    pub loss: Option<f64>,
    pub accuracy: Option<f64>,
    pub seconds: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    pub value: f64,
    /// `s`, `B`, `%`, `1/s`, `J`, `USD`; empty for a pure number.
    pub unit: String,
}

/// The environment as it was for this run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EnvironmentRecord {
    pub name: String,
    pub limits: Limits,
    /// How the limits were enforced: `cgroup v2`, `cgroup v1`, `affinity`, `none`.
    pub limits_by: String,
    pub device: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_one_name_each() {
        let check =
            |text: &str, expected: Option<RunId>| assert_eq!(text.parse().ok(), expected, "{text}");
        check("C3-r2", Some(RunId::new(3, 2)));
        for text in [
            "C03-r2", "C3-r0", "C0-r1", "C+3-r2", "C3", "c3-r2", "C3-r2 ", "C-r", "../C3-r2",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn the_cause_of_a_failure_fits_in_a_line() {
        let check = |detail: &str, expected: &str| {
            let outcome = Outcome {
                detail: Some(detail.to_owned()),
                ..Outcome::ok()
            };
            assert_eq!(outcome.in_a_line().as_deref(), Some(expected));
        };
        check(
            "ended with exit code 9; the log ends:\n  a\n  it\x1b broke\n\n",
            "ended with exit code 9: it  broke",
        );
        check("took longer than 300 ms", "took longer than 300 ms");
    }

    #[test]
    fn what_does_not_fit_is_a_result_and_what_failed_is_not() {
        let results = [Status::Ok, Status::OutOfMemory, Status::TimedOut].map(Status::is_result);
        assert_eq!(results, [true; 3]);
        assert_eq!(
            [Status::Failed, Status::Interrupted].map(Status::is_result),
            [false; 2]
        );
    }
}
