//! Where cgroups are mounted on this machine and where this process stands in them.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// All paths are beneath `root`, which is `/` but in tests.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    root: PathBuf,
    v1: Vec<Controller>,
    v2: Option<Hierarchy>,
}

#[derive(Debug, Clone, PartialEq)]
struct Controller {
    name: String,
    place: Hierarchy,
}

/// This process's own group in one hierarchy.
#[derive(Debug, Clone, PartialEq)]
pub struct Hierarchy {
    pub mount: PathBuf,
    pub own: PathBuf,
}

impl Hierarchy {
    /// The own group, then each above it up to the mount.
    pub fn upwards(&self) -> impl Iterator<Item = &Path> {
        self.own
            .ancestors()
            .take_while(|path| path.starts_with(&self.mount))
    }
}

impl Layout {
    pub fn find(root: &Path) -> Self {
        Layout::of(root, "self")
    }

    /// With the groups of another process as the own ones.
    pub(crate) fn of_process(root: &Path, pid: i32) -> Self {
        Layout::of(root, &pid.to_string())
    }

    fn of(root: &Path, process: &str) -> Self {
        let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
        let groups = format!("proc/{process}/cgroup");
        let mut layout = parse(&read("proc/self/mountinfo"), &read(&groups));
        layout.root = root.to_owned();
        let beneath = |place: &mut Hierarchy| {
            place.mount = under(root, &place.mount);
            place.own = under(root, &place.own);
        };
        layout
            .v1
            .iter_mut()
            .for_each(|controller| beneath(&mut controller.place));
        layout.v2.iter_mut().for_each(beneath);
        layout
    }

    pub fn has_v1(&self) -> bool {
        !self.v1.is_empty()
    }

    pub fn has_v2(&self) -> bool {
        self.v2.is_some()
    }

    pub fn v1(&self, controller: &str) -> Option<&Hierarchy> {
        self.v1
            .iter()
            .find(|c| c.name == controller)
            .map(|c| &c.place)
    }

    pub fn v2(&self) -> Option<&Hierarchy> {
        self.v2.as_ref()
    }

    pub fn is_alive(&self, pid: u32) -> bool {
        self.root.join(format!("proc/{pid}")).exists()
    }

    /// The smallest share of CPU time that this process's group, or one above it, allows.
    pub fn quota_cores(&self) -> Option<f64> {
        let v1 = self.v1("cpu").into_iter().flat_map(Hierarchy::upwards);
        let v1 = v1.filter_map(|folder| {
            let quota_us = number(folder, "cpu.cfs_quota_us")?;
            quota(quota_us, number(folder, "cpu.cfs_period_us")?)
        });
        let v2 = self.v2().into_iter().flat_map(Hierarchy::upwards);
        let v2 = v2.filter_map(|folder| {
            let text = fs::read_to_string(folder.join("cpu.max")).ok()?;
            let (quota_us, period_us) = text.trim().split_once(' ')?;
            quota(quota_us.parse().ok()?, period_us.parse().ok()?)
        });
        v1.chain(v2).reduce(f64::min)
    }

    /// The smallest amount of memory that this process's group, or one above it, allows.
    pub fn memory_limit_bytes(&self) -> Option<u64> {
        let v1 = self.v1("memory").into_iter().flat_map(Hierarchy::upwards);
        let v2 = self.v2().into_iter().flat_map(Hierarchy::upwards);
        let v1 = v1.filter_map(|folder| number(folder, "memory.limit_in_bytes"));
        let v2 = v2.filter_map(|folder| number(folder, "memory.max"));
        v1.chain(v2).min()
    }

    /// What this process may hold: the machine's memory, or what its group allows of it. 0 where
    /// neither can be read.
    pub fn usable_memory_bytes(&self) -> u64 {
        let text = fs::read_to_string(self.root.join("proc/meminfo")).unwrap_or_default();
        let machine = text.lines().find_map(|line| {
            let kilobytes = line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?;
            kilobytes.trim().parse::<u64>().ok()?.checked_mul(1024)
        });
        let bounds = [machine, self.memory_limit_bytes()];
        bounds.into_iter().flatten().min().unwrap_or(0)
    }

    /// Where the own group tells how often its quota held it back.
    pub fn own_cpu_stat(&self) -> Option<PathBuf> {
        let place = self.v1("cpu").or(self.v2())?;
        Some(place.own.join("cpu.stat")).filter(|path| path.exists())
    }
}

fn number<T: FromStr>(folder: &Path, file: &str) -> Option<T> {
    let text = fs::read_to_string(folder.join(file)).ok()?;
    text.trim().parse().ok()
}

fn quota(quota_us: f64, period_us: f64) -> Option<f64> {
    (quota_us > 0.0 && period_us > 0.0).then(|| quota_us / period_us)
}

fn under(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// From `/proc/self/mountinfo` and `/proc/self/cgroup`.
fn parse(mounts: &str, groups: &str) -> Layout {
    let mut layout = Layout {
        root: PathBuf::from("/"),
        v1: Vec::new(),
        v2: None,
    };
    for mount in mounts.lines().filter_map(Mount::parse) {
        for line in groups.lines() {
            let mut parts = line.splitn(3, ':');
            let (Some(id), Some(controllers), Some(path)) =
                (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            let place = || Hierarchy {
                mount: mount.point.into(),
                own: mount.folder_of(path),
            };
            if mount.kind == "cgroup2" && id == "0" && controllers.is_empty() {
                layout.v2.get_or_insert_with(place);
            } else if mount.kind == "cgroup" {
                let shared = controllers.split(',').filter(|name| mount.has(name));
                layout.v1.extend(shared.map(|name| Controller {
                    name: name.to_owned(),
                    place: place(),
                }));
            }
        }
    }
    layout
}

/// One line of mountinfo (proc_pid_mountinfo(5)).
struct Mount<'a> {
    /// The part of the hierarchy that is mounted: not `/` in containers.
    root: &'a str,
    point: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let mut right = right.split(' ');
        Some(Mount {
            root: left.next()?,
            point: left.next()?,
            kind: right.next()?,
            options: right.nth(1)?,
        })
    }

    fn has(&self, controller: &str) -> bool {
        !controller.is_empty() && self.options.split(',').any(|option| option == controller)
    }

    /// The folder of a group; the mount itself where the group lies outside of what is mounted.
    fn folder_of(&self, group: &str) -> PathBuf {
        let inside = Path::new(group)
            .strip_prefix(self.root)
            .unwrap_or(Path::new(""));
        Path::new(self.point)
            .components()
            .chain(inside.components())
            .collect()
    }
}
