//! This machine: a worker process a run.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use model::location::Container;
use model::measurement::{MEASUREMENT_FILE, ORDER_FILE};
use model::{Measurement, Order};

use crate::error::PlaceError;
use crate::files::{self, ProgressFile};
use crate::ready::Machine;
use crate::runs::WORKER_OUTPUT;
use crate::{Cancel, Description, Followed, Place, Prepared, Ticket};

/// Where the kernel cannot wake us at the end of a process, it is looked for so often.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// How often a run in progress is looked at.
const READ_EVERY: Duration = Duration::from_millis(25);

/// What a worker takes as [`Cancel::Finish`] and [`Cancel::Now`].
pub const FINISH: libc::c_int = libc::SIGTERM;
pub const NOW: libc::c_int = libc::SIGUSR1;

/// Runs here, one after the other.
#[derive(Debug)]
pub struct Local {
    machine: Machine,
    started: Mutex<BTreeMap<Ticket, Started>>,
}

#[derive(Debug)]
struct Started {
    folder: PathBuf,
    child: Child,
    ended: Option<ExitStatus>,
    progress: ProgressFile,
    cancelled: Option<Cancel>,
}

impl Local {
    pub fn new(program: &Path, study_folder: &Path, scratch: &Path) -> Self {
        Local {
            machine: Machine {
                program: program.to_owned(),
                study_folder: study_folder.to_owned(),
                scratch: scratch.to_owned(),
                results: None,
                container: None,
            },
            started: Mutex::default(),
        }
    }

    /// Each run in a container of its own.
    pub fn in_container(mut self, container: Container) -> Self {
        self.machine.container = Some(container);
        self
    }

    pub fn with_results(mut self, folder: &Path) -> Self {
        self.machine.results = Some(folder.to_owned());
        self
    }

    fn spawn(&self, folder: &Path) -> io::Result<Child> {
        let output = File::create(folder.join(WORKER_OUTPUT))?;
        let machine = &self.machine;
        let mut command = Command::new(&machine.program);
        command
            .args(machine.work_arguments(&folder.join(ORDER_FILE), folder))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(output)
            // Ctrl-C reaches the coordinator, which decides what becomes of its runs.
            .process_group(0);
        // SAFETY: system calls on the new process alone.
        unsafe {
            command.pre_exec(|| {
                block_cancel()?;
                // Killed with the coordinator; its own guard then ends the run.
                match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) {
                    -1 => Err(io::Error::last_os_error()),
                    _ => Ok(()),
                }
            });
        }
        command.spawn()
    }

    fn started(&self) -> MutexGuard<'_, BTreeMap<Ticket, Started>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(
        &self,
        ticket: &Ticket,
        what: impl FnOnce(&mut Started) -> Result<T, PlaceError>,
    ) -> Result<T, PlaceError> {
        match self.started().get_mut(ticket) {
            Some(started) => what(started),
            None => Err(unknown(ticket)),
        }
    }
}

fn unknown(ticket: &Ticket) -> PlaceError {
    PlaceError::Refused(format!("no order {} was started here", ticket.0))
}

impl Place for Local {
    fn name(&self) -> String {
        "this machine".to_owned()
    }

    fn describe(&self) -> Result<Description, PlaceError> {
        self.machine.describe()
    }

    fn prepare(&self, orders: &[Order]) -> Result<Prepared, PlaceError> {
        self.machine.prepare(orders)
    }

    fn start(&self, order: &Order, folder: &Path) -> Result<Ticket, PlaceError> {
        files::write_private(&folder.join(ORDER_FILE), order)?;
        let child = self
            .spawn(folder)
            .map_err(|error| PlaceError::io("start", &self.machine.program, &error))?;
        let ticket = Ticket(order.id.clone());
        let started = Started {
            progress: ProgressFile::new(folder),
            folder: folder.to_owned(),
            child,
            ended: None,
            cancelled: None,
        };
        self.started().insert(ticket.clone(), started);
        Ok(ticket)
    }

    fn follow(&self, ticket: &Ticket, patience: Duration) -> Result<Followed, PlaceError> {
        let deadline = Instant::now() + patience;
        let pid = self.with(ticket, |started| Ok(started.pid()))?;
        loop {
            let followed = self.with(ticket, Started::look)?;
            let left = deadline.saturating_duration_since(Instant::now());
            if followed.has_ended || !followed.happenings.is_empty() || left.is_zero() {
                return Ok(followed);
            }
            wait_for_end(pid, left.min(READ_EVERY));
        }
    }

    fn cancel(&self, ticket: &Ticket, how: Cancel) -> Result<(), PlaceError> {
        self.with(ticket, |started| {
            started.cancel(how);
            Ok(())
        })
    }

    fn fetch(&self, ticket: &Ticket, folder: &Path) -> Result<Measurement, PlaceError> {
        self.with(ticket, |started| {
            if folder != started.folder {
                files::copy(&files::list_all(&started.folder)?, &started.folder, folder)?;
            }
            started.measurement()
        })
    }

    fn clean_up(&self, ticket: &Ticket) -> Result<(), PlaceError> {
        let Some(mut started) = self.started().remove(ticket) else {
            return Ok(());
        };
        started.cancel(Cancel::Now);
        // It ends its run first.
        _ = started.child.wait();
        let output = started.folder.join(WORKER_OUTPUT);
        if fs::metadata(&output).is_ok_and(|file| file.len() == 0) {
            // An empty file left behind harms nobody.
            _ = fs::remove_file(output);
        }
        Ok(())
    }
}

impl Started {
    fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap_or(i32::MAX)
    }

    fn look(&mut self) -> Result<Followed, PlaceError> {
        // In this order: what is written before the end is read after it.
        if self.ended.is_none() {
            self.ended = self.child.try_wait().map_err(|error| {
                PlaceError::Refused(format!("cannot wait for the worker: {error}"))
            })?;
        }
        Ok(Followed {
            happenings: self.progress.read(),
            is_waiting: false,
            has_ended: self.ended.is_some(),
        })
    }

    fn cancel(&mut self, how: Cancel) {
        if self.cancelled >= Some(how) || !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        self.cancelled = Some(how);
        // SAFETY: it is our own child and not reaped, so that the number is its own.
        unsafe { libc::kill(self.pid(), how.signal()) };
    }

    fn measurement(&self) -> Result<Measurement, PlaceError> {
        let read = files::read(&self.folder.join(MEASUREMENT_FILE))?;
        read.ok_or_else(|| PlaceError::NoMeasurement(self.how_it_ended()))
    }

    fn how_it_ended(&self) -> String {
        let output = fs::read_to_string(self.folder.join(WORKER_OUTPUT)).unwrap_or_default();
        let last = output.trim().trim_start_matches("error: ");
        if !last.is_empty() {
            return last.to_owned();
        }
        match self.ended.map(|status| (status.code(), status.signal())) {
            None => "it has not ended".to_owned(),
            Some((_, Some(signal))) => format!("it was ended by signal {signal}"),
            Some((code, None)) => format!("it ended with exit code {}", code.unwrap_or_default()),
        }
    }
}

/// In the new process: a wish to end may come before the worker listens, and waits until then.
pub(crate) fn block_cancel() -> io::Result<()> {
    set_signals(libc::SIG_BLOCK)
}

/// A worker calls this when it listens to the signals by which it is cancelled.
pub fn accept_cancel() -> io::Result<()> {
    set_signals(libc::SIG_UNBLOCK)
}

fn set_signals(how: libc::c_int) -> io::Result<()> {
    // SAFETY: all zero is a valid set, and the pointers are to one live local.
    let failed = unsafe {
        let mut signals: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut signals);
        libc::sigaddset(&raw mut signals, FINISH);
        libc::sigaddset(&raw mut signals, NOW);
        libc::pthread_sigmask(how, &raw const signals, std::ptr::null_mut())
    };
    match failed {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Returns at the end of the process, or after this time.
fn wait_for_end(pid: i32, patience: Duration) {
    // SAFETY: the call takes numbers alone.
    let pidfd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let Ok(pidfd) = i32::try_from(pidfd) else {
        return thread::sleep(LOOK_EVERY);
    };
    if pidfd < 0 {
        return thread::sleep(LOOK_EVERY.min(patience));
    }
    // SAFETY: the kernel has just made it, and nobody else knows it.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    let mut poll = libc::pollfd {
        fd: pidfd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let milliseconds = i32::try_from(patience.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: the pointer is to one live local.
    unsafe { libc::poll(&raw mut poll, 1, milliseconds.max(1)) };
}
