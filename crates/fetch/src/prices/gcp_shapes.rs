//! Google's machines as sums of parts: its catalog prices cores, memory and GPUs apart.
//!
//! Shapes are from cloud.google.com/compute/docs (general-purpose, compute-optimized,
//! accelerator-optimized machines; GPUs for N1), 2025. Machines with disks that are priced apart
//! (a2-ultragpu, a3, `-lssd`) are not here: their sum would be too low.

use cost::{Architecture, Gpu, Shape};
use rust_decimal::Decimal;

/// Machines of one series that differ in size only (`n2-standard-4`): family, kind, memory of a
/// vCPU in hundredths of a GiB (so that 3.75 is exact), and vCPUs.
const SERIES: &[(&str, &str, i64, &[u32])] = &[
    ("n1", "standard", 375, &[1, 2, 4, 8, 16, 32, 64, 96]),
    ("n1", "highmem", 650, &[2, 4, 8, 16, 32, 64, 96]),
    ("n1", "highcpu", 90, &[2, 4, 8, 16, 32, 64, 96]),
    (
        "n2",
        "standard",
        400,
        &[2, 4, 8, 16, 32, 48, 64, 80, 96, 128],
    ),
    ("n2", "highmem", 800, &[2, 4, 8, 16, 32, 48, 64, 80]),
    ("n2", "highcpu", 100, &[2, 4, 8, 16, 32, 48, 64, 80, 96]),
    (
        "n2d",
        "standard",
        400,
        &[2, 4, 8, 16, 32, 48, 64, 80, 96, 128],
    ),
    ("n2d", "highmem", 800, &[2, 4, 8, 16, 32, 48, 64, 80, 96]),
    (
        "n2d",
        "highcpu",
        100,
        &[2, 4, 8, 16, 32, 48, 64, 80, 96, 128],
    ),
    ("e2", "standard", 400, &[2, 4, 8, 16, 32]),
    ("e2", "highmem", 800, &[2, 4, 8, 16]),
    ("e2", "highcpu", 100, &[2, 4, 8, 16, 32]),
    ("c2", "standard", 400, &[4, 8, 16, 30, 60]),
    ("c2d", "standard", 400, &[2, 4, 8, 16, 32, 56, 112]),
    ("c2d", "highcpu", 200, &[2, 4, 8, 16, 32, 56, 112]),
    ("c2d", "highmem", 800, &[2, 4, 8, 16, 32, 56, 112]),
    ("c3", "standard", 400, &[4, 8, 22, 44, 88, 176]),
    ("c3", "highcpu", 200, &[4, 8, 22, 44, 88, 176]),
    ("c3", "highmem", 800, &[4, 8, 22, 44, 88, 176]),
    ("t2d", "standard", 400, &[1, 2, 4, 8, 16, 32, 48, 60]),
    ("t2a", "standard", 400, &[1, 2, 4, 8, 16, 32, 48]),
];

/// Machines with GPUs: name, family, vCPUs and GiB of memory, the GPU and how many of it. N1
/// machines get theirs by hand; such a pair is called `n1-standard-4+T4` here.
const WITH_GPU: &[(&str, &str, [u32; 2], &str, u32)] = &[
    ("a2-highgpu-1g", "a2", [12, 85], "A100", 1),
    ("a2-highgpu-2g", "a2", [24, 170], "A100", 2),
    ("a2-highgpu-4g", "a2", [48, 340], "A100", 4),
    ("a2-highgpu-8g", "a2", [96, 680], "A100", 8),
    ("a2-megagpu-16g", "a2", [96, 1360], "A100", 16),
    ("g2-standard-4", "g2", [4, 16], "L4", 1),
    ("g2-standard-8", "g2", [8, 32], "L4", 1),
    ("g2-standard-12", "g2", [12, 48], "L4", 1),
    ("g2-standard-16", "g2", [16, 64], "L4", 1),
    ("g2-standard-24", "g2", [24, 96], "L4", 2),
    ("g2-standard-32", "g2", [32, 128], "L4", 1),
    ("g2-standard-48", "g2", [48, 192], "L4", 4),
    ("g2-standard-96", "g2", [96, 384], "L4", 8),
    ("n1-standard-4+T4", "n1", [4, 15], "T4", 1),
    ("n1-standard-8+T4", "n1", [8, 30], "T4", 1),
    ("n1-standard-4+P100", "n1", [4, 15], "P100", 1),
    ("n1-standard-8+V100", "n1", [8, 30], "V100", 1),
    ("n1-standard-4+K80", "n1", [4, 15], "K80", 1),
    ("n1-standard-8+K80", "n1", [8, 30], "K80", 1),
];

/// Families whose machines always have GPUs that are priced apart.
const GPU_FAMILIES: [&str; 5] = ["a2", "a3", "a4", "g2", "g4"];

/// A machine and its parts.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub(crate) name: String,
    pub(crate) family: &'static str,
    pub(crate) shape: Shape,
}

impl Machine {
    /// The name of the machine that the GPU is attached to.
    pub(crate) fn host(&self) -> &str {
        self.name.split('+').next().unwrap_or(&self.name)
    }
}

pub(crate) fn machines() -> Vec<Machine> {
    let plain = SERIES
        .iter()
        .flat_map(|&(family, kind, hundredths, sizes)| {
            sizes.iter().map(move |&vcpus| Machine {
                name: format!("{family}-{kind}-{vcpus}"),
                family,
                shape: Shape {
                    vcpus: Some(vcpus.into()),
                    memory_gib: Some(Decimal::new(hundredths * i64::from(vcpus), 2).normalize()),
                    gpu: None,
                    architecture: Some(architecture(family)),
                },
            })
        });
    plain.chain(with_gpus()).collect()
}

pub(crate) fn with_gpus() -> impl Iterator<Item = Machine> {
    let machines = WITH_GPU.iter();
    machines.map(|&(name, family, [vcpus, memory_gib], kind, gpus)| Machine {
        name: name.to_owned(),
        family,
        shape: Shape {
            vcpus: Some(vcpus.into()),
            memory_gib: Some(memory_gib.into()),
            gpu: Some(Gpu {
                kind: kind.to_owned(),
                count: Some(gpus.into()),
                memory_gib: gpu_memory(kind),
            }),
            architecture: Some(Architecture::X86),
        },
    })
}

/// Whether a price of the machine alone is not the whole price.
pub(crate) fn needs_gpu(machine: &str) -> bool {
    GPU_FAMILIES.contains(&family(machine))
}

fn family(machine: &str) -> &str {
    machine.split('-').next().unwrap_or(machine)
}

pub(crate) fn architecture(machine: &str) -> Architecture {
    match family(machine) {
        "t2a" | "c4a" | "n4a" => Architecture::Arm64,
        _ => Architecture::X86,
    }
}

fn gpu_memory(kind: &str) -> Option<Decimal> {
    let gib = match kind {
        "K80" => 12,
        "T4" | "P100" | "V100" => 16,
        "L4" => 24,
        "A100" => 40,
        _ => return None,
    };
    Some(Decimal::from(gib))
}
