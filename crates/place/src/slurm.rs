//! Runs as jobs of a Slurm cluster. A job's number is no identity: a controller that was killed
//! forgets what was submitted last and gives its number to another job. A job is known by its name,
//! which is one attempt's own, and by what its worker leaves in its folder.

mod accounting;
mod ask;
mod ended;
mod once;
mod options;
mod queue;
mod time_limit;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use model::location::Slurm;
use model::measurement::{MEASUREMENT_FILE, ORDER_FILE, PROGRESS_FILE};
use model::{Capacity, Event, EventKind, Happening, Inventory, Measurement, Order};

use crate::error::PlaceError;
use crate::files;
use crate::runs::{Job, JobState, Launcher};
use crate::unattended::{self, Pulse};
use crate::{Cancel, Description};
use ask::ask;
use queue::{Entry, Queue};
use time_limit::TimeLimit;

/// The whole batch script: words are never pasted into it. A request to end that comes before the
/// worker listens must not end the shell; the worker finds it in its folder.
const SCRIPT: &str = "#!/bin/sh\ntrap '' TERM USR1\nexec \"$@\"\n";
pub(crate) const SCRIPT_FILE: &str = "job.sh";
/// For people, and for accounting.
pub(crate) const NUMBER_FILE: &str = "slurm-job";

const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A worker without a sign of life for so long is looked for in the queue.
const QUIET: Duration = Duration::from_secs(4);
/// One that the queue does not know either has ended after so long: the controller may have
/// forgotten it, or the node may be cut off, while it still works.
const GONE: Duration = Duration::from_secs(8);
/// The queue is asked no more often; after a minute of waiting ten times less often.
const SHORTEST_AGE: Duration = Duration::from_secs(1);
const LONGEST_AGE: Duration = Duration::from_secs(10);
/// For a controller to come back while a job is being submitted.
const SUBMIT_PATIENCE: Duration = Duration::from_secs(90);
/// For Slurm to notice the end of a job that has left its measurement.
const END_PATIENCE: Duration = Duration::from_millis(700);
/// The same where only Slurm knows why it ended.
const DOUBT_PATIENCE: Duration = Duration::from_secs(5);

/// Submits workers with `sbatch`.
#[derive(Debug)]
pub struct Sbatch {
    program: PathBuf,
    slurm: Slurm,
    queue: Queue,
    /// Minutes that the partition allows, if it has been asked and has a limit.
    longest: OnceLock<Option<u64>>,
    known: Mutex<BTreeMap<String, Known>>,
}

/// What this process has seen of a job.
#[derive(Debug)]
struct Known {
    since: Instant,
    pulse: Pulse,
    /// Why it waits, as last reported.
    reported: String,
}

impl Known {
    fn new(job: &Job) -> Self {
        Known {
            since: Instant::now(),
            pulse: Pulse::of(&job.folder),
            reported: String::new(),
        }
    }
}

impl Sbatch {
    /// `program` is the one that has `work`, at a path that all nodes see.
    pub fn new(program: &Path, slurm: &Slurm) -> Self {
        Sbatch {
            program: program.to_owned(),
            slurm: slurm.clone(),
            queue: Queue::default(),
            longest: OnceLock::new(),
            known: Mutex::default(),
        }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_known<T>(&self, job: &Job, what: impl FnOnce(&mut Known) -> T) -> T {
        let mut known = self.known();
        let entry = known.entry(job.name.clone());
        what(entry.or_insert_with(|| Known::new(job)))
    }

    /// Until the controller has taken it. Whether it took one whose answer was lost is seen in the
    /// queue; should both be there, the second finds the order claimed.
    fn submit(
        &self,
        job: &Job,
        order: Option<&Order>,
        words: &[PathBuf],
    ) -> Result<(), PlaceError> {
        let script = job.folder.join(SCRIPT_FILE);
        let written = fs::write(&script, SCRIPT);
        written.map_err(|error| PlaceError::io("write", &script, &error))?;
        let limit = self.time_limit(order);
        let mut arguments = options::of(&self.slurm, job, order, limit);
        arguments.extend([
            script.into_os_string(),
            self.program.clone().into_os_string(),
        ]);
        arguments.extend(words.iter().map(|word| word.clone().into_os_string()));
        let deadline = Instant::now() + SUBMIT_PATIENCE;
        loop {
            let begun = Instant::now();
            let number = match ask("sbatch", &arguments) {
                Ok(said) => said.trim().to_owned(),
                Err(PlaceError::Lost(why)) => match self.queue.find(&job.name, begun, LOOK_EVERY) {
                    Ok(Some(entry)) => entry.id,
                    _ if Instant::now() > deadline => return Err(PlaceError::Lost(why)),
                    _ => {
                        thread::sleep(SHORTEST_AGE);
                        continue;
                    }
                },
                Err(error) => return Err(error),
            };
            // `--parsable` adds the cluster's name where there are several.
            let number = number.split(';').next().unwrap_or_default();
            // Nothing but accounting depends on it.
            _ = fs::write(job.folder.join(NUMBER_FILE), number);
            return Ok(());
        }
    }

    fn time_limit(&self, order: Option<&Order>) -> Option<TimeLimit> {
        TimeLimit::of(&self.slurm, order, self.longest())
    }

    fn limit_of(&self, job: &Job) -> Option<TimeLimit> {
        let order: Option<Order> = files::read(&job.folder.join(ORDER_FILE)).ok().flatten();
        self.time_limit(order.as_ref())
    }

    /// A controller that does not answer has no limit to tell: it is asked again.
    fn longest(&self) -> Option<u64> {
        if let Some(known) = self.longest.get() {
            return *known;
        }
        let text = ask("sinfo", self.sinfo_words("%l|%P")).ok()?;
        let is_default = self.slurm.partition.is_none();
        *self
            .longest
            .get_or_init(|| time_limit::longest(&text, is_default))
    }

    fn sinfo_words(&self, format: &str) -> Vec<String> {
        let mut words = vec!["-h".to_owned(), "-o".to_owned(), format.to_owned()];
        let partition = self.slurm.partition.iter();
        words.extend(partition.map(|name| format!("--partition={name}")));
        words
    }

    fn find(&self, job: &Job) -> Result<Option<Entry>, PlaceError> {
        let since = self.with_known(job, |known| known.since);
        let age = (since.elapsed() / 60).clamp(SHORTEST_AGE, LONGEST_AGE);
        self.queue.find(&job.name, since, age)
    }

    /// Once for every reason: why it waits is progress, too.
    fn report_waiting(&self, job: &Job, reason: &str) {
        let is_new = self.with_known(job, |known| {
            let is_new = known.reported != reason;
            known.reported = reason.to_owned();
            is_new
        });
        if is_new {
            let text = format!("waiting in the queue of Slurm: {reason}");
            let note = Happening::Event(Event {
                at: Some(0.0),
                kind: EventKind::Note { text },
            });
            // Nothing that counts depends on it.
            _ = files::append_line(&job.folder.join(PROGRESS_FILE), &note);
        }
    }

    /// A job that no longer runs, as far as Slurm knows.
    fn conclude(&self, job: &Job, entry: Option<&Entry>) -> Result<JobState, PlaceError> {
        let silent = self.with_known(job, |known| known.pulse.silent_for());
        let may_live = entry.is_none_or(|entry| ended::may_live(&entry.state));
        // Read for its effect: a network file system looks again for files that were not there.
        _ = fs::read_dir(&job.folder).map(Iterator::count);
        if job.folder.join(MEASUREMENT_FILE).is_file() || (may_live && silent < GONE) {
            return Ok(JobState::Running);
        }
        let accounting = entry.and_then(|entry| accounting::of(&entry.id, &job.name));
        ended::leave(job, entry, accounting.as_ref(), self.limit_of(job))
    }

    /// The number under which Slurm knows the job.
    fn number(&self, job: &Job) -> Option<String> {
        let claimed = unattended::claimed_by(&job.folder).and_then(|claim| claim.job);
        let submitted = || fs::read_to_string(job.folder.join(NUMBER_FILE)).ok();
        claimed.or_else(submitted)
    }

    /// A name that no shell sees, and no other job has.
    fn cancel_words(name: &str, more: &[&str]) -> Vec<String> {
        let mut words = vec![format!("--name={name}"), "--quiet".to_owned()];
        words.extend(more.iter().map(|word| (*word).to_owned()));
        words
    }
}

impl Launcher for Sbatch {
    fn name(&self) -> String {
        match (&self.slurm.partition, &self.slurm.constraint) {
            (Some(partition), _) => format!("Slurm partition {partition}"),
            (None, Some(constraint)) => format!("Slurm nodes with {constraint}"),
            (None, None) => "Slurm".to_owned(),
        }
    }

    fn launch(&self, job: &Job) -> Result<(), PlaceError> {
        let order: Option<Order> = files::read(&job.folder.join(ORDER_FILE))?;
        let mut words = job.arguments()?;
        words.push(PathBuf::from("--unattended"));
        self.submit(job, order.as_ref(), &words)?;
        self.known().insert(job.name.clone(), Known::new(job));
        Ok(())
    }

    fn state(&self, job: &Job) -> Result<JobState, PlaceError> {
        if unattended::is_claimed(&job.folder)
            && self.with_known(job, |known| known.pulse.silent_for()) < QUIET
        {
            return Ok(JobState::Running);
        }
        match self.find(job)? {
            Some(entry) if entry.is_waiting() => {
                self.report_waiting(job, &entry.reason);
                Ok(JobState::Waiting(entry.reason))
            }
            Some(entry) if entry.is_active() => Ok(JobState::Running),
            entry => self.conclude(job, entry.as_ref()),
        }
    }

    /// The request is in the folder first: it is found by a worker that begins later, and by one
    /// that the controller has forgotten.
    fn cancel(&self, job: &Job, how: Cancel) -> Result<(), PlaceError> {
        if job.folder.join(MEASUREMENT_FILE).is_file() {
            return Ok(());
        }
        unattended::request_end(&job.folder, how)?;
        let signal = match how {
            Cancel::Finish => "--signal=TERM",
            Cancel::Now => "--signal=USR1",
        };
        if !unattended::is_claimed(&job.folder) {
            // One that has just started gets no signal by this.
            ask(
                "scancel",
                Self::cancel_words(&job.name, &["--state=PENDING"]),
            )?;
        }
        let signal = Self::cancel_words(&job.name, &[signal, "--batch", "--state=RUNNING"]);
        match ask("scancel", signal) {
            // It ended meanwhile.
            Err(PlaceError::Refused(_)) => Ok(()),
            other => other.map(drop),
        }
    }

    fn look_every(&self) -> Duration {
        LOOK_EVERY
    }

    /// Nodes are asked for by what jobs of the environment ask for; the largest counts, because
    /// Slurm gives a job one that has what it needs.
    fn describe(&self) -> Option<Result<Description, PlaceError>> {
        let mut words = self.sinfo_words("%c|%m|%f|%P|%N");
        words.push("-N".to_owned());
        let described = ask("sinfo", words);
        let constraint = self.slurm.constraint.as_deref();
        let is_default = self.slurm.partition.is_none();
        Some(described.and_then(|text| {
            let capacity = options::largest(&text, constraint, is_default);
            let capacity = capacity.ok_or_else(|| {
                PlaceError::Refused(format!("{} has no nodes; sinfo lists them", self.name()))
            })?;
            Ok(description(capacity, self.name()))
        }))
    }

    fn run_once(&self, words: &[PathBuf], folder: &Path) -> Option<Result<(), PlaceError>> {
        Some(self.make_ready(words, folder))
    }

    fn ended(&self, job: &Job, measurement: &mut Measurement) -> Result<(), PlaceError> {
        self.known().remove(&job.name);
        let path = job.folder.join(accounting::ACCOUNTING_FILE);
        let mut known = files::read(&path)?;
        if let (None, Some(number)) = (&known, self.number(job)) {
            let patience = match ended::is_doubtful(measurement) {
                true => DOUBT_PATIENCE,
                false => END_PATIENCE,
            };
            let deadline = Instant::now() + patience;
            loop {
                known = accounting::of(&number, &job.name);
                let has_ended = known.as_ref().is_none_or(ended::is_over);
                if has_ended || Instant::now() > deadline {
                    break;
                }
                thread::sleep(LOOK_EVERY / 2);
            }
            if let Some(known) = &known {
                files::write_private(&path, known)?;
            }
        }
        ended::correct(job, known.as_ref(), self.limit_of(job), measurement);
        Ok(())
    }
}

/// Of a node that nobody has been on yet.
fn description(capacity: Capacity, hostname: String) -> Description {
    Description {
        machine: Inventory {
            hostname,
            logical_cores: capacity.cores as u32,
            usable_cores: capacity.cores,
            memory_bytes: capacity.memory_bytes,
            ..Inventory::default()
        },
        capacity,
        price: None,
    }
}
