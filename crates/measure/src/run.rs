//! One run from its start to its last trace.

use std::path::{Path, PathBuf};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use host::limits::cgroup::Group;
use host::limits::{Fence, Guard};
use log_patterns::Patterns;
use model::measurement::Foreseen;
use model::run::Status;
use model::{Event, EventKind, Measurement, Outcome, Timestamp, Warning};

use crate::client::{Client, Verdict};
use crate::clock::unix_seconds;
use crate::conclude::{EndedContainer, Finding, Given, Setting};
use crate::container::Container;
use crate::error::MeasureError;
use crate::events::EventFile;
use crate::files::Files;
use crate::high_water::HighWater;
use crate::log::Logging;
use crate::outcome::Ended;
use crate::process::{self, NotStarted, Process, Started, Usage};
use crate::progress::{Progress, Said};
use crate::request::{Contained, Request, Watched};
use crate::sampler::probe::{Parts, Probe};
use crate::sampler::rapl;
use crate::sampler::{self, SampleRequest, Sampling};
use crate::story::Story;
use crate::threads::Threads;
use crate::warnings::Conditions;
use model::{Asked, Stop};

/// How often the event file and the wish to stop are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// In the first moments only the peak of memory is looked for so often.
const LOOK_EVERY_YOUNG: Duration = Duration::from_millis(2);
const YOUNG: Duration = Duration::from_millis(150);
const YOUNG_CONTAINER: Duration = Duration::from_secs(2);

/// Carries out one run and comes back when no process of it is left.
///
/// How the run ended, well or badly, is in [`Measurement::outcome`]; an error means that the run
/// could not be measured (its folder cannot be written, a pattern is wrong). `watch` is called on
/// this thread. What only the caller knows (order, command, device, machine) is not filled in. The
/// run is tied to this thread: should it end, the kernel ends the run.
pub fn run(
    request: &Request,
    stop: &Stop,
    watch: &mut dyn FnMut(Watched<'_>),
) -> Result<Measurement, MeasureError> {
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
    let probe = Probe::open(&root.join("proc"), Parts::ALL)
        .map_err(MeasureError::system("a look at /proc"))?
        .with_energy(Path::new(rapl::FOLDER));
    let own_bytes = sampler::own_resident_bytes();
    let mut fence = match &request.container {
        None => Fence::build(root, &request.limits, &request.cgroup_name),
        Some(Contained { engine, .. }) => {
            Fence::of_engine(root, &request.limits, &request.cgroup_name, engine)
        }
    };
    let mark = process::mark(&files.events_path);
    let removal = request.container.as_ref().map(Contained::removal);
    let removal = removal.unwrap_or_default();
    let guard = (!request.outlives).then(|| Guard::start(Some(&mark), &removal));
    keep_guarded(guard.as_ref(), &fence, None);
    let mut started = process::start(request, &fence, &files.events_path);
    if matches!(started, Err(NotStarted::NoEntry)) {
        let engine = fence.engine;
        fence = match request.container {
            None => Fence::without_group(&request.limits, "the process could not join the cgroup"),
            Some(_) => Fence {
                engine,
                warnings: std::mem::take(&mut fence.warnings),
                ..Fence::default()
            },
        };
        keep_guarded(guard.as_ref(), &fence, None);
        started = process::start(request, &fence, &files.events_path);
    }
    let started = match started {
        Ok(started) => started,
        Err(NotStarted::Command(sentence)) => return nothing(files, Status::Failed, &sentence),
        Err(NotStarted::NoEntry) => {
            return nothing(files, Status::Failed, "could not join a cgroup");
        }
        Err(NotStarted::System(source)) => {
            return Err(MeasureError::system("a pipe")(source));
        }
    };
    let helpers = Helpers {
        guard,
        patterns,
        probe,
        log: Vec::new(),
    };
    let setting = Setting {
        request,
        fence: &fence,
        before,
        own_bytes,
        given: Given::find(),
    };
    let under_way = UnderWay::begin(&setting, started, files, helpers)?;
    under_way.follow(stop, watch)
}

/// What is kept of a run that could not even be prepared: its files say why, as its outcome does.
pub fn could_not_begin(folder: &Path, sentence: &str) -> Result<Measurement, MeasureError> {
    nothing(Files::create(folder)?, Status::Failed, sentence)
}

pub(crate) fn nothing(
    files: Files,
    status: Status,
    sentence: &str,
) -> Result<Measurement, MeasureError> {
    files.write_nothing(sentence)?;
    let outcome = Outcome::without_end(status, sentence);
    Ok(Measurement::new(outcome, Timestamp::now()))
}

/// Also before the process is there: whoever is killed right after starting it has no time to say so.
fn keep_guarded(guard: Option<&Guard>, fence: &Fence, process: Option<i32>) {
    let Some(guard) = guard else { return };
    let lists = fence.group.as_ref().map(Group::process_lists);
    let lists = lists.unwrap_or_default();
    let mut living: Vec<String> = lists.iter().map(|l| l.display().to_string()).collect();
    living.push(match process {
        Some(pid) => format!("-{pid}"),
        None => host::limits::BY_MARK.to_owned(),
    });
    guard.watch(&living);
}

pub(crate) struct Helpers {
    pub(crate) guard: Option<Guard>,
    pub(crate) patterns: Patterns,
    pub(crate) probe: Probe,
    /// Output that was read before they began.
    pub(crate) log: Vec<u8>,
}

/// A run whose process has been started.
pub(crate) struct UnderWay<'a> {
    setting: &'a Setting<'a>,
    /// Before the process, so that it lets go of a number that is still the process's own.
    guard: Option<Guard>,
    process: Process,
    container: Option<Container<'a>>,
    client: Option<Client>,
    start: Instant,
    timestamp: Timestamp,
    events: EventFile,
    events_path: PathBuf,
    story: Story,
    threads: Threads,
    high_water: HighWater,
    foreseen: Option<Foreseen>,
    end: Option<End>,
}

/// How this program is ending the run.
struct End {
    why: Ended,
    since: Instant,
    is_killed: bool,
}

impl<'a> UnderWay<'a> {
    pub(crate) fn begin(
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
        let client = client.transpose();
        let client = client.map_err(MeasureError::system("the client of a server"))?;
        process.leave_alone(client.as_ref().map(Client::pid));
        keep_guarded(helpers.guard.as_ref(), setting.fence, Some(process.pid));
        let Helpers {
            guard,
            patterns,
            mut probe,
            log: begun,
        } = helpers;
        let group = setting.fence.group.as_ref();
        let group_files = group.map(Group::sampled_files).unwrap_or_default();
        let container = setting.request.container.as_ref().map(Container::new);
        // The processes of a container are followed when they are there.
        if container.is_none() {
            probe.follow(Path::new("/proc"), process.pid, group_files);
        }
        let sampling = Sampling {
            probe,
            path: files.samples_path,
            file: files.samples,
            interval: Duration::from_secs_f64(setting.interval_seconds()),
            start,
            own_bytes: setting.own_bytes,
        };
        let (enough, enough_writer) = std::io::pipe().map_err(MeasureError::system("a pipe"))?;
        let logging = Logging {
            begun,
            output,
            enough,
            path: files.log_path,
            file: files.log,
            patterns,
            progress: setting.request.progress.map(Progress::new),
            start,
        };
        let threads = Threads::begin(process.pid, sampling, logging, enough_writer)?;
        let story = Story::new(unix_start);
        let (events, events_path) = (files.events, files.events_path);
        Ok(UnderWay {
            setting,
            guard,
            high_water: HighWater::of(process.pid, setting.own_bytes),
            process,
            container,
            client,
            start,
            timestamp,
            events,
            events_path,
            story,
            threads,
            foreseen: None,
            end: None,
        })
    }

    /// To the end of the process, and of all it left.
    pub(crate) fn follow(
        mut self,
        stop: &Stop,
        watch: &mut dyn FnMut(Watched<'_>),
    ) -> Result<Measurement, MeasureError> {
        let mut next_look = self.start + LOOK_EVERY;
        let ended = loop {
            // A run that is over before the first look would have no peak of memory.
            let is_young = self.is_young();
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
            self.look_closely();
            if is_young && Instant::now() < next_look {
                continue;
            }
            next_look = Instant::now() + LOOK_EVERY;
            self.listen(watch)?;
            self.enforce_deadline(stop);
            self.poll_client();
            self.threads.check()?;
            watch(Watched::Tick {
                seconds: self.start.elapsed().as_secs_f64(),
            });
        };
        let seconds = ended.duration_since(self.start).as_secs_f64();
        let client = self.last_of_client();
        let mut sampled = self.threads.last_sample()?;
        match &self.container {
            None => sampled.count_high_water(self.high_water.bytes),
            Some(container) => sampled.count_container(&container.counts),
        }
        let left_behind = self.process.end_left_behind(self.setting.fence);
        let log = self.threads.last_line()?;
        self.listen(watch)?;
        let of_events = self.finish_events(watch)?;
        // Nothing is left to be ended.
        if let Some(guard) = &self.guard {
            guard.watch(&[]);
        }
        let usage = self.process.reap();
        let container = self.end_container(usage);
        let finding = Finding {
            setting: self.setting,
            started: self.timestamp,
            seconds,
            sampled,
            usage: container.as_ref().map_or(usage, |c| c.usage(usage)),
            story: self.story,
            log,
            foreseen: self.foreseen,
            ended: self.end.map(|end| end.why),
            client,
            client_cpu_seconds: self
                .client
                .as_ref()
                .and_then(Client::end)
                .map(|usage| usage.cpu_seconds),
            left_behind,
            of_events,
            container,
            after: Conditions::read(Path::new("/")),
        };
        Ok(finding.measured())
    }

    /// The first moments of a process, or of a container, which takes its time to begin.
    fn is_young(&self) -> bool {
        let elapsed = self.start.elapsed();
        match &self.container {
            None => elapsed < YOUNG,
            Some(container) if container.counts.was_seen => {
                elapsed.as_secs_f64() < container.seen_seconds + YOUNG.as_secs_f64()
            }
            Some(_) => elapsed < YOUNG_CONTAINER,
        }
    }

    fn look_closely(&mut self) {
        let Some(container) = &mut self.container else {
            return self.high_water.look();
        };
        if let Some(group) = container.look(self.start.elapsed().as_secs_f64()) {
            // The sampler may have given up; that is reported elsewhere.
            let _ = self.threads.wishes.send(SampleRequest::Follow(group));
        }
    }

    /// After its client's end.
    fn end_container(&mut self, client: Usage) -> Option<EndedContainer> {
        let container = self.container.take()?;
        let ending = container.end(client.exit_code);
        self.story.was_contained(ending.started, ending.finished);
        Some(EndedContainer {
            counts: container.counts,
            ending,
        })
    }

    fn signal(&self, signal: i32) {
        match &self.container {
            Some(container) if container.exists() => container.signal(signal, self.process.pid),
            _ => self.process.signal(signal, self.setting.fence),
        }
    }

    /// Takes in what was reported and sampled since the last look.
    fn listen(&mut self, watch: &mut dyn FnMut(Watched<'_>)) -> Result<(), MeasureError> {
        let UnderWay {
            events,
            story,
            threads,
            start,
            events_path,
            foreseen,
            ..
        } = self;
        let folder = MeasureError::folder(events_path);
        let now = start.elapsed().as_secs_f64();
        let mut tell = |event: &Event| {
            story.take(event, now);
            if matches!(event.kind, EventKind::Phase { .. }) {
                // The sampler may have given up; that is reported elsewhere.
                let _ = threads.wishes.send(SampleRequest::Now);
            }
            watch(Watched::Event(event));
        };
        events
            .poll(unix_seconds(), |event| tell(&event))
            .map_err(&folder)?;
        for said in threads.said.try_iter() {
            match said {
                Said::Event(event) => {
                    events.add(&event).map_err(&folder)?;
                    tell(&event);
                }
                Said::Enough(whole) => *foreseen = Some(whole),
            }
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
        finished.map_err(MeasureError::folder(&self.events_path))
    }

    /// The run of a server lasts as long as its client asks.
    fn poll_client(&mut self) {
        if self.end.is_some() || !self.client.as_mut().is_some_and(Client::has_ended) {
            return;
        }
        if !self.process.has_ended() {
            self.signal(libc::SIGTERM);
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

    /// Ends the run when its time is up or known, or somebody asked for it.
    fn enforce_deadline(&mut self, stop: &Stop) {
        let settings = &self.setting.request.settings;
        let elapsed = self.start.elapsed().as_secs_f64();
        let asked = stop.asked();
        let Some(end) = &mut self.end else {
            let timeout = settings
                .timeout_seconds
                .filter(|timeout| elapsed >= *timeout);
            let why = match (asked, timeout, self.foreseen) {
                (Asked::Nothing | Asked::Pause, None, None) => return,
                (Asked::Nothing | Asked::Pause, _, Some(_)) => Ended::Foreseen,
                (Asked::Nothing | Asked::Pause, Some(after_seconds), None) => {
                    Ended::TimedOut { after_seconds }
                }
                _ => Ended::Interrupted,
            };
            // Its end is about to be reported: it came by itself.
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
            self.signal(signal);
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
            self.signal(libc::SIGKILL);
        }
    }
}
