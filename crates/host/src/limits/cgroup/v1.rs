//! Version 1: a hierarchy of folders for each controller.

use std::fs;
use std::path::PathBuf;

use super::{
    Cores, Group, GroupSpec, Layout, PERIOD_MICROSECONDS, Version, end::Freezer, make_folder, write,
};

/// All that a group of ours may be made with.
pub(super) const CONTROLLERS: [&str; 5] = ["memory", "cpuset", "cpu", "cpuacct", "freezer"];

/// Only to freeze and to end its processes.
pub(super) fn hold(layout: &Layout, name: &str) -> Result<Group, String> {
    let mut group = Group::new(Version::V1, false);
    add_freezer(layout, name, &mut group)?;
    Ok(group)
}

fn add_freezer(layout: &Layout, name: &str, group: &mut Group) -> Result<(), String> {
    let folder = add(layout, "freezer", name, group)?;
    group.files.freezer = Some(Freezer::V1(folder.join("freezer.state")));
    Ok(())
}

pub(super) fn create(layout: &Layout, name: &str, spec: &GroupSpec) -> Result<Group, String> {
    // Made first, so that whatever fails later is cleaned up by dropping it.
    let mut group = Group::new(Version::V1, true);
    if let Some(bytes) = spec.memory_bytes {
        let folder = add(layout, "memory", name, &mut group)?;
        limit_memory(&folder, bytes)?;
        group.files.peak = Some(folder.join("memory.max_usage_in_bytes"));
        group.files.out_of_memory = Some(folder.join("memory.oom_control"));
    }
    if let Some(cores) = &spec.cores {
        limit_cores(layout, name, cores, &mut group)?;
    }
    // Only counts, so that a machine without it loses nothing but precision.
    if let Ok(folder) = add(layout, "cpuacct", name, &mut group) {
        group.files.cpu = Some(folder.join("cpuacct.usage"));
    }
    // Without it, processes that never stop starting others are harder to end.
    let _ = add_freezer(layout, name, &mut group);
    Ok(group)
}

/// Makes the run's folder with one controller.
fn add(
    layout: &Layout,
    controller: &str,
    name: &str,
    group: &mut Group,
) -> Result<PathBuf, String> {
    let place = layout
        .v1(controller)
        .ok_or_else(|| format!("no controller `{controller}` is mounted (cgroup v1)"))?;
    let folder = place.own.join(name);
    // Controllers may share one hierarchy: cpu and cpuacct often do.
    if !group.folders.contains(&folder) {
        make_folder(&place.own, name)?;
        group.folders.push(folder.clone());
    }
    Ok(folder)
}

fn limit_memory(folder: &std::path::Path, bytes: u64) -> Result<(), String> {
    write(folder, "memory.limit_in_bytes", &bytes.to_string())?;
    // Without this a full group goes to swap instead of failing. Absent where swap is not counted.
    if write(folder, "memory.memsw.limit_in_bytes", &bytes.to_string()).is_err() {
        let _ = write(folder, "memory.swappiness", "0");
    }
    Ok(())
}

fn limit_cores(
    layout: &Layout,
    name: &str,
    cores: &Cores,
    group: &mut Group,
) -> Result<(), String> {
    let set = limit_set(layout, name, cores, group);
    if cores.is_whole() && set.is_ok() {
        return Ok(());
    }
    let folder = add(layout, "cpu", name, group)?;
    write(
        &folder,
        "cpu.cfs_period_us",
        &PERIOD_MICROSECONDS.to_string(),
    )?;
    write(
        &folder,
        "cpu.cfs_quota_us",
        &cores.quota_microseconds().to_string(),
    )
}

fn limit_set(layout: &Layout, name: &str, cores: &Cores, group: &mut Group) -> Result<(), String> {
    let folder = add(layout, "cpuset", name, group)?;
    // A new group has no memory nodes, and no process may enter before it has.
    let parent = folder.parent().unwrap_or(&folder);
    let nodes = fs::read_to_string(parent.join("cpuset.mems")).unwrap_or_default();
    let written = write(&folder, "cpuset.mems", nodes.trim())
        .and_then(|()| write(&folder, "cpuset.cpus", &cores.list()));
    if written.is_err() {
        // Half set up, it would let nobody in.
        group.folders.retain(|other| *other != folder);
        let _ = fs::remove_dir(&folder);
    }
    written
}
