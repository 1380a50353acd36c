//! Orders whose workers outlive the coordinator: each has a folder, in which everything about it is.
//! Whoever comes back after a broken connection, or as a new process, finds it there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use host::LockError;
use model::location::Container;
use model::measurement::{MEASUREMENT_FILE, ORDER_FILE};
use model::{Measurement, Order};
use serde::{Deserialize, Serialize};

use crate::error::PlaceError;
use crate::files::{self, ProgressFile};
use crate::ready::Machine;
use crate::unattended;
use crate::{Cancel, Description, Followed, Place, Prepared, Ticket};

/// What the worker itself prints: nothing, unless it fails.
pub(crate) const WORKER_OUTPUT: &str = "worker.txt";
/// Made before a worker is launched: an order that is started twice is launched once.
const LAUNCHED: &str = "launched";
const RUNS: &str = "runs";
/// Taken while orders are started or removed: an agent that lost its connection may still be at it
/// when the next one is asked for the same.
const LOCK: &str = ".starting";
/// Files of the place alone, which do not go home.
const OWN_FILES: [&str; 5] = [
    LAUNCHED,
    ORDER_FILE,
    crate::detached::PROCESS_FILE,
    crate::slurm::SCRIPT_FILE,
    crate::slurm::NUMBER_FILE,
];

/// Starts workers and knows what became of them.
pub trait Launcher: Send + Sync {
    /// For people: `this machine`, `Slurm partition gpu`.
    fn name(&self) -> String;

    /// Starts the job's command. Returns when it will run, not when it has.
    fn launch(&self, job: &Job) -> Result<(), PlaceError>;

    /// Of a job that was about to be launched when whoever did it may have been killed: whether it
    /// was.
    fn was_launched(&self, _job: &Job) -> Result<bool, PlaceError> {
        Ok(true)
    }

    fn state(&self, job: &Job) -> Result<JobState, PlaceError>;

    /// Of a job that has ended: nothing.
    fn cancel(&self, job: &Job, how: Cancel) -> Result<(), PlaceError>;

    /// How often the state of a job may be asked.
    fn look_every(&self) -> Duration;

    /// The machines of its jobs, where they are not this one.
    fn describe(&self) -> Option<Result<Description, PlaceError>> {
        None
    }

    /// Carries the program out with these arguments on a machine of its jobs, to its end; none where
    /// that is this one. `folder` is for its files.
    fn run_once(&self, _words: &[PathBuf], _folder: &Path) -> Option<Result<(), PlaceError>> {
        None
    }

    /// Adds what it knows of a job that has ended to its folder and its measurement.
    fn ended(&self, _job: &Job, _measurement: &mut Measurement) -> Result<(), PlaceError> {
        Ok(())
    }
}

/// An order with its folder.
#[derive(Debug, Clone)]
pub struct Job {
    /// A name of letters, digits, `-`, `_` and `.` that no other attempt at any run has.
    pub name: String,
    pub folder: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobState {
    /// Not started yet, and why.
    Waiting(String),
    Running,
    /// And how, for a worker that left no measurement.
    Ended(String),
}

/// A place of folders.
pub struct Runs<L> {
    machine: Machine,
    launcher: L,
    followed: Mutex<BTreeMap<Ticket, ProgressFile>>,
}

/// Happenings after a position in the progress of an order, and the next position.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Progressed {
    #[serde(flatten)]
    pub followed: Followed,
    pub position: u64,
}

/// An order that has ended: what it left.
#[derive(Debug)]
pub struct Ended {
    pub measurement: Result<Measurement, PlaceError>,
    pub folder: PathBuf,
    /// By their paths in the folder.
    pub files: Vec<PathBuf>,
}

impl<L: Launcher> Runs<L> {
    /// `root` is for everything of this place, and stays.
    pub fn new(program: &Path, study_folder: &Path, root: &Path, launcher: L) -> Self {
        Runs {
            machine: Machine {
                program: absolute(program),
                study_folder: absolute(study_folder),
                scratch: absolute(root),
                results: None,
                container: None,
            },
            launcher,
            followed: Mutex::default(),
        }
    }

    /// Each run in a container of its own.
    pub fn in_container(mut self, container: Container) -> Self {
        self.machine.container = Some(container);
        self
    }

    pub fn launcher(&self) -> &L {
        &self.launcher
    }

    /// The folder with the files of an order.
    pub fn folder(&self, ticket: &Ticket) -> PathBuf {
        self.machine.scratch.join(RUNS).join(&ticket.0)
    }

    /// Where the files of the study are.
    pub fn study_folder(&self) -> &Path {
        &self.machine.study_folder
    }

    fn lock(&self) -> Result<host::FileLock, PlaceError> {
        let root = &self.machine.scratch;
        let made = host::create_private_folder(root);
        made.map_err(|error| PlaceError::io("make", root, &error))?;
        let lock = host::FileLock::wait(&root.join(LOCK));
        lock.map_err(|error| {
            let root = root.display();
            PlaceError::Refused(match error {
                LockError::Taken { .. } => format!("{root} is in use"),
                LockError::Unsupported(error) | LockError::Io(error) => {
                    format!("cannot lock {root}: {error}")
                }
            })
        })
    }

    /// What goes home of an order that has ended, with what the launcher knows of its job.
    pub fn ended(&self, ticket: &Ticket) -> Result<Ended, PlaceError> {
        let job = self.job(ticket)?;
        let path = job.folder.join(MEASUREMENT_FILE);
        let left: Option<Measurement> = files::read(&path)?;
        let measurement = match left {
            Some(left) => {
                let mut measurement = left.clone();
                self.launcher.ended(&job, &mut measurement)?;
                if measurement != left {
                    files::write_private(&path, &measurement)?;
                }
                Ok(measurement)
            }
            None => Err(self.no_measurement(&job)?),
        };
        Ok(Ended {
            measurement,
            files: files_for_home(&job.folder)?,
            folder: job.folder,
        })
    }

    fn job(&self, ticket: &Ticket) -> Result<Job, PlaceError> {
        let folder = self.folder(ticket);
        let is_known = ticket.0 == file_name(&ticket.0) && folder.join(LAUNCHED).is_file();
        match is_known {
            true => Ok(Job {
                name: ticket.0.clone(),
                folder,
            }),
            false => Err(PlaceError::Refused(format!(
                "no order {} was started here",
                ticket.0
            ))),
        }
    }

    /// As [`Place::follow`], for whoever remembers the position itself.
    pub fn follow_from(
        &self,
        ticket: &Ticket,
        position: u64,
        patience: Duration,
    ) -> Result<Progressed, PlaceError> {
        let job = self.job(ticket)?;
        let mut progress = ProgressFile::from(&job.folder, position);
        let followed = self.look(&job, &mut progress, patience)?;
        let position = progress.position();
        Ok(Progressed { followed, position })
    }

    fn look(
        &self,
        job: &Job,
        progress: &mut ProgressFile,
        patience: Duration,
    ) -> Result<Followed, PlaceError> {
        let deadline = Instant::now() + patience;
        loop {
            // In this order: what is written before the end is read after it.
            let state = self.state(job)?;
            let has_ended = matches!(state, JobState::Ended(_));
            let happenings = progress.read();
            let left = deadline.saturating_duration_since(Instant::now());
            if has_ended || !happenings.is_empty() || left.is_zero() {
                return Ok(Followed {
                    happenings,
                    is_waiting: matches!(state, JobState::Waiting(_)),
                    has_ended,
                });
            }
            thread::sleep(left.min(self.launcher.look_every()));
        }
    }

    /// A measurement is the last thing that a worker writes, and cheaper to look for than a job.
    fn state(&self, job: &Job) -> Result<JobState, PlaceError> {
        match job.folder.join(MEASUREMENT_FILE).is_file() {
            true => Ok(JobState::Ended(String::new())),
            false => self.launcher.state(job),
        }
    }

    /// What is left of an order whose start failed.
    fn remove_unstarted(&self, ticket: &Ticket) -> Result<(), PlaceError> {
        let folder = self.folder(ticket);
        if ticket.0 != file_name(&ticket.0) || !folder.is_dir() {
            return Ok(());
        }
        fs::remove_dir_all(&folder).map_err(|error| PlaceError::io("remove", &folder, &error))
    }

    fn no_measurement(&self, job: &Job) -> Result<PlaceError, PlaceError> {
        let output = fs::read_to_string(job.folder.join(WORKER_OUTPUT)).unwrap_or_default();
        let output = output.trim().trim_start_matches("error: ");
        let why = match (output.is_empty(), self.launcher.state(job)?) {
            (false, _) => output.to_owned(),
            (true, JobState::Ended(how)) => how,
            (true, JobState::Running | JobState::Waiting(_)) => "it has not ended".to_owned(),
        };
        Ok(PlaceError::NoMeasurement(why))
    }
}

impl<L: Launcher> Place for Runs<L> {
    fn name(&self) -> String {
        self.launcher.name()
    }

    fn describe(&self) -> Result<Description, PlaceError> {
        if let Some(known) = self.machine.known()? {
            return Ok(known);
        }
        match self.launcher.describe() {
            Some(described) => described,
            None => self.machine.describe(),
        }
    }

    fn prepare(&self, orders: &[Order]) -> Result<Prepared, PlaceError> {
        self.machine.prepare_by(orders, &|words| {
            let there = self.launcher.run_once(words, &self.machine.scratch);
            there.unwrap_or_else(|| self.machine.run(words))
        })
    }

    /// An order that was started already is not started again: whoever lost the answer asks twice.
    fn start(&self, order: &Order, _folder: &Path) -> Result<Ticket, PlaceError> {
        let _lock = self.lock()?;
        let ticket = Ticket(file_name(&order.id));
        let folder = self.folder(&ticket);
        let made = host::create_private_folder(&folder);
        made.map_err(|error| PlaceError::io("make", &folder, &error))?;
        if let Ok(job) = self.job(&ticket)
            && self.launcher.was_launched(&job)?
        {
            return Ok(ticket);
        }
        files::write_private(&folder.join(ORDER_FILE), order)?;
        let words = self
            .machine
            .work_arguments(&folder.join(ORDER_FILE), &folder);
        files::write_private(&folder.join(LAUNCHED), &words)?;
        let job = self.job(&ticket)?;
        match self.launcher.launch(&job) {
            Ok(()) => Ok(ticket),
            Err(error) => {
                // It may be tried again.
                _ = fs::remove_dir_all(&folder);
                Err(error)
            }
        }
    }

    fn follow(&self, ticket: &Ticket, patience: Duration) -> Result<Followed, PlaceError> {
        let job = self.job(ticket)?;
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        let known = followed.remove(ticket);
        drop(followed);
        let mut progress = known.unwrap_or_else(|| ProgressFile::new(&job.folder));
        let looked = self.look(&job, &mut progress, patience);
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        followed.insert(ticket.clone(), progress);
        looked
    }

    fn cancel(&self, ticket: &Ticket, how: Cancel) -> Result<(), PlaceError> {
        let job = self.job(ticket)?;
        self.launcher.cancel(&job, how)
    }

    fn fetch(&self, ticket: &Ticket, folder: &Path) -> Result<Measurement, PlaceError> {
        let ended = self.ended(ticket)?;
        let measurement = ended.measurement?;
        files::copy(&ended.files, &ended.folder, folder)?;
        Ok(measurement)
    }

    fn clean_up(&self, ticket: &Ticket) -> Result<(), PlaceError> {
        let _lock = self.lock()?;
        let Ok(job) = self.job(ticket) else {
            return self.remove_unstarted(ticket);
        };
        self.launcher.cancel(&job, Cancel::Now)?;
        while !matches!(self.state(&job)?, JobState::Ended(_)) {
            thread::sleep(self.launcher.look_every());
        }
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        followed.remove(ticket);
        drop(followed);
        fs::remove_dir_all(&job.folder)
            .map_err(|error| PlaceError::io("remove", &job.folder, &error))
    }

    fn outlives_coordinator(&self) -> bool {
        true
    }

    fn sweep(&self, keep: &[String]) -> Result<(), PlaceError> {
        let folder = self.machine.scratch.join(RUNS);
        let keep: Vec<Ticket> = keep.iter().map(|id| Ticket(file_name(id))).collect();
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut others = names.map(Ticket).filter(|ticket| !keep.contains(ticket));
        others.try_for_each(|ticket| self.clean_up(&ticket))
    }
}

impl Job {
    /// The arguments with which `bancada` carries out the order.
    pub fn arguments(&self) -> Result<Vec<PathBuf>, PlaceError> {
        let words = files::read(&self.folder.join(LAUNCHED))?;
        words.ok_or_else(|| PlaceError::Refused(format!("{} was not started", self.name)))
    }
}

/// The files of an ended order but the place's own.
fn files_for_home(folder: &Path) -> Result<Vec<PathBuf>, PlaceError> {
    let is_own = |path: &Path| {
        let mut own = OWN_FILES.iter().chain(&unattended::FILES);
        own.any(|name| path == Path::new(name))
    };
    let is_empty = |path: &Path| {
        let found = fs::metadata(folder.join(path));
        path == Path::new(WORKER_OUTPUT) && found.is_ok_and(|file| file.len() == 0)
    };
    let found = files::list_all(folder)?.into_iter();
    Ok(found
        .filter(|path| !is_own(path) && !is_empty(path))
        .collect())
}

/// Workers may begin in another folder.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Names of folders and jobs, of whatever an order is called.
pub(crate) fn file_name(id: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() => c,
        '-' | '_' | '.' => c,
        _ => '_',
    };
    id.trim_start_matches('.').chars().map(plain).collect()
}
