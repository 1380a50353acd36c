//! What a new process does between fork and exec.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::limits::cgroup::Group;
use crate::limits::fence::Fence;

/// What says, across the start of a process, that it could not enter its cgroup. The
/// error number is all that comes back from there; no call used on the way gives this one.
pub const NO_ENTRY: i32 = libc::ECHRNG;

/// Lets the command's process begin inside the fence, as the leader of its own session.
///
/// It is tied to the thread that spawns it: when that ends, the kernel ends the process. What an
/// error of this or of `spawn` means, [`was_let_in`] knows.
pub fn enclose(command: &mut Command, fence: &Fence) -> io::Result<()> {
    let doors = fence.group.as_ref().map(Group::doors).transpose();
    let doors = doors.map_err(|_| io::Error::from_raw_os_error(NO_ENTRY))?;
    let doors = doors.unwrap_or_default();
    let first_steps = FirstSteps {
        parent: std::process::id(),
        doors: doors.iter().map(AsRawFd::as_raw_fd).collect(),
        processors: fence.processors.as_deref().map(processor_set),
        data_bytes: fence.data_bytes,
    };
    // SAFETY: `FirstSteps::take` makes only system calls and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            // Open for as long as the command may be spawned.
            let _doors = &doors;
            first_steps.take()
        })
    };
    Ok(())
}

/// Whether what failed got past the cgroup: else it may be tried again without one.
pub fn was_let_in(error: &io::Error) -> bool {
    error.raw_os_error() != Some(NO_ENTRY)
}

/// What the new process does before it becomes the command.
#[derive(Debug)]
pub struct FirstSteps {
    pub parent: u32,
    pub doors: Vec<RawFd>,
    pub processors: Option<libc::cpu_set_t>,
    pub data_bytes: Option<u64>,
}

impl FirstSteps {
    /// Runs in a copy of this process with one thread: system calls only, no allocation.
    pub fn take(&self) -> io::Result<()> {
        // SAFETY: plain system calls on this process alone; pointers are to live locals, and
        // whoever starts it keeps the descriptors open.
        unsafe {
            if libc::setsid() == -1
                || libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) == -1
            {
                return Err(io::Error::last_os_error());
            }
            // The parent may have ended before the line above could tell the kernel to watch it.
            if u32::try_from(libc::getppid()).ok() != Some(self.parent) {
                libc::_exit(1);
            }
            for door in &self.doors {
                if libc::write(*door, c"0".as_ptr().cast(), 1) != 1 {
                    return Err(io::Error::from_raw_os_error(NO_ENTRY));
                }
            }
            if let Some(set) = &self.processors {
                libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), set);
            }
            if let Some(bytes) = self.data_bytes {
                let limit = libc::rlimit {
                    rlim_cur: bytes,
                    rlim_max: bytes,
                };
                libc::setrlimit(libc::RLIMIT_DATA, &raw const limit);
            }
            // When the whole machine runs out of memory the run shall go, not its measurer.
            let file = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY);
            if file >= 0 {
                libc::write(file, c"500".as_ptr().cast(), 3);
                libc::close(file);
            }
        }
        Ok(())
    }
}

pub fn processor_set(processors: &[usize]) -> libc::cpu_set_t {
    // SAFETY: a set of processors is plain bits, for which all zero is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for processor in processors {
        // SAFETY: the numbers come from a set of the same size.
        unsafe { libc::CPU_SET(*processor, &mut set) };
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use model::study::Limits;

    #[test]
    fn the_command_begins_inside_the_fence() {
        let limits = Limits {
            cores: Some(1.0),
            memory_bytes: Some(1 << 28),
        };
        let fence = Fence::build(Path::new("/"), &limits, "start-test");
        let mut command = Command::new("cat");
        command.args(["/proc/self/stat", "/proc/self/status"]);
        enclose(&mut command, &fence).unwrap();
        let output = command.output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        let fields: Vec<&str> = told.split(' ').collect();
        // Process group and session are its own number.
        assert_eq!([fields[4], fields[5]], [fields[0]; 2]);
        let processors = told
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let expected = fence.processors.as_ref().map(|one| one[0].to_string());
        assert_eq!(processors.map(|list| list.trim().to_owned()), expected);
    }

    #[test]
    fn who_is_not_let_in_is_told_apart() {
        let check = |code, expected| {
            let error = io::Error::from_raw_os_error(code);
            assert_eq!(was_let_in(&error), expected);
        };
        check(NO_ENTRY, false);
        check(libc::ENOENT, true);
    }
}
