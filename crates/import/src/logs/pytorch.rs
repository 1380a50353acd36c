//! What PyTorch's examples print; the wide gaps are tabs.
//!
//! ```text
//! Train Epoch: 1 [640/60000 (1%)]    Loss: 1.312
//! Test set: Average loss: 0.05, Accuracy: 9842/10000 (98%)
//!
//! Epoch: [0][  10/5005]    Time  0.25 (  0.31)    Data  0.00 (  0.05)    Loss 6.9e+00 (7.0e+00)    Acc@1 …
//!  * Acc@1 76.130 Acc@5 92.862
//! ```

use super::told::{Ended, Step, Told, Unfinished};

pub(super) fn is_own(line: &str) -> bool {
    Digit::of(line).is_some() || Batch::of(line).is_some()
}

pub(super) fn read(text: &str) -> Told {
    let mut reader = Reader {
        before_first: before_first(text),
        ..Reader::default()
    };
    for (number, line) in (1..).zip(text.lines()) {
        reader.line(number, line);
    }
    let Reader { mut told, open, .. } = reader;
    told.end_by_errors(text);
    // Each epoch is followed by a test.
    if let Some(open) = open {
        let seconds = open.batch.map(|at| at.mean_seconds * at.done as f64);
        told.unfinished = Some(Unfinished { seconds });
        if told.ended == Ended::Whole {
            told.ended = Ended::Cut;
        }
    }
    told
}

/// Batches that are done where the line says 0: older versions count from zero, newer from one.
fn before_first(text: &str) -> u64 {
    let mut batches = text.lines().filter_map(Batch::of);
    u64::from(batches.any(|batch| batch.done == 0))
}

#[derive(Default)]
struct Reader {
    told: Told,
    before_first: u64,
    losses: Vec<f64>,
    /// The epoch in progress.
    open: Option<Open>,
}

struct Open {
    epoch: u32,
    /// Where its last line was.
    batch: Option<At>,
}

#[derive(Clone, Copy)]
struct At {
    /// Of this epoch.
    done: u64,
    all: u64,
    mean_seconds: f64,
}

impl Reader {
    fn line(&mut self, number: u64, line: &str) {
        if let Some(digit) = Digit::of(line) {
            self.digit(&digit);
        } else if let Some(batch) = Batch::of(line) {
            self.batch(&batch);
        } else if let Some(share) = tested(line).filter(|_| !self.told.epochs.is_empty()) {
            self.told.accuracy = Some(share);
            if let Some(last) = self.told.epochs.last_mut() {
                last.accuracy = Some(share);
            }
            self.close();
        } else if line.starts_with("Train Epoch: ") || line.starts_with("Epoch: [") {
            self.told.cannot_read(number, line);
        }
    }

    fn digit(&mut self, digit: &Digit) {
        if self.begin(digit.epoch) {
            self.losses.clear();
        }
        self.losses.push(digit.loss);
        let mean = self.losses.iter().sum::<f64>() / self.losses.len() as f64;
        self.told.images = Some(digit.images);
        self.told.epoch(digit.epoch).loss = Some(mean).filter(|mean| mean.is_finite());
    }

    fn batch(&mut self, batch: &Batch) {
        self.begin(batch.epoch);
        let done = (batch.done + self.before_first).min(batch.all);
        self.open = Some(Open {
            epoch: batch.epoch,
            batch: Some(At {
                done,
                all: batch.all,
                mean_seconds: batch.mean_seconds,
            }),
        });
        self.told.epoch(batch.epoch).loss = batch.mean_loss;
        self.told.steps_per_epoch = Some(batch.all);
        self.told.step(Step {
            number: u64::from(batch.epoch - 1).saturating_mul(batch.all) + done,
            loss: Some(batch.loss),
            at_seconds: None,
            seconds: Some(batch.seconds),
            part: 0,
        });
    }

    /// Whether it is a new one, with which the one before it ended.
    fn begin(&mut self, epoch: u32) -> bool {
        if self.open.as_ref().is_some_and(|open| open.epoch == epoch) {
            return false;
        }
        self.close();
        self.open = Some(Open { epoch, batch: None });
        true
    }

    /// Lines are of every tenth batch or so: the last ones have none.
    fn close(&mut self) {
        let Some(Open {
            epoch,
            batch: Some(at),
        }) = self.open.take()
        else {
            return;
        };
        self.told.all_steps = Some(u64::from(epoch).saturating_mul(at.all));
        self.told.epoch(epoch).seconds = Some(at.mean_seconds * at.all as f64);
    }
}

/// A line of the example `mnist`.
struct Digit {
    epoch: u32,
    /// Of an epoch.
    images: u64,
    loss: f64,
}

impl Digit {
    fn of(line: &str) -> Option<Self> {
        let (epoch, rest) = line.strip_prefix("Train Epoch: ")?.split_once(" [")?;
        let (seen, rest) = rest.split_once(" (")?;
        let (_, images) = seen.split_once('/')?;
        let (_, loss) = rest.split_once("Loss: ")?;
        Some(Digit {
            epoch: epoch.trim().parse().ok().filter(|&epoch| epoch > 0)?,
            images: images.parse().ok()?,
            loss: loss.split_whitespace().next()?.parse().ok()?,
        })
    }
}

/// A line of the example `imagenet`: of every number the last value, and the mean of the epoch.
struct Batch {
    /// From one.
    epoch: u32,
    /// As it is written.
    done: u64,
    all: u64,
    seconds: f64,
    mean_seconds: f64,
    loss: f64,
    mean_loss: Option<f64>,
}

impl Batch {
    fn of(line: &str) -> Option<Self> {
        let (epoch, rest) = line.strip_prefix("Epoch: [")?.split_once("][")?;
        let (progress, rest) = rest.split_once(']')?;
        let (done, all) = progress.split_once('/')?;
        let (seconds, mean_seconds) = meter(rest, "Time")?;
        let (loss, mean_loss) = meter(rest, "Loss")?;
        let epoch: u32 = epoch.trim().parse().ok()?;
        Some(Batch {
            epoch: epoch.checked_add(1)?,
            done: done.trim().parse().ok()?,
            all: all.trim().parse().ok().filter(|&all| all > 0)?,
            seconds,
            mean_seconds: mean_seconds.filter(|seconds| *seconds > 0.0)?,
            loss,
            mean_loss: mean_loss.filter(|loss| loss.is_finite()),
        })
    }
}

/// `Time  0.25 (  0.31)`.
fn meter(text: &str, name: &str) -> Option<(f64, Option<f64>)> {
    let mut parts = text.split('\t').map(str::trim);
    let rest = parts.find_map(|part| part.strip_prefix(name))?;
    let (value, mean) = rest.split_once('(')?;
    let mean = mean.trim_end_matches(')').trim().parse().ok();
    Some((value.trim().parse().ok()?, mean))
}

/// The share of right answers on held-out images.
fn tested(line: &str) -> Option<f64> {
    let line = line.trim();
    let share = match line.strip_prefix("Test set: ") {
        Some(rest) => {
            let (_, rest) = rest.split_once("Accuracy: ")?;
            let (right, all) = rest.split_once(' ')?.0.split_once('/')?;
            let (right, all): (f64, f64) = (right.parse().ok()?, all.parse().ok()?);
            right / all
        }
        None => {
            let rest = line
                .strip_prefix('*')?
                .trim_start()
                .strip_prefix("Acc@1 ")?;
            let percent: f64 = rest.split_whitespace().next()?.parse().ok()?;
            percent / 100.0
        }
    };
    (0.0..=1.0).contains(&share).then_some(share)
}
