//! Logs of TensorFlow's slim, `global step 10: loss = 2.30 (0.25 sec/step)`, and of the training
//! loops before it, `step 10, loss = 2.30 (480.1 examples/sec; 0.267 sec/batch)`.

use jiff::Timestamp;
use jiff::civil::DateTime;
use model::run::phase;
use network::formats::glog::{self, Moment};

use super::clock::Clock;
use super::told::{Ended, Phases, Step, Told, says_out_of_memory};

const LOGGER: &str = "INFO:tensorflow:";

pub(super) fn is_own(line: &str) -> bool {
    let words = [
        LOGGER,
        "WARNING:tensorflow:",
        "] global step ",
        "tensorflow/",
    ];
    words.iter().any(|word| line.contains(word)) || old_step(Line::of(line).message).is_some()
}

pub(super) fn read(text: &str, year: Option<i16>, modified: Timestamp) -> Told {
    let moments = text.lines().filter_map(|line| Line::of(line).moment);
    let mut clock = Clock::of(moments, year, modified);
    let mut told = Told::default();
    let mut last_line = "";
    let mut crashed = false;
    for (number, text) in (1..).zip(text.lines()) {
        let line = Line::of(text);
        let at = line.moment.and_then(|moment| clock.at(moment));
        let now_seconds = at.map(|at| {
            let started = *told.started.get_or_insert(at);
            let seconds = at.duration_since(started).as_secs_f64().max(0.0);
            told.phases.pass(seconds);
            seconds
        });
        understand(&mut told, &line, now_seconds);
        if is_cut_step(line.message) {
            told.cannot_read(number, text);
        }
        crashed |= line
            .message
            .starts_with("Traceback (most recent call last)");
        if !text.trim().is_empty() {
            last_line = text.trim();
        }
    }
    // Times of the runtime's own lines alone do not say when steps were done.
    if told.steps.iter().all(|step| step.at_seconds.is_none()) {
        told.phases = Phases::default();
    }
    if crashed && told.ended == Ended::Cut {
        told.ended = Ended::Failed(last_line.to_owned());
    }
    told
}

fn understand(told: &mut Told, line: &Line<'_>, now_seconds: Option<f64>) {
    let message = line.message;
    let of_estimator = || estimator_step(message, told.steps.last());
    let found = step(message).or_else(|| old_step(message));
    if let Some(step) = found.or_else(of_estimator) {
        if told.phases.now() == Some(phase::START)
            && let Some(now_seconds) = now_seconds
        {
            // The log lacks its beginning, or is of a loop that does not tell it: what this step
            // took is training.
            let took = step.seconds.unwrap_or(0.0);
            told.phases
                .begin(phase::TRAIN, (now_seconds - took).max(0.0));
        }
        told.step(Step {
            at_seconds: now_seconds,
            ..step
        });
    } else if message == "Starting Queues." {
        begin(told, phase::TRAIN, now_seconds);
    } else if message.starts_with("Finished training! Saving model to disk") {
        begin(told, phase::SAVE, now_seconds);
        told.ended = Ended::Whole;
    } else if message.starts_with("Loss for final step: ") {
        begin(told, phase::SHUTDOWN, now_seconds);
        told.ended = Ended::Whole;
    } else if let Some(value) = evaluated(message) {
        told.accuracy = Some(value);
    } else if says_out_of_memory(message) && told.ended == Ended::Cut {
        told.ended = Ended::OutOfMemory(message.chars().take(300).collect());
    }
}

fn begin(told: &mut Told, phase: &'static str, now_seconds: Option<f64>) {
    if let Some(now_seconds) = now_seconds {
        told.phases.begin(phase, now_seconds);
    }
}

/// A line without what loggers put before it.
struct Line<'t> {
    moment: Option<Moment>,
    message: &'t str,
}

impl<'t> Line<'t> {
    fn of(text: &'t str) -> Self {
        let text = text.trim();
        if let Some(line) = glog::line(text) {
            return Line {
                moment: Some(line.moment),
                message: line.message.trim(),
            };
        }
        let (moment, rest) = match dated(text) {
            Some((moment, rest)) => (Some(moment), rest),
            None => (None, text),
        };
        let rest = rest.strip_prefix(LOGGER).unwrap_or(rest);
        let is_core = ["I ", "W ", "E ", "F "]
            .iter()
            .any(|head| rest.starts_with(head));
        let message = match rest.split_once("] ") {
            Some((head, message)) if is_core && head.contains("tensorflow") => message,
            _ => rest,
        };
        Line {
            moment,
            message: message.trim(),
        }
    }
}

/// `2017-06-01 10:11:12.123456: …`
fn dated(text: &str) -> Option<(Moment, &str)> {
    let (date, rest) = text.split_once(' ')?;
    let (time, rest) = rest.split_once(": ")?;
    let civil: DateTime = format!("{date}T{time}").parse().ok()?;
    let moment = Moment {
        year: Some(civil.year()),
        month: civil.month(),
        day: civil.day(),
        hour: civil.hour(),
        minute: civil.minute(),
        second: f64::from(civil.second()) + f64::from(civil.subsec_nanosecond()) / 1e9,
    };
    Some((moment, rest))
}

/// `global step 10: loss = 2.30 (0.25 sec/step)`; later versions also tell `steps/sec`.
fn step(message: &str) -> Option<Step> {
    let (number, rest) = message.strip_prefix("global step ")?.split_once(':')?;
    let rest = rest.trim().strip_prefix("loss = ")?;
    let (loss, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let told = |unit: &str| -> Option<f64> {
        let (number, _) = rest.trim().strip_prefix('(')?.split_once(unit)?;
        let number: f64 = number.trim().parse().ok()?;
        (number.is_finite() && number > 0.0).then_some(number)
    };
    Some(Step {
        number: number.trim().parse().ok().filter(|&number| number > 0)?,
        loss: Some(loss.parse().ok()?),
        at_seconds: None,
        part: 0,
        seconds: told("sec/step").or_else(|| Some(1.0 / told("steps/sec")?)),
    })
}

/// `step 10, loss = 2.30 (480.1 examples/sec; 0.267 sec/batch)`, counted from zero.
fn old_step(message: &str) -> Option<Step> {
    let (number, rest) = message.strip_prefix("step ")?.split_once(", loss = ")?;
    let (loss, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let seconds = rest.split_once("; ").and_then(|(_, rest)| {
        let seconds: f64 = rest.split_once(" sec/batch")?.0.parse().ok()?;
        (seconds.is_finite() && seconds > 0.0).then_some(seconds)
    });
    let number: u64 = number.trim().parse().ok()?;
    Some(Step {
        number: number.checked_add(1)?,
        loss: Some(loss.parse().ok()?),
        at_seconds: None,
        part: 0,
        seconds,
    })
}

/// `loss = 2.30, step = 101 (1.234 sec)`: since the step that was told before.
fn estimator_step(message: &str, before: Option<&Step>) -> Option<Step> {
    let (loss, rest) = message.strip_prefix("loss = ")?.split_once(", step = ")?;
    let (number, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let number: u64 = number.trim_end_matches(',').parse().ok()?;
    let took = rest.strip_prefix('(').and_then(|rest| {
        let seconds: f64 = rest.split_once(" sec")?.0.parse().ok()?;
        (seconds.is_finite() && seconds > 0.0).then_some(seconds)
    });
    let steps = before.map(|before| number.saturating_sub(before.number));
    Some(Step {
        number,
        loss: Some(loss.parse().ok()?),
        at_seconds: None,
        part: 0,
        seconds: took
            .zip(steps.filter(|&steps| steps > 0))
            .map(|(took, steps)| took / steps as f64),
    })
}

fn is_cut_step(message: &str) -> bool {
    let is_step = message.starts_with("global step ") && step(message).is_none();
    let is_old = message.starts_with("step ") && message.contains("loss");
    is_step || (is_old && old_step(message).is_none())
}

/// `eval/Accuracy[0.7812]`; `Saving dict for global step 1000: accuracy = 0.97, global_step = 1000`.
fn evaluated(message: &str) -> Option<f64> {
    let own = message.split_once("eval/Accuracy[");
    let own = own.and_then(|(_, rest)| rest.split_once(']'));
    let saved = || {
        let rest = message.strip_prefix("Saving dict for global step ")?;
        let (_, rest) = rest.split_once(" accuracy = ")?;
        Some(rest.split_once(',').unwrap_or((rest, "")))
    };
    let value: f64 = own.or_else(saved)?.0.parse().ok()?;
    (0.0..=1.0).contains(&value).then_some(value)
}
