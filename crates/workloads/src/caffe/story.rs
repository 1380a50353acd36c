//! Caffe's log as the events of a run.

use std::time::Instant;

use model::EventKind;
use model::run::phase;
use network::formats::caffe::{Iterations, LogEvent, library_error, log_line};
use network::formats::glog::{self, Moment};

use crate::protocol::begins;

/// What was understood of the log so far.
pub(super) struct Story {
    batch: u32,
    iterations: Iterations,
    /// When the last step was reported, or training began.
    last: Instant,
    /// The same by the log's own clock, which counts microseconds.
    last_moment: Option<Moment>,
    trains: bool,
    epoch: Sums,
    /// Whether the loss has already been said to be no number.
    lost: bool,
    tested: bool,
    out_of_memory: bool,
    stopped_early: bool,
    /// Caffe reached its end.
    pub(super) done: bool,
    /// Why it gave up, by its own word.
    pub(super) fatal: Option<String>,
    /// What a library of it complained about before.
    pub(super) complaint: Option<String>,
    /// The file with the trained weights.
    pub(super) saved: Option<String>,
}

/// Over the steps of the epoch in progress.
#[derive(Default)]
struct Sums {
    loss: f64,
    seconds: f64,
    steps: u32,
}

impl Story {
    pub(super) fn new(batch: u32, iterations: Iterations) -> Self {
        Story {
            batch,
            iterations,
            last: Instant::now(),
            last_moment: None,
            trains: false,
            epoch: Sums::default(),
            lost: false,
            tested: false,
            out_of_memory: false,
            stopped_early: false,
            done: false,
            fatal: None,
            complaint: None,
            saved: None,
        }
    }

    /// What a line of the log tells.
    pub(super) fn line(&mut self, line: &str) -> Vec<EventKind> {
        let mut events = Vec::new();
        let moment = glog::line(line).map(|line| line.moment);
        if let Some(complaint) = library_error(line) {
            self.complaint = Some(complaint.to_owned());
        }
        match log_line(line) {
            Some(LogEvent::Starts) => {
                self.train(&mut events);
                self.last_moment = moment;
            }
            Some(LogEvent::Iteration {
                iteration,
                loss,
                timed,
            }) => {
                // Caffe's own word has whole milliseconds on a CPU.
                let by_log = self.last_moment.zip(moment);
                let by_log = by_log.map(|(before, now)| before.seconds_until(now));
                let by_caffe = timed.filter(|timed| timed.iterations == 1);
                let seconds = by_log
                    .filter(|seconds| *seconds > 0.0)
                    .or(by_caffe.map(|timed| timed.seconds));
                self.last_moment = moment;
                self.step(iteration, loss, seconds, &mut events);
            }
            Some(LogEvent::Saving { file }) => {
                self.last_moment = moment;
                events.push(begins(phase::SAVE));
                self.saved = Some(file);
            }
            Some(LogEvent::Testing { .. }) => events.push(begins(phase::VERIFY)),
            Some(LogEvent::Tested { name, value }) => {
                self.last_moment = moment;
                let is_share = LogEvent::is_accuracy(&name) && (0.0..=1.0).contains(&value);
                if is_share && !std::mem::replace(&mut self.tested, true) {
                    events.push(EventKind::Accuracy { value });
                }
            }
            Some(LogEvent::OutOfMemory { detail }) => {
                self.fatal = Some(detail.clone());
                if !std::mem::replace(&mut self.out_of_memory, true) {
                    events.push(EventKind::OutOfMemory { detail });
                }
            }
            Some(LogEvent::Fatal { detail }) => self.fatal = Some(detail),
            // The program says that it is done in this case too.
            Some(LogEvent::StoppedEarly) => self.stopped_early = true,
            // Said twice, by the solver and by the program.
            Some(LogEvent::Done) if !self.done && !self.stopped_early => {
                self.done = true;
                events.push(begins(phase::SHUTDOWN));
            }
            Some(LogEvent::Begins | LogEvent::Done | LogEvent::Setting { .. }) | None => {}
        }
        events
    }

    fn train(&mut self, events: &mut Vec<EventKind>) {
        if !std::mem::replace(&mut self.trains, true) {
            self.last = Instant::now();
            events.push(begins(phase::TRAIN));
        }
    }

    fn step(
        &mut self,
        iteration: u64,
        loss: f64,
        timed_seconds: Option<f64>,
        events: &mut Vec<EventKind>,
    ) {
        // After the last it tells the loss once more, of weights that are no longer changed.
        if iteration >= u64::from(self.iterations.all) {
            return;
        }
        self.train(events);
        let now = Instant::now();
        let passed = now.duration_since(std::mem::replace(&mut self.last, now));
        let seconds = timed_seconds.unwrap_or(passed.as_secs_f64());
        let step = iteration + 1;
        let an_epoch = u64::from(self.iterations.an_epoch.max(1));
        let epoch = u32::try_from(iteration / an_epoch + 1).unwrap_or(u32::MAX);
        events.push(EventKind::Step {
            step,
            epoch: Some(epoch),
            loss: finite(loss),
            seconds: Some(seconds),
            images: Some(self.batch.into()),
        });
        if !loss.is_finite() && !std::mem::replace(&mut self.lost, true) {
            events.push(EventKind::Note {
                text: format!("the loss became NaN at step {step}: lower the learning rate"),
            });
        }
        self.epoch.loss += loss;
        self.epoch.seconds += seconds;
        self.epoch.steps += 1;
        if step.is_multiple_of(an_epoch) {
            let sums = std::mem::take(&mut self.epoch);
            events.push(EventKind::Epoch {
                epoch,
                loss: finite(sums.loss / f64::from(sums.steps)),
                accuracy: None,
                seconds: Some(sums.seconds),
            });
        }
    }
}

fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "I0515 10:11:12.123456  4242 solver.cpp:1]";

    fn told(lines: &[&str]) -> (Vec<String>, Story) {
        let mut story = Story::new(4, Iterations::of(8, 4, 2).unwrap());
        let events = lines
            .iter()
            .flat_map(|line| story.line(&format!("{HEAD} {line}")))
            .map(|event| serde_json::to_string(&event).unwrap())
            .collect();
        (events, story)
    }

    #[test]
    fn a_log_becomes_phases_steps_epochs_and_accuracy() {
        let (events, story) = told(&[
            "Starting Optimization",
            "Solving n",
            "Iteration 0 (0 iter/s, 0.5s/1 iters), loss = 2",
            "    Train net output #0: loss = 2 (* 1 = 2 loss)",
            "Iteration 0, lr = 0.01",
            "Iteration 1 (4 iter/s, 0.25s/1 iters), loss = 1",
            "Iteration 2 (4 iter/s, 0.25s/1 iters), loss = nan",
            "Iteration 3 (4 iter/s, 0.25s/1 iters), loss = 0.5",
            "Snapshotting to binary proto file /x_iter_4.caffemodel",
            "Snapshotting solver state to binary proto file /x_iter_4.solverstate",
            "Iteration 4, loss = 0.25",
            "Iteration 4, Testing net (#0)",
            "    Test net output #0: accuracy = 0.75",
            "    Test net output #1: loss = 0.05 (* 1 = 0.05 loss)",
            "Optimization Done.",
            "Optimization Done.",
        ]);
        let step = |step: u32, epoch: u32, loss: &str, seconds: f64| {
            format!(
                r#"{{"event":"step","step":{step},"epoch":{epoch},{loss}"seconds":{seconds},"images":4}}"#
            )
        };
        let expected = [
            r#"{"event":"phase","phase":"train"}"#.to_owned(),
            step(1, 1, r#""loss":2.0,"#, 0.5),
            step(2, 1, r#""loss":1.0,"#, 0.25),
            r#"{"event":"epoch","epoch":1,"loss":1.5,"seconds":0.75}"#.to_owned(),
            step(3, 2, "", 0.25),
            r#"{"event":"note","text":"the loss became NaN at step 3: lower the learning rate"}"#
                .to_owned(),
            step(4, 2, r#""loss":0.5,"#, 0.25),
            r#"{"event":"epoch","epoch":2,"seconds":0.5}"#.to_owned(),
            r#"{"event":"phase","phase":"save"}"#.to_owned(),
            r#"{"event":"phase","phase":"verify"}"#.to_owned(),
            r#"{"event":"accuracy","value":0.75}"#.to_owned(),
            r#"{"event":"phase","phase":"shutdown"}"#.to_owned(),
        ];
        assert_eq!(events, expected);
        assert!(story.done);
        assert_eq!(story.saved.as_deref(), Some("/x_iter_4.caffemodel"));
    }

    #[test]
    fn logs_of_old_versions_are_timed_by_the_clock() {
        let (events, story) = told(&["Iteration 0, loss = 2", "Iteration 1, loss = 1"]);
        assert_eq!(events.len(), 4, "{events:?}");
        assert!(events[1].contains(r#""step":1"#) && events[1].contains(r#""seconds":"#));
        assert!(!story.done);
    }

    /// A step of LeNet-5 with one image takes a millisecond: Caffe says 0.004 s, 0.001 s or 0 s.
    #[test]
    fn steps_are_timed_by_the_microseconds_of_the_log() {
        let mut story = Story::new(1, Iterations::of(4, 1, 1).unwrap());
        let lines = [
            "12.000000  4242 solver.cpp:1] Starting Optimization",
            "12.500000  4242 solver.cpp:1] Iteration 0 (0 iter/s, 0.004s/1 iters), loss = 2",
            "12.500970  4242 solver.cpp:1] Iteration 1 (250 iter/s, 0.004s/1 iters), loss = 1",
            "12.600000  4242 solver.cpp:1]     Test net output #0: accuracy = 0.5",
            "12.600500  4242 solver.cpp:1] Iteration 2 (250 iter/s, 0.004s/1 iters), loss = 1",
        ];
        let events = lines
            .iter()
            .flat_map(|line| story.line(&format!("I0515 10:11:{line}")));
        let seconds: Vec<f64> = events
            .filter_map(|event| match event {
                EventKind::Step { seconds, .. } => seconds,
                _ => None,
            })
            .collect();
        let expected = [0.5, 0.00097, 0.0005];
        assert_eq!(seconds.len(), expected.len());
        for (found, expected) in seconds.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{seconds:?}");
        }
    }

    #[test]
    fn what_was_stopped_is_not_done() {
        let (events, story) = told(&["Optimization stopped early.", "Optimization Done."]);
        assert!(events.is_empty() && !story.done, "{events:?}");
    }

    #[test]
    fn the_end_of_memory_is_told_once() {
        let (events, story) =
            told(&["Check failed: error == cudaSuccess (2 vs. 0)  out of memory"; 2]);
        assert_eq!(events.len(), 1, "{events:?}");
        assert!(events[0].contains("out-of-memory"));
        assert!(story.fatal.is_some());
    }
}
