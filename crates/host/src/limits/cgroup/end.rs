//! Ends all processes of a cgroup, even those that start others faster than one can
//! list them: the group is frozen, so that nobody starts any more, and then killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::Group;

/// A process that waits for a disk is frozen late; the others are by then.
const MOST_LOOKS: u32 = 100;
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// How a group is frozen.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Freezer {
    /// `freezer.state`.
    V1(PathBuf),
    /// The folder with `cgroup.freeze` and `cgroup.events`.
    V2(PathBuf),
}

impl Freezer {
    pub(super) fn v2(folder: &Path) -> Option<Self> {
        let is_there = folder.join("cgroup.freeze").exists();
        is_there.then(|| Freezer::V2(folder.to_owned()))
    }

    fn freeze(&self) {
        let _ = match self {
            Freezer::V1(state) => fs::write(state, "FROZEN"),
            Freezer::V2(folder) => fs::write(folder.join("cgroup.freeze"), "1"),
        };
        for _ in 0..MOST_LOOKS {
            if self.is_frozen() {
                break;
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    fn is_frozen(&self) -> bool {
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        match self {
            Freezer::V1(state) => read(state).trim() == "FROZEN",
            Freezer::V2(folder) => read(&folder.join("cgroup.events"))
                .lines()
                .any(|line| line == "frozen 1"),
        }
    }

    fn thaw(&self) {
        let _ = match self {
            Freezer::V1(state) => fs::write(state, "THAWED"),
            Freezer::V2(folder) => fs::write(folder.join("cgroup.freeze"), "0"),
        };
    }
}

impl Group {
    /// Kills every process of the group but `spared`, and says how many were there. Once is enough
    /// where the group can be frozen; elsewhere, new ones may have been started meanwhile.
    pub fn kill(&self, spared: &[i32]) -> usize {
        if self.is_empty_but(spared) {
            return 0;
        }
        let freezer = self.files.freezer.as_ref();
        freezer.iter().for_each(|freezer| freezer.freeze());
        let mut processes = self.processes();
        processes.retain(|pid| !spared.contains(pid));
        if !processes.is_empty()
            && let Some(path) = &self.files.kill
        {
            let _ = fs::write(path, "1");
        }
        for pid in &processes {
            // SAFETY: a process of this group a moment ago, and where it is frozen still one.
            unsafe { libc::kill(*pid, libc::SIGKILL) };
        }
        // A signal reaches a frozen process when it is thawed, and before anything else.
        freezer.iter().for_each(|freezer| freezer.thaw());
        processes.len()
    }

    /// Whether nobody is left but `spared`.
    pub fn is_empty_but(&self, spared: &[i32]) -> bool {
        self.processes().iter().all(|pid| spared.contains(pid))
    }
}
