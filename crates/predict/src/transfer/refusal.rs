use std::fmt;

use model::MachineProfile;
use model::profile::WorkKind;

use super::Workload;

/// Why a workload is not carried over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Neither the framework nor the embedded engine was probed on both machines.
    NoCommonProbe { framework: String, machine: String },
    /// A machine was probed before this kind of work was part of the probe.
    KindNotProbed { kind: WorkKind },
    Memory {
        needed_bytes: u64,
        machine: String,
        machine_bytes: u64,
    },
    /// No layer of it takes time, or its time is not a number.
    NoWork,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoCommonProbe { framework, machine } => write!(
                f,
                "neither {framework} nor the embedded engine was probed both here and on {machine}: run `bancada probe --framework {framework}` on both"
            ),
            Refusal::KindNotProbed { kind } => write!(
                f,
                "the probe has no measurement of {}: probe both machines again",
                kind.words()
            ),
            Refusal::Memory {
                needed_bytes,
                machine,
                machine_bytes,
            } => write!(
                f,
                "it needs {} MB of memory, but {machine} has {} MB",
                needed_bytes / 1_000_000,
                machine_bytes / 1_000_000
            ),
            Refusal::NoWork => f.write_str("its step time or its layers are missing"),
        }
    }
}

impl std::error::Error for Refusal {}

pub(super) fn check_memory(workload: &Workload<'_>, there: &MachineProfile) -> Result<(), Refusal> {
    let machine_bytes = there.machine.memory_bytes;
    match workload.memory_bytes {
        // A machine of which nobody knows the memory refuses nothing.
        Some(needed_bytes) if machine_bytes > 0 && needed_bytes > machine_bytes => {
            Err(Refusal::Memory {
                needed_bytes,
                machine: there.name.clone(),
                machine_bytes,
            })
        }
        _ => Ok(()),
    }
}
