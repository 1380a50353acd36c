//! Logs of `caffe train`, and of `caffe time`.

use jiff::Timestamp;
use model::run::{metric, phase};
use network::formats::caffe::{LogEvent, log_line};
use network::formats::glog;

use super::clock::Clock;
use super::told::{Ended, Step, Told};
use crate::summary::in_unit;

/// The files of Caffe that write into a log.
const SOURCES: [&str; 8] = [
    "solver.cpp",
    "sgd_solver.cpp",
    "caffe.cpp",
    "net.cpp",
    "layer_factory.hpp",
    "syncedmem.cpp",
    "syncedmem.hpp",
    "parallel.cpp",
];

/// Lines of `caffe time`, and the metrics that they become.
const TIMED: [(&str, &str); 3] = [
    ("Average Forward pass:", "forward_seconds"),
    ("Average Backward pass:", "backward_seconds"),
    ("Average Forward-Backward:", metric::STEP_SECONDS),
];

pub(super) fn is_own(line: &str) -> bool {
    glog::line(line).is_some_and(|line| SOURCES.contains(&line.source))
}

pub(super) fn read(text: &str, year: Option<i16>, modified: Timestamp) -> Told {
    let moments = text
        .lines()
        .filter_map(|line| Some(glog::line(line)?.moment));
    let clock = Clock::of(moments, year, modified);
    let mut pauses = pauses(text, clock.clone()).into_iter().peekable();
    let mut reader = Reader {
        clock,
        ..Reader::default()
    };
    for (number, line) in (1..).zip(text.lines()) {
        let pause = pauses.next_if(|pause| pause.line == number);
        reader.line(number, line, pause);
    }
    reader.finish()
}

/// Nobody trained: one program had ended, and the next had not begun.
#[derive(Debug, PartialEq)]
struct Pause {
    /// The first of the program after it.
    line: u64,
    seconds: f64,
}

/// Where programs begin in a log that one after the other wrote into. Between the last line about
/// training and the first of those that only a program at its start writes, the longest silence is
/// the pause: some lines before those may already be of the next program.
fn pauses(text: &str, mut clock: Clock) -> Vec<Pause> {
    let mut pauses = Vec::new();
    let mut last_at: Option<Timestamp> = None;
    let mut longest: Option<Pause> = None;
    let (mut trained, mut begins) = (false, false);
    for (line, text) in (1..).zip(text.lines()) {
        let at = glog::line(text).and_then(|head| clock.at(head.moment));
        if let Some(at) = at {
            let seconds = last_at.map_or(0.0, |last| at.duration_since(last).as_secs_f64());
            if longest
                .as_ref()
                .is_none_or(|longest| longest.seconds < seconds)
            {
                longest = Some(Pause { line, seconds });
            }
            last_at = Some(at);
        }
        match log_line(text) {
            Some(LogEvent::Begins | LogEvent::Starts) => begins |= trained,
            Some(LogEvent::Setting { .. }) | None => {}
            Some(_) if !begins => {
                trained = true;
                longest = None;
            }
            Some(_) => {}
        }
        // The logger's own first line has no time: the next has.
        if begins && at.is_some() {
            pauses.extend(longest.take());
            (trained, begins) = (false, false);
        }
    }
    pauses
}

#[derive(Default)]
struct Reader {
    told: Told,
    clock: Clock,
    /// Between programs that wrote one after the other.
    paused_seconds: f64,
    part: u32,
    now_seconds: Option<f64>,
    /// When the last line of a test or of a snapshot was written.
    aside_seconds: Option<f64>,
    max_iterations: Option<u64>,
    /// Whether the test in progress has told its accuracy: other networks may follow.
    tested: bool,
    stopped_early: bool,
    saved: bool,
    /// Whether an iteration was told since the last snapshot; it may be the extra one at the end.
    after_saving: bool,
}

impl Reader {
    fn line(&mut self, number: u64, line: &str, pause: Option<Pause>) {
        self.paused_seconds += pause.as_ref().map_or(0.0, |pause| pause.seconds);
        if let Some(at) = glog::line(line).and_then(|head| self.clock.at(head.moment)) {
            let started = *self.told.started.get_or_insert(at);
            let since = at.duration_since(started).as_secs_f64();
            let seconds = (since - self.paused_seconds).max(0.0);
            self.told.phases.pass(seconds);
            self.now_seconds = Some(seconds);
        }
        if pause.is_some() {
            self.resume();
        }
        if line.contains("] Snapshotting solver state") {
            self.aside_seconds = self.now_seconds;
        }
        match log_line(line) {
            Some(event) => self.event(event),
            None if looks_like_a_step(line) => self.told.cannot_read(number, line),
            None => self.timed(line),
        }
    }

    /// What `caffe time` writes: how long the passes of one batch take, without an update.
    fn timed(&mut self, line: &str) {
        let Some(message) = glog::line(line).map(|line| line.message.trim()) else {
            return;
        };
        if message == "*** Benchmark begins ***" {
            self.begin(phase::TRAIN);
        } else if message == "*** Benchmark ends ***" {
            self.begin(phase::SHUTDOWN);
            self.told.ended = Ended::Whole;
        } else if let Some(rest) = message.strip_prefix("Testing for ") {
            let count = rest.strip_suffix(" iterations.");
            self.told.all_steps = count.and_then(|count| count.parse().ok());
        }
        for (words, metric) in TIMED {
            let rest = message.strip_prefix(words);
            let number = rest.and_then(|rest| rest.trim().strip_suffix(" ms."));
            let milliseconds: Option<f64> = number.and_then(|number| number.parse().ok());
            if let Some(milliseconds) = milliseconds.filter(|ms| ms.is_finite()) {
                let metric = (metric.to_owned(), in_unit(milliseconds / 1000.0, "s"));
                self.told.metrics.extend([metric]);
            }
        }
    }

    fn event(&mut self, event: LogEvent) {
        match event {
            LogEvent::Begins => {}
            LogEvent::Starts => self.begin(phase::TRAIN),
            LogEvent::Iteration {
                iteration, loss, ..
            } => self.iteration(iteration, loss),
            LogEvent::Testing { iteration } => {
                self.told.all_steps = self.told.all_steps.max(Some(iteration));
                self.begin(phase::VERIFY);
                self.aside_seconds = self.now_seconds;
                self.tested = false;
            }
            LogEvent::Tested { name, value } => {
                self.aside_seconds = self.now_seconds;
                let is_share = LogEvent::is_accuracy(&name) && (0.0..=1.0).contains(&value);
                if is_share && !std::mem::replace(&mut self.tested, true) {
                    self.told.accuracy = Some(value);
                }
            }
            LogEvent::Saving { .. } => {
                self.saved = true;
                self.after_saving = false;
                self.begin(phase::SAVE);
                self.aside_seconds = self.now_seconds;
            }
            LogEvent::Done => {
                // Said in both cases.
                if !self.stopped_early {
                    self.told.ended = Ended::Whole;
                }
                self.begin(phase::SHUTDOWN);
            }
            LogEvent::StoppedEarly => self.stopped_early = true,
            LogEvent::OutOfMemory { detail } => self.ends(Ended::OutOfMemory(detail)),
            LogEvent::Fatal { detail } => self.ends(Ended::Failed(detail)),
            LogEvent::Setting { name, value } => self.setting(&name, &value),
        }
    }

    fn iteration(&mut self, iteration: u64, loss: f64) {
        // After the last it tells the loss once more, of weights that are no longer changed.
        if self.max_iterations.is_some_and(|most| iteration >= most) {
            self.told.all_steps = Some(iteration);
            return;
        }
        self.back_to_training();
        self.after_saving = true;
        self.told.step(Step {
            number: iteration.saturating_add(1),
            loss: Some(loss),
            at_seconds: self.now_seconds,
            seconds: None,
            part: self.part,
        });
    }

    /// Another program goes on with the training: what the one before said of its end is past.
    fn resume(&mut self) {
        self.begin(phase::START);
        self.part += 1;
        self.aside_seconds = None;
        self.max_iterations = None;
        self.told.all_steps = None;
        self.told.ended = Ended::Cut;
        self.stopped_early = false;
        self.saved = false;
        self.after_saving = false;
    }

    /// The first are the solver's and the training images'; those of the test come after.
    fn setting(&mut self, name: &str, value: &str) {
        let place = match name {
            "max_iter" => &mut self.max_iterations,
            "batch_size" => &mut self.told.batch,
            _ => return,
        };
        *place = place.or_else(|| value.parse().ok().filter(|&number: &u64| number > 0));
    }

    /// Tests and snapshots are over with their last line.
    fn back_to_training(&mut self) {
        match self.told.phases.now() {
            Some(phase::VERIFY | phase::SAVE) => {
                if let Some(at_seconds) = self.aside_seconds.take() {
                    self.told.phases.begin(phase::TRAIN, at_seconds);
                }
            }
            // The log lacks its beginning.
            Some(phase::START) => self.begin(phase::TRAIN),
            _ => {}
        }
    }

    fn begin(&mut self, phase: &'static str) {
        if let Some(now_seconds) = self.now_seconds {
            self.told.phases.begin(phase, now_seconds);
        }
    }

    /// The first cause counts; what follows is its stack.
    fn ends(&mut self, ended: Ended) {
        if self.told.ended == Ended::Cut {
            self.told.ended = ended;
        }
    }

    fn finish(mut self) -> Told {
        let is_whole = self.told.ended == Ended::Whole;
        // Where the settings were not printed, the extra loss is the one after the last snapshot.
        if is_whole && self.max_iterations.is_none() && self.saved && self.after_saving {
            let extra = self.told.steps.pop();
            self.told.all_steps = extra.map(|step| step.number - 1);
        }
        if is_whole && let Some(most) = self.max_iterations {
            self.told.all_steps = Some(most);
        }
        self.told
    }
}

/// `Iteration 20, loss = ` that was cut.
fn looks_like_a_step(line: &str) -> bool {
    glog::line(line).is_some_and(|line| {
        let message = line.message.trim();
        message.starts_with("Iteration ") && message.contains("loss")
    })
}
