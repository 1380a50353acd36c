//! cgroups: the kernel's mechanism to limit cores and memory of a run.
//!
//! A group is made beneath the one this process is in (version 1), or at the nearest place
//! where the controllers are given on to children (version 2). It is named
//! `bancada-<pid>-<name>` and removed after the run; what a killed bancada left is removed before
//! the next run, when it is empty and its maker is gone.

mod end;
mod foreign;
mod v1;
mod v2;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use model::study::Limits;

use crate::limits::allowance::{Hierarchy, Layout};
use crate::limits::bytes::{parse_ids, value};

pub use foreign::ForeignGroup;

/// The scheduler's period, the kernel's own default.
const PERIOD_MICROSECONDS: u64 = 100_000;
const PREFIX: &str = "bancada-";

/// What a new group shall hold its processes to.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupSpec {
    pub name: String,
    /// The cores the run may use, and the share of them where that is not whole.
    pub cores: Option<Cores>,
    pub memory_bytes: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Cores {
    pub count: f64,
    /// As many processors as `count` rounded up.
    pub processors: Vec<usize>,
}

impl Cores {
    pub fn is_whole(&self) -> bool {
        self.count.fract() == 0.0
    }

    pub fn quota_microseconds(&self) -> u64 {
        // The kernel takes no less than a millisecond.
        ((self.count * PERIOD_MICROSECONDS as f64).round() as u64).max(1000)
    }

    /// `0,2,3`.
    pub fn list(&self) -> String {
        let numbers: Vec<String> = self.processors.iter().map(usize::to_string).collect();
        numbers.join(",")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    V1,
    V2,
}

impl Version {
    pub fn name(self) -> &'static str {
        match self {
            Version::V1 => "cgroup v1",
            Version::V2 => "cgroup v2",
        }
    }
}

/// A group of one run; dropping it removes it.
#[derive(Debug)]
pub struct Group {
    pub version: Version,
    /// Whether it has limits; otherwise it only keeps a run's processes together.
    pub has_limits: bool,
    /// One folder a controller (version 1), or one for all.
    folders: Vec<PathBuf>,
    files: Files,
}

/// Where a group tells of its processes and its CPU time, for whoever reads them often.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupFiles {
    pub processes: Option<PathBuf>,
    pub cpu: Option<PathBuf>,
}

/// Where the group's own counts are.
#[derive(Debug, Clone, Default, PartialEq)]
struct Files {
    cpu: Option<PathBuf>,
    peak: Option<PathBuf>,
    out_of_memory: Option<PathBuf>,
    kill: Option<PathBuf>,
    freezer: Option<end::Freezer>,
}

impl Group {
    fn new(version: Version, has_limits: bool) -> Group {
        Group {
            version,
            has_limits,
            folders: Vec::new(),
            files: Files::default(),
        }
    }

    /// Makes the group, or says why that is not possible.
    pub fn create(layout: &Layout, spec: &GroupSpec) -> Result<Group, String> {
        let name = unique_name(&spec.name);
        match v2::create(layout, &name, spec) {
            Ok(group) => Ok(group),
            Err(of_v2) if layout.has_v1() => v1::create(layout, &name, spec).map_err(|of_v1| {
                if layout.has_v2() {
                    format!("{of_v1}; {of_v2}")
                } else {
                    of_v1
                }
            }),
            Err(of_v2) => Err(of_v2),
        }
    }

    /// A group without limits, so that all processes of a run are known and can be ended together.
    pub fn hold(layout: &Layout, name: &str) -> Result<Group, String> {
        let name = unique_name(name);
        v2::hold(layout, &name)
            .or_else(|of_v2| v1::hold(layout, &name).map_err(|of_v1| format!("{of_v1}; {of_v2}")))
    }

    /// Files into which a process writes `0` to enter.
    pub fn doors(&self) -> io::Result<Vec<File>> {
        let lists = self.process_lists().into_iter();
        lists
            .map(|list| OpenOptions::new().write(true).open(list))
            .collect()
    }

    pub fn sampled_files(&self) -> GroupFiles {
        GroupFiles {
            processes: self.process_lists().into_iter().next(),
            cpu: self.files.cpu.clone(),
        }
    }

    pub fn processes(&self) -> Vec<i32> {
        let mut all: Vec<i32> = Vec::new();
        for list in self.process_lists() {
            all.extend(parse_ids(&fs::read(list).unwrap_or_default()));
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Files that list its processes, for whoever outlives this process.
    pub fn process_lists(&self) -> Vec<PathBuf> {
        let folders = self.folders.iter();
        folders.map(|folder| folder.join("cgroup.procs")).collect()
    }

    pub fn cpu_seconds(&self) -> Option<f64> {
        parse_cpu_seconds(&fs::read(self.files.cpu.as_ref()?).ok()?)
    }

    pub fn peak_memory_bytes(&self) -> Option<u64> {
        let text = fs::read_to_string(self.files.peak.as_ref()?).ok()?;
        text.trim().parse().ok()
    }

    /// How many of its processes the kernel ended because the group's memory was full.
    pub fn out_of_memory_kills(&self) -> u64 {
        let text = self
            .files
            .out_of_memory
            .as_ref()
            .and_then(|path| fs::read(path).ok());
        text.and_then(|text| value(&text, b"oom_kill "))
            .unwrap_or(0)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in &self.folders {
            remove_nested(folder);
            // A process that just ended may still be counted for a moment.
            for _ in 0..50 {
                match fs::remove_dir(folder) {
                    Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                        std::thread::sleep(std::time::Duration::from_millis(2));
                    }
                    _ => break,
                }
            }
        }
    }
}

/// CPU time from `cpu.stat` (version 2) or `cpuacct.usage` (version 1).
pub fn parse_cpu_seconds(text: &[u8]) -> Option<f64> {
    if let Some(microseconds) = value(text, b"usage_usec ") {
        return Some(microseconds as f64 / 1e6);
    }
    value(text, b"").map(|nanoseconds| nanoseconds as f64 / 1e9)
}

/// Removes what the group's own processes made beneath it and left.
fn remove_nested(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_nested(&entry.path());
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Removes groups whose maker is gone, wherever one could have been made. One that still holds
/// processes stays: it is not ours to end them.
pub fn remove_leftovers(layout: &Layout) {
    let v1 = v1::CONTROLLERS.iter().filter_map(|name| layout.v1(name));
    let v1 = v1.map(|place| place.own.as_path());
    let v2 = layout.v2().into_iter().flat_map(Hierarchy::upwards);
    v1.chain(v2).for_each(|parent| remove_dead(layout, parent));
}

fn remove_dead(layout: &Layout, parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(maker_of);
        if maker.is_some_and(|pid| !layout.is_alive(pid)) {
            remove_dead(layout, &entry.path());
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// The process that made the group of this name.
fn maker_of(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok()
}

/// A name that no other group of this process has.
fn unique_name(wanted: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let clean: String = wanted
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') {
                c
            } else {
                '_'
            }
        })
        .take(100)
        .collect();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{PREFIX}{}-{count}-{clean}", std::process::id())
}

/// Makes the folder of a group, says what went wrong in words.
fn make_folder(parent: &Path, name: &str) -> Result<PathBuf, String> {
    let folder = parent.join(name);
    fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

fn write(folder: &Path, file: &str, value: &str) -> Result<(), String> {
    let path = folder.join(file);
    fs::write(&path, value).map_err(|error| format!("{}: {error}", path.display()))
}

impl GroupSpec {
    pub fn new(name: &str, limits: &Limits, processors: Vec<usize>) -> Self {
        GroupSpec {
            name: name.to_owned(),
            cores: limits.cores.map(|count| Cores { count, processors }),
            memory_bytes: limits.memory_bytes,
        }
    }
}

#[cfg(test)]
mod tests;
