//! A running program's output, followed: how far it is, and what that says of the rest.

use super::eta::{Pace, Rest};
use super::{Cutter, Given, Observation, Position, Scope, Tracker, recognise, recognise_begun};

/// From bytes to a prediction; the same for a script that is watched and for a command of a study.
#[derive(Debug)]
pub struct Follower {
    /// By stream: bars of one are not cut by lines of another.
    cutters: Vec<Cutter>,
    reading: Reading,
}

#[derive(Debug)]
struct Reading {
    tracker: Tracker,
    pace: Pace,
    position: Option<Position>,
    loss: Option<f64>,
    has_news: bool,
}

impl Follower {
    pub fn new(given: Given, streams: usize) -> Self {
        Follower {
            cutters: (0..streams).map(|_| Cutter::default()).collect(),
            reading: Reading {
                tracker: Tracker::new(given),
                pace: Pace::default(),
                position: None,
                loss: None,
                has_news: false,
            },
        }
    }

    /// `seconds` are those since the start of the program, and never go back.
    pub fn read(&mut self, stream: usize, bytes: &[u8], seconds: f64) {
        let Self { cutters, reading } = self;
        let Some(cutter) = cutters.get_mut(stream) else {
            return;
        };
        cutter.push(bytes, |update| {
            reading.observe(&recognise(update), seconds);
        });
        // A bar is drawn over later; it is complete now.
        reading.observe(&recognise_begun(&cutter.begun()), seconds);
    }

    /// Output follows that does not continue what was read.
    pub fn pass_over(&mut self) {
        self.cutters.fill_with(Cutter::default);
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
    pub fn is_known_to(&self, precision: f64) -> bool {
        let is_of_run = self.position().is_some_and(|at| at.scope == Scope::Run);
        is_of_run && self.rest().is_some_and(|rest| rest.is_known_to(precision))
    }

    /// Whether something was counted since [`Follower::take_news`].
    pub fn has_news(&self) -> bool {
        self.reading.has_news
    }

    pub fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.reading.has_news)
    }
}

impl Reading {
    fn observe(&mut self, observations: &[Observation], seconds: f64) {
        for observation in observations {
            self.loss = observation.loss.or(self.loss);
            if let Some(found) = self.tracker.observe(observation) {
                self.pace.push(seconds, &found);
                self.position = Some(found);
                self.has_news = true;
            }
        }
    }
}
