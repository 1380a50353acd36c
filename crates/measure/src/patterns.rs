//! Regular expressions that read events out of log lines, for programs that tell none.

use model::EventKind;
use model::study::{LogEvent, LogPattern};
use regex::{Captures, Regex};

use crate::accuracy;
use crate::error::MeasureError;

#[derive(Debug, Default)]
pub(crate) struct Patterns(Vec<Pattern>);

#[derive(Debug)]
struct Pattern {
    regex: Regex,
    event: LogEvent,
    name: String,
    unit: String,
    /// Numbers steps and epochs whose lines do not.
    count: u64,
}

impl Patterns {
    pub(crate) fn new(patterns: &[LogPattern]) -> Result<Self, MeasureError> {
        let compile = |pattern: &LogPattern| {
            let regex = Regex::new(&pattern.pattern).map_err(|source| MeasureError::Pattern {
                pattern: pattern.pattern.clone(),
                source,
            })?;
            Ok(Pattern {
                regex,
                event: pattern.event,
                name: pattern.name.clone().unwrap_or_else(|| "value".to_owned()),
                unit: pattern.unit.clone().unwrap_or_default(),
                count: 0,
            })
        };
        patterns
            .iter()
            .map(compile)
            .collect::<Result<_, _>>()
            .map(Patterns)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gives an event for each pattern that finds its values in the line.
    pub(crate) fn read(&mut self, line: &str, mut tell: impl FnMut(EventKind)) {
        for pattern in &mut self.0 {
            if let Some(captures) = pattern.regex.captures(line) {
                let fields = Fields(captures);
                let (event, next) = (pattern.event, pattern.count + 1);
                if let Some(kind) = fields.event(event, next, &pattern.name, &pattern.unit) {
                    pattern.count = next;
                    tell(kind);
                }
            }
        }
    }
}

struct Fields<'a>(Captures<'a>);

impl Fields<'_> {
    fn event(&self, event: LogEvent, next: u64, name: &str, unit: &str) -> Option<EventKind> {
        match event {
            LogEvent::Step => Some(EventKind::Step {
                step: self.whole("step").unwrap_or(next),
                epoch: self
                    .whole("epoch")
                    .and_then(|epoch| u32::try_from(epoch).ok()),
                loss: self.number("loss"),
                seconds: self.number("seconds"),
                images: self.whole("images"),
            }),
            LogEvent::Epoch => Some(EventKind::Epoch {
                epoch: u32::try_from(self.whole("epoch").unwrap_or(next)).ok()?,
                loss: self.number("loss"),
                accuracy: self.fraction("accuracy"),
                seconds: self.number("seconds"),
            }),
            LogEvent::Accuracy => {
                let value = self
                    .fraction("accuracy")
                    .or_else(|| self.fraction("value"))?;
                Some(EventKind::Accuracy { value })
            }
            LogEvent::Phase => Some(EventKind::Phase {
                phase: self.text("phase")?.to_owned(),
            }),
            LogEvent::Metric => Some(EventKind::Metric {
                name: name.to_owned(),
                value: self.number("value").or_else(|| self.first_number())?,
                unit: unit.to_owned(),
            }),
        }
    }

    fn text(&self, group: &str) -> Option<&str> {
        self.0
            .name(group)
            .map(|found| found.as_str().trim())
            .filter(|text| !text.is_empty())
    }

    fn number(&self, group: &str) -> Option<f64> {
        self.text(group).and_then(number)
    }

    /// The value of a metric whose pattern has one group without a name.
    fn first_number(&self) -> Option<f64> {
        self.0.get(1).and_then(|found| number(found.as_str()))
    }

    fn whole(&self, group: &str) -> Option<u64> {
        let value = self.number(group)?;
        (value >= 0.0 && value < 2_f64.powi(53)).then_some(value as u64)
    }

    fn fraction(&self, group: &str) -> Option<f64> {
        let percent = self.text(group)?.ends_with('%');
        let value = self.number(group)?;
        if percent {
            accuracy::of_percent(value)
        } else {
            accuracy::fraction(value)
        }
    }
}

/// A finite number, with or without a percent sign. A loss that is NaN is no loss.
fn number(text: &str) -> Option<f64> {
    let text = text.trim().trim_end_matches('%').trim_end();
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(event: LogEvent, pattern: &str, lines: &[&str], expected: &[EventKind]) {
        let pattern = LogPattern {
            event,
            pattern: pattern.to_owned(),
            name: Some("m".to_owned()),
            unit: Some("s".to_owned()),
        };
        let mut patterns = Patterns::new(&[pattern]).unwrap();
        let mut told = Vec::new();
        lines
            .iter()
            .for_each(|line| patterns.read(line, |kind| told.push(kind)));
        assert_eq!(told, expected, "{lines:?}");
    }

    fn step(step: u64, loss: Option<f64>) -> EventKind {
        EventKind::Step {
            step,
            epoch: None,
            loss,
            seconds: None,
            images: None,
        }
    }

    #[test]
    fn steps_are_read_or_counted() {
        check(
            LogEvent::Step,
            r"Iteration (?P<step>\d+).*loss = (?P<loss>\S+)",
            &[
                "Iteration 20 (5 iter/s), loss = 1.25",
                "nothing",
                "Iteration 40, loss = nan",
            ],
            &[step(20, Some(1.25)), step(40, None)],
        );
        let lines = ["loss: 3", "loss: 2.5e-1"];
        let expected = [step(1, Some(3.0)), step(2, Some(0.25))];
        check(LogEvent::Step, r"loss: (?P<loss>\S+)", &lines, &expected);
    }

    #[test]
    fn epochs_phases_and_metrics_are_read() {
        let epoch = |epoch, accuracy, seconds| EventKind::Epoch {
            epoch,
            loss: None,
            accuracy: Some(accuracy),
            seconds: Some(seconds),
        };
        check(
            LogEvent::Epoch,
            r"Epoch (?P<epoch>\d+)/\d+ - (?P<seconds>[\d.]+)s - accuracy: (?P<accuracy>[\d.]+)",
            &[
                "Epoch 1/3 - 12s - accuracy: 0.5",
                "Epoch 2/3 - 11.5s - accuracy: 97.5",
            ],
            &[epoch(1, 0.5, 12.0), epoch(2, 0.975, 11.5)],
        );
        let phase = EventKind::Phase {
            phase: "train".to_owned(),
        };
        check(
            LogEvent::Phase,
            r"^== (?P<phase>.+) ==$",
            &["== train =="],
            &[phase],
        );
        let metric = EventKind::Metric {
            name: "m".to_owned(),
            value: 7.0,
            unit: "s".to_owned(),
        };
        check(LogEvent::Metric, r"took (\d+)", &["took 7 s"], &[metric]);
    }

    #[test]
    fn accuracy_is_a_fraction_however_it_is_written() {
        let accuracy = |value| [EventKind::Accuracy { value }];
        let pattern = r"acc\w* (?P<accuracy>[\d.]+ ?%?)";
        check(
            LogEvent::Accuracy,
            pattern,
            &["accuracy 0.97"],
            &accuracy(0.97),
        );
        check(LogEvent::Accuracy, pattern, &["acc 97"], &accuracy(0.97));
        check(
            LogEvent::Accuracy,
            pattern,
            &["acc 0.5 %"],
            &accuracy(0.005),
        );
        check(LogEvent::Accuracy, pattern, &["acc 9700"], &[]);
    }

    #[test]
    fn a_wrong_pattern_is_told() {
        let pattern = LogPattern {
            event: LogEvent::Step,
            pattern: "(".to_owned(),
            name: None,
            unit: None,
        };
        let error = Patterns::new(&[pattern]).unwrap_err().to_string();
        assert!(
            error.starts_with("the log pattern `(` is not a regular expression"),
            "{error}"
        );
    }
}
