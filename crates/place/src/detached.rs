//! Workers as processes of this machine that go on when whoever started them is gone.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::Cancel;
use crate::error::PlaceError;
use crate::local::block_cancel;
use crate::runs::{Job, JobState, Launcher, WORKER_OUTPUT};

/// The identity of the machine's start, then the process as the kernel describes it.
pub(crate) const PROCESS_FILE: &str = "process";
const LOOK_EVERY: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub struct Detached {
    program: PathBuf,
    /// Of this process's own children, so that they do not stay as zombies.
    children: Mutex<Vec<Child>>,
}

/// A process, told apart from a later one with the same number.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    pid: i32,
    /// Clock ticks after the start of the machine.
    started: u64,
}

impl Detached {
    /// `program` is the one that has `work`.
    pub fn new(program: &Path) -> Self {
        Detached {
            program: program.to_owned(),
            children: Mutex::default(),
        }
    }

    fn running(&self, job: &Job) -> Result<Option<Identity>, PlaceError> {
        let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        children.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
        let known = started(job).filter(|known| identity(known.pid).as_ref() == Some(known));
        Ok(known)
    }
}

impl Launcher for Detached {
    fn name(&self) -> String {
        "this machine".to_owned()
    }

    fn launch(&self, job: &Job) -> Result<(), PlaceError> {
        let failed = |error: io::Error| PlaceError::io("start", &self.program, &error);
        let output = File::create(job.folder.join(WORKER_OUTPUT)).map_err(failed)?;
        let mut process = process_file(job).map_err(failed)?;
        let mut command = Command::new(&self.program);
        command
            .args(job.arguments()?)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(output);
        // SAFETY: system calls on the new process alone.
        unsafe {
            command.pre_exec(move || {
                block_cancel()?;
                // By the new process itself: whoever starts it may be killed right now. The lock of
                // the place is held until this program becomes the worker.
                let mut stat = [0; 1024];
                let length = File::open("/proc/self/stat")?.read(&mut stat)?;
                process.write_all(&stat[..length])?;
                // Out of the session: the end of a connection ends what is in it.
                match libc::setsid() {
                    -1 => Err(io::Error::last_os_error()),
                    _ => Ok(()),
                }
            });
        }
        let child = command.spawn().map_err(failed)?;
        let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        children.push(child);
        Ok(())
    }

    fn was_launched(&self, job: &Job) -> Result<bool, PlaceError> {
        let written = fs::read_to_string(job.folder.join(PROCESS_FILE)).unwrap_or_default();
        Ok(written.lines().count() > 1)
    }

    fn state(&self, job: &Job) -> Result<JobState, PlaceError> {
        Ok(match self.running(job)? {
            Some(_) => JobState::Running,
            None => JobState::Ended("its process was killed".to_owned()),
        })
    }

    fn cancel(&self, job: &Job, how: Cancel) -> Result<(), PlaceError> {
        if let Some(Identity { pid, .. }) = self.running(job)? {
            // SAFETY: the call takes numbers alone, and the process was seen a moment ago.
            unsafe { libc::kill(pid, how.signal()) };
        }
        Ok(())
    }

    fn look_every(&self) -> Duration {
        LOOK_EVERY
    }
}

/// With the identity of the machine's start: numbers of processes begin anew after it.
fn process_file(job: &Job) -> io::Result<File> {
    let mut file = host::create_private(&job.folder.join(PROCESS_FILE))?;
    file.write_all(boot_line().as_bytes())?;
    Ok(file)
}

fn boot_line() -> String {
    format!("{}\n", host::boot_id().unwrap_or_default())
}

/// The process that was started for a job, since the machine's last start.
fn started(job: &Job) -> Option<Identity> {
    let written = fs::read_to_string(job.folder.join(PROCESS_FILE)).ok()?;
    let stat = written.strip_prefix(&boot_line())?;
    let pid = stat.split(' ').next()?.parse().ok()?;
    let started = host::start_ticks_in(stat)?;
    Some(Identity { pid, started })
}

/// None where there is no such process, or only what is left of one.
fn identity(pid: i32) -> Option<Identity> {
    let started = host::start_ticks(u32::try_from(pid).ok()?)?;
    Some(Identity { pid, started })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_number_and_its_start() {
        let own = identity(i32::try_from(std::process::id()).unwrap()).unwrap();
        assert!(own.started > 0);
        assert_eq!(identity(own.pid), Some(own));
        assert_eq!(identity(i32::MAX), None);
    }
}
