//! Progress that a run prints, as events: how far it is, how long it still takes, and whether that is
//! known well enough to end it.

use model::event::TimeLeft;
use model::measurement::Foreseen;
use model::{Event, EventKind};
use predict::progress::eta::Times;
use predict::progress::{Follower, Given, Position, Scope, Unit};

use crate::request::Recognition;
use crate::sampler::thread_cpu_seconds;

/// Between two events, where nothing has ended.
const TOLD_EVERY_SECONDS: f64 = 0.5;
/// Between two ends of epochs.
const LEAST_SECONDS: f64 = 0.05;
/// Half the width of a 95 % interval, in standard deviations.
const NORMAL_WIDTH: f64 = 1.96;

/// What the output of a run says of the run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Said {
    Event(Event),
    /// The run need not go on.
    Enough(Foreseen),
}

#[derive(Debug)]
pub(crate) struct Progress {
    asked: Recognition,
    follower: Follower,
    told: Option<Told>,
    is_enough: bool,
}

#[derive(Debug, Clone, Copy)]
struct Told {
    at_seconds: f64,
    done: f64,
}

impl Progress {
    pub(crate) fn new(asked: Recognition) -> Self {
        Progress {
            asked,
            follower: Follower::new(Given::default(), 1, thread_cpu_seconds),
            told: None,
            is_enough: false,
        }
    }

    /// `seconds` are those since the start of the run, `at` is the same moment by the clock of events.
    pub(crate) fn read(&mut self, bytes: &[u8], seconds: f64, at: f64, tell: &mut dyn FnMut(Said)) {
        self.follower.read(0, bytes, seconds);
        self.tell(seconds, at, tell);
    }

    fn tell(&mut self, seconds: f64, at: f64, tell: &mut dyn FnMut(Said)) {
        let position = self.follower.position();
        let Some(position) = position.filter(|now| self.is_due(now, seconds)) else {
            return;
        };
        self.follower.take_news();
        self.told = Some(Told {
            at_seconds: seconds,
            done: position.done,
        });
        let is_of_run = position.scope == Scope::Run;
        let rest = self.follower.rest().filter(|_| is_of_run);
        let times = rest.map(|rest| rest.at(seconds));
        let left = times.as_ref().map(|times| TimeLeft {
            seconds: times.left_seconds.value,
            interval: times.left_seconds.interval.map(|i| [i.low, i.high]),
        });
        let kind = EventKind::Recognised {
            unit: position.unit,
            done: position.done,
            total: position.total,
            of_run: is_of_run,
            left,
        };
        tell(Said::Event(Event { at: Some(at), kind }));
        if let Some(times) = times
            && self.is_now_enough()
        {
            self.is_enough = true;
            tell(Said::Enough(foreseen(&position, &times)));
        }
    }

    fn is_due(&self, now: &Position, seconds: f64) -> bool {
        let Some(told) = self.told else {
            return self.follower.has_news();
        };
        let since = seconds - told.at_seconds;
        let is_end = now.scope == Scope::Run && now.left() == Some(0.0) && told.done < now.done;
        let ends_epoch = now.unit == Unit::Epochs && told.done.floor() < now.done.floor();
        self.follower.has_news()
            && (is_end || since >= TOLD_EVERY_SECONDS || (ends_epoch && since >= LEAST_SECONDS))
    }

    fn is_now_enough(&self) -> bool {
        let Recognition {
            known_at,
            least_seconds,
        } = self.asked;
        let known_at = known_at.filter(|_| !self.is_enough);
        known_at.is_some_and(|precision| self.follower.is_known_to(precision, least_seconds))
    }
}

fn foreseen(position: &Position, times: &Times) -> Foreseen {
    let total = &times.total_seconds;
    Foreseen {
        unit: position.unit,
        done: position.done,
        total: position.total.unwrap_or(position.done),
        total_seconds: total.value,
        relative_error: total.relative_margin().unwrap_or(0.0) / NORMAL_WIDTH,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of lines, each with its time.
    fn said(known_at: Option<f64>, lines: impl Iterator<Item = (f64, String)>) -> Vec<Said> {
        let mut progress = Progress::new(Recognition {
            known_at,
            least_seconds: 0.0,
        });
        let mut said = Vec::new();
        for (seconds, line) in lines {
            let bytes = format!("{line}\n");
            progress.read(bytes.as_bytes(), seconds, 1e9 + seconds, &mut |one| {
                said.push(one);
            });
        }
        said
    }

    fn epochs(count: u32) -> impl Iterator<Item = (f64, String)> {
        (1..=count).map(|epoch| {
            let line = format!("Epoch {epoch}/40 finished, loss 0.5");
            (3.0 + 2.0 * f64::from(epoch), line)
        })
    }

    #[test]
    fn epochs_become_events_with_the_time_left() {
        let said = said(None, epochs(10));
        let last = said.last().cloned().unwrap();
        let Said::Event(Event {
            at,
            kind:
                EventKind::Recognised {
                    unit,
                    done,
                    total,
                    of_run,
                    left,
                },
        }) = last
        else {
            panic!("{last:?}");
        };
        assert_eq!((at, unit, of_run), (Some(1e9 + 23.0), Unit::Epochs, true));
        assert_eq!((done, total), (10.0, Some(40.0)));
        let left = left.unwrap();
        assert!((left.seconds - 60.0).abs() < 1.0, "{left:?}");
        assert_eq!(said.len(), 10);
    }

    #[test]
    fn a_run_that_is_known_is_said_to_be_once() {
        let foreseen = |known_at| {
            let said = said(known_at, epochs(30)).into_iter();
            let enough = said.filter_map(|one| match one {
                Said::Enough(foreseen) => Some(foreseen),
                Said::Event(_) => None,
            });
            enough.collect::<Vec<Foreseen>>()
        };
        let found = foreseen(Some(0.05));
        let [whole] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert!((whole.total_seconds - 83.0).abs() < 2.0, "{whole:?}");
        assert!(whole.done < 30.0 && whole.total == 40.0, "{whole:?}");
        assert!(foreseen(None).is_empty());
    }

    /// A counter whose end is not the run's, and numbers that are no progress.
    #[test]
    fn what_says_nothing_of_the_whole_run_never_ends_it() {
        let counter = (1..200).map(|step| (f64::from(step), format!("step {step}/200")));
        let all = said(Some(0.2), counter);
        assert!(!all.is_empty());
        for one in all {
            let Said::Event(Event { kind, .. }) = one else {
                panic!("{one:?}");
            };
            assert!(
                matches!(
                    kind,
                    EventKind::Recognised {
                        of_run: false,
                        left: None,
                        ..
                    }
                ),
                "{kind:?}"
            );
        }
        let others = (1..200).map(|at| {
            let line = format!(
                "2026-11-18 20:{:02} GET /images/{at} 200 in {at} ms",
                at % 60
            );
            (f64::from(at), line)
        });
        assert_eq!(said(Some(0.2), others), []);
    }
}
