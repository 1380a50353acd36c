//! Both versions on made-up trees, and whichever this machine has on the real one.

use super::*;

/// A made-up root with these files.
fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

const V1_MOUNTS: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
35 31 0:32 /box /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";
const V1_GROUPS: &str = "9:name=systemd:/\n4:memory:/box/job\n3:cpuset:/\n1:cpu,cpuacct:/\n0::/\n";
const V2_MOUNTS: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";

fn v1_root() -> tempfile::TempDir {
    root(&[
        ("proc/self/mountinfo", V1_MOUNTS),
        ("proc/self/cgroup", V1_GROUPS),
        ("proc/77/stat", ""),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpuset/cpuset.mems", "0\n"),
        (
            "sys/fs/cgroup/memory/job/memory.limit_in_bytes",
            "9223372036854771712\n",
        ),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "4096\n"),
    ])
}

fn spec(cores: Option<f64>, memory_bytes: Option<u64>) -> GroupSpec {
    GroupSpec::new(
        "C1-r1",
        &Limits {
            cores,
            memory_bytes,
        },
        vec![0, 3],
    )
}

fn check(group: &Group, controller: &str, file: &str, expected: Option<&str>) {
    let of = |folder: &&PathBuf| folder.to_str().unwrap().contains(controller);
    let folder = group.folders.iter().find(of);
    let text = folder.and_then(|folder| fs::read_to_string(folder.join(file)).ok());
    assert_eq!(text.as_deref(), expected, "{controller} {file}");
}

#[test]
fn version_one_limits_whole_cores_by_a_set_and_memory_by_a_number() {
    let root = v1_root();
    let group = Group::create(&Layout::find(root.path()), &spec(Some(2.0), Some(1 << 20))).unwrap();
    assert_eq!(group.version.name(), "cgroup v1");
    check(&group, "cgroup/cpuset/", "cpuset.cpus", Some("0,3"));
    check(&group, "cgroup/cpuset/", "cpuset.mems", Some("0"));
    check(&group, "cgroup/cpu,cpuacct/", "cpu.cfs_quota_us", None);
    let own = "cgroup/memory/job/bancada-";
    for file in ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"] {
        check(&group, own, file, Some("1048576"));
    }
}

#[test]
fn version_one_limits_part_cores_by_a_quota() {
    let root = v1_root();
    let group = Group::create(&Layout::find(root.path()), &spec(Some(1.5), None)).unwrap();
    check(&group, "/cpu,cpuacct/", "cpu.cfs_quota_us", Some("150000"));
    check(&group, "/cpu,cpuacct/", "cpu.cfs_period_us", Some("100000"));
    check(&group, "/cpuset/", "cpuset.cpus", Some("0,3"));
    check(&group, "/memory/", "memory.limit_in_bytes", None);
}

fn v2_root(given_above: &str, given_own: &str) -> tempfile::TempDir {
    root(&[
        ("proc/self/mountinfo", V2_MOUNTS),
        ("proc/self/cgroup", "0::/user.slice/job.scope\n"),
        (
            "sys/fs/cgroup/user.slice/cgroup.subtree_control",
            given_above,
        ),
        ("sys/fs/cgroup/user.slice/cpu.max", "250000 100000\n"),
        (
            "sys/fs/cgroup/user.slice/job.scope/cgroup.subtree_control",
            given_own,
        ),
        ("sys/fs/cgroup/user.slice/job.scope/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/user.slice/job.scope/memory.max", "8192\n"),
    ])
}

#[test]
fn version_two_takes_the_nearest_place_that_gives_on_what_is_wanted() {
    // The made-up own group "accepts" what is written, as text: `+memory` is not `memory`.
    let root = v2_root("cpu memory pids\n", "");
    let group = Group::create(&Layout::find(root.path()), &spec(Some(2.0), Some(999))).unwrap();
    let folder = &group.folders[0];
    assert_eq!(group.version.name(), "cgroup v2");
    assert!(
        folder.parent().unwrap().ends_with("user.slice"),
        "{folder:?}"
    );
    check(&group, "user.slice", "memory.max", Some("999"));
    check(&group, "user.slice", "memory.swap.max", Some("0"));
    // No cpuset is given on here: whole cores by quota.
    check(&group, "user.slice", "cpu.max", Some("200000 100000"));
}

#[test]
fn version_two_prefers_a_set_for_whole_cores() {
    let root = v2_root("", "cpu cpuset memory\n");
    let group = Group::create(&Layout::find(root.path()), &spec(Some(2.0), None)).unwrap();
    let folder = &group.folders[0];
    assert!(
        folder.parent().unwrap().ends_with("job.scope"),
        "{folder:?}"
    );
    check(&group, "job.scope", "cpuset.cpus", Some("0,3"));
    check(&group, "job.scope", "cpu.max", None);
}

#[test]
fn what_cannot_be_had_is_refused_with_a_reason() {
    let check = |root: tempfile::TempDir, expected: &str| {
        let layout = Layout::find(root.path());
        let reason = Group::create(&layout, &spec(None, Some(1))).unwrap_err();
        assert!(reason.contains(expected), "{reason}");
    };
    check(root(&[]), "cgroups are not mounted");
    check(
        v2_root("cpu\n", "cpu\n"),
        "does not delegate the `memory` controller",
    );
    let no_memory = V1_MOUNTS.replace("rw,memory", "rw");
    let files = [
        ("proc/self/mountinfo", no_memory.as_str()),
        ("proc/self/cgroup", V1_GROUPS),
    ];
    check(root(&files), "no controller `memory` is mounted");
}

#[test]
fn the_counts_of_both_versions_are_read() {
    let root = v2_root("", "memory\n");
    let group = Group::create(&Layout::find(root.path()), &spec(None, Some(9))).unwrap();
    assert_eq!(group.out_of_memory_kills(), 0);
    let put = |file: &str, text: &str| fs::write(group.folders[0].join(file), text).unwrap();
    put("memory.events", "low 0\nmax 31\noom 2\noom_kill 1\n");
    put("memory.peak", "4096\n");
    put("cpu.stat", "usage_usec 2500000\nuser_usec 1\n");
    put("cgroup.procs", "12\n13\n");
    assert_eq!(group.out_of_memory_kills(), 1);
    assert_eq!(group.peak_memory_bytes(), Some(4096));
    assert_eq!(group.cpu_seconds(), Some(2.5));
    assert_eq!(group.processes(), [12, 13]);
    assert_eq!(parse_cpu_seconds(b"1500000000\n"), Some(1.5));
}

#[test]
fn what_this_process_may_use_is_the_least_of_all_above() {
    let check = |root: tempfile::TempDir, cores, memory| {
        let layout = Layout::find(root.path());
        assert_eq!(layout.quota_cores(), cores);
        assert_eq!(layout.memory_limit_bytes(), memory);
    };
    check(v1_root(), Some(1.5), Some(4096));
    check(v2_root("", ""), Some(2.5), Some(8192));
    check(root(&[]), None, None);
}

#[test]
fn what_was_made_beneath_a_group_goes_with_it() {
    let root = v1_root();
    let group = Group::create(&Layout::find(root.path()), &spec(None, Some(1))).unwrap();
    let inner = group.folders[0].join("bancada-80-0-serverless-1");
    fs::create_dir_all(inner.join("deeper")).unwrap();
    drop(group);
    assert!(!inner.exists());
}

#[test]
fn on_this_machine_a_group_is_made_and_removed_or_the_reason_told() {
    let layout = Layout::find(Path::new("/"));
    let spec = GroupSpec::new(
        "self-test",
        &Limits {
            cores: None,
            memory_bytes: Some(1 << 26),
        },
        vec![],
    );
    match Group::create(&layout, &spec) {
        Ok(group) => {
            let folders = group.folders.clone();
            assert!(folders.iter().all(|folder| folder.is_dir()));
            assert_eq!(group.processes(), Vec::<i32>::new());
            assert_eq!(group.out_of_memory_kills(), 0);
            drop(group);
            assert!(folders.iter().all(|folder| !folder.exists()), "{folders:?}");
        }
        Err(reason) => {
            assert!(!reason.is_empty());
            eprintln!("no cgroup can be created here: {reason}");
        }
    }
}

#[test]
fn what_a_killed_program_left_is_removed_at_the_next_start() {
    let root = v1_root();
    let own = root.path().join("sys/fs/cgroup");
    let place = |path: &str| {
        let folder = own.join(path);
        fs::create_dir_all(&folder).unwrap();
        folder
    };
    // 77 is alive; 78 is gone.
    let gone = [
        place("cpuset/bancada-78-0-C1-r1"),
        place("memory/job/bancada-78-1-C1-r1/bancada-79-0-serverless"),
        place("unified/bancada-78-2-C1-r1"),
    ];
    let kept = [
        place("cpuset/bancada-77-0-C1-r1"),
        place("cpuset/other-78"),
        place("unified/bancada-x"),
        place("memory/job/bancada-79-0-C1-r1/made-by-the-run"),
    ];
    remove_leftovers(&Layout::find(root.path()));
    for folder in gone {
        assert!(!folder.exists(), "{folder:?}");
    }
    for folder in kept {
        assert!(folder.exists(), "{folder:?}");
    }
}
