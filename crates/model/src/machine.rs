//! What a machine is: stored with every run, so that a result can be read in ten years.

use serde::{Deserialize, Serialize};

use crate::capacity::Capacity;
use crate::energy::EnergyCounters;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Inventory {
    pub hostname: String,
    pub cpu_model: String,
    /// Logical processors of the machine.
    pub logical_cores: u32,
    pub physical_cores: Option<u32>,
    /// Cores this process may really use: affinity and cgroup quota.
    pub usable_cores: f64,
    pub cpu_max_megahertz: Option<f64>,
    pub governor: Option<String>,
    pub memory_bytes: u64,
    pub swap_bytes: u64,
    pub kernel: String,
    pub operating_system: String,
    pub hypervisor: Option<String>,
    pub container: Option<String>,
    pub architecture: String,
    pub gpus: Vec<Gpu>,
    pub gpu_driver: Option<String>,
    /// `None` where the machine has none, or nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_counters: Option<EnergyCounters>,
    /// `bancada`, `engine`, and later each framework, with its version.
    pub versions: std::collections::BTreeMap<String, String>,
    /// Commit of the repository that holds the study file, `+` when it has changes.
    pub git_commit: Option<String>,
}

impl Inventory {
    /// Nothing of a machine that nobody described.
    pub fn capacity(&self) -> Capacity {
        Capacity {
            cores: self.usable_cores,
            memory_bytes: self.memory_bytes,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Gpu {
    pub index: u32,
    pub name: String,
    pub memory_bytes: u64,
}
