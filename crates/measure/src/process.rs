//! The run's process: how it is started, signalled and buried.

use std::ffi::OsString;
use std::fs;
use std::io::{self, PipeReader};
use std::os::fd::{AsRawFd, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use host::limits::Fence;
use host::limits::cgroup::Group;
use host::limits::start::{FirstSteps, NO_ENTRY, processor_set};

use crate::clock;
use crate::request::Request;
use crate::sampler::task::parse_stat;
use crate::sampler::tree::all_processes;

/// Time left to descendants that are about to end by themselves.
const STRAGGLERS: Duration = Duration::from_millis(200);
/// After which a process that does not even die of SIGKILL is given up.
const GIVE_UP: Duration = Duration::from_secs(5);

/// A process that leads its own session and was not waited for yet.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    /// `BANCADA_EVENTS=<file>`: inherited by every descendant and by no other process.
    mark: OsString,
    /// Has the mark, but does not belong to the run.
    client: Option<i32>,
    is_buried: bool,
}

/// Whatever goes wrong in measuring, no process is left.
impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_buried {
            // SAFETY: the leader is not buried, so that the number is its group's alone.
            unsafe { libc::kill(-self.pid, libc::SIGKILL) };
            self.reap();
        }
    }
}

/// Where and when it was started.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) process: Process,
    pub(crate) log: PipeReader,
    pub(crate) at: Instant,
    pub(crate) timestamp: model::Timestamp,
}

/// Processes that were there after the end of their leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LeftBehind {
    pub(crate) found: u32,
    /// Of them, those that could not be ended.
    pub(crate) alive: u32,
}

#[derive(Debug)]
pub(crate) enum NotStarted {
    /// The cgroup did not let it in; try again without.
    NoEntry,
    /// The command cannot be started: a sentence for the outcome.
    Command(String),
    /// The system gave no pipe.
    System(io::Error),
}

/// What the kernel counted over the life of the process and of all it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Usage {
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_bytes: u64,
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

impl Usage {
    /// Of a child of ours that has ended; with `WNOHANG` none before it has.
    pub(crate) fn of_ended(pid: i32, options: i32) -> Option<Usage> {
        let mut status = 0;
        // SAFETY: all zero is a valid rusage, which the kernel only writes to.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are to live locals; the process is our own child.
        let waited = unsafe { libc::wait4(pid, &raw mut status, options, &raw mut usage) };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        let peak_kilobytes = u64::try_from(usage.ru_maxrss).unwrap_or(0);
        (waited == pid).then(|| Usage {
            cpu_seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            peak_bytes: peak_kilobytes.saturating_mul(1024),
            exit_code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
            signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        })
    }
}

pub(crate) fn start(
    request: &Request,
    fence: &Fence,
    events: &Path,
) -> Result<Started, NotStarted> {
    let Some((program, arguments)) = request.command.split_first() else {
        return Err(NotStarted::Command("the command is empty".to_owned()));
    };
    if let Some(directory) = request.directory.as_ref().filter(|d| !d.is_dir()) {
        let sentence = format!("cannot start in {}: no such folder", directory.display());
        return Err(NotStarted::Command(sentence));
    }
    let (log, writer) = io::pipe().map_err(NotStarted::System)?;
    let second = writer.try_clone().map_err(NotStarted::System)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(request.env.iter().map(|(name, value)| (name, value)));
    command.env(model::event::EVENTS_VARIABLE, events);
    command.stdin(Stdio::null()).stdout(writer).stderr(second);
    if let Some(directory) = &request.directory {
        command.current_dir(directory);
    }
    let doors = match fence.group.as_ref().map(Group::doors) {
        None => Vec::new(),
        Some(Ok(doors)) => doors,
        Some(Err(_)) => return Err(NotStarted::NoEntry),
    };
    let first_steps = FirstSteps {
        parent: std::process::id(),
        doors: doors.iter().map(AsRawFd::as_raw_fd).collect(),
        processors: fence.processors.as_deref().map(processor_set),
        data_bytes: fence.data_bytes,
    };
    let (begun, begins) = io::pipe().map_err(NotStarted::System)?;
    let descriptor = begins.as_raw_fd();
    // Joining a cgroup takes tens of milliseconds on a busy machine and is not part of the run's
    // time: its clock starts when everything is set up.
    let before_command = move || {
        first_steps.take()?;
        clock::tell_moment(descriptor)
    };
    // SAFETY: both make only system calls and allocate nothing.
    unsafe { command.pre_exec(before_command) };
    let asked_at = Instant::now();
    let child = command
        .spawn()
        .map_err(|error| not_started(&error, program))?;
    drop(begins);
    let at = clock::read_moment(begun).unwrap_or(asked_at);
    let timestamp = clock::timestamp_of(at);
    let pid = i32::try_from(child.id()).unwrap_or(i32::MAX);
    Ok(Started {
        process: Process {
            pid,
            mark: mark(events),
            client: None,
            is_buried: false,
        },
        log,
        at,
        timestamp,
    })
}

/// The variable that all processes of a run have.
pub(crate) fn mark(events: &Path) -> OsString {
    let mut mark = OsString::from(format!("{}=", model::event::EVENTS_VARIABLE));
    mark.push(events);
    mark
}

fn not_started(error: &io::Error, program: &str) -> NotStarted {
    let sentence = match error.raw_os_error() {
        Some(NO_ENTRY) => return NotStarted::NoEntry,
        Some(libc::ENOENT) => {
            format!("cannot start `{program}`: not found; is it installed, and in the PATH?")
        }
        Some(libc::EACCES) => {
            format!("cannot start `{program}`: it is not executable; `chmod +x` it?")
        }
        Some(libc::ENOEXEC) => format!(
            "cannot start `{program}`: not a program for this machine; a script needs `#!` first"
        ),
        _ => format!("cannot start `{program}`: {error}"),
    };
    NotStarted::Command(sentence)
}

impl Process {
    /// Who asks a server tells events as the server does, and is not of its processes.
    pub(crate) fn leave_alone(&mut self, client: Option<i32>) {
        self.client = client;
    }

    /// Blocks until the process has ended, and leaves it unburied, so that its number stays its
    /// own and its last counts can be read.
    pub(crate) fn wait_for_end(pid: i32) {
        loop {
            // SAFETY: all zero is a valid siginfo, which the kernel only writes to.
            let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
            let id = libc::id_t::try_from(pid).unwrap_or(0);
            let options = libc::WEXITED | libc::WNOWAIT;
            // SAFETY: `info` is live for the call.
            let result = unsafe { libc::waitid(libc::P_PID, id, &raw mut info, options) };
            if result == 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return;
            }
        }
    }

    /// Whether the process has ended by now; it stays unburied.
    pub(crate) fn has_ended(&self) -> bool {
        // SAFETY: all zero is a valid siginfo, which the kernel only writes to.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let id = libc::id_t::try_from(self.pid).unwrap_or(0);
        let options = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG;
        // SAFETY: `info` is live for the call; the kernel leaves it zero while the process lives.
        unsafe { libc::waitid(libc::P_PID, id, &raw mut info, options) == 0 && info.si_pid() != 0 }
    }

    /// Readable when the process has ended; none where the kernel is too old.
    pub(crate) fn descriptor(&self) -> Option<OwnedFd> {
        // SAFETY: takes a number and flags, gives a descriptor or -1.
        let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, self.pid, 0) };
        match i32::try_from(descriptor) {
            // SAFETY: the kernel has just made it, and nobody else knows it.
            Ok(descriptor @ 0..) => Some(unsafe { OwnedFd::from_raw_fd(descriptor) }),
            _ => None,
        }
    }

    /// After its burial: whether processes are left in its group. While one is, its number cannot
    /// become another's.
    pub(crate) fn has_left_group(&self) -> bool {
        // SAFETY: no signal is sent.
        unsafe { libc::kill(-self.pid, 0) == 0 }
    }

    /// Sends a signal to the process, its descendants and nobody else.
    pub(crate) fn signal(&self, signal: i32, fence: &Fence) {
        // SAFETY: the leader is not buried, so that the number of its group cannot be another's.
        unsafe { libc::kill(-self.pid, signal) };
        for member in self
            .others(fence)
            .into_iter()
            .filter(|member| member.group != self.pid)
        {
            member.signal(signal);
        }
    }

    /// After the leader's end: ends what it left behind.
    pub(crate) fn end_left_behind(&self, fence: &Fence) -> LeftBehind {
        let patience = Instant::now() + STRAGGLERS;
        let mut left = self.others(fence);
        while !(left.is_empty() && self.is_alone(fence)) && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(10));
            left = self.others(fence);
        }
        let mut found = left.len();
        let patience = Instant::now() + GIVE_UP;
        while !(left.is_empty() && self.is_alone(fence)) && Instant::now() < patience {
            if let Some(group) = &fence.group {
                found = found.max(group.kill(&self.spared()));
            }
            self.signal(libc::SIGKILL, fence);
            std::thread::sleep(Duration::from_millis(2));
            // Where this process is the one orphans fall to, it has to reap them.
            left.iter().for_each(Other::reap);
            left = self.others(fence);
        }
        let count = |processes: usize| u32::try_from(processes).unwrap_or(u32::MAX);
        let alive = match self.is_alone(fence) {
            true => left.len(),
            false => left.len().max(1),
        };
        LeftBehind {
            found: count(found),
            alive: count(alive),
        }
    }

    /// Whether its cgroup lists nobody else. One that starts another and ends at once is
    /// listed there, and gone before anybody could look at it.
    fn is_alone(&self, fence: &Fence) -> bool {
        let group = fence.group.as_ref();
        group.is_none_or(|group| group.is_empty_but(&self.spared()))
    }

    /// The leader, which has ended and is not buried yet.
    fn spared(&self) -> [i32; 1] {
        [self.pid]
    }

    /// Buries the process, and gives the kernel's last word on it.
    pub(crate) fn reap(&mut self) -> Usage {
        self.is_buried = true;
        loop {
            if let Some(usage) = Usage::of_ended(self.pid, 0) {
                return usage;
            }
            if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return Usage::default();
            }
        }
    }

    /// Living processes of the run besides its leader: of its cgroup, of its session, or
    /// marked by its variable (a daemon leaves its session, but keeps its variables).
    fn others(&self, fence: &Fence) -> Vec<Other> {
        let in_group = fence.group.as_ref().map(Group::processes);
        let in_group = in_group.unwrap_or_default();
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let is_other = |pid: &i32| *pid != self.pid && *pid != own && Some(*pid) != self.client;
        all_processes(Path::new("/proc"))
            .filter(is_other)
            .filter_map(|pid| {
                let other = Other::read(pid)?;
                let is_ours = other.session == self.pid
                    || other.group == self.pid
                    || in_group.contains(&pid)
                    || self.has_mark(pid);
                is_ours.then_some(other)
            })
            .collect()
    }

    fn has_mark(&self, pid: i32) -> bool {
        let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        variables
            .split(|byte| *byte == 0)
            .any(|variable| variable == self.mark.as_bytes())
    }
}

/// A process by number and start, which together name it for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Other {
    pid: i32,
    start_ticks: u64,
    group: i32,
    session: i32,
}

impl Other {
    fn read(pid: i32) -> Option<Self> {
        let path = PathBuf::from(format!("/proc/{pid}/stat"));
        let stat = parse_stat(&fs::read(path).ok()?).filter(|stat| !stat.has_ended())?;
        let (group, session) = (stat.group, stat.session);
        Some(Other {
            pid,
            start_ticks: stat.start_ticks,
            group,
            session,
        })
    }

    fn signal(&self, signal: i32) {
        // SAFETY: takes a number and flags, gives a descriptor or -1.
        let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, self.pid, 0) };
        let is_same = Other::read(self.pid).is_some_and(|now| now.start_ticks == self.start_ticks);
        if let Ok(descriptor @ 0..) = i32::try_from(descriptor) {
            // SAFETY: the descriptor is ours and open; it holds on to the process looked at
            // above, whoever gets its number next.
            unsafe {
                if is_same {
                    let nothing = std::ptr::null::<libc::siginfo_t>();
                    libc::syscall(libc::SYS_pidfd_send_signal, descriptor, signal, nothing, 0);
                }
                libc::close(descriptor);
            }
        } else if is_same {
            // SAFETY: kernels before 5.3 have no better way; it was this process a moment ago.
            unsafe { libc::kill(self.pid, signal) };
        }
    }

    fn reap(&self) {
        // SAFETY: gives an error for whoever is not our child; never blocks.
        unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), libc::WNOHANG) };
    }
}
