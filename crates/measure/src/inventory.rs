//! What this machine is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use model::Inventory;

use crate::sampler::gpu::Gpus;
use crate::sampler::rapl::{self, Rapl};
use crate::sampler::{memory, stat};
use crate::usable_cores;
use crate::warnings::governor;

/// What this machine is. `versions` are kept as given.
pub fn inventory(versions: BTreeMap<String, String>) -> Inventory {
    let mut inventory = machine(Path::new("/"));
    inventory.usable_cores = usable_cores();
    inventory.architecture = std::env::consts::ARCH.to_owned();
    if let Some(gpus) = Gpus::find() {
        inventory.gpus = gpus.inventory();
        inventory.gpu_driver = gpus.driver();
    }
    inventory.energy_counters = Rapl::open(Path::new(rapl::FOLDER)).state();
    inventory.versions = versions;
    inventory
}

/// What can be read beneath `root`.
fn machine(root: &Path) -> Inventory {
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let cpu = parse_cpu(&read("proc/cpuinfo"));
    let memory = memory::parse(read("proc/meminfo").as_bytes()).unwrap_or_default();
    let max_kilohertz = read("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
    let max_kilohertz: Option<f64> = max_kilohertz.trim().parse().ok();
    let kernel = read("proc/sys/kernel/osrelease").trim().to_owned();
    Inventory {
        hostname: read("proc/sys/kernel/hostname").trim().to_owned(),
        cpu_model: cpu.model.unwrap_or_else(|| "unknown".to_owned()),
        logical_cores: stat::cores(read("proc/stat").as_bytes()),
        physical_cores: cpu.physical_cores,
        cpu_max_megahertz: max_kilohertz.map(|khz| khz / 1000.0).or(cpu.megahertz),
        governor: governor(root),
        memory_bytes: memory.total_bytes,
        swap_bytes: memory.swap_total_bytes,
        operating_system: parse_os(&read("etc/os-release")),
        hypervisor: hypervisor(root, cpu.is_guest, &kernel),
        container: container(root),
        kernel,
        ..Inventory::default()
    }
}

#[derive(Debug, PartialEq, Default)]
struct Cpu {
    model: Option<String>,
    physical_cores: Option<u32>,
    megahertz: Option<f64>,
    is_guest: bool,
}

/// `/proc/cpuinfo`; ARM writes other keys, and often no model at all.
fn parse_cpu(text: &str) -> Cpu {
    let mut cpu = Cpu::default();
    let mut package = "";
    let mut cores: Vec<(&str, &str)> = Vec::new();
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let (key, value) = (key.trim(), value.trim());
        match key {
            "model name" | "Model" | "Hardware" if cpu.model.is_none() => {
                cpu.model = Some(value.to_owned());
            }
            "cpu MHz" => {
                let now = value.parse().ok();
                cpu.megahertz = cpu.megahertz.into_iter().chain(now).reduce(f64::max);
            }
            "physical id" => package = value,
            "core id" if !cores.contains(&(package, value)) => cores.push((package, value)),
            "flags" => cpu.is_guest |= value.split(' ').any(|flag| flag == "hypervisor"),
            _ => {}
        }
    }
    cpu.physical_cores = u32::try_from(cores.len()).ok().filter(|count| *count > 0);
    cpu
}

fn parse_os(text: &str) -> String {
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="));
    name.map_or_else(
        || "unknown".to_owned(),
        |name| name.trim_matches('"').to_owned(),
    )
}

fn hypervisor(root: &Path, is_guest: bool, kernel: &str) -> Option<String> {
    let read = |path: &str| {
        let text = fs::read_to_string(root.join(path)).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let vendor = read("sys/class/dmi/id/sys_vendor");
    let product = read("sys/class/dmi/id/product_name");
    let named = match (vendor, product) {
        (Some(vendor), Some(product)) => Some(format!("{vendor} {product}")),
        (vendor, product) => vendor.or(product),
    };
    let xen = read("sys/hypervisor/type");
    if !is_guest && xen.is_none() {
        return None;
    }
    let signature = if root == Path::new("/") {
        cpu_signature()
    } else {
        None
    };
    // Firecracker shows no firmware, but its kernels carry its mark.
    let micro = (named.is_none() && kernel.contains("-fc")).then(|| "Firecracker".to_owned());
    let kind = xen.or(signature);
    let parts: Vec<String> = [kind, named.or(micro)].into_iter().flatten().collect();
    Some(if parts.is_empty() {
        "unknown".to_owned()
    } else {
        parts.join(", ")
    })
}

/// The name a hypervisor gives itself in the CPU's leaf 0x40000000, reserved for that.
#[cfg(target_arch = "x86_64")]
fn cpu_signature() -> Option<String> {
    let leaf = std::arch::x86_64::__cpuid(0x4000_0000);
    let bytes: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx]
        .iter()
        .flat_map(|r| r.to_le_bytes())
        .collect();
    let text = String::from_utf8_lossy(&bytes);
    let known = [
        ("KVMKVMKVM", "KVM"),
        ("Microsoft Hv", "Hyper-V"),
        ("VMwareVMware", "VMware"),
        ("XenVMMXenVMM", "Xen"),
        ("TCGTCGTCGTCG", "QEMU"),
        ("bhyve bhyve", "bhyve"),
    ];
    let name = text.trim_matches(|c: char| c == '\0' || c == ' ');
    let found = known
        .iter()
        .find(|(signature, _)| name.starts_with(signature));
    found.map(|(_, name)| (*name).to_owned()).or_else(|| {
        let is_word = !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic() || c == ' ');
        is_word.then(|| name.to_owned())
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn cpu_signature() -> Option<String> {
    None
}

fn container(root: &Path) -> Option<String> {
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let marks = [(".dockerenv", "docker"), ("run/.containerenv", "podman")];
    let marked = marks
        .iter()
        .find(|(file, _)| root.join(file).exists())
        .map(|(_, name)| *name);
    let groups = read("proc/1/cgroup") + &read("proc/self/cgroup");
    let hints = [
        ("kubepods", "kubernetes"),
        ("/docker", "docker"),
        ("/lxc", "lxc"),
        ("libpod", "podman"),
    ];
    let hinted = hints
        .iter()
        .find(|(hint, _)| groups.contains(hint))
        .map(|(_, name)| *name);
    let reported = std::env::var("container")
        .ok()
        .filter(|name| !name.is_empty());
    hinted.or(marked).map(ToOwned::to_owned).or(reported)
}

/// The commit of the repository around a file, with `+` when tracked files were changed.
pub fn git_commit(file: &Path) -> Option<String> {
    let file = fs::canonicalize(file).ok()?;
    let folder = if file.is_dir() {
        file.as_path()
    } else {
        file.parent()?
    };
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .arg("-C")
            .arg(folder)
            .args(arguments)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .env("GIT_OPTIONAL_LOCKS", "0")
            .output()
            .ok()
            .filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok()
    };
    let commit = match git(&["rev-parse", "HEAD"]) {
        Some(commit) => commit.trim().to_owned(),
        None => return commit_by_hand(folder),
    };
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]);
    let mark = if changed.is_some_and(|text| !text.trim().is_empty()) {
        "+"
    } else {
        ""
    };
    Some(commit + mark)
}

/// Where `git` is not installed: what `.git/HEAD` points at.
fn commit_by_hand(folder: &Path) -> Option<String> {
    let git = folder
        .ancestors()
        .map(|above| above.join(".git"))
        .find(|git| git.is_dir())?;
    let read = |path: &str| fs::read_to_string(git.join(path)).ok();
    let head = read("HEAD")?.trim().to_owned();
    let Some(reference) = head.strip_prefix("ref: ") else {
        return Some(head);
    };
    let packed = || {
        let packed = read("packed-refs")?;
        let found = packed
            .lines()
            .find_map(|line| line.strip_suffix(reference))?;
        Some(found.trim().to_owned())
    };
    read(reference)
        .map(|commit| commit.trim().to_owned())
        .or_else(packed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_is_described() {
        let text = "processor\t: 0\nmodel name\t: AMD EPYC\ncpu MHz\t\t: 2445.432\nphysical id\t: 0\n\
            core id\t\t: 0\nflags\t\t: fpu hypervisor lm\n\nprocessor\t: 1\nmodel name\t: AMD EPYC\n\
            cpu MHz\t\t: 2500.5\nphysical id\t: 0\ncore id\t\t: 0\nflags\t\t: fpu\n";
        let expected = Cpu {
            model: Some("AMD EPYC".to_owned()),
            physical_cores: Some(1),
            megahertz: Some(2500.5),
            is_guest: true,
        };
        assert_eq!(parse_cpu(text), expected);
        assert_eq!(parse_cpu(""), Cpu::default());
    }

    #[test]
    fn a_made_up_machine_is_read() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("proc/cpuinfo", "model name : X\nflags : hypervisor\n");
        put(
            "proc/meminfo",
            "MemTotal: 1000 kB\nSwapTotal: 8 kB\nSwapFree: 8 kB\n",
        );
        put("proc/stat", "cpu  1 1 1 1\ncpu0 1\ncpu1 1\n");
        put("proc/sys/kernel/osrelease", "6.1.0\n");
        put(
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
            "powersave\n",
        );
        put(
            "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
            "3600000\n",
        );
        put("sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
        put("sys/class/dmi/id/product_name", "c5.large\n");
        put(
            "etc/os-release",
            "NAME=Debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n",
        );
        put("proc/1/cgroup", "0::/kubepods/pod1\n");
        let machine = machine(root.path());
        assert_eq!(machine.cpu_model, "X");
        assert_eq!(machine.logical_cores, 2);
        assert_eq!(machine.cpu_max_megahertz, Some(3600.0));
        assert_eq!(machine.governor.as_deref(), Some("powersave"));
        assert_eq!(
            (machine.memory_bytes, machine.swap_bytes),
            (1_024_000, 8192)
        );
        assert_eq!(machine.kernel, "6.1.0");
        assert_eq!(machine.operating_system, "Debian GNU/Linux 12");
        assert_eq!(machine.hypervisor.as_deref(), Some("Amazon EC2 c5.large"));
        assert_eq!(machine.container.as_deref(), Some("kubernetes"));
    }

    #[test]
    fn this_machine_is_described() {
        let versions = BTreeMap::from([("bancada".to_owned(), "0.1.0".to_owned())]);
        let inventory = inventory(versions.clone());
        assert!(inventory.logical_cores > 0);
        assert!(inventory.usable_cores > 0.0);
        assert!(inventory.memory_bytes > 0);
        assert!(!inventory.kernel.is_empty());
        assert_eq!(inventory.versions, versions);
        assert_eq!(inventory.git_commit, None);
    }

    #[test]
    fn a_commit_is_found_without_git() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("studies/deep");
        fs::create_dir_all(&inner).unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join(".git").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("HEAD", "ref: refs/heads/main\n");
        put("packed-refs", "# pack-refs\n1234abcd refs/heads/main\n");
        assert_eq!(commit_by_hand(&inner).as_deref(), Some("1234abcd"));
        put("refs/heads/main", "deadbeef\n");
        assert_eq!(commit_by_hand(&inner).as_deref(), Some("deadbeef"));
        put("HEAD", "cafe\n");
        assert_eq!(commit_by_hand(&inner).as_deref(), Some("cafe"));
    }
}
