//! What one run comes to, once all about it is known.

use std::collections::BTreeMap;
use std::path::Path;

use host::limits::cgroup::Group;
use host::limits::{Fence, Layout};
use model::measurement::Foreseen;
use model::run::{Metric, Outcome, Phase, metric};
use model::{Measurement, Timestamp, Warning};

use crate::client::Verdict;
use crate::container::{Counts, Ending};
use crate::log::Log;
use crate::metrics::Facts;
use crate::outcome::{Ended, Evidence};
use crate::process::{LeftBehind, Usage};
use crate::request::Request;
use crate::sampler::{self, Sampled};
use crate::story::Story;
use crate::usable_cores;
use crate::warnings::{Conditions, Judge};

const SHORTEST_INTERVAL_SECONDS: f64 = 0.010;

/// What stays the same over the run.
#[derive(Debug)]
pub(crate) struct Setting<'a> {
    pub(crate) request: &'a Request,
    pub(crate) fence: &'a Fence,
    pub(crate) before: Conditions,
    /// What this process held when it started the run's.
    pub(crate) own_bytes: u64,
    pub(crate) given: Given,
}

/// What this process may use of its machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Given {
    cores: f64,
    memory_limit_bytes: Option<u64>,
    /// Of the whole machine.
    machine_cores: f64,
}

impl Given {
    pub(crate) fn find() -> Self {
        Given {
            cores: usable_cores(),
            memory_limit_bytes: Layout::find(Path::new("/")).memory_limit_bytes(),
            machine_cores: f64::from(sampler::machine_cores()),
        }
    }
}

impl Setting<'_> {
    pub(crate) fn interval_seconds(&self) -> f64 {
        let asked = self.request.settings.interval_seconds;
        if asked.is_finite() {
            asked.clamp(SHORTEST_INTERVAL_SECONDS, 1e6)
        } else {
            1.0
        }
    }

    fn cores_given(&self) -> f64 {
        let limits = &self.request.limits;
        self.fence.cores_given(limits, self.given.cores)
    }
}

/// What is known when the last process has ended.
#[derive(Debug)]
pub(crate) struct Finding<'a> {
    pub(crate) setting: &'a Setting<'a>,
    pub(crate) started: Timestamp,
    pub(crate) seconds: f64,
    pub(crate) story: Story,
    pub(crate) sampled: Sampled,
    pub(crate) usage: Usage,
    pub(crate) log: Log,
    pub(crate) foreseen: Option<Foreseen>,
    /// Why this program ended the run, where it did.
    pub(crate) ended: Option<Ended>,
    pub(crate) client: Option<Verdict>,
    pub(crate) client_cpu_seconds: Option<f64>,
    pub(crate) left_behind: LeftBehind,
    pub(crate) of_events: Vec<Warning>,
    pub(crate) container: Option<EndedContainer>,
    pub(crate) after: Conditions,
}

/// Of a run in a container.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct EndedContainer {
    pub(crate) counts: Counts,
    pub(crate) ending: Ending,
}

impl EndedContainer {
    /// Its own use, and not that of its client.
    pub(crate) fn usage(&self, client: Usage) -> Usage {
        Usage {
            cpu_seconds: self.counts.cpu_seconds.unwrap_or(0.0),
            peak_bytes: self.counts.peak_bytes,
            exit_code: self.ending.exit_code.or(client.exit_code),
            signal: client.signal,
        }
    }
}

/// Use of the machine, which nobody knows of a container that was gone before anybody could look.
const OF_PROCESSES: [&str; 6] = [
    metric::CPU_SECONDS,
    metric::CORES_USED,
    metric::CPU_PERCENT,
    metric::PEAK_MEMORY_BYTES,
    metric::MEMORY_PERCENT,
    metric::MEAN_MEMORY_PERCENT,
];

const OF_MEMORY: [&str; 2] = [metric::PEAK_MEMORY_BYTES, metric::MEMORY_PERCENT];

impl Finding<'_> {
    pub(crate) fn measured(self) -> Measurement {
        let phases = self.story.phases(self.seconds);
        let facts = self.facts(&phases);
        let outcome = self.outcome();
        let metrics = facts.metrics();
        let mut warnings = self.warnings(&facts);
        warnings.extend(metrics.warnings());
        let mut metrics = metrics.into_metrics();
        self.drop_unseen(&facts, &mut metrics);
        Measurement {
            seconds: self.seconds,
            metrics,
            epochs: self.story.epochs.clone(),
            phases,
            warnings,
            limits_by: self.setting.fence.by().to_owned(),
            framework: self.story.framework.clone(),
            profile: self.story.profile(),
            foreseen: self
                .foreseen
                .filter(|_| self.ended == Some(Ended::Foreseen)),
            ..Measurement::new(outcome, self.started)
        }
    }

    fn facts<'f>(&'f self, phases: &'f [Phase]) -> Facts<'f> {
        let group = self.setting.fence.group.as_ref();
        let counts = self.container.as_ref().map(|container| container.counts);
        let own_limit = self.setting.given.memory_limit_bytes;
        let machine_bytes = self.sampled.last.map(|last| last.memory.total_bytes);
        Facts {
            seconds: self.seconds,
            phases,
            story: &self.story,
            sampled: &self.sampled,
            usage: self.usage,
            group_cpu_seconds: match counts {
                Some(counts) => counts.cpu_seconds,
                None => group.and_then(Group::cpu_seconds),
            },
            group_peak_bytes: match counts {
                Some(counts) => counts.group_peak_bytes,
                None => group.and_then(Group::peak_memory_bytes),
            },
            // The processes of a container are no copies of this one.
            own_bytes: counts.map_or(self.setting.own_bytes, |_| 0),
            client_cpu_seconds: self.client_cpu_seconds,
            cores: self.setting.cores_given(),
            memory_bytes: memory_given([self.limit_bytes(), own_limit, machine_bytes]),
        }
    }

    fn outcome(&self) -> Outcome {
        let group = self.setting.fence.group.as_ref();
        let ending = self.container.as_ref().map(|container| &container.ending);
        let reason = ending.and_then(|ending| ending.reason(&self.log.end));
        let evidence = Evidence {
            usage: self.usage,
            ended: self.ended,
            client: self.client.as_ref(),
            was_asked: self.story.has_worked(),
            lacks_steps: self.setting.request.reports_steps && !self.story.steps.any,
            reported_out_of_memory: self.story.out_of_memory.as_deref(),
            reported_error: self.story.error.as_deref(),
            group_kills: match ending {
                Some(ending) => u64::from(ending.out_of_memory),
                None => group.map_or(0, Group::out_of_memory_kills),
            },
            engine_error: reason.as_deref(),
            memory_limit_bytes: self.limit_bytes(),
            machine_was_full: self.after.ran_out_of_memory_since(&self.setting.before),
            log_end: &self.log.end,
        };
        evidence.outcome()
    }

    fn warnings(&self, facts: &Facts<'_>) -> Vec<Warning> {
        let judge = Judge {
            facts,
            before: &self.setting.before,
            after: &self.after,
            machine_cores: self.setting.given.machine_cores,
            interval_seconds: self.setting.interval_seconds(),
        };
        let mut warnings = self.setting.fence.warnings.clone();
        warnings.extend(judge.warnings());
        warnings.extend(self.of_events.clone());
        warnings.extend(self.story.warnings());
        // A program that was cut short had no time to log all that it would have.
        let is_whole = self.ended.is_none() && self.usage.exit_code == Some(0);
        let counts = |w: &&Warning| is_whole || !matches!(w, Warning::PatternUnmatched { .. });
        warnings.extend(self.log.warnings.iter().filter(counts).cloned());
        // Of a run that was ended from here, nobody expects that it tidied up.
        let LeftBehind { found, alive } = self.left_behind;
        if found > alive && self.ended.is_none() {
            let processes = found - alive;
            warnings.push(Warning::LeftBehind { processes });
        }
        if alive > 0 {
            warnings.push(Warning::StillRunning { processes: alive });
        }
        warnings
    }

    /// What nobody could look at is not known.
    fn drop_unseen(&self, facts: &Facts<'_>, metrics: &mut BTreeMap<String, Metric>) {
        let container = self.container.as_ref();
        let was_seen = container.is_none_or(|container| container.counts.was_seen);
        let unseen: &[&str] = match (was_seen, facts.knows_peak()) {
            (false, _) => &OF_PROCESSES,
            (true, false) => &OF_MEMORY,
            (true, true) => &[],
        };
        metrics.retain(|name, _| !unseen.contains(&name.as_str()));
    }

    fn limit_bytes(&self) -> Option<u64> {
        self.setting.request.limits.memory_bytes
    }
}

/// A limit above what there is gives no more than that; 0 where nothing is known.
fn memory_given(bounds: [Option<u64>; 3]) -> u64 {
    let known = bounds.into_iter().flatten().filter(|bytes| *bytes > 0);
    known.min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_given_is_the_least_of_what_bounds_it() {
        let check = |limit, container, machine, expected| {
            assert_eq!(memory_given([limit, container, machine]), expected);
        };
        check(Some(2), None, Some(8), 2);
        check(Some(64), None, Some(8), 8);
        check(Some(64), Some(4), Some(8), 4);
        check(None, None, Some(8), 8);
        check(None, None, Some(0), 0);
        check(None, None, None, 0);
    }
}
