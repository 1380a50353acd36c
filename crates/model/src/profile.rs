//! What a machine can do, as `bancada probe` measured it: the time of training steps of small
//! networks, each of which is mostly one kind of work.

use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::machine::Inventory;

/// Version of the file.
pub const PROFILE_SCHEMA: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineProfile {
    pub schema: u32,
    /// As the price catalog names it (`aws/c7g.xlarge`), or the host's name.
    pub name: String,
    pub measured: Timestamp,
    pub machine: Inventory,
    /// That the measured processes could use.
    pub cores: f64,
    /// The embedded engine, and frameworks that were asked for.
    pub frameworks: Vec<FrameworkProbe>,
    /// The embedded engine on one core; `None` where there is no more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_core: Option<FrameworkProbe>,
    #[serde(default)]
    pub host: HostRates,
    /// How long the probe took.
    pub seconds: f64,
}

impl MachineProfile {
    pub fn framework(&self, name: &str) -> Option<&FrameworkProbe> {
        self.frameworks.iter().find(|probe| probe.framework == name)
    }

    /// Whether it is of this machine, used with so many cores.
    pub fn is_of(&self, machine: &Inventory, cores: f64) -> bool {
        let own = &self.machine;
        own.hostname == machine.hostname
            && own.cpu_model == machine.cpu_model
            && own.memory_bytes == machine.memory_bytes
            && self.cores == cores
    }

    /// Of several that are of a machine, the one to be used: one that bears the host's name is
    /// certainly of it, while hosts of a cloud often share a name; then the latest.
    pub fn rank_for(&self, machine: &Inventory) -> (bool, Timestamp) {
        (self.name.starts_with(&machine.hostname), self.measured)
    }

    /// The measurement of the embedded engine and the frameworks that varied most.
    pub fn noisiest(&self) -> Option<&StepTime> {
        let steps = self.frameworks.iter().flat_map(|probe| &probe.steps);
        steps.max_by(|one, other| one.seconds.spread.total_cmp(&other.seconds.spread))
    }
}

/// Steps of one framework.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameworkProbe {
    pub framework: String,
    pub version: String,
    /// `None` leaves it to the framework.
    pub threads: Option<u32>,
    pub steps: Vec<StepTime>,
}

/// A training step of one network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepTime {
    pub network: String,
    /// What nearly all of the step is, in networks of the probe; `None` for networks of the user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<WorkKind>,
    pub batch: u32,
    pub work: Vec<LayerWork>,
    pub seconds: Measured,
    /// Of all threads together. Far less than `seconds` on one core: others used it.
    pub cpu_seconds: Measured,
}

impl StepTime {
    /// Of its kind in a second: FLOPs, bytes or calls. Everything else in the step counts as if it
    /// were nothing.
    pub fn rate(&self) -> Option<f64> {
        let kind = self.kind?;
        let own = self.work.iter().filter(|layer| layer.kind == kind);
        Some(own.map(LayerWork::total).sum::<f64>() / self.seconds.median)
    }

    /// How many times as long a step of the same network takes in `other`.
    pub fn slowdown(&self, other: &FrameworkProbe) -> Option<f64> {
        let other = other
            .steps
            .iter()
            .find(|step| step.network == self.network)?;
        Some(other.seconds.median / self.seconds.median)
    }
}

/// Kinds of work that machines are good at to different degrees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkKind {
    /// Dense layers, in FLOPs.
    MatrixProduct,
    /// In FLOPs.
    Convolution,
    /// Convolutions of one pixel across channels, in FLOPs.
    Pointwise,
    /// Convolutions of each channel by itself, in FLOPs.
    Depthwise,
    /// Layers that only pass over their values (ReLU, pooling, normalisation …), in bytes.
    Memory,
    /// What the optimiser does to the parameters, in bytes.
    Update,
    /// What a layer takes however small it is, in layers.
    Call,
}

impl WorkKind {
    pub const ALL: [WorkKind; 7] = [
        WorkKind::MatrixProduct,
        WorkKind::Convolution,
        WorkKind::Pointwise,
        WorkKind::Depthwise,
        WorkKind::Memory,
        WorkKind::Update,
        WorkKind::Call,
    ];

    pub fn words(self) -> &'static str {
        match self {
            WorkKind::MatrixProduct => "matrix product",
            WorkKind::Convolution => "convolution",
            WorkKind::Pointwise => "1×1 convolution",
            WorkKind::Depthwise => "depthwise convolution",
            WorkKind::Memory => "element-wise",
            WorkKind::Update => "optimiser update",
            WorkKind::Call => "per-layer overhead",
        }
    }
}

/// Layers of a training step, forward and backward, that are alike.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LayerWork {
    pub kind: WorkKind,
    /// FLOPs or bytes of one of them; 1 for a call.
    pub size: f64,
    pub times: u32,
}

impl LayerWork {
    pub fn total(&self) -> f64 {
        self.size * f64::from(self.times)
    }
}

/// A machine apart from any network.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HostRates {
    /// Copying arrays that no cache holds, read and written bytes together, with all cores.
    pub memory_bytes_per_second: Option<Measured>,
    /// Until a sleeping thread works.
    pub wake_up_seconds: Option<Measured>,
    pub disk_write_bytes_per_second: Option<Measured>,
    /// Of a file that was just written and dropped from the system's cache, as far as it can be.
    pub disk_read_bytes_per_second: Option<Measured>,
}

/// The median of several rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    pub median: f64,
    /// Standard deviation of a round relative to the median, by the median of absolute deviations.
    pub spread: f64,
    pub rounds: u32,
}

/// With fewer rounds nothing is known of how they differ.
const ROUNDS_WITH_SPREAD: u32 = 3;
/// What is taken then: rounds of a quiet machine differ by less.
const UNKNOWN_SPREAD: f64 = 0.1;

/// Turns the median of absolute deviations of normal values into their standard deviation.
const MAD_TO_DEVIATION: f64 = 1.4826;

impl Measured {
    /// `None` for no rounds, or values that are not positive numbers.
    pub fn of(rounds: &[f64]) -> Option<Measured> {
        let is_good = |value: &f64| value.is_finite() && *value > 0.0;
        let middle = median(rounds).filter(|_| rounds.iter().all(is_good))?;
        let deviations: Vec<f64> = rounds.iter().map(|value| (value - middle).abs()).collect();
        Some(Measured {
            median: middle,
            spread: median(&deviations)? * MAD_TO_DEVIATION / middle,
            rounds: rounds.len() as u32,
        })
    }

    /// How far rounds differ, where there are enough to show it.
    pub fn known_spread(&self) -> Option<f64> {
        (self.rounds >= ROUNDS_WITH_SPREAD).then_some(self.spread)
    }

    /// Of the median, relative to it.
    pub fn standard_error(&self) -> f64 {
        let spread = self
            .known_spread()
            .unwrap_or(self.spread.max(UNKNOWN_SPREAD));
        // A median of normal values varies by √(π/2) more than their mean.
        spread * (std::f64::consts::FRAC_PI_2 / f64::from(self.rounds.max(1))).sqrt()
    }
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get((sorted.len() - 1) / 2)?;
    Some((lower + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_become_a_median_with_a_spread() {
        let check = |rounds: &[f64], expected: Option<[f64; 2]>| {
            let found = Measured::of(rounds).map(|m| [m.median, m.spread]);
            assert_eq!(found, expected, "{rounds:?}");
        };
        check(&[], None);
        check(&[1.0, f64::NAN], None);
        check(&[1.0, 0.0], None);
        check(&[2.0], Some([2.0, 0.0]));
        // One round that was disturbed changes neither.
        check(&[2.0, 2.0, 2.0, 2.0, 900.0], Some([2.0, 0.0]));
        check(&[1.0, 3.0], Some([2.0, MAD_TO_DEVIATION / 2.0]));
    }
    #[test]
    fn one_round_shows_no_spread_and_is_known_worse_than_five() {
        let error = |rounds: &[f64]| Measured::of(rounds).unwrap().standard_error();
        let five = error(&[2.0, 2.05, 1.95, 2.02, 1.98]);
        assert!(error(&[2.0]) > error(&[2.0, 2.0]) && error(&[2.0, 2.0]) > five);
        assert!(error(&[1.0, 3.0]) > error(&[2.0, 2.0]));
        let known = |rounds: &[f64]| Measured::of(rounds).unwrap().known_spread();
        assert_eq!((known(&[2.0]), known(&[2.0, 2.1])), (None, None));
        assert_eq!(known(&[2.0, 2.0, 2.0]), Some(0.0));
    }
}
