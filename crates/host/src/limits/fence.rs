//! How limits are enforced: by a cgroup, or by limits that any process can set for itself.

use std::path::Path;

use model::study::Limits;
use model::{Capacity, UnmetLimit, Warning};

use crate::limits::allowance::{Layout, affinity, usable_cores};
use crate::limits::cgroup::{Group, GroupSpec, remove_leftovers};

/// The limits as they will be enforced.
#[derive(Debug, Default)]
pub struct Fence {
    pub group: Option<Group>,
    /// The processors the run is bound to.
    pub processors: Option<Vec<usize>>,
    /// The most data each process may hold, where no group counts the memory of all.
    pub data_bytes: Option<u64>,
    /// The container engine that enforces the limits.
    pub engine: Option<&'static str>,
    pub warnings: Vec<Warning>,
}

impl Fence {
    /// The strongest that is allowed here.
    pub fn build(root: &Path, limits: &Limits, name: &str) -> Self {
        let PossibleLimits {
            limits,
            warnings: unmet,
        } = possible_limits(limits);
        let layout = Layout::find(root);
        remove_leftovers(&layout);
        let mut fence = Fence::default();
        if limits != Limits::default() {
            let processors = processors(&limits);
            let spec = GroupSpec::new(name, &limits, processors.clone().unwrap_or_default());
            fence = match Group::create(&layout, &spec) {
                Ok(group) => Fence {
                    group: Some(group),
                    processors,
                    ..Fence::default()
                },
                Err(reason) => Fence::without_group(&limits, &reason),
            };
        }
        if fence.group.is_none() {
            // Where that cannot be had either, processes are found by their session and variables.
            fence.group = Group::hold(&layout, name).ok();
        }
        fence.warnings.extend(unmet);
        fence
    }

    /// For the client of a container engine, which enforces the limits itself: no more than a group
    /// that keeps the client's processes together.
    pub fn of_engine(root: &Path, limits: &Limits, name: &str, engine: &'static str) -> Self {
        let possible = possible_limits(limits);
        let layout = Layout::find(root);
        remove_leftovers(&layout);
        Fence {
            group: Group::hold(&layout, name).ok(),
            engine: (possible.limits != Limits::default()).then_some(engine),
            warnings: possible.warnings,
            ..Fence::default()
        }
    }

    /// Weaker: whole cores, and memory by process.
    pub fn without_group(limits: &Limits, reason: &str) -> Self {
        let PossibleLimits {
            limits,
            warnings: unmet,
        } = possible_limits(limits);
        let weak = |asked: String, by: &str| Warning::LimitsWeak {
            asked,
            by: by.to_owned(),
            reason: format!("{reason}: run with permission to create cgroups"),
        };
        let cores = limits.cores.map(|cores| match cores.fract() == 0.0 {
            true => weak(format!("the limit of {cores} cores"), "affinity"),
            false => Warning::LimitUnmet {
                unmet: UnmetLimit::PartOfCore {
                    asked: cores,
                    given: cores.ceil(),
                    reason: format!("{reason}: run with permission to create cgroups"),
                },
            },
        });
        let memory = limits.memory_bytes.map(|bytes| {
            let asked = format!("the limit of {} MB of memory", bytes / 1_000_000);
            weak(asked, "a limit on the data of each process separately")
        });
        Fence {
            group: None,
            processors: processors(&limits),
            data_bytes: limits.memory_bytes,
            engine: None,
            warnings: unmet.into_iter().chain(cores).chain(memory).collect(),
        }
    }

    /// Cores the run may really use, of those usable here: a part of a core only where a group
    /// holds it to that.
    pub fn cores_given(&self, limits: &Limits, usable: f64) -> f64 {
        if self.engine.is_some() {
            let cores = possible_limits(limits).limits.cores;
            return cores.map_or(usable, |cores| cores.min(usable));
        }
        let given = match (&self.processors, self.limiting_group()) {
            (None, _) => None,
            (Some(_), Some(_)) => limits.cores,
            (Some(processors), None) => Some(processors.len() as f64),
        };
        given.map_or(usable, |cores| cores.min(usable))
    }

    fn limiting_group(&self) -> Option<&Group> {
        self.group.as_ref().filter(|group| group.has_limits)
    }

    pub fn by(&self) -> &'static str {
        if let Some(engine) = self.engine {
            return engine;
        }
        match self.limiting_group() {
            Some(group) => group.version.name(),
            None if self.processors.is_some() || self.data_bytes.is_some() => "affinity",
            None => "none",
        }
    }
}

/// What this machine can give to a run.
pub fn capacity() -> Capacity {
    Capacity {
        cores: usable_cores(),
        memory_bytes: Layout::find(Path::new("/")).usable_memory_bytes(),
    }
}

/// Limits without what this machine cannot give.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PossibleLimits {
    pub limits: Limits,
    /// Of what it cannot give.
    pub warnings: Vec<Warning>,
}

pub fn possible_limits(limits: &Limits) -> PossibleLimits {
    let unmet = limits.beyond(&capacity());
    let lacks_cores = unmet.iter().any(|u| matches!(u, UnmetLimit::Cores { .. }));
    let lacks_memory = unmet.iter().any(|u| matches!(u, UnmetLimit::Memory { .. }));
    // Nonsense such as 0 or NaN limits nothing; the study file's check refuses it earlier.
    let is_possible = |cores: &f64| !cores.is_nan() && *cores > 0.0 && !lacks_cores;
    let limits = Limits {
        cores: limits.cores.filter(is_possible),
        memory_bytes: limits.memory_bytes.filter(|_| !lacks_memory),
    };
    let warning = |unmet| Warning::LimitUnmet { unmet };
    PossibleLimits {
        limits,
        warnings: unmet.into_iter().map(warning).collect(),
    }
}

/// The last ones allowed: the first processor serves most interrupts.
fn processors(limits: &Limits) -> Option<Vec<usize>> {
    let count = limits.cores?.ceil() as usize;
    let allowed = affinity();
    Some(allowed[allowed.len().saturating_sub(count)..].to_vec()).filter(|set| !set.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_groups_the_weaker_way_is_told() {
        let limits = Limits {
            cores: Some(1.0),
            memory_bytes: Some(64_000_000),
        };
        let nowhere = tempfile::tempdir().unwrap();
        let fence = Fence::build(nowhere.path(), &limits, "x");
        assert_eq!(fence.by(), "affinity");
        assert_eq!(fence.processors.as_ref().map(Vec::len), Some(1));
        assert_eq!(fence.data_bytes, Some(64_000_000));
        let told: Vec<String> = fence.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "the limit of 1 cores was enforced by affinity (cgroups are not mounted: run with permission to create cgroups)",
                "the limit of 64 MB of memory was enforced by a limit on the data of each process separately (cgroups are not mounted: run with permission to create \
                 cgroups)",
            ]
        );
    }

    #[test]
    fn cores_given_are_those_of_the_fence() {
        let check = |cores: Option<f64>, usable: f64, expected: f64| {
            let limits = Limits {
                cores,
                memory_bytes: None,
            };
            let fence = Fence::without_group(&limits, "no groups");
            assert_eq!(fence.cores_given(&limits, usable), expected, "{cores:?}");
        };
        check(None, 4.0, 4.0);
        // Bound to a whole core, it may use all of it, unless less is there.
        check(Some(0.5), 4.0, 1.0);
        check(Some(0.5), 0.75, 0.75);
        check(Some(100_000.0), 4.0, 4.0);
        check(Some(f64::NAN), 4.0, 4.0);
    }

    #[test]
    fn no_limits_need_no_fence() {
        let fence = Fence::build(Path::new("/"), &Limits::default(), "x");
        assert_eq!(fence.by(), "none");
        assert_eq!(fence.warnings, []);
    }

    #[test]
    fn limits_that_the_run_does_not_have_are_told() {
        let check = |cores: Option<f64>, memory_bytes: Option<u64>, expected: &str| {
            let limits = Limits {
                cores,
                memory_bytes,
            };
            let nowhere = tempfile::tempdir().unwrap();
            let fence = Fence::build(nowhere.path(), &limits, "x");
            let unmet: Vec<&Warning> = fence
                .warnings
                .iter()
                .filter(|warning| matches!(warning, Warning::LimitUnmet { .. }))
                .collect();
            let [warning] = unmet[..] else {
                panic!("{limits:?}: {:?}", fence.warnings);
            };
            assert!(warning.to_string().starts_with(expected), "{warning}");
        };
        check(
            Some(100_000.0),
            None,
            "100,000 cores requested, but the machine of the run has ",
        );
        check(
            None,
            Some(900_000_000_000_000),
            "900,000 GB of memory requested, but the machine of the run has ",
        );
        check(
            Some(0.5),
            None,
            "0.5 cores requested, but only 1 core could be enforced (cgroups are not mounted",
        );
    }
}
