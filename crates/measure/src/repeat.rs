//! One command many times, one run after the other.
//!
//! What does not depend on the process is made once. The helpers of a run (sampler, log, waiter)
//! begin when it has lasted [`BRIEF`]: starting them takes longer than a short command, and would be
//! measured with it. Everything else is that of [`crate::run`].

use std::io::{PipeReader, Read as _};
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::path::Path;
use std::time::{Duration, Instant};

use host::limits::{BY_MARK, Fence, Guard};
use log_patterns::Patterns;
use model::run::Status;
use model::study::Limits;
use model::{Asked, Measurement, Stop};

use crate::clock::unix_seconds;
use crate::conclude::{Finding, Given, Setting};
use crate::error::MeasureError;
use crate::files::Files;
use crate::log::Log;
use crate::process::{self, LeftBehind, NotStarted, Started, Usage};
use crate::request::{Request, Watched};
use crate::run::{Helpers, UnderWay, nothing, run};
use crate::sampler::probe::{Parts, Probe};
use crate::sampler::{self, Sampled, rapl};
use crate::story::Story;
use crate::warnings::Conditions;

/// A run that lasts longer is sampled.
const BRIEF: Duration = Duration::from_millis(20);

/// A command that is run again and again in one folder.
#[derive(Debug)]
pub struct Series {
    request: Request,
    fence: Fence,
    before: Conditions,
    own_bytes: u64,
    given: Given,
    /// Those of a run that left nothing in them are the next one's.
    files: Option<Files>,
    /// Of the runs so far, the last one.
    was_brief: bool,
    /// It ends whatever a run has left, when the series is over or this program is killed.
    _guard: Guard,
}

/// One run of a series.
#[derive(Debug)]
pub struct Repeated {
    pub measured: Measurement,
    /// Whether it lasted long enough to be sampled: then its files are in the folder, and the next
    /// run writes over them.
    pub has_files: bool,
}

/// What is known of a run's first moments.
struct Beginning {
    ended: Option<Instant>,
    log: Vec<u8>,
}

impl Series {
    pub fn open(request: Request) -> Result<Self, MeasureError> {
        if request.command.is_empty() {
            return Err(MeasureError::EmptyCommand);
        }
        let files = Files::create(&request.folder)?;
        let guard = Guard::start(Some(&process::mark(&files.events_path)), &[]);
        guard.watch(&[BY_MARK.to_owned()]);
        Ok(Series {
            request,
            fence: Fence::default(),
            before: Conditions::read(Path::new("/")),
            own_bytes: sampler::own_resident_bytes(),
            given: Given::find(),
            files: Some(files),
            was_brief: true,
            _guard: guard,
        })
    }

    /// Carries out the next run, as [`crate::run`] does.
    pub fn run(
        &mut self,
        stop: &Stop,
        watch: &mut dyn FnMut(Watched<'_>),
    ) -> Result<Repeated, MeasureError> {
        if !self.can_be_brief() {
            let measured = run(&self.request, stop, watch)?;
            return Ok(Repeated {
                measured,
                has_files: true,
            });
        }
        let files = match self.files.take() {
            Some(files) => files,
            None => Files::create(&self.request.folder)?,
        };
        let not_begun = |files: Files, status, sentence: &str| {
            Ok(Repeated {
                measured: nothing(files, status, sentence)?,
                has_files: true,
            })
        };
        if stop.asked() > Asked::Nothing {
            let sentence = "was interrupted before its start";
            return not_begun(files, Status::Interrupted, sentence);
        }
        let started = process::start(&self.request, &self.fence, &files.events_path);
        let mut started = match started {
            Ok(started) => started,
            Err(NotStarted::Command(sentence)) => {
                return not_begun(files, Status::Failed, &sentence);
            }
            Err(NotStarted::NoEntry) => {
                return not_begun(files, Status::Failed, "could not join a cgroup");
            }
            Err(NotStarted::System(source)) => return Err(MeasureError::system("a pipe")(source)),
        };
        let beginning = self.wait_briefly(&mut started);
        match beginning.ended {
            Some(ended) => self.end_brief(files, started, beginning, ended, watch),
            None => self.go_on(files, started, beginning.log, stop, watch),
        }
    }

    /// Not where a group counts what its processes use, or others have to be waited for.
    fn can_be_brief(&self) -> bool {
        let request = &self.request;
        request.limits == Limits::default()
            && request.log.is_empty()
            && request.client.is_none()
            && request.container.is_none()
            && !request.reports_steps
            && !request.outlives
    }

    /// To the end of the run, or until it has lasted too long to be brief.
    fn wait_briefly(&self, started: &mut Started) -> Beginning {
        let mut log = Vec::new();
        let descriptor = started.process.descriptor().filter(|_| self.was_brief);
        let ended = descriptor.and_then(|process| {
            let mut output = Output::of(&started.log);
            let deadline = started.at + BRIEF;
            loop {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return None;
                }
                match output.wait(&process, left) {
                    Came::End(at) => {
                        output.read_waiting(&mut started.log, &mut log);
                        return Some(at);
                    }
                    Came::Output => output.read(&mut started.log, &mut log),
                    Came::Nothing => {}
                }
            }
        });
        Beginning { ended, log }
    }

    fn end_brief(
        &mut self,
        mut files: Files,
        started: Started,
        beginning: Beginning,
        ended: Instant,
        watch: &mut dyn FnMut(Watched<'_>),
    ) -> Result<Repeated, MeasureError> {
        self.was_brief = true;
        let Started {
            mut process,
            at: start,
            timestamp,
            ..
        } = started;
        let usage = process.reap();
        let left_behind = match process.has_left_group() {
            true => process.end_left_behind(&self.fence),
            false => LeftBehind::default(),
        };
        let seconds = ended.duration_since(start).as_secs_f64();
        let mut story = Story::new(unix_seconds() - start.elapsed().as_secs_f64());
        let has_events = files.events_path.metadata().is_ok_and(|f| f.len() > 0);
        let of_events = match has_events {
            true => files.events.finish(unix_seconds(), |event| {
                story.take(&event, seconds);
                watch(Watched::Event(&event));
            }),
            false => Ok(Vec::new()),
        };
        let of_events = of_events.map_err(MeasureError::folder(&files.events_path))?;
        self.files = (!has_events).then_some(files);
        // Only who was killed may have been killed for want of the machine's memory.
        let after = match usage {
            Usage { signal: None, .. } => self.before.clone(),
            Usage { .. } => Conditions::read(Path::new("/")),
        };
        let finding = Finding {
            setting: &self.setting(),
            started: timestamp,
            seconds,
            story,
            sampled: Sampled::default(),
            usage,
            log: Log {
                end: String::from_utf8_lossy(&beginning.log).into_owned(),
                warnings: Vec::new(),
            },
            ended: None,
            foreseen: None,
            client: None,
            client_cpu_seconds: None,
            left_behind,
            of_events,
            container: None,
            after,
        };
        Ok(Repeated {
            measured: finding.measured(),
            has_files: false,
        })
    }

    fn go_on(
        &mut self,
        files: Files,
        started: Started,
        log: Vec<u8>,
        stop: &Stop,
        watch: &mut dyn FnMut(Watched<'_>),
    ) -> Result<Repeated, MeasureError> {
        let begun = started.at;
        let probe = Probe::open(Path::new("/proc"), Parts::ALL)
            .map_err(MeasureError::system("a look at /proc"))?
            .with_energy(Path::new(rapl::FOLDER));
        let helpers = Helpers {
            // That of the series knows its processes by their mark.
            guard: None,
            patterns: Patterns::new(&self.request.log)?,
            probe,
            log,
        };
        let setting = Setting {
            before: Conditions::read(Path::new("/")),
            ..self.setting()
        };
        let measured = UnderWay::begin(&setting, started, files, helpers)?.follow(stop, watch)?;
        self.was_brief = begun.elapsed() < BRIEF;
        Ok(Repeated {
            measured,
            has_files: true,
        })
    }

    fn setting(&self) -> Setting<'_> {
        Setting {
            request: &self.request,
            fence: &self.fence,
            before: self.before.clone(),
            own_bytes: self.own_bytes,
            given: self.given,
        }
    }
}

/// What came first.
enum Came {
    End(Instant),
    Output,
    Nothing,
}

/// The output of a process that is not waited for by a thread.
struct Output {
    /// Negative when it was closed: the kernel then passes it over.
    descriptor: RawFd,
}

impl Output {
    fn of(pipe: &PipeReader) -> Self {
        Output {
            descriptor: pipe.as_raw_fd(),
        }
    }

    fn wait(&self, process: &OwnedFd, patience: Duration) -> Came {
        let mut watched = [process.as_raw_fd(), self.descriptor].map(|fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        });
        let milliseconds = i32::try_from(patience.as_millis()).unwrap_or(1).max(1);
        // SAFETY: the array is live and of the length given.
        let result = unsafe { libc::poll(watched.as_mut_ptr(), 2, milliseconds) };
        let now = Instant::now();
        match watched.map(|one| result > 0 && one.revents != 0) {
            [true, _] => Came::End(now),
            [false, true] => Came::Output,
            [false, false] => Came::Nothing,
        }
    }

    fn read(&mut self, pipe: &mut PipeReader, log: &mut Vec<u8>) {
        let mut chunk = [0; 16 * 1024];
        match pipe.read(&mut chunk) {
            Ok(0) | Err(_) => self.descriptor = -1,
            Ok(read) => log.extend_from_slice(&chunk[..read]),
        }
    }

    /// What is there, without waiting for more: somebody else may hold its other end.
    fn read_waiting(&mut self, pipe: &mut PipeReader, log: &mut Vec<u8>) {
        loop {
            let mut watched = libc::pollfd {
                fd: self.descriptor,
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: the pointer is to one live local.
            let result = unsafe { libc::poll(&raw mut watched, 1, 0) };
            if result <= 0 || watched.revents & libc::POLLIN == 0 {
                return;
            }
            self.read(pipe, log);
        }
    }
}
