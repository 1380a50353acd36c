//! One reading of the machine and of the run's process tree.

use serde::{Deserialize, Serialize};

/// Rates are over the time since the sample before; the first sample has none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Sample {
    /// Since the start of the run.
    pub seconds: f64,
    pub machine: MachineSample,
    pub run: TreeSample,
    pub gpus: Vec<GpuSample>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MachineSample {
    /// Of all cores: 100 is the whole machine.
    pub cpu_percent: Option<f64>,
    /// Time the hypervisor gave to others, of all cores.
    pub steal_percent: Option<f64>,
    pub iowait_percent: Option<f64>,
    pub memory_used_bytes: u64,
    pub swap_used_bytes: u64,
    pub disk_read_bytes_per_second: Option<f64>,
    pub disk_write_bytes_per_second: Option<f64>,
    /// Requests that disks completed.
    #[serde(default)]
    pub disk_reads_per_second: Option<f64>,
    #[serde(default)]
    pub disk_writes_per_second: Option<f64>,
    pub network_receive_bytes_per_second: Option<f64>,
    pub network_send_bytes_per_second: Option<f64>,
    pub context_switches_per_second: Option<f64>,
    /// Pressure stall information, `some` over ten seconds; `None` if the kernel has none.
    pub cpu_pressure_percent: Option<f64>,
    pub memory_pressure_percent: Option<f64>,
    pub io_pressure_percent: Option<f64>,
}

/// The run's process and all its descendants.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TreeSample {
    pub processes: u32,
    pub threads: u32,
    /// 100 is one core.
    pub cpu_percent: Option<f64>,
    pub memory_bytes: u64,
    pub read_bytes_per_second: Option<f64>,
    pub write_bytes_per_second: Option<f64>,
    pub context_switches_per_second: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct GpuSample {
    pub index: u32,
    pub used_percent: f64,
    pub memory_used_bytes: u64,
    pub memory_total_bytes: u64,
    pub power_watts: Option<f64>,
}
