//! Capacity of a machine, and limits of a run that were not met.

use std::fmt;

use messages::{message, number, word};
use serde::{Deserialize, Serialize};

use crate::study::Limits;

/// What a machine has for runs; 0 where that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Capacity {
    pub cores: f64,
    pub memory_bytes: u64,
}

/// Firmware and kernel keep a part of the installed memory, so that a machine sold with 16 GiB
/// shows less: a limit of up to this share more than is shown still means the whole machine.
const RESERVED_SHARE: f64 = 1.0 / 16.0;
/// Quotas are fractions of a period and come back with rounding errors.
const CORES_TOLERANCE: f64 = 0.005;

/// A limit that a run did not have: its figures do not describe what was requested, and nothing
/// may be concluded from them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "limit", rename_all = "kebab-case")]
pub enum UnmetLimit {
    /// More cores than the machine has.
    Cores { asked: f64, has: f64 },
    /// More memory than the machine has.
    Memory { asked_bytes: u64, has_bytes: u64 },
    /// A part of a core, where only whole cores could be enforced.
    PartOfCore {
        asked: f64,
        given: f64,
        reason: String,
    },
}

impl Limits {
    /// What these limits ask for and a machine of this capacity does not have.
    pub fn beyond(&self, capacity: &Capacity) -> Vec<UnmetLimit> {
        let Capacity {
            cores: has,
            memory_bytes: has_bytes,
        } = *capacity;
        let cores = self
            .cores
            .filter(|asked| has > 0.0 && *asked > has + CORES_TOLERANCE)
            .map(|asked| UnmetLimit::Cores { asked, has });
        let most_bytes = has_bytes as f64 * (1.0 + RESERVED_SHARE);
        let memory = self
            .memory_bytes
            .filter(|asked| has_bytes > 0 && *asked as f64 > most_bytes)
            .map(|asked_bytes| UnmetLimit::Memory {
                asked_bytes,
                has_bytes,
            });
        cores.into_iter().chain(memory).collect()
    }
}

impl UnmetLimit {
    /// What was requested: `64 cores`.
    pub fn asked(&self) -> String {
        match self {
            UnmetLimit::Cores { asked, .. } | UnmetLimit::PartOfCore { asked, .. } => cores(*asked),
            UnmetLimit::Memory { asked_bytes, .. } => {
                message!("warn-limit-memory", size = size(*asked_bytes))
            }
        }
    }

    /// What there is instead: `2 cores`.
    pub fn available(&self) -> String {
        match self {
            UnmetLimit::Cores { has, .. } => cores(*has),
            UnmetLimit::PartOfCore { given, .. } => cores(*given),
            UnmetLimit::Memory { has_bytes, .. } => {
                // As the machine is described elsewhere, beside the unit that studies are written in.
                let gib = (*has_bytes as f64 / f64::from(1 << 30) * 10.0).round() / 10.0;
                let gib = number(&gib.to_string());
                format!("{} ({gib} {})", size(*has_bytes), word!("unit-GiB"))
            }
        }
    }
}

impl fmt::Display for UnmetLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (asked, available) = (self.asked(), self.available());
        f.write_str(&match self {
            UnmetLimit::Cores { .. } | UnmetLimit::Memory { .. } => {
                message!("warn-limit-machine", asked, available)
            }
            UnmetLimit::PartOfCore { reason, .. } => {
                message!("warn-limit-enforced", asked, available, reason)
            }
        })
    }
}

fn cores(count: f64) -> String {
    let count = (count * 100.0).round() / 100.0;
    let value = number(&count.to_string());
    match count.fract() == 0.0 && count >= 1.0 {
        true => message!("level-cores", value, number = count as u64),
        // Part of a core has the genitive of few, where a language has one.
        false => message!("level-cores", value, number = "few"),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000_000 => format!("{} {}", bytes / 1_000_000, word!("unit-MB")),
        _ => {
            let tenths = (bytes as f64 / 1e8).round() / 10.0;
            format!("{} {}", number(&tenths.to_string()), word!("unit-GB"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_compared_with_what_the_machine_has() {
        let check = |cores: Option<f64>, gigabytes: Option<f64>, expected: &[&str]| {
            let limits = Limits {
                cores,
                memory_bytes: gigabytes.map(|gigabytes| (gigabytes * 1e9) as u64),
            };
            let machine = Capacity {
                cores: 2.0,
                memory_bytes: 24_000_000_000,
            };
            let said: Vec<String> = limits
                .beyond(&machine)
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(said, expected, "{limits:?}");
        };
        check(None, None, &[]);
        check(Some(2.0), Some(24.0), &[]);
        // What is sold as 24 GiB shows a little less than that.
        check(Some(2.001), Some(25.4), &[]);
        check(
            Some(64.0),
            Some(900.0),
            &[
                "64 cores requested, but the machine of the run has 2 cores",
                "900 GB of memory requested, but the machine of the run has 24 GB (22.4 GiB)",
            ],
        );
        check(
            Some(2.5),
            None,
            &["2.5 cores requested, but the machine of the run has 2 cores"],
        );
    }

    #[test]
    fn of_an_unknown_machine_nothing_is_said() {
        let limits = Limits {
            cores: Some(64.0),
            memory_bytes: Some(u64::MAX),
        };
        assert_eq!(limits.beyond(&Capacity::default()), []);
    }
}
