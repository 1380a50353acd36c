//! What PyTorch's examples print; the wide gaps are tabs.
//!
//! ```text
//! Train Epoch: 1 [640/60000 (1%)]    Loss: 1.312
//! Test set: Average loss: 0.05, Accuracy: 9842/10000 (98%)
//!
//! Epoch: [0][  10/5005]    Time  0.25 (  0.31)    Data  0.00 (  0.05)    Loss 6.9e+00 (7.0e+00)    Acc@1 …
//!  * Acc@1 76.130 Acc@5 92.862
//! ```

use super::told::{Ended, Step, Told};

pub(super) fn is_own(line: &str) -> bool {
    Digit::of(line).is_some() || Batch::of(line).is_some()
}

pub(super) fn read(text: &str) -> Told {
    let mut told = Told::default();
    let mut losses: Vec<f64> = Vec::new();
    let (mut epoch, mut is_tested) = (0, false);
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(digit) = Digit::of(line) {
            if digit.epoch != epoch {
                losses.clear();
            }
            losses.push(digit.loss);
            (epoch, is_tested) = (digit.epoch, false);
            let mean = losses.iter().sum::<f64>() / losses.len() as f64;
            told.images = Some(digit.images);
            told.epoch(epoch).loss = Some(mean).filter(|mean| mean.is_finite());
        } else if let Some(batch) = Batch::of(line) {
            (epoch, is_tested) = (batch.epoch, false);
            let own = told.epoch(epoch);
            own.loss = batch.mean_loss;
            own.seconds = Some(batch.mean_seconds * batch.all as f64);
            told.step(Step {
                number: u64::from(epoch - 1) * batch.all + batch.done + 1,
                loss: Some(batch.loss),
                at_seconds: None,
                seconds: Some(batch.seconds),
                part: 0,
            });
        } else if let Some(share) = tested(line).filter(|_| epoch > 0) {
            told.accuracy = Some(share);
            told.epoch(epoch).accuracy = Some(share);
            is_tested = true;
        } else if line.starts_with("Train Epoch: ") || line.starts_with("Epoch: [") {
            told.cannot_read(number, line);
        }
    }
    told.end_by_errors(text);
    // Each epoch is followed by a test.
    if told.ended == Ended::Whole && !is_tested {
        told.ended = Ended::Cut;
    }
    told
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
    /// From zero; newer versions from one.
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
