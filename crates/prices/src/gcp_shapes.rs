//! Google's machines as sums of parts: its catalog prices cores, memory and GPUs apart.
//!
//! Shapes are from cloud.google.com/compute/docs (general-purpose, compute-optimized,
//! accelerator-optimized machines; GPUs for N1), 2025. Machines with disks that are priced apart
//! (a2-ultragpu, a3, `-lssd`) are not here: their sum would be too low.

use cost::{Architecture, Gpu, Shape};
use rust_decimal::Decimal;

/// Machines of one series that differ in size only: `n2-standard-4`.
struct Series {
    family: &'static str,
    kind: &'static str,
    /// In hundredths, so that 3.75 is exact.
    gib_per_vcpu: i64,
    vcpus: &'static [u32],
}

const fn series(
    family: &'static str,
    kind: &'static str,
    gib_per_vcpu: i64,
    vcpus: &'static [u32],
) -> Series {
    Series {
        family,
        kind,
        gib_per_vcpu,
        vcpus,
    }
}

const SERIES: &[Series] = &[
    series("n1", "standard", 375, &[1, 2, 4, 8, 16, 32, 64, 96]),
    series("n1", "highmem", 650, &[2, 4, 8, 16, 32, 64, 96]),
    series("n1", "highcpu", 90, &[2, 4, 8, 16, 32, 64, 96]),
    series(
        "n2",
        "standard",
        400,
        &[2, 4, 8, 16, 32, 48, 64, 80, 96, 128],
    ),
    series("n2", "highmem", 800, &[2, 4, 8, 16, 32, 48, 64, 80]),
    series("n2", "highcpu", 100, &[2, 4, 8, 16, 32, 48, 64, 80, 96]),
    series(
        "n2d",
        "standard",
        400,
        &[2, 4, 8, 16, 32, 48, 64, 80, 96, 128],
    ),
    series("n2d", "highmem", 800, &[2, 4, 8, 16, 32, 48, 64, 80, 96]),
    series(
        "n2d",
        "highcpu",
        100,
        &[2, 4, 8, 16, 32, 48, 64, 80, 96, 128],
    ),
    series("e2", "standard", 400, &[2, 4, 8, 16, 32]),
    series("e2", "highmem", 800, &[2, 4, 8, 16]),
    series("e2", "highcpu", 100, &[2, 4, 8, 16, 32]),
    series("c2", "standard", 400, &[4, 8, 16, 30, 60]),
    series("c2d", "standard", 400, &[2, 4, 8, 16, 32, 56, 112]),
    series("c2d", "highcpu", 200, &[2, 4, 8, 16, 32, 56, 112]),
    series("c2d", "highmem", 800, &[2, 4, 8, 16, 32, 56, 112]),
    series("c3", "standard", 400, &[4, 8, 22, 44, 88, 176]),
    series("c3", "highcpu", 200, &[4, 8, 22, 44, 88, 176]),
    series("c3", "highmem", 800, &[4, 8, 22, 44, 88, 176]),
    series("t2d", "standard", 400, &[1, 2, 4, 8, 16, 32, 48, 60]),
    series("t2a", "standard", 400, &[1, 2, 4, 8, 16, 32, 48]),
];

/// A machine with GPUs. N1 machines get theirs by hand; such a pair is called
/// `n1-standard-4+T4` here.
struct WithGpu {
    machine: &'static str,
    family: &'static str,
    vcpus: u32,
    memory_gib: u32,
    gpu: &'static str,
    gpus: u32,
}

const fn with_gpu(
    machine: &'static str,
    family: &'static str,
    [vcpus, memory_gib]: [u32; 2],
    gpu: &'static str,
    gpus: u32,
) -> WithGpu {
    WithGpu {
        machine,
        family,
        vcpus,
        memory_gib,
        gpu,
        gpus,
    }
}

const WITH_GPU: &[WithGpu] = &[
    with_gpu("a2-highgpu-1g", "a2", [12, 85], "A100", 1),
    with_gpu("a2-highgpu-2g", "a2", [24, 170], "A100", 2),
    with_gpu("a2-highgpu-4g", "a2", [48, 340], "A100", 4),
    with_gpu("a2-highgpu-8g", "a2", [96, 680], "A100", 8),
    with_gpu("a2-megagpu-16g", "a2", [96, 1360], "A100", 16),
    with_gpu("g2-standard-4", "g2", [4, 16], "L4", 1),
    with_gpu("g2-standard-8", "g2", [8, 32], "L4", 1),
    with_gpu("g2-standard-12", "g2", [12, 48], "L4", 1),
    with_gpu("g2-standard-16", "g2", [16, 64], "L4", 1),
    with_gpu("g2-standard-24", "g2", [24, 96], "L4", 2),
    with_gpu("g2-standard-32", "g2", [32, 128], "L4", 1),
    with_gpu("g2-standard-48", "g2", [48, 192], "L4", 4),
    with_gpu("g2-standard-96", "g2", [96, 384], "L4", 8),
    with_gpu("n1-standard-4+T4", "n1", [4, 15], "T4", 1),
    with_gpu("n1-standard-8+T4", "n1", [8, 30], "T4", 1),
    with_gpu("n1-standard-4+P100", "n1", [4, 15], "P100", 1),
    with_gpu("n1-standard-8+V100", "n1", [8, 30], "V100", 1),
    with_gpu("n1-standard-4+K80", "n1", [4, 15], "K80", 1),
    with_gpu("n1-standard-8+K80", "n1", [8, 30], "K80", 1),
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
    let plain = SERIES.iter().flat_map(|series| {
        series.vcpus.iter().map(|vcpus| Machine {
            name: format!("{}-{}-{vcpus}", series.family, series.kind),
            family: series.family,
            shape: Shape {
                vcpus: Some((*vcpus).into()),
                memory_gib: Some(
                    Decimal::new(series.gib_per_vcpu * i64::from(*vcpus), 2).normalize(),
                ),
                gpu: None,
                architecture: Some(architecture(series.family)),
            },
        })
    });
    plain.chain(with_gpus()).collect()
}

pub(crate) fn with_gpus() -> impl Iterator<Item = Machine> {
    WITH_GPU.iter().map(|known| Machine {
        name: known.machine.to_owned(),
        family: known.family,
        shape: Shape {
            vcpus: Some(known.vcpus.into()),
            memory_gib: Some(known.memory_gib.into()),
            gpu: Some(Gpu {
                kind: known.gpu.to_owned(),
                count: Some(known.gpus.into()),
                memory_gib: gpu_memory(known.gpu),
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
