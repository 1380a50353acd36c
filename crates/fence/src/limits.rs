//! How a run is held to its limits: by a control group, or by what any process may do to itself.

use std::path::Path;

use allowance::affinity;
use model::Warning;
use model::study::Limits;

use crate::cgroup::{Group, Layout, Wanted};

/// The limits as they will be put in force.
#[derive(Debug)]
pub struct Fence {
    pub group: Option<Group>,
    /// The processors the run is bound to.
    pub processors: Option<Vec<usize>>,
    /// The most data each process may hold, where no group counts the memory of all.
    pub data_bytes: Option<u64>,
    pub warnings: Vec<Warning>,
}

impl Fence {
    /// The strongest that is allowed here.
    pub fn build(root: &Path, limits: &Limits, name: &str) -> Self {
        let (limits, too_many) = possible(limits, &affinity());
        let mut fence = if limits == Limits::default() {
            Fence {
                group: None,
                processors: None,
                data_bytes: None,
                warnings: Vec::new(),
            }
        } else {
            let processors = processors(&limits);
            let wanted = Wanted::new(name, &limits, processors.clone().unwrap_or_default());
            match Group::create(&Layout::find(root), &wanted) {
                Ok(group) => {
                    let group = Some(group);
                    Fence {
                        group,
                        processors,
                        data_bytes: None,
                        warnings: Vec::new(),
                    }
                }
                Err(reason) => Fence::without_group(&limits, &reason),
            }
        };
        fence.warnings.extend(too_many);
        fence
    }

    /// Weaker: whole cores, and memory by process.
    pub fn without_group(limits: &Limits, reason: &str) -> Self {
        let (limits, too_many) = possible(limits, &affinity());
        let weak = |asked: String, by: &str| Warning::LimitsWeak {
            asked,
            by: by.to_owned(),
            reason: format!("{reason}: run with the right to make cgroups"),
        };
        let cores = limits.cores.map(|cores| {
            let by = if cores.fract() == 0.0 {
                "affinity".to_owned()
            } else {
                format!("affinity, to {} whole cores", cores.ceil())
            };
            weak(format!("the limit of {cores} cores"), &by)
        });
        let memory = limits.memory_bytes.map(|bytes| {
            let asked = format!("the limit of {} MB of memory", bytes / 1_000_000);
            weak(asked, "a limit on the data of each process by itself")
        });
        Fence {
            group: None,
            processors: processors(&limits),
            data_bytes: limits.memory_bytes,
            warnings: too_many.into_iter().chain(cores).chain(memory).collect(),
        }
    }

    /// Cores the run may really use, of those usable here: a part of a core only where a group
    /// holds it to that.
    pub fn cores_given(&self, limits: &Limits, usable: f64) -> f64 {
        let given = match (&self.processors, &self.group) {
            (None, _) => None,
            (Some(_), Some(_)) => limits.cores,
            (Some(processors), None) => Some(processors.len() as f64),
        };
        given.map_or(usable, |cores| cores.min(usable))
    }

    pub fn by(&self) -> &'static str {
        match &self.group {
            Some(group) => group.version.name(),
            None if self.processors.is_some() || self.data_bytes.is_some() => "affinity",
            None => "none",
        }
    }
}

/// Limits without what this machine cannot give, with the warning for that.
fn possible(limits: &Limits, allowed: &[usize]) -> (Limits, Option<Warning>) {
    let most = allowed.len() as f64;
    match limits.cores {
        Some(cores) if most > 0.0 && cores > most => {
            let warning = Warning::LimitsWeak {
                asked: format!("the limit of {cores} cores"),
                by: format!("all of {most} cores"),
                reason: "there are no more here: ask for fewer, or run on a larger machine"
                    .to_owned(),
            };
            (
                Limits {
                    cores: None,
                    ..limits.clone()
                },
                Some(warning),
            )
        }
        // Nonsense such as 0 or NaN limits nothing; the study file's check refuses it earlier.
        Some(cores) if cores.is_nan() || cores <= 0.0 => (
            Limits {
                cores: None,
                ..limits.clone()
            },
            None,
        ),
        _ => (limits.clone(), None),
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
                "the limit of 1 cores was put in force by affinity (no control groups are \
                 mounted: run with the right to make cgroups)",
                "the limit of 64 MB of memory was put in force by a limit on the data of each \
                 process by itself (no control groups are mounted: run with the right to make \
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
    fn more_cores_than_there_are_is_told() {
        let limits = Limits {
            cores: Some(100_000.0),
            memory_bytes: None,
        };
        let fence = Fence::build(Path::new("/"), &limits, "x");
        assert_eq!(fence.by(), "none");
        let [warning] = &fence.warnings[..] else {
            panic!("{:?}", fence.warnings);
        };
        let told = warning.to_string();
        assert!(
            told.ends_with("(there are no more here: ask for fewer, or run on a larger machine)")
        );
    }
}
