//! One run from its start to its last trace.

use std::path::{Path, PathBuf};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use fence::Guard;
use model::run::Status;
use model::{Event, EventKind, Warning};

use crate::client::{Client, Verdict};
use crate::clock::unix_seconds;
use crate::conclude::{Finding, Setting, not_begun};
use crate::error::MeasureError;
use crate::events::EventFile;
use crate::files::Files;
use crate::high_water::HighWater;
use crate::limits::Fence;
use crate::log::Logging;
use crate::outcome::Ended;
use crate::patterns::Patterns;
use crate::process::{self, NotStarted, Process, Started};
use crate::request::{Measured, Request, Watched};
use crate::sampler::probe::{Parts, Probe};
use crate::sampler::{self, Sampling, Wish};
use crate::story::Story;
use crate::threads::Threads;
use crate::warnings::Conditions;
use model::{Asked, Stop};

/// How often the event file and the wish to stop are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// In the first moments only the peak of memory is looked for so often.
const LOOK_EVERY_YOUNG: Duration = Duration::from_millis(2);
const YOUNG: Duration = Duration::from_millis(150);

/// Carries out one run and comes back when no process of it is left.
///
/// How the run ended, well or badly, is in [`Measured::outcome`]; an error means that the run
/// could not be measured (its folder cannot be written, a pattern is wrong). `watch` is called on
/// this thread. The run is tied to this thread: should it end, the kernel ends the run.
pub fn run(
    request: &Request,
    stop: &Stop,
    watch: &mut dyn FnMut(Watched<'_>),
) -> Result<Measured, MeasureError> {
    if request.command.is_empty() {
        return Err(MeasureError::EmptyCommand);
    }
    let patterns = Patterns::new(&request.log)?;
    let files = Files::create(&request.folder)?;
    if stop.asked() > Asked::Nothing {
        return nothing(
            files,
            Status::Interrupted,
            "was interrupted before its start",
        );
    }
    let root = Path::new("/");
    let before = Conditions::read(root);
    let probe =
        Probe::open(&root.join("proc"), Parts::ALL).map_err(|source| MeasureError::System {
            what: "a look at /proc",
            source,
        })?;
    let own_bytes = sampler::own_resident_bytes();
    let mut fence = Fence::build(root, &request.limits, &request.cgroup_name);
    let mark = process::mark(&files.events_path);
    let guard = (!request.outlives).then(|| Guard::start(Some(&mark)));
    let mut started = process::start(request, &fence, &files.events_path);
    if matches!(started, Err(NotStarted::NoEntry)) {
        fence = Fence::without_group(&request.limits, "the process could not join the cgroup");
        started = process::start(request, &fence, &files.events_path);
    }
    let started = match started {
        Ok(started) => started,
        Err(NotStarted::Command(sentence)) => return nothing(files, Status::Failed, &sentence),
        Err(NotStarted::NoEntry) => {
            return nothing(files, Status::Failed, "could not join a cgroup");
        }
        Err(NotStarted::System(source)) => {
            return Err(MeasureError::System {
                what: "a pipe",
                source,
            });
        }
    };
    let helpers = Helpers {
        guard,
        patterns,
        probe,
    };
    let setting = Setting {
        request,
        fence: &fence,
        before,
        own_bytes,
    };
    let under_way = UnderWay::begin(&setting, started, files, helpers)?;
    under_way.follow(stop, watch)
}

/// What is kept of a run that could not even be prepared: its files say why, as its outcome does.
pub fn could_not_begin(folder: &Path, sentence: &str) -> Result<Measured, MeasureError> {
    nothing(Files::create(folder)?, Status::Failed, sentence)
}

fn nothing(files: Files, status: Status, sentence: &str) -> Result<Measured, MeasureError> {
    files.write_nothing(sentence)?;
    Ok(not_begun(status, sentence))
}

struct Helpers {
    guard: Option<Guard>,
    patterns: Patterns,
    probe: Probe,
}

/// A run whose process has been started.
struct UnderWay<'a> {
    setting: &'a Setting<'a>,
    /// Before the process, so that it lets go of a number that is still the process's own.
    guard: Option<Guard>,
    process: Process,
    client: Option<Client>,
    start: Instant,
    timestamp: model::Timestamp,
    events: EventFile,
    events_path: PathBuf,
    story: Story,
    threads: Threads,
    high_water: HighWater,
    end: Option<End>,
}

/// How this program is ending the run.
struct End {
    why: Ended,
    since: Instant,
    is_killed: bool,
}

impl<'a> UnderWay<'a> {
    fn begin(
        setting: &'a Setting<'a>,
        started: Started,
        files: Files,
        helpers: Helpers,
    ) -> Result<Self, MeasureError> {
        let Started {
            mut process,
            log: output,
            at: start,
            timestamp,
        } = started;
        let unix_start = unix_seconds() - start.elapsed().as_secs_f64();
        let asked = setting.request.client.as_ref();
        let client = asked.map(|asked| Client::start(asked, &files.events_path, unix_start));
        let client = client.transpose().map_err(|source| MeasureError::System {
            what: "the client of a server",
            source,
        })?;
        process.leave_alone(client.as_ref().map(Client::pid));
        if let Some(guard) = &helpers.guard {
            let group = setting.fence.group.as_ref();
            let lists = group.map(crate::cgroup::Group::process_lists);
            let lists = lists.unwrap_or_default();
            let mut living: Vec<String> = lists.iter().map(|l| l.display().to_string()).collect();
            living.push(format!("-{}", process.pid));
            guard.watch(&living);
        }
        let Helpers {
            guard,
            patterns,
            mut probe,
        } = helpers;
        let group = setting.fence.group.as_ref();
        let group_files = group
            .map(crate::cgroup::Group::sampled_files)
            .unwrap_or_default();
        probe.follow(Path::new("/proc"), process.pid, group_files);
        let sampling = Sampling {
            probe,
            path: files.samples_path,
            file: files.samples,
            interval: Duration::from_secs_f64(setting.interval_seconds()),
            start,
            own_bytes: setting.own_bytes,
        };
        let system = |source| MeasureError::System {
            what: "a pipe",
            source,
        };
        let (enough, enough_writer) = std::io::pipe().map_err(system)?;
        let logging = Logging {
            output,
            enough,
            path: files.log_path,
            file: files.log,
            patterns,
        };
        let threads = Threads::begin(process.pid, sampling, logging, enough_writer)?;
        let story = Story::new(unix_start);
        let (events, events_path) = (files.events, files.events_path);
        Ok(UnderWay {
            setting,
            guard,
            high_water: HighWater::of(process.pid, setting.own_bytes),
            process,
            client,
            start,
            timestamp,
            events,
            events_path,
            story,
            threads,
            end: None,
        })
    }

    /// To the end of the process, and of all it left.
    fn follow(
        mut self,
        stop: &Stop,
        watch: &mut dyn FnMut(Watched<'_>),
    ) -> Result<Measured, MeasureError> {
        let mut next_look = self.start + LOOK_EVERY;
        let ended = loop {
            // A run that is over before the first look would have no peak of memory.
            let is_young = self.start.elapsed() < YOUNG;
            let pause = if is_young {
                LOOK_EVERY_YOUNG
            } else {
                LOOK_EVERY
            };
            match self.threads.ends.recv_timeout(pause) {
                Ok(ended) => break ended,
                Err(RecvTimeoutError::Disconnected) => break Instant::now(),
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.high_water.look();
            if is_young && Instant::now() < next_look {
                continue;
            }
            next_look = Instant::now() + LOOK_EVERY;
            self.listen(watch)?;
            self.press(stop);
            self.mind_client();
            self.threads.check()?;
            watch(Watched::Tick {
                seconds: self.start.elapsed().as_secs_f64(),
            });
        };
        let seconds = ended.duration_since(self.start).as_secs_f64();
        let client = self.last_of_client();
        let mut sampled = self.threads.last_sample()?;
        sampled.leader_high_water_bytes =
            sampled.leader_high_water_bytes.max(self.high_water.bytes);
        let left_behind = self.process.end_left_behind(self.setting.fence);
        let log = self.threads.last_line()?;
        self.listen(watch)?;
        let of_events = self.finish_events(watch)?;
        // Nothing is left to be ended.
        if let Some(guard) = &self.guard {
            guard.watch(&[]);
        }
        let finding = Finding {
            setting: self.setting,
            started: self.timestamp,
            seconds,
            sampled,
            usage: self.process.bury(),
            story: self.story,
            log,
            ended: self.end.map(|end| end.why),
            client,
            client_cpu_seconds: self
                .client
                .as_ref()
                .and_then(Client::end)
                .map(|end| end.cpu_seconds),
            left_behind,
            of_events,
        };
        Ok(finding.measured())
    }

    /// Takes in what was told and sampled since the last look.
    fn listen(&mut self, watch: &mut dyn FnMut(Watched<'_>)) -> Result<(), MeasureError> {
        let UnderWay {
            events,
            story,
            threads,
            start,
            events_path,
            ..
        } = self;
        let folder = |source| MeasureError::Folder {
            path: events_path.clone(),
            source,
        };
        let now = start.elapsed().as_secs_f64();
        let mut tell = |event: &Event| {
            story.take(event, now);
            if matches!(event.kind, EventKind::Phase { .. }) {
                // The sampler may have given up; that is told elsewhere.
                let _ = threads.wishes.send(Wish::Now);
            }
            watch(Watched::Event(event));
        };
        events
            .poll(unix_seconds(), |event| tell(&event))
            .map_err(folder)?;
        for event in threads.log_events.try_iter() {
            events.add(&event).map_err(folder)?;
            tell(&event);
        }
        for sample in threads.samples.try_iter() {
            watch(Watched::Sample(&sample));
        }
        Ok(())
    }

    fn finish_events(
        &mut self,
        watch: &mut dyn FnMut(Watched<'_>),
    ) -> Result<Vec<Warning>, MeasureError> {
        let now = self.start.elapsed().as_secs_f64();
        let story = &mut self.story;
        let finished = self.events.finish(unix_seconds(), |event| {
            story.take(&event, now);
            watch(Watched::Event(&event));
        });
        finished.map_err(|source| MeasureError::Folder {
            path: self.events_path.clone(),
            source,
        })
    }

    /// The run of a server lasts as long as its client asks.
    fn mind_client(&mut self) {
        if self.end.is_some() || !self.client.as_mut().is_some_and(Client::has_ended) {
            return;
        }
        if !self.process.has_ended() {
            self.process.signal(libc::SIGTERM, self.setting.fence);
            self.end = Some(End {
                why: Ended::ClientThrough,
                since: Instant::now(),
                is_killed: false,
            });
        }
    }

    /// After the end of the server.
    fn last_of_client(&mut self) -> Option<Verdict> {
        let client = self.client.as_mut()?;
        // A server that ends by itself a moment after its client has not left it alone.
        let verdict = match client.has_ended() {
            true => client.verdict(),
            false => Verdict::CutShort,
        };
        client.kill();
        client.tidy();
        Some(verdict)
    }

    /// Ends the run when its time is up or somebody asked for it.
    fn press(&mut self, stop: &Stop) {
        let settings = &self.setting.request.settings;
        let elapsed = self.start.elapsed().as_secs_f64();
        let asked = stop.asked();
        let Some(end) = &mut self.end else {
            let timeout = settings
                .timeout_seconds
                .filter(|timeout| elapsed >= *timeout);
            let why = match (asked, timeout) {
                (Asked::Nothing, None) => return,
                (Asked::Nothing, Some(after_seconds)) => Ended::TimedOut { after_seconds },
                _ => Ended::Interrupted,
            };
            // Its end is about to be told: it came by itself.
            if self.process.has_ended() {
                return;
            }
            self.client.iter_mut().for_each(Client::kill);
            let is_killed = asked == Asked::Now;
            let signal = if is_killed {
                libc::SIGKILL
            } else {
                libc::SIGTERM
            };
            self.process.signal(signal, self.setting.fence);
            self.end = Some(End {
                why,
                since: Instant::now(),
                is_killed,
            });
            return;
        };
        let no_patience = end.since.elapsed().as_secs_f64() >= settings.grace_seconds;
        if !end.is_killed && (asked == Asked::Now || no_patience) {
            end.is_killed = true;
            self.process.signal(libc::SIGKILL, self.setting.fence);
        }
    }
}
