//! Machine sizes derived from Azure's names, because its price list has none.
//!
//! The naming rule (family, vCPUs, features, accelerator, version) and the memory of each series
//! are Microsoft's, learn.microsoft.com/azure/virtual-machines (2025). Series whose number is no
//! number of vCPUs (A, D and DS before v3, G) and memories that follow no rule stay unknown.

use cost::{Architecture, Gpu, Shape};
use rust_decimal::Decimal;

use crate::prices::collect::split_digits;

/// Machines with GPUs: vCPUs and GiB of memory, the GPU, how many of it and GiB of memory of each.
const WITH_GPU: &[(&str, [u32; 2], &str, [u32; 2])] = &[
    ("Standard_NC6", [6, 56], "K80", [1, 12]),
    ("Standard_NC12", [12, 112], "K80", [2, 12]),
    ("Standard_NC24", [24, 224], "K80", [4, 12]),
    ("Standard_NC6s_v2", [6, 112], "P100", [1, 16]),
    ("Standard_NC12s_v2", [12, 224], "P100", [2, 16]),
    ("Standard_NC24s_v2", [24, 448], "P100", [4, 16]),
    ("Standard_NC6s_v3", [6, 112], "V100", [1, 16]),
    ("Standard_NC12s_v3", [12, 224], "V100", [2, 16]),
    ("Standard_NC24s_v3", [24, 448], "V100", [4, 16]),
    ("Standard_NC4as_T4_v3", [4, 28], "T4", [1, 16]),
    ("Standard_NC8as_T4_v3", [8, 56], "T4", [1, 16]),
    ("Standard_NC16as_T4_v3", [16, 110], "T4", [1, 16]),
    ("Standard_NC64as_T4_v3", [64, 440], "T4", [4, 16]),
    ("Standard_NC24ads_A100_v4", [24, 220], "A100-80GB", [1, 80]),
    ("Standard_NC48ads_A100_v4", [48, 440], "A100-80GB", [2, 80]),
    ("Standard_NC96ads_A100_v4", [96, 880], "A100-80GB", [4, 80]),
    ("Standard_NC40ads_H100_v5", [40, 320], "H100", [1, 94]),
    ("Standard_NC80adis_H100_v5", [80, 640], "H100", [2, 94]),
    ("Standard_ND40rs_v2", [40, 672], "V100", [8, 32]),
    ("Standard_ND96asr_v4", [96, 900], "A100", [8, 40]),
    (
        "Standard_ND96amsr_A100_v4",
        [96, 1900],
        "A100-80GB",
        [8, 80],
    ),
    ("Standard_ND96isr_H100_v5", [96, 1900], "H100", [8, 80]),
    ("Standard_NV36ads_A10_v5", [36, 440], "A10", [1, 24]),
    ("Standard_NV72ads_A10_v5", [72, 880], "A10", [2, 24]),
];

pub(crate) fn shape(machine: &str) -> Shape {
    let known = WITH_GPU.iter().find(|(name, ..)| *name == machine);
    if let Some(&(_, [vcpus, memory_gib], kind, [gpus, gpu_memory_gib])) = known {
        return Shape {
            vcpus: Some(vcpus.into()),
            memory_gib: Some(memory_gib.into()),
            gpu: Some(Gpu {
                kind: kind.to_owned(),
                count: Some(gpus.into()),
                memory_gib: Some(gpu_memory_gib.into()),
            }),
            architecture: Some(Architecture::X86),
        };
    }
    Name::parse(machine)
        .map(|name| name.shape())
        .unwrap_or_default()
}

/// `Standard_E4-2ads_v5`, taken apart.
struct Name<'n> {
    family: &'n str,
    size: u32,
    /// Cores that are switched on, where that is said.
    constrained: Option<u32>,
    features: &'n str,
    accelerator: Option<&'n str>,
    version: u32,
}

impl<'n> Name<'n> {
    fn parse(machine: &'n str) -> Option<Self> {
        let mut parts = machine.strip_prefix("Standard_")?.split('_');
        let head = parts.next()?;
        let digits = head.find(|c: char| c.is_ascii_digit())?;
        let (family, rest) = head.split_at(digits);
        let (size, rest) = split_digits(rest);
        let (constrained, features) = match rest.strip_prefix('-').map(split_digits) {
            Some((cores, rest)) => (cores.parse().ok(), rest),
            None => (None, rest),
        };
        let (mut accelerator, mut version) = (None, 1);
        for part in parts {
            match part.strip_prefix('v').and_then(|v| v.parse().ok()) {
                Some(number) => version = number,
                None => accelerator = Some(part),
            }
        }
        Some(Name {
            family,
            size: size.parse().ok()?,
            constrained,
            features,
            accelerator,
            version,
        })
    }

    fn shape(&self) -> Shape {
        let arm = self.features.contains('p') && !self.family.starts_with('N');
        let gpu = self.family.starts_with('N').then(|| Gpu {
            kind: self.accelerator.unwrap_or("unknown").to_owned(),
            count: None,
            memory_gib: None,
        });
        let by_number = match self.family {
            "D" | "DC" | "E" | "EC" => self.version >= 3,
            "F" | "B" | "NC" | "ND" | "NV" => true,
            "FS" => self.version >= 2,
            _ => false,
        };
        Shape {
            vcpus: by_number.then(|| self.constrained.unwrap_or(self.size).into()),
            memory_gib: self
                .gib_per_vcpu()
                .map(|gib| Decimal::from(gib) * Decimal::from(self.size)),
            gpu,
            architecture: Some(match arm {
                true => Architecture::Arm64,
                false => Architecture::X86,
            }),
        }
    }

    fn gib_per_vcpu(&self) -> Option<u32> {
        let low_memory = self.features.contains('l');
        match (self.family, self.version) {
            ("D", 5..) if low_memory => Some(2),
            ("D", 3..) if !low_memory => Some(4),
            // Larger ones have less than the rule says.
            ("E", 3..) if self.size <= 48 => Some(8),
            ("F", 1 | 2) => Some(2),
            _ => None,
        }
    }
}
