//! What a reader must know before trusting this run's numbers: the machine's conditions.

use std::fs;
use std::path::Path;

use host::limits::Layout;
use model::Warning;

use crate::metrics::Facts;
use crate::sampler::value;
use crate::story::LastLoss;

/// Others may use this much before it is reported: a system's own daemons stay below.
const OTHERS_CORES: f64 = 0.25;
const OTHERS_SHARE: f64 = 0.10;
/// Time ready but without a core, of all the time the run was ready.
const WAITED_SHARE: f64 = 0.15;
/// A run that got this share of its cores has nothing to complain of.
const GOT_SHARE: f64 = 0.90;
/// A run with work for less than half a core is not held up by its neighbours.
const LEAST_CORES: f64 = 0.5;
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
        warnings.extend(self.diverged());
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
        let client = self.facts.client_cpu_seconds.unwrap_or(0.0);
        let not_ours = whole.busy_core_seconds - whole.run_cpu_seconds - client;
        let others = not_ours.max(0.0) / whole.seconds;
        if others > OTHERS_CORES && others > OTHERS_SHARE * self.machine_cores {
            let cores = self.machine_cores;
            warnings.push(Warning::MachineBusy {
                others_cores: others,
                cores,
            });
        }
        let stolen = whole.stolen_core_seconds / whole.seconds;
        if let Some(work) = self.facts.work() {
            let ready = work.run_cpu_seconds + work.run_waited_seconds;
            let got = work.run_cpu_seconds / work.seconds;
            // It had work for the cores it was given, or for as many as were asked for at once.
            let wanted = got + work.run_waited_seconds / work.seconds;
            let asked = wanted.min(self.facts.cores);
            // More threads than cores wait for one another: only with others about is it theirs.
            let by_others = others + stolen > OTHERS_SHARE * self.machine_cores;
            let waited = work.run_waited_seconds > WAITED_SHARE * ready;
            if waited && by_others && asked > LEAST_CORES && got < GOT_SHARE * asked {
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

    fn diverged(&self) -> Option<Warning> {
        match self.facts.story.last_loss() {
            LastLoss::Lost { epoch } => Some(Warning::Diverged { epoch }),
            LastLoss::Untold | LastLoss::Told(_) => None,
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Usage;
    use crate::sampler::Sampled;
    use crate::sampler::trace::Point;
    use crate::story::Story;

    /// What is said of ten seconds on four cores in which all this passed.
    fn said(passed: Point, change: impl FnOnce(&mut Sampled)) -> Vec<String> {
        let mut sampled = Sampled {
            samples: 11,
            ..Sampled::default()
        };
        sampled.trace.push(Point::default());
        sampled.trace.push(Point {
            seconds: 10.0,
            core_seconds: 40.0,
            ..passed
        });
        change(&mut sampled);
        let story = Story::new(0.0);
        let facts = Facts {
            seconds: 10.0,
            phases: &story.phases(10.0),
            story: &story,
            sampled: &sampled,
            usage: Usage::default(),
            group_cpu_seconds: None,
            group_peak_bytes: None,
            own_bytes: 0,
            client_cpu_seconds: None,
            cores: 4.0,
            memory_bytes: 1,
        };
        let conditions = Conditions::default();
        let judge = Judge {
            facts: &facts,
            before: &conditions,
            after: &conditions,
            machine_cores: 4.0,
            interval_seconds: 1.0,
        };
        judge.warnings().iter().map(ToString::to_string).collect()
    }

    fn check(passed: Point, expected: &[&str]) {
        let said = said(passed, |_| ());
        assert_eq!(said.len(), expected.len(), "{said:?}");
        for (said, expected) in said.iter().zip(expected) {
            assert!(said.starts_with(expected), "{said}");
        }
    }

    #[test]
    fn a_quiet_machine_raises_no_warning() {
        let quiet = Point {
            run_cpu_seconds: 38.0,
            busy_core_seconds: 39.0,
            ..Point::default()
        };
        check(quiet, &[]);
        // More threads than cores wait for one another, and that is nobody else's fault.
        check(
            Point {
                run_waited_seconds: 80.0,
                ..quiet
            },
            &[],
        );
    }

    #[test]
    fn neighbours_are_told_of() {
        let busy = Point {
            run_cpu_seconds: 20.0,
            busy_core_seconds: 40.0,
            ..Point::default()
        };
        check(busy, &["other programs used 2.0 of 4 cores"]);
        let robbed = Point {
            run_waited_seconds: 20.0,
            ..busy
        };
        check(
            robbed,
            &["other programs used 2.0 of 4 cores", "got 2.0 of 4.0 cores"],
        );
        // So little use by others (0.3 of 4 cores) takes no core from anybody.
        let alone = Point {
            run_cpu_seconds: 20.0,
            run_waited_seconds: 20.0,
            busy_core_seconds: 23.0,
            ..Point::default()
        };
        check(alone, &[]);
        // One thread asks for no more than one core.
        let single = Point {
            run_cpu_seconds: 5.0,
            run_waited_seconds: 5.0,
            ..busy
        };
        check(
            single,
            &["other programs used 3.5 of 4 cores", "got 0.5 of 1.0 cores"],
        );
        check(
            Point {
                stolen_core_seconds: 2.0,
                ..Point::default()
            },
            &["the hypervisor gave 5 %"],
        );
    }

    #[test]
    fn late_samples_are_told_of() {
        let late = said(Point::default(), |sampled| {
            sampled.late = 1;
            sampled.worst_gap_seconds = 1.7;
        });
        assert!(
            late[0].starts_with("samples every 1 s were requested but were up to 1.70 s apart"),
            "{late:?}"
        );
    }

    #[test]
    fn the_machines_own_troubles_are_told_of() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let cgroup = "sys/fs/cgroup/box/cpu.stat";
        put(
            "proc/self/mountinfo",
            "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        );
        put("proc/self/cgroup", "0::/box\n");
        put("proc/vmstat", "nr_free_pages 5\noom_kill 1\n");
        put(
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
            "powersave\n",
        );
        put(
            "sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count",
            "3\n",
        );
        put(cgroup, "usage_usec 5\nnr_periods 100\nnr_throttled 10\n");
        let before = Conditions::read(root.path());
        put(
            "sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count",
            "5\n",
        );
        put(cgroup, "usage_usec 5\nnr_periods 200\nnr_throttled 60\n");
        put("proc/vmstat", "nr_free_pages 5\noom_kill 2\n");
        let after = Conditions::read(root.path());
        assert!(after.ran_out_of_memory_since(&before));
        let said: Vec<String> = after
            .warnings_since(&before)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[0].contains("`powersave`"));
        assert!(said[1].contains("2 times by heat"));
        assert!(said[2].contains("CPU quota in 50 of 100 periods"));
    }
}
