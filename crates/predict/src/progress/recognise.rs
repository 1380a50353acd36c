//! One update of a program's output → what it counts.

mod patterns;

use regex::Captures;

use patterns::{
    ACCURACY, BAR, BRACKETS, EPOCH, EPOCH_FRACTION, KERAS, LOSS, OPEN_BAR, OTHER, OVER, PERCENT,
    PLANNED, Pattern, RICH, STEP, ULTRALYTICS,
};

/// What one update says. Everything is as printed: nothing here knows what came before.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observation {
    pub epoch: Option<EpochNumber>,
    pub counter: Option<Counter>,
    /// Epochs as a fraction of the training, as Hugging Face's Trainer logs them.
    pub epochs_passed: Option<f64>,
    /// Announced steps of the whole training.
    pub planned_steps: Option<f64>,
    /// A line that reports results, or says that something is over.
    pub is_result: bool,
    pub loss: Option<f64>,
    /// A fraction.
    pub accuracy: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpochNumber {
    pub number: u64,
    pub total: Option<u64>,
    /// Of a bar of epochs, which shows how many are over.
    pub is_over: bool,
    /// Numbered from 0 to `total` − 1, as is known of the form.
    pub is_from_zero: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Counter {
    /// The text before it, without numbers: the same for every epoch.
    pub label: String,
    pub purpose: Purpose,
    pub done: f64,
    pub total: Option<f64>,
    /// Drawn over and over; lines are printed once.
    pub is_bar: bool,
}

/// By the label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Training,
    /// Downloads, validation, preparation.
    Other,
}

/// Of one update, whole. Several bars of one line each give an observation.
pub fn recognise(update: &str) -> Vec<Observation> {
    if !update.bytes().any(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    let mut found = bars(update);
    if found.is_empty() {
        found.extend(
            rich_bar(update)
                .or_else(|| keras_bar(update))
                .or_else(|| line(update)),
        );
    }
    found
}

/// Of an update that may go on: only bars, which show by themselves that they are complete.
pub fn recognise_begun(update: &str) -> Vec<Observation> {
    let mut found = bars(update);
    if found.is_empty() {
        found.extend(rich_bar(update).or_else(|| keras_bar(update)));
    }
    found
}

fn bars(update: &str) -> Vec<Observation> {
    let (Some(closed), Some(open)) = (&*BAR, &*OPEN_BAR) else {
        return Vec::new();
    };
    if !update.contains("[0") && !update.contains('<') && !update.contains(", ") {
        return Vec::new();
    }
    let mut found: Vec<Observation> = Vec::new();
    let mut label_from = 0;
    for captures in closed.captures_iter(update) {
        let Some(whole) = captures.get(0) else {
            continue;
        };
        let label = &update[label_from..whole.start()];
        label_from = whole.end();
        if let Some(done) = number(&captures, "done") {
            found.push(bar(
                label,
                done,
                number(&captures, "total"),
                text(&captures, "rest"),
            ));
        }
    }
    if found.is_empty()
        && let Some(captures) = open.captures(update)
        && let (Some(done), Some(start)) = (number(&captures, "done"), captures.get(0))
    {
        let label = &update[..start.start()];
        found.push(bar(label, done, None, text(&captures, "rest")));
    }
    found
}

fn bar(label: &str, done: f64, total: Option<f64>, rest: &str) -> Observation {
    let is_of_epochs = rest.contains("/epoch") || rest.contains("epoch/s") || {
        let word = label.trim().trim_end_matches(':').to_lowercase();
        matches!(word.as_str(), "epoch" | "epochs" | "training epochs")
    };
    if is_of_epochs {
        return Observation {
            epoch: Some(EpochNumber {
                number: done as u64,
                total: total.map(|total| total as u64),
                is_over: true,
                is_from_zero: false,
            }),
            ..results(rest)
        };
    }
    Observation {
        epoch: epoch(label).map(|found| found.number),
        counter: Some(Counter {
            purpose: purpose(label),
            label: label_of(label),
            done,
            total: total.filter(|total| *total > 0.0),
            is_bar: true,
        }),
        ..results(rest)
    }
}

fn rich_bar(update: &str) -> Option<Observation> {
    let captures = RICH.as_ref()?.captures(update)?;
    let (done, total) = (number(&captures, "done")?, number(&captures, "total"));
    let mut found = bar(
        text(&captures, "label"),
        done,
        total,
        text(&captures, "rest"),
    );
    // Lightning shows the last epoch's number, not how many there are.
    if let Some(EpochNumber {
        total: Some(total),
        is_from_zero,
        ..
    }) = &mut found.epoch
    {
        *total += 1;
        *is_from_zero = true;
    }
    Some(found)
}

fn keras_bar(update: &str) -> Option<Observation> {
    let captures = KERAS.as_ref()?.captures(update)?;
    let done = number(&captures, "done")?;
    let total = number(&captures, "total");
    if total.is_some_and(|total| done > total) {
        return None;
    }
    let counter = Counter {
        label: "keras".to_owned(),
        purpose: Purpose::Training,
        done,
        total: total.filter(|total| *total > 0.0),
        is_bar: true,
    };
    Some(Observation {
        counter: Some(counter),
        ..results(text(&captures, "rest"))
    })
}

fn line(update: &str) -> Option<Observation> {
    let value = |pattern: &Pattern| {
        let captures = pattern.as_ref()?.captures(update)?;
        number(&captures, "value")
    };
    let found = results(update);
    if let Some(passed) = value(&EPOCH_FRACTION) {
        return Some(Observation {
            epochs_passed: Some(passed),
            ..found
        });
    }
    if let Some(steps) = value(&PLANNED) {
        return Some(Observation {
            planned_steps: Some(steps),
            ..found
        });
    }
    let epoch = epoch(update);
    let after_epoch = epoch.as_ref().map_or(update, |epoch| &update[epoch.end..]);
    let before = epoch.as_ref().map_or("", |epoch| &update[..epoch.start]);
    let mut counter = printed_counter(after_epoch, epoch.is_some());
    if let Some(counter) = &mut counter
        && purpose(before) == Purpose::Other
    {
        counter.purpose = Purpose::Other;
    }
    let is_other = purpose(before) == Purpose::Other || epoch.as_ref().is_some_and(|e| e.is_other);
    let observation = Observation {
        epoch: epoch.filter(|_| !is_other).map(|found| found.number),
        counter,
        is_result: found.loss.is_some() || found.accuracy.is_some() || matches(&OVER, update),
        ..found
    };
    (observation.epoch.is_some() || observation.counter.is_some()).then_some(observation)
}

/// A counter of a printed line, behind the number of the epoch if there is one.
fn printed_counter(text: &str, has_epoch: bool) -> Option<Counter> {
    let text = &text.to_ascii_lowercase();
    if let Some(captures) = STEP.as_ref()?.captures(text)
        && let Some(done) = number(&captures, "done")
    {
        let whole = captures.get(0)?;
        let total = number(&captures, "total").filter(|total| *total > 0.0 && done <= *total);
        let is_decimal =
            text[whole.end()..].starts_with(|c: char| c == '.' || c.is_ascii_alphanumeric());
        // "batch 32" may be a size.
        let is_position = total.is_some() || captures.name("word").is_some();
        if is_position && !is_decimal {
            return Some(printed(&text[..whole.start()], done, total));
        }
    }
    if let Some(captures) = BRACKETS.as_ref()?.captures(text)
        && let (Some(done), Some(total)) = (number(&captures, "done"), number(&captures, "total"))
        && total > 0.0
        && done <= total
    {
        let start = captures.get(0).map_or(0, |whole| whole.start());
        return Some(printed(&text[..start], done, Some(total)));
    }
    if has_epoch {
        return None;
    }
    let captures = PERCENT.as_ref()?.captures(text)?;
    let done = number(&captures, "done").filter(|done| *done <= 100.0)?;
    Some(printed("%", done, Some(100.0)))
}

fn printed(label: &str, done: f64, total: Option<f64>) -> Counter {
    Counter {
        purpose: purpose(label),
        label: label_of(label),
        done,
        total,
        is_bar: false,
    }
}

struct FoundEpoch {
    number: EpochNumber,
    is_other: bool,
    start: usize,
    end: usize,
}

fn epoch(text: &str) -> Option<FoundEpoch> {
    let text = &text.to_ascii_lowercase();
    let captures = match EPOCH.as_ref()?.captures(text) {
        Some(captures) => captures,
        None => ULTRALYTICS.as_ref()?.captures(text)?,
    };
    let whole = captures.get(0)?;
    // "epoch 0.5" is no number of an epoch.
    let mut behind = text[whole.end()..].chars();
    if behind.next() == Some('.') && behind.next().is_some_and(|c| c.is_ascii_digit()) {
        return None;
    }
    let number = captures.name("number")?.as_str().parse().ok()?;
    let total = captures
        .name("total")
        .and_then(|total| total.as_str().parse().ok());
    Some(FoundEpoch {
        number: EpochNumber {
            number,
            total: total.filter(|total| *total > 0 && number <= *total),
            is_over: false,
            is_from_zero: false,
        },
        is_other: captures
            .name("phase")
            .is_some_and(|phase| phase.as_str().to_lowercase() != "train"),
        start: whole.start(),
        end: whole.end(),
    })
    .filter(|found| total.is_none() || found.number.total.is_some())
}

fn results(text: &str) -> Observation {
    let text = &text.to_ascii_lowercase();
    let find = |pattern: &Pattern| {
        let captures = pattern.as_ref()?.captures(text)?;
        let value = number(&captures, "value")?;
        Some((value, captures.name("percent").is_some()))
    };
    let accuracy = |(value, is_percent): (f64, bool)| match is_percent || value > 1.0 {
        true => value / 100.0,
        false => value,
    };
    Observation {
        loss: find(&LOSS).map(|(value, _)| value),
        accuracy: find(&ACCURACY).map(accuracy).filter(|value| *value <= 1.0),
        ..Observation::default()
    }
}

fn purpose(label: &str) -> Purpose {
    match matches(&OTHER, label) {
        true => Purpose::Other,
        false => Purpose::Training,
    }
}

fn matches(pattern: &Pattern, text: &str) -> bool {
    pattern
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(&text.to_ascii_lowercase()))
}

/// Words only: numbers change from epoch to epoch.
fn label_of(text: &str) -> String {
    let words = text
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty());
    words
        .take(8)
        .collect::<Vec<&str>>()
        .join(" ")
        .to_lowercase()
}

fn text<'a>(captures: &'a Captures<'_>, group: &str) -> &'a str {
    captures.name(group).map_or("", |found| found.as_str())
}

/// `1,875`, `1.25k`.
fn number(captures: &Captures<'_>, group: &str) -> Option<f64> {
    let found = captures.name(group)?.as_str();
    let (digits, factor) = match found.chars().last()? {
        'k' => (&found[..found.len() - 1], 1e3),
        'M' => (&found[..found.len() - 1], 1e6),
        'G' => (&found[..found.len() - 1], 1e9),
        'T' => (&found[..found.len() - 1], 1e12),
        'P' => (&found[..found.len() - 1], 1e15),
        _ => (found, 1.0),
    };
    let value: f64 = digits.replace(',', "").parse().ok()?;
    Some(value * factor)
}

#[cfg(test)]
#[path = "recognise_tests.rs"]
mod tests;
