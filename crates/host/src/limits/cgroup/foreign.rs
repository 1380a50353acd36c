//! The cgroup of a container, made by its engine: read, never changed.

use std::fs;
use std::path::{Path, PathBuf};

use super::{GroupFiles, parse_cpu_seconds};
use crate::limits::allowance::{Hierarchy, Layout};
use crate::limits::bytes::parse_ids;

/// Groups that engines make for a container, beneath where the hierarchy is mounted.
const USUAL_PLACES: [&str; 5] = [
    "docker/{id}",
    "system.slice/docker-{id}.scope",
    "libpod_parent/libpod-{id}",
    "machine.slice/libpod-{id}.scope",
    "machine.slice/libpod-{id}.scope/container",
];
/// Processes of the engine that are in a container's group before its own begin.
const RUNTIMES: [&str; 2] = ["runc", "crun"];
/// Podman's own process beside a container has the id in the name of its group, too.
const MONITOR: &str = "conmon";

/// A group with the processes of one container.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ForeignGroup {
    /// The first process of the container, or the first that was seen of it.
    pub leader: i32,
    list: Option<PathBuf>,
    cpu: Option<PathBuf>,
    peak: Option<PathBuf>,
}

impl ForeignGroup {
    /// Cheap: for the moments in which a container is about to begin. None before it has.
    pub fn find_quickly(root: &Path, id: &str) -> Option<Self> {
        let layout = Layout::find(root);
        let mounts = [layout.v1("cpuacct"), layout.v1("memory"), layout.v2()];
        let mounts = mounts.into_iter().flatten().map(|place| &place.mount);
        let lists = mounts.flat_map(|mount| {
            let places = USUAL_PLACES.iter();
            places.map(move |place| mount.join(place.replace("{id}", id)))
        });
        let pids = lists
            .filter_map(|folder| fs::read(folder.join("cgroup.procs")).ok())
            .find(|text| !text.is_empty())?;
        ForeignGroup::of_first(root, id, parse_ids(&pids))
    }

    /// Through all processes: for engines that put their groups elsewhere.
    pub fn find(root: &Path, id: &str) -> Option<Self> {
        let entries = fs::read_dir(root.join("proc")).ok()?.flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let mut inside: Vec<i32> = pids
            .filter(|pid| {
                let groups = fs::read_to_string(root.join(format!("proc/{pid}/cgroup")));
                groups.is_ok_and(|groups| groups.contains(id) && !groups.contains(MONITOR))
            })
            .collect();
        inside.sort_unstable();
        ForeignGroup::of_first(root, id, inside.into_iter())
    }

    fn of_first(root: &Path, id: &str, pids: impl Iterator<Item = i32>) -> Option<Self> {
        let mut pids = pids;
        let leader = pids.find(|pid| {
            let name = fs::read_to_string(root.join(format!("proc/{pid}/comm")));
            name.is_ok_and(|name| !RUNTIMES.iter().any(|runtime| name.starts_with(runtime)))
        })?;
        let layout = Layout::of_process(root, leader);
        // Without a group of its own, the container is in one with others.
        let own = |place: &Hierarchy| {
            let is_own = place.own.to_string_lossy().contains(id);
            is_own.then(|| place.own.clone())
        };
        let v1 = |name: &str| layout.v1(name).and_then(own);
        let v2 = layout.v2().and_then(own);
        let file = |folder: Option<PathBuf>, name: &str| {
            let path = folder.map(|folder| folder.join(name));
            path.filter(|path| path.exists())
        };
        // Where both are mounted, the controllers are in version 1.
        let v2 = v2.filter(|_| layout.v1("cpuacct").is_none());
        let of_v2 = |name: &str| file(v2.clone(), name);
        Some(ForeignGroup {
            leader,
            list: file(v1("cpuacct"), "cgroup.procs").or_else(|| of_v2("cgroup.procs")),
            cpu: file(v1("cpuacct"), "cpuacct.usage").or_else(|| of_v2("cpu.stat")),
            peak: file(v1("memory"), "memory.max_usage_in_bytes").or_else(|| of_v2("memory.peak")),
        })
    }

    /// Whether it counts the container and nobody else. A runtime moves the first process into one
    /// controller after the other.
    pub fn is_complete(&self) -> bool {
        self.list.is_some() && self.cpu.is_some()
    }

    pub fn sampled_files(&self) -> GroupFiles {
        GroupFiles {
            processes: self.list.clone(),
            cpu: self.cpu.clone(),
        }
    }

    /// None when it is gone.
    pub fn cpu_seconds(&self) -> Option<f64> {
        parse_cpu_seconds(&fs::read(self.cpu.as_ref()?).ok()?)
    }

    pub fn peak_memory_bytes(&self) -> Option<u64> {
        let text = fs::read_to_string(self.peak.as_ref()?).ok()?;
        text.trim().parse().ok()
    }

    pub fn processes(&self) -> Vec<i32> {
        let list = self.list.as_ref().and_then(|list| fs::read(list).ok());
        match list {
            Some(list) => parse_ids(&list).collect(),
            None => vec![self.leader],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "5f88bb56140c46757ad300b3f4d6cdee4d822c4c12d954fd43bcd395e67e984a";
    const V1: &str = "\
32 31 0:29 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
";
    const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

    fn check(mounts: &str, folders: &[&str], groups: &str, is_usual: bool) {
        let root = tempfile::tempdir().unwrap();
        let write = |path: String, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("proc/self/mountinfo".into(), mounts);
        let own = "2:cpuacct:/\n3:memory:/\n0::/\n";
        write("proc/self/cgroup".into(), own);
        write("proc/7/comm".into(), "runc:[2:INIT]\n");
        write("proc/7/cgroup".into(), &groups.replace("{id}", ID));
        write("proc/8/comm".into(), "sleep\n");
        write("proc/8/cgroup".into(), &groups.replace("{id}", ID));
        let monitor = format!("0::/libpod_parent/libpod-conmon-{ID}\n");
        write("proc/6/comm".into(), "conmon\n");
        write("proc/6/cgroup".into(), &monitor);
        for folder in folders {
            let folder = format!("sys/fs/cgroup/{}", folder.replace("{id}", ID));
            write(format!("{folder}/cgroup.procs"), "7\n8\n");
            write(format!("{folder}/cpuacct.usage"), "2500000000\n");
            write(format!("{folder}/cpu.stat"), "usage_usec 2500000\n");
            write(format!("{folder}/memory.max_usage_in_bytes"), "4096\n");
            write(format!("{folder}/memory.peak"), "4096\n");
        }
        let found = ForeignGroup::find(root.path(), ID).unwrap();
        let quickly = ForeignGroup::find_quickly(root.path(), ID);
        assert_eq!(quickly.as_ref(), is_usual.then_some(&found), "{groups}");
        assert_eq!(found.leader, 8);
        assert_eq!(found.cpu_seconds(), Some(2.5));
        assert_eq!(found.peak_memory_bytes(), Some(4096));
        assert_eq!(found.processes(), [7, 8]);
        assert_eq!(ForeignGroup::find(root.path(), "another"), None);
    }

    #[test]
    fn a_container_is_found_by_its_id() {
        let v1 = ["cpuacct/docker/{id}", "memory/docker/{id}"];
        let groups = "2:cpuacct:/docker/{id}\n3:memory:/docker/{id}\n0::/docker/{id}\n";
        check(V1, &v1, groups, true);
        let scope = "system.slice/docker-{id}.scope";
        check(V2, &[scope], &format!("0::/{scope}\n"), true);
        let podman = "user.slice/user-1000.slice/user.slice/libpod-{id}.scope/container";
        check(V2, &[podman], &format!("0::/{podman}\n"), false);
    }

    #[test]
    fn a_group_that_is_shared_with_others_is_not_counted() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("proc/self/mountinfo", V1);
        write("proc/8/comm", "sleep\n");
        let groups = format!("2:cpuacct:/user\n9:name=systemd:/libpod-{ID}\n");
        write("proc/8/cgroup", &groups);
        write("sys/fs/cgroup/cpuacct/user/cpuacct.usage", "1\n");
        let found = ForeignGroup::find(root.path(), ID).unwrap();
        assert_eq!(found.cpu_seconds(), None);
        assert_eq!(found.processes(), [8]);
    }
}
