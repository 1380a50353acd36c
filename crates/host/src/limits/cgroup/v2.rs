//! Version 2: one hierarchy, controllers delegated to children.

use std::fs;
use std::path::Path;

use super::{
    Cores, Group, GroupSpec, Layout, PERIOD_MICROSECONDS, Version, end::Freezer, make_folder, write,
};

/// Beside no controller: only to freeze and to end its processes.
pub(super) fn hold(layout: &Layout, name: &str) -> Result<Group, String> {
    let place = layout.v2().ok_or("cgroups are not mounted")?;
    let folder = make_folder(&place.own, name)?;
    let group = group(&folder, false);
    match group.files.kill.is_some() || group.files.freezer.is_some() {
        true => Ok(group),
        false => Err(format!(
            "{} can be neither frozen nor killed (cgroup v2)",
            folder.display()
        )),
    }
}

fn group(folder: &Path, has_limits: bool) -> Group {
    let mut group = Group::new(Version::V2, has_limits);
    group.files.cpu = Some(folder.join("cpu.stat"));
    group.files.kill = Some(folder.join("cgroup.kill")).filter(|path| path.exists());
    group.files.freezer = Freezer::v2(folder);
    group.folders.push(folder.to_owned());
    group
}

pub(super) fn create(layout: &Layout, name: &str, spec: &GroupSpec) -> Result<Group, String> {
    let place = layout.v2().ok_or("cgroups are not mounted")?;
    let mut reason = String::new();
    for parent in place.upwards() {
        let given = Given::find(parent, parent == place.own, spec);
        let made = given.and_then(|given| create_in(parent, name, spec, given));
        match made {
            Ok(group) => return Ok(group),
            // The nearest place says best what is missing.
            Err(error) if reason.is_empty() => reason = error,
            Err(_) => {}
        }
    }
    Err(reason)
}

fn create_in(parent: &Path, name: &str, spec: &GroupSpec, given: Given) -> Result<Group, String> {
    let folder = make_folder(parent, name)?;
    let mut group = group(&folder, true);
    group.files.peak = spec.memory_bytes.map(|_| folder.join("memory.peak"));
    group.files.out_of_memory = spec.memory_bytes.map(|_| folder.join("memory.events"));
    if let Some(bytes) = spec.memory_bytes {
        write(&folder, "memory.max", &bytes.to_string())?;
        // Without this a full group goes to swap instead of failing. Absent without swap.
        let _ = write(&folder, "memory.swap.max", "0");
    }
    if let Some(cores) = &spec.cores {
        limit_cores(&folder, cores, given.cpuset)?;
    }
    Ok(group)
}

fn limit_cores(folder: &Path, cores: &Cores, cpuset: bool) -> Result<(), String> {
    let set = cpuset && write(folder, "cpuset.cpus", &cores.list()).is_ok();
    if set && cores.is_whole() {
        return Ok(());
    }
    let quota = format!("{} {PERIOD_MICROSECONDS}", cores.quota_microseconds());
    write(folder, "cpu.max", &quota)
}

/// What a group gives on to its children.
struct Given {
    cpuset: bool,
}

impl Given {
    /// Switches on what is missing only in the own group: groups above belong to others.
    fn find(parent: &Path, is_own: bool, spec: &GroupSpec) -> Result<Given, String> {
        let has = |controller: &str| {
            let given = fs::read_to_string(parent.join("cgroup.subtree_control"));
            given
                .unwrap_or_default()
                .split_whitespace()
                .any(|name| name == controller)
        };
        let get = |controller: &str| {
            has(controller)
                || (is_own
                    && write(parent, "cgroup.subtree_control", &format!("+{controller}")).is_ok()
                    && has(controller))
        };
        let refused = |controller: &str| {
            Err(format!(
                "{} does not delegate the `{controller}` controller (cgroup v2)",
                parent.display()
            ))
        };
        if spec.memory_bytes.is_some() && !get("memory") {
            return refused("memory");
        }
        let Some(cores) = &spec.cores else {
            return Ok(Given { cpuset: false });
        };
        let cpuset = get("cpuset");
        let is_enough = (cpuset && cores.is_whole()) || get("cpu");
        if is_enough {
            Ok(Given { cpuset })
        } else {
            refused("cpu")
        }
    }
}
