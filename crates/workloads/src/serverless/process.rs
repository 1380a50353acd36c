//! A worker's process: how it is started, watched and ended.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use host::limits::bytes::value;
use host::limits::cgroup::Group;
use host::limits::{Fence, start};
use model::study::Limits;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process_group, waitid, waitpgid,
};
use tokio::net::unix::pipe;

use crate::serverless::log::Log;

/// The platform says in it where it will connect.
const PORT_VARIABLE: &str = "SAGEMAKER_BIND_TO_PORT";
/// How often one that shall end is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// After which a process that does not even die of SIGKILL is given up.
const GIVE_UP: Duration = Duration::from_secs(5);
/// What programs say when they get no memory, where no cgroup counts it.
const MEMORY_SIGNS: [&str; 5] = [
    "memory allocation of ",
    "MemoryError",
    "bad_alloc",
    "annot allocate memory",
    "ut of memory",
];

/// 128 and SIGKILL: who but the kernel kills in there, and why but for memory?
const KILLED_IN_CONTAINER: i32 = 137;

/// What to start.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) name: String,
    pub(crate) command: Vec<String>,
    /// What removes the rest of it after its end.
    pub(crate) remove: Option<Vec<String>>,
    pub(crate) port: u16,
    pub(crate) limits: Limits,
}

/// The leader of a session of its own. However it is dropped, nothing of it is left.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    pub(crate) log: Log,
    /// By which its limits are in force.
    pub(crate) limits_by: &'static str,
    is_container: bool,
    held: Mutex<Option<Held>>,
    remains: OnceLock<Remains>,
}

/// What there is until it is reaped.
#[derive(Debug)]
struct Held {
    child: Child,
    fence: Fence,
    remove: Option<Vec<String>>,
}

/// The last word on it.
#[derive(Debug, Clone, Copy)]
struct Remains {
    status: Option<ExitStatus>,
    memory: Memory,
}

#[derive(Debug, Clone, Copy, Default)]
struct Memory {
    peak_bytes: Option<u64>,
    kills: u64,
}

/// A process, and what is to be known about its limits.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) process: Process,
    pub(crate) warnings: Vec<model::Warning>,
}

impl Process {
    /// On the thread that lives as long as the emulator: the kernel ties the process to it.
    pub(crate) fn start(plan: Plan) -> Result<Started, String> {
        let mut fence = Fence::build(Path::new("/"), &plan.limits, &plan.name);
        let mut spawned = spawn(&plan, &fence);
        if spawned
            .as_ref()
            .is_err_and(|error| !start::was_let_in(error))
        {
            fence = Fence::without_group(&plan.limits, "the process could not join the cgroup");
            spawned = spawn(&plan, &fence);
        }
        let program = plan.command.first().map_or("", String::as_str);
        let Spawned { child, output } = spawned.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!("cannot start `{program}`: not found in the PATH"),
            _ => format!("cannot start `{program}`: {error}"),
        })?;
        let pid = Pid::from_child(&child);
        let (warnings, limits_by) = (fence.warnings.clone(), fence.by());
        let is_container = plan.remove.is_some();
        let held = Held {
            child,
            fence,
            remove: plan.remove,
        };
        let process = Process {
            pid,
            log: Log::follow(output),
            limits_by,
            is_container,
            held: Mutex::new(Some(held)),
            remains: OnceLock::new(),
        };
        Ok(Started { process, warnings })
    }

    pub(crate) fn has_ended(&self) -> bool {
        let held = self.lock();
        // Reaped, its number may be another's.
        held.is_none() || is_over(self.pid)
    }

    pub(crate) fn peak_bytes(&self) -> Option<u64> {
        self.memory().peak_bytes
    }

    /// Its process group, and the file that lists its cgroup's processes.
    pub(crate) fn marks(&self) -> Vec<String> {
        let held = self.lock();
        let Some(held) = &*held else {
            return Vec::new();
        };
        let group = held.fence.group.as_ref();
        let list = group.and_then(|group| group.sampled_files().processes);
        let list = list.map(|path| path.display().to_string());
        [Some(format!("-{}", self.pid)), list]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Whether the kernel ended any of its processes because its memory was full, or it says so.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        let is_weak = self.limits_by == "affinity";
        self.memory().kills > 0
            || (is_weak && self.has_ended() && self.log.says(&MEMORY_SIGNS))
            || (self.is_container && self.exit_code() == Some(KILLED_IN_CONTAINER))
    }

    /// `exit code 3`, once it is reaped.
    pub(crate) fn how_it_ended(&self) -> String {
        let status = self.remains.get().and_then(|remains| remains.status);
        match (self.exit_code(), status.and_then(|status| status.signal())) {
            (Some(code), _) => format!("exit code {code}"),
            (_, Some(signal)) => format!("signal {signal}"),
            _ => "no exit code".to_owned(),
        }
    }

    fn exit_code(&self) -> Option<i32> {
        self.remains.get()?.status?.code()
    }

    /// Asks it to end, and makes it so after `grace`.
    pub(crate) async fn end(&self, grace: Duration) {
        let patience = Instant::now() + grace;
        if !grace.is_zero() {
            self.signal(Signal::TERM);
        }
        while Instant::now() < patience && !self.has_ended() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Ends what is left of it and reaps it. Blocks for as long as the kernel needs.
    pub(crate) fn reap(&self) {
        let Some(mut held) = self.lock().take() else {
            return;
        };
        let patience = Instant::now() + GIVE_UP;
        let memory = loop {
            // Not reaped, so that the number of its group is its own.
            let _ = kill_process_group(self.pid, Signal::KILL);
            let others = self.kill_others(held.fence.group.as_ref());
            if (others == 0 && is_over(self.pid)) || Instant::now() > patience {
                break self.memory_of(&held.fence);
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        if let Some([program, arguments @ ..]) = held.remove.as_deref() {
            let quiet = || Stdio::null();
            let mut command = Command::new(program);
            command.args(arguments).stdin(quiet()).stdout(quiet());
            // There may be nothing left to remove, which it complains about.
            let _ = command.stderr(quiet()).status();
        }
        let remains = Remains {
            status: held.child.try_wait().ok().flatten(),
            memory,
        };
        // Where orphans fall to this program, it has to reap them, too.
        while let Ok(Some(_)) = waitpgid(self.pid, WaitOptions::NOHANG) {}
        // Set once: who reaps took what was held.
        let _ = self.remains.set(remains);
    }

    fn signal(&self, signal: Signal) {
        // Held while signalling, so that it is not reaped meanwhile.
        if self.lock().is_some() {
            let _ = kill_process_group(self.pid, signal);
        }
    }

    fn memory(&self) -> Memory {
        match (&*self.lock(), self.remains.get()) {
            (Some(held), _) => self.memory_of(&held.fence),
            (None, Some(remains)) => remains.memory,
            (None, None) => Memory::default(),
        }
    }

    fn memory_of(&self, fence: &Fence) -> Memory {
        let group = fence.group.as_ref().filter(|group| group.has_limits);
        let Some(group) = group else {
            let status = std::fs::read(format!("/proc/{}/status", self.pid)).unwrap_or_default();
            return Memory {
                peak_bytes: value(&status, b"VmHWM:").map(|kilobytes| kilobytes << 10),
                kills: 0,
            };
        };
        Memory {
            peak_bytes: group.peak_memory_bytes(),
            kills: group.out_of_memory_kills(),
        }
    }

    /// Of its cgroup, whoever left its session too; says how many were there.
    fn kill_others(&self, group: Option<&Group>) -> usize {
        let Some(group) = group else {
            return 0;
        };
        group.kill(&[self.pid.as_raw_nonzero().get()])
    }

    fn lock(&self) -> MutexGuard<'_, Option<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.reap();
    }
}

struct Spawned {
    child: Child,
    output: pipe::Receiver,
}

fn spawn(plan: &Plan, fence: &Fence) -> io::Result<Spawned> {
    let (reader, writer) = io::pipe()?;
    let output = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
    let (program, arguments) = plan
        .command
        .split_first()
        .ok_or(io::ErrorKind::InvalidInput)?;
    let port = plan.port.to_string();
    let mut command = Command::new(program);
    command
        .args(arguments.iter().map(|word| word.replace("{port}", &port)))
        .env(PORT_VARIABLE, &port)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer);
    start::enclose(&mut command, fence)?;
    let child = command.spawn()?;
    Ok(Spawned { child, output })
}

/// Whether our child has ended; it stays unreaped.
fn is_over(pid: Pid) -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(pid), look), Ok(None))
}
