//! What a reader must know before trusting this run's numbers: the machine's conditions.

use std::fs;
use std::path::Path;

use model::Warning;

use crate::cgroup::Layout;
use crate::metrics::Facts;
use crate::sampler::value;

/// Others may use this much before it is told: a system's own daemons stay below.
const OTHERS_CORES: f64 = 0.25;
const OTHERS_SHARE: f64 = 0.10;
/// Time ready but without a core, of all the time the run was ready.
const WAITED_SHARE: f64 = 0.15;
/// A run that got this share of its cores has nothing to complain of.
const GOT_SHARE: f64 = 0.90;
const STOLEN_PERCENT: f64 = 2.0;
/// Periods in which a quota held the run back, of all periods.
const THROTTLED_SHARE: f64 = 0.05;
const LATE_SHARE: f64 = 0.05;
/// Less is the system's own tidying.
const SWAPPED_BYTES: u64 = 16 << 20;
/// The kernel counts in hundredths of a second: shorter runs say nothing of the machine.
const SHORTEST_SECONDS: f64 = 0.2;

/// The machine's counts of its own troubles, at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Conditions {
    governor: Option<String>,
    thermal_events: u64,
    quota_periods: u64,
    quota_throttled: u64,
    out_of_memory_kills: u64,
}

impl Conditions {
    pub(crate) fn read(root: &Path) -> Self {
        let quota = Layout::find(root)
            .own_cpu_stat()
            .and_then(|path| fs::read(path).ok());
        let quota = quota.unwrap_or_default();
        let vmstat = fs::read(root.join("proc/vmstat")).unwrap_or_default();
        Conditions {
            governor: governor(root),
            thermal_events: thermal_events(root),
            quota_periods: value(&quota, b"nr_periods ").unwrap_or(0),
            quota_throttled: value(&quota, b"nr_throttled ").unwrap_or(0),
            out_of_memory_kills: value(&vmstat, b"oom_kill ").unwrap_or(0),
        }
    }

    /// Whether the kernel ended anybody for want of memory since then.
    pub(crate) fn ran_out_of_memory_since(&self, before: &Conditions) -> bool {
        self.out_of_memory_kills > before.out_of_memory_kills
    }

    fn warnings_since(&self, before: &Conditions) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if let Some(governor) = self.governor.clone().filter(|name| name != "performance") {
            warnings.push(Warning::Governor { governor });
        }
        let thermal = self.thermal_events.saturating_sub(before.thermal_events);
        if thermal > 0 {
            let detail = format!("{thermal} times by heat");
            warnings.push(Warning::Throttled { detail });
        }
        let periods = self.quota_periods.saturating_sub(before.quota_periods);
        let throttled = self.quota_throttled.saturating_sub(before.quota_throttled);
        if throttled as f64 > THROTTLED_SHARE * periods as f64 {
            let detail =
                format!("by this container's CPU quota in {throttled} of {periods} periods");
            warnings.push(Warning::Throttled { detail });
        }
        warnings
    }
}

/// How the CPU's speed is governed, where that can be seen.
pub(crate) fn governor(root: &Path) -> Option<String> {
    let path = root.join("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    fs::read_to_string(path)
        .ok()
        .map(|text| text.trim().to_owned())
}

fn thermal_events(root: &Path) -> u64 {
    let cores = fs::read_dir(root.join("sys/devices/system/cpu"))
        .into_iter()
        .flatten()
        .flatten();
    let count = |core: fs::DirEntry| {
        let read = |name: &str| -> u64 {
            let path = core.path().join("thermal_throttle").join(name);
            fs::read_to_string(path)
                .ok()
                .and_then(|text| text.trim().parse().ok())
                .unwrap_or(0)
        };
        read("core_throttle_count").saturating_add(read("package_throttle_count"))
    };
    cores.map(count).fold(0, u64::saturating_add)
}

/// What the samples and the machine's counts say together.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    pub(crate) facts: &'a Facts<'a>,
    pub(crate) before: &'a Conditions,
    pub(crate) after: &'a Conditions,
    pub(crate) machine_cores: f64,
    pub(crate) interval_seconds: f64,
}

impl Judge<'_> {
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.of_the_neighbours();
        warnings.extend(self.after.warnings_since(self.before));
        warnings.extend(self.swapped());
        warnings.extend(self.late());
        warnings
    }

    fn of_the_neighbours(&self) -> Vec<Warning> {
        let whole = self
            .facts
            .sampled
            .trace
            .whole()
            .filter(|p| p.seconds >= SHORTEST_SECONDS);
        let Some(whole) = whole else {
            return Vec::new();
        };
        let mut warnings = Vec::new();
        let others = (whole.busy_core_seconds - whole.run_cpu_seconds).max(0.0) / whole.seconds;
        if others > OTHERS_CORES && others > OTHERS_SHARE * self.machine_cores {
            let cores = self.machine_cores;
            warnings.push(Warning::MachineBusy {
                others_cores: others,
                cores,
            });
        }
        let stolen = whole.stolen_core_seconds / whole.seconds;
        if let Some(training) = self.facts.training() {
            let ready = training.run_cpu_seconds + training.run_waited_seconds;
            let got = training.run_cpu_seconds / training.seconds;
            let asked = self.facts.cores;
            // More threads than cores wait for one another: only with others about is it theirs.
            let by_others = others + stolen > OTHERS_SHARE;
            let waited = training.run_waited_seconds > WAITED_SHARE * ready;
            if waited && by_others && got < GOT_SHARE * asked {
                warnings.push(Warning::FewerCores { got, asked });
            }
        }
        let percent = 100.0 * whole.stolen_core_seconds / whole.core_seconds;
        if percent > STOLEN_PERCENT {
            warnings.push(Warning::Stolen { percent });
        }
        warnings
    }

    fn swapped(&self) -> Option<Warning> {
        let first = self.facts.sampled.first?.memory.swap_used_bytes;
        let bytes = self
            .facts
            .sampled
            .most_swap_used_bytes
            .saturating_sub(first);
        (bytes >= SWAPPED_BYTES).then_some(Warning::Swapped { bytes })
    }

    fn late(&self) -> Option<Warning> {
        let sampled = self.facts.sampled;
        let often = sampled.late as f64 > LATE_SHARE * sampled.samples as f64;
        let badly = sampled.worst_gap_seconds > 3.0 * self.interval_seconds + 0.1;
        (often || badly).then_some(Warning::SamplesLate {
            asked_seconds: self.interval_seconds,
            worst_seconds: sampled.worst_gap_seconds,
        })
    }
}
