//! Progress that a program emits as events, and progress in lines that only its author knows.

use model::EventKind;
use regex::{Captures, Regex};

use super::recognise::{Counter, EpochNumber, Observation, Purpose};

/// The groups of a pattern. `step` and `epoch` are those of `[[workload.log]]`; `steps` and `epochs`
/// are how many there are.
const GROUPS: [&str; 5] = ["step", "steps", "epoch", "epochs", "loss"];

/// A regular expression that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError(String);

impl std::fmt::Display for PatternError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PatternError {}

/// Of the user's own; of several that match a line the first counts.
#[derive(Debug, Clone, Default)]
pub struct OwnPatterns(Vec<Regex>);

impl OwnPatterns {
    pub fn new<'t>(patterns: impl IntoIterator<Item = &'t str>) -> Result<Self, PatternError> {
        let compiled = patterns.into_iter().map(compiled);
        compiled.collect::<Result<_, _>>().map(OwnPatterns)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn read(&self, update: &str) -> Vec<Observation> {
        let found = self.0.iter().find_map(|regex| regex.captures(update));
        found.as_ref().and_then(observed).into_iter().collect()
    }
}

fn compiled(pattern: &str) -> Result<Regex, PatternError> {
    let failed = |why: String| PatternError(format!("the pattern `{pattern}` {why}"));
    let regex = Regex::new(pattern)
        .map_err(|error| failed(format!("is not a regular expression: {error}")))?;
    let mut names = regex.capture_names().flatten();
    if let Some(unknown) = names.find(|name| !GROUPS.contains(name)) {
        let known = GROUPS.join(", ");
        return Err(failed(format!(
            "has a group `{unknown}`; groups are {known}"
        )));
    }
    match regex
        .capture_names()
        .flatten()
        .any(|name| matches!(name, "step" | "epoch"))
    {
        true => Ok(regex),
        false => Err(failed(
            "has no group for a position: name one `step` or `epoch`, as in (?<step>[0-9]+)"
                .to_owned(),
        )),
    }
}

fn observed(captures: &Captures<'_>) -> Option<Observation> {
    let epoch = number(captures, "epoch").map(|number_of| EpochNumber {
        number: number_of as u64,
        total: number(captures, "epochs").map(|total| total as u64),
        is_over: false,
        is_from_zero: false,
    });
    let counter = number(captures, "step").map(|done| {
        let total = number(captures, "steps").filter(|total| *total > 0.0 && done <= *total);
        counter("own", done, total)
    });
    let loss = number(captures, "loss");
    let has_position = epoch.is_some() || counter.is_some();
    has_position.then(|| Observation {
        // Without an epoch the end of the counter is that of the run: its author says so.
        planned_steps: counter
            .as_ref()
            .filter(|_| epoch.is_none())
            .and_then(|counter| counter.total),
        is_result: loss.is_some(),
        epoch,
        counter,
        loss,
        ..Observation::default()
    })
}

fn counter(label: &str, done: f64, total: Option<f64>) -> Counter {
    Counter {
        label: label.to_owned(),
        purpose: Purpose::Training,
        done,
        total,
        is_bar: false,
    }
}

fn number(captures: &Captures<'_>, group: &str) -> Option<f64> {
    let text = captures.name(group)?.as_str().trim().replace(',', "");
    let value: f64 = text.parse().ok()?;
    (value.is_finite() && (0.0..2_f64.powi(53)).contains(&value)).then_some(value)
}

/// An epoch that was emitted is over.
pub(super) fn of_event(event: &EventKind) -> Option<Observation> {
    match event {
        EventKind::Step {
            step, epoch, loss, ..
        } => Some(Observation {
            epoch: epoch.map(|epoch| numbered(u64::from(epoch))),
            counter: Some(counter("event", *step as f64, None)),
            loss: *loss,
            ..Observation::default()
        }),
        EventKind::Epoch {
            epoch,
            loss,
            accuracy,
            ..
        } => Some(Observation {
            epoch: Some(numbered(u64::from(*epoch))),
            is_result: true,
            loss: *loss,
            accuracy: *accuracy,
            ..Observation::default()
        }),
        _ => None,
    }
}

fn numbered(number: u64) -> EpochNumber {
    EpochNumber {
        number,
        total: None,
        is_over: false,
        is_from_zero: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::{Follower, Given, Position, Scope, Unit};

    fn follower(patterns: &[&str], given: Given) -> Follower {
        let own = OwnPatterns::new(patterns.iter().copied()).unwrap();
        Follower::new(given, 1, || 0.0).with_patterns(own)
    }

    fn place(position: Option<Position>) -> Option<(Scope, Unit, f64, Option<f64>)> {
        position.map(|at| (at.scope, at.unit, at.done, at.total))
    }

    #[test]
    fn lines_that_only_their_author_knows() {
        let check = |pattern: &str, lines: &str, expected| {
            let mut follower = follower(&[pattern], Given::default());
            follower.read(0, lines.as_bytes(), 1.0);
            assert_eq!(place(follower.position()), expected, "{pattern}: {lines}");
        };
        let round = r"round (?<epoch>\d+)/(?<epochs>\d+)";
        let run = Scope::Run;
        check(
            &format!("{round}, game (?<step>\\d+)/(?<steps>\\d+)"),
            "round 3/10, game 5/20\n",
            Some((run, Unit::Epochs, 2.25, Some(10.0))),
        );
        check(
            r"sample (?<step>[\d,]+) out of (?<steps>[\d,]+)",
            "sample 1,500 out of 6,000\n",
            Some((run, Unit::Steps, 1500.0, Some(6000.0))),
        );
        // Where the end is not said there is none.
        check(
            r"sample (?<step>\d+)",
            "sample 15\n",
            Some((Scope::Counter, Unit::Steps, 15.0, None)),
        );
        // Nothing else counts beside it.
        check(
            round,
            "Epoch 3/10 [5/20]\n50%|██ | 5/10 [00:01<00:02, 3it/s]\n",
            None,
        );
        check(round, "round many/10\n", None);
        check(r"round (?<epoch>\w+)", "round many\n", None);
    }

    #[test]
    fn patterns_that_cannot_be_used() {
        let check = |pattern: &str, said: &str| {
            let error = OwnPatterns::new([pattern]).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        };
        check("(", "`(` is not a regular expression");
        check(
            r"(?<done>\d+)",
            "groups are step, steps, epoch, epochs, loss",
        );
        check(r"of (?<steps>\d+)", "name one `step` or `epoch`");
    }

    #[test]
    fn events_count_as_printed_lines_do() {
        let epoch = |epoch| EventKind::Epoch {
            epoch,
            loss: Some(0.5),
            accuracy: None,
            seconds: None,
        };
        let step = |step| EventKind::Step {
            step,
            epoch: None,
            loss: None,
            seconds: None,
            images: None,
        };
        let check = |given: Given, output: &str, events: &[EventKind], expected| {
            let mut follower = follower(&[], given);
            follower.read(0, output.as_bytes(), 1.0);
            for (at, event) in events.iter().enumerate() {
                follower.emitted(event, 2.0 + at as f64);
            }
            assert_eq!(place(follower.position()), expected, "{events:?}");
        };
        let epochs = Given {
            epochs: Some(8),
            steps: None,
        };
        let steps = Given {
            epochs: None,
            steps: Some(100),
        };
        let none = Given::default();
        let run = Scope::Run;
        check(
            epochs,
            "",
            &[epoch(1), epoch(2)],
            Some((run, Unit::Epochs, 2.0, Some(8.0))),
        );
        check(
            epochs,
            "",
            &[epoch(0), epoch(1)],
            Some((run, Unit::Epochs, 2.0, Some(8.0))),
        );
        check(
            steps,
            "",
            &[step(1), step(40)],
            Some((run, Unit::Steps, 40.0, Some(100.0))),
        );
        // No end is said by events.
        check(
            none,
            "",
            &[epoch(1)],
            Some((Scope::Counter, Unit::Epochs, 1.0, None)),
        );
        // The output says how many there are.
        check(
            none,
            "Epoch 1/4\n",
            &[epoch(1)],
            Some((run, Unit::Epochs, 1.0, Some(4.0))),
        );
        let bar = "25%|██  | 10/40 [00:01<00:02, 3it/s]\r";
        check(
            none,
            bar,
            &[step(1), step(2)],
            Some((Scope::Counter, Unit::Steps, 10.0, Some(40.0))),
        );
        let other = EventKind::Note {
            text: "epoch 3 of 4".to_owned(),
        };
        check(none, "", &[other], None);
    }
}
