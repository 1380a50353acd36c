//! Regular expressions of a study that read events out of log lines, for programs that report none:
//! while they run (`measure`), and in logs that are there already (`import`).

pub mod accuracy;

use model::study::{LogEvent, LogPattern};
use model::{EventKind, Warning};
use regex::{Captures, Regex};

/// A regular expression does not compile.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the log pattern `{pattern}` is not a regular expression: {source}")]
pub struct PatternError {
    pub pattern: String,
    pub source: regex::Error,
}

#[derive(Debug, Default)]
pub struct Patterns(Vec<Pattern>);

#[derive(Debug)]
struct Pattern {
    regex: Regex,
    event: LogEvent,
    name: String,
    unit: String,
    /// Numbers steps and epochs whose lines do not.
    count: u64,
    /// Lines that it found, whatever was in them.
    matched: u64,
    /// Lines that it found a text in where a number belongs.
    wrong: u64,
    first_wrong: Option<String>,
}

impl Patterns {
    pub fn new(patterns: &[LogPattern]) -> Result<Self, PatternError> {
        let compile = |pattern: &LogPattern| {
            let regex = Regex::new(&pattern.pattern).map_err(|source| PatternError {
                pattern: pattern.pattern.clone(),
                source,
            })?;
            Ok(Pattern {
                regex,
                event: pattern.event,
                name: pattern.name.clone().unwrap_or_else(|| "value".to_owned()),
                unit: pattern.unit.clone().unwrap_or_default(),
                count: 0,
                matched: 0,
                wrong: 0,
                first_wrong: None,
            })
        };
        patterns
            .iter()
            .map(compile)
            .collect::<Result<_, _>>()
            .map(Patterns)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gives an event for each pattern that finds its values in the line.
    pub fn read(&mut self, line: &str, mut tell: impl FnMut(EventKind)) {
        for pattern in &mut self.0 {
            if let Some(captures) = pattern.regex.captures(line) {
                let fields = Fields(captures);
                let (event, next) = (pattern.event, pattern.count + 1);
                pattern.matched += 1;
                let kind = fields.event(event, next, &pattern.name, &pattern.unit);
                let wrong = fields.wrong(&pattern.regex, event, kind.is_none());
                pattern.wrong += u64::from(wrong.is_some());
                pattern.first_wrong = pattern.first_wrong.take().or(wrong);
                if let Some(kind) = kind {
                    pattern.count = next;
                    tell(kind);
                }
            }
        }
    }

    /// At the end of the log: patterns that found nothing, and those that found no numbers.
    pub fn warnings(self) -> Vec<Warning> {
        let warning = |pattern: Pattern| {
            let text = pattern.regex.as_str().to_owned();
            match pattern.first_wrong {
                Some(first) => Some(Warning::PatternNotANumber {
                    pattern: text,
                    lines: pattern.wrong,
                    first,
                }),
                None if pattern.matched == 0 => Some(Warning::PatternUnmatched { pattern: text }),
                None => None,
            }
        };
        self.0.into_iter().filter_map(warning).collect()
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

    /// What was captured in place of a number: the line gives an incomplete event, or no event at
    /// all. A loss can be `NaN`, which is reported elsewhere.
    fn wrong(&self, regex: &Regex, event: LogEvent, is_lost: bool) -> Option<String> {
        let is_named = |group: &str| NUMBERS.contains(&group) && event != LogEvent::Phase;
        let named = regex
            .capture_names()
            .flatten()
            .filter(|name| is_named(name));
        let found = named.filter_map(|name| self.text(name));
        let is_wrong = |text: &&str| as_typed(text).is_none();
        let wrong = found.clone().find(is_wrong).or_else(|| {
            let first = || self.0.get(1).map_or("", |group| group.as_str());
            is_lost.then(|| found.clone().next().unwrap_or_else(first))
        });
        wrong.map(|text| text.chars().take(SHOWN_CHARS).collect())
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

/// Groups that hold numbers.
const NUMBERS: [&str; 7] = [
    "step", "epoch", "loss", "seconds", "images", "accuracy", "value",
];
/// Of a text that is not a number, this much is shown.
const SHOWN_CHARS: usize = 60;

/// A finite number, with or without a percent sign. A loss that is NaN is no loss.
fn number(text: &str) -> Option<f64> {
    as_typed(text).filter(|value| value.is_finite())
}

fn as_typed(text: &str) -> Option<f64> {
    let text = text.trim().trim_end_matches('%').trim_end();
    text.parse().ok()
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
        let mut reported = Vec::new();
        lines
            .iter()
            .for_each(|line| patterns.read(line, |kind| reported.push(kind)));
        assert_eq!(reported, expected, "{lines:?}");
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
    fn patterns_that_find_nothing_or_no_numbers_are_told() {
        let check = |event, pattern: &str, lines: &[&str], expected: Option<&str>| {
            let pattern = LogPattern {
                event,
                pattern: pattern.to_owned(),
                name: Some("m".to_owned()),
                unit: None,
            };
            let mut patterns = Patterns::new(&[pattern]).unwrap();
            lines.iter().for_each(|line| patterns.read(line, |_| ()));
            let said: Vec<String> = patterns
                .warnings()
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(said.first().map(String::as_str), expected, "{lines:?}");
        };
        let metric = LogEvent::Metric;
        check(metric, r"took (\S+)", &["took 7"], None);
        check(
            metric,
            r"took (\S+)",
            &["nothing", ""],
            Some("the log pattern `took (\\S+)` matched no line: compare it with log.txt"),
        );
        check(
            metric,
            r"took (\S+)",
            &["took 7", "took long", "took 1,5"],
            Some(
                "the log pattern `took (\\S+)` captured `long`, which is not a usable number (2 lines): \
                 check its groups",
            ),
        );
        check(
            LogEvent::Step,
            r"loss (?P<loss>\S+)",
            &["loss 1.5,"],
            Some(
                "the log pattern `loss (?P<loss>\\S+)` captured `1.5,`, which is not a usable number (1 line): \
                 check its groups",
            ),
        );
        // Found, and reported by another warning.
        check(LogEvent::Step, r"loss (?P<loss>\S+)", &["loss nan"], None);
        // A number, but no accuracy.
        check(
            LogEvent::Accuracy,
            r"acc (?P<accuracy>\S+)",
            &["acc 9700"],
            Some(
                "the log pattern `acc (?P<accuracy>\\S+)` captured `9700`, which is not a usable number (1 line): \
                 check its groups",
            ),
        );
        check(LogEvent::Phase, r"== (?P<phase>\w+)", &["== train"], None);
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
