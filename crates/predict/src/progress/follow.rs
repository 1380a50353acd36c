//! A running program's output, followed: how far it is, and what that says of the rest.

use model::EventKind;

use super::eta::{Pace, Rest};
use super::own::{OwnPatterns, of_event};
use super::{Cutter, Given, Observation, Position, Scope, Tracker, recognise, recognise_begun};

/// Of the program's time, in CPU time of the thread that reads: a flood of output is not looked at
/// line by line, as the program would wait for it.
const MOST_CPU: f64 = 0.005;
const SPARED_CPU_SECONDS: f64 = 0.1;
/// Looked at between two readings of the clock.
const PIECE_BYTES: usize = 8 * 1024;

/// From bytes to a prediction; the same for a script that is watched and for a command of a study.
#[derive(Debug)]
pub struct Follower {
    /// By stream: bars of one are not cut by lines of another.
    streams: Vec<Stream>,
    reading: Reading,
    /// CPU seconds of this thread.
    clock: fn() -> f64,
    cpu_seconds: f64,
}

#[derive(Debug, Default)]
struct Stream {
    cutter: Cutter,
    /// Output was passed over: what follows begins at its next line.
    is_behind: bool,
}

#[derive(Debug)]
struct Reading {
    own: OwnPatterns,
    given: Given,
    tracker: Tracker,
    pace: Pace,
    position: Option<Position>,
    loss: Option<f64>,
    has_news: bool,
    /// Steps are counted by events, and not by the output.
    counts_events: bool,
    latest: f64,
}

impl Follower {
    /// `clock` reads the CPU seconds of this thread.
    pub fn new(given: Given, streams: usize, clock: fn() -> f64) -> Self {
        Follower {
            streams: (0..streams).map(|_| Stream::default()).collect(),
            reading: Reading {
                own: OwnPatterns::default(),
                given,
                tracker: Tracker::new(given),
                pace: Pace::default(),
                position: None,
                loss: None,
                has_news: false,
                counts_events: false,
                latest: 0.0,
            },
            clock,
            cpu_seconds: 0.0,
        }
    }

    /// Nothing else is recognised in the output then.
    pub fn with_patterns(mut self, own: OwnPatterns) -> Self {
        self.reading.own = own;
        self
    }

    /// `seconds` are those since the start of the program, and never go back. What comes faster than
    /// it can be looked at for 0.5 % of the time is passed over.
    pub fn read(&mut self, stream: usize, bytes: &[u8], seconds: f64) {
        for piece in bytes.chunks(PIECE_BYTES) {
            if self.cpu_seconds > MOST_CPU * seconds + SPARED_CPU_SECONDS {
                if let Some(stream) = self.streams.get_mut(stream) {
                    *stream = Stream {
                        cutter: Cutter::default(),
                        is_behind: true,
                    };
                }
                return;
            }
            let begin = (self.clock)();
            self.read_piece(stream, piece, seconds);
            self.cpu_seconds += (self.clock)() - begin;
        }
    }

    fn read_piece(&mut self, stream: usize, piece: &[u8], seconds: f64) {
        let Self {
            streams, reading, ..
        } = self;
        let Some(stream) = streams.get_mut(stream) else {
            return;
        };
        let Some(piece) = stream.after_gap(piece) else {
            return;
        };
        stream.cutter.push(piece, |update| {
            reading.update(update, seconds);
        });
        // A bar is drawn over later; it is complete now.
        reading.begun(&stream.cutter.begun(), seconds);
    }

    /// What the program emitted by itself (docs/protocol.md).
    pub fn emitted(&mut self, event: &EventKind, seconds: f64) {
        let begin = (self.clock)();
        self.reading.emitted(event, seconds);
        self.cpu_seconds += (self.clock)() - begin;
    }

    pub fn position(&self) -> Option<Position> {
        self.reading.position
    }

    pub fn loss(&self) -> Option<f64> {
        self.reading.loss
    }

    /// Of the run, or of the counter that [`Position::scope`] names.
    pub fn rest(&self) -> Option<Rest> {
        self.reading.pace.rest()
    }

    /// Whether the total time of the whole run is known to this part of it.
    pub fn is_known_to(&self, precision: f64, least_seconds: f64) -> bool {
        let is_of_run = self.position().is_some_and(|at| at.scope == Scope::Run);
        is_of_run
            && self
                .rest()
                .is_some_and(|rest| rest.is_known_to(precision, least_seconds))
    }

    /// Whether something was counted since [`Follower::take_news`].
    pub fn has_news(&self) -> bool {
        self.reading.has_news
    }

    pub fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.reading.has_news)
    }
}

impl Stream {
    fn after_gap<'b>(&mut self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        if !self.is_behind {
            return Some(bytes);
        }
        let end = bytes.iter().position(|b| matches!(b, b'\n' | b'\r'))?;
        self.is_behind = false;
        bytes.get(end..)
    }
}

impl Reading {
    fn update(&mut self, update: &str, seconds: f64) {
        match self.own.is_empty() {
            true => self.observe(recognise(update), seconds),
            false => self.observe(self.own.read(update), seconds),
        }
    }

    fn begun(&mut self, update: &str, seconds: f64) {
        if self.own.is_empty() {
            self.observe(recognise_begun(update), seconds);
        }
    }

    /// Events have no totals, so a counter in the output that has one is better, unless the number of
    /// steps is given.
    fn emitted(&mut self, event: &EventKind, seconds: f64) {
        let Some(mut observation) = of_event(event) else {
            return;
        };
        let is_of_output =
            self.position.is_some_and(|at| at.total.is_some()) && !self.counts_events;
        if observation.counter.is_some() {
            match self.given.steps.is_some() || !is_of_output {
                true => self.counts_events = true,
                false => observation.counter = None,
            }
        }
        self.take(&observation, seconds);
    }

    fn observe(&mut self, observations: Vec<Observation>, seconds: f64) {
        for mut observation in observations {
            let has_total = observation
                .counter
                .as_ref()
                .is_some_and(|c| c.total.is_some());
            if self.counts_events && (self.given.steps.is_some() || !has_total) {
                observation.counter = None;
            }
            self.counts_events &= observation.counter.is_none();
            self.take(&observation, seconds);
        }
    }

    fn take(&mut self, observation: &Observation, seconds: f64) {
        // Events are read later than they happened.
        self.latest = self.latest.max(seconds);
        self.loss = observation.loss.or(self.loss);
        if let Some(found) = self.tracker.observe(observation) {
            self.pace.push(self.latest, &found);
            self.position = Some(found);
            self.has_news = true;
        }
    }
}

#[cfg(test)]
#[path = "follow_tests.rs"]
mod tests;
