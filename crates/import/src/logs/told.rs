//! Contents of a log, whatever its format.

use std::collections::BTreeMap;

use model::run::phase;
use model::{Epoch, Metric, Phase, Status, Timestamp, Warning};

use super::counted::Counted;

#[derive(Debug, Default)]
pub(super) struct Told {
    /// Each number once, in order.
    pub(super) steps: Vec<Step>,
    /// Steps that were done, where the log says so itself.
    pub(super) all_steps: Option<u64>,
    pub(super) started: Option<Timestamp>,
    /// From the first line with a time to the last.
    pub(super) phases: Phases,
    /// The last share of right answers on held-out images.
    pub(super) accuracy: Option<f64>,
    /// Images of a step.
    pub(super) batch: Option<u64>,
    /// Images of an epoch.
    pub(super) images: Option<u64>,
    /// Where the log says which step of its epoch it is at.
    pub(super) steps_per_epoch: Option<u64>,
    /// Where the log itself sums up its epochs.
    pub(super) epochs: Vec<Epoch>,
    /// Of these epochs, where it may be steps or images that the log counts.
    pub(super) counted: Vec<Counted>,
    /// The last epoch was not finished.
    pub(super) unfinished: Option<Unfinished>,
    pub(super) metrics: BTreeMap<String, Metric>,
    pub(super) warnings: Vec<Warning>,
    pub(super) ended: Ended,
    pub(super) unread: Option<Unread>,
}

impl Told {
    /// Whether nothing in it is of a training.
    pub(super) fn is_empty(&self) -> bool {
        let said_nothing = matches!(self.ended, Ended::Cut | Ended::Whole);
        let is_bare = self.epochs.is_empty() && self.metrics.is_empty();
        self.steps.is_empty() && is_bare && said_nothing
    }

    /// A step told twice is kept once, with whatever either line told; one that is re-run
    /// after a restart takes the place of what came after it.
    pub(super) fn step(&mut self, step: Step) {
        while self
            .steps
            .last()
            .is_some_and(|last| last.number > step.number)
        {
            self.steps.pop();
        }
        match self.steps.last_mut() {
            Some(last) if last.number == step.number && last.part != step.part => *last = step,
            Some(last) if last.number == step.number => {
                last.at_seconds = last.at_seconds.or(step.at_seconds);
                last.seconds = last.seconds.or(step.seconds);
            }
            _ => self.steps.push(step),
        }
    }

    /// The epoch that is told now; one that is told again is trained again.
    pub(super) fn epoch(&mut self, number: u32) -> &mut Epoch {
        self.epochs.retain(|epoch| epoch.epoch <= number);
        if self.epochs.last().is_none_or(|last| last.epoch < number) {
            self.epochs.push(Epoch {
                epoch: number,
                loss: None,
                accuracy: None,
                seconds: None,
            });
        }
        let last = self.epochs.len() - 1;
        &mut self.epochs[last]
    }

    pub(super) fn finished_epochs(&self) -> usize {
        self.epochs.len() - usize::from(self.unfinished.is_some() && !self.epochs.is_empty())
    }

    /// How a Python program ended that says nothing at its end: by an error, or as it should.
    pub(super) fn end_by_errors(&mut self, text: &str) {
        let lines = || text.split(['\n', '\r']).map(str::trim);
        let out_of_memory = lines().find(|line| says_out_of_memory(line));
        let is_crash = lines().any(|line| line.starts_with("Traceback (most recent call last)"));
        let last = lines().rev().find(|line| !line.is_empty());
        self.ended = match (out_of_memory, is_crash) {
            (Some(line), _) => Ended::OutOfMemory(line.chars().take(300).collect()),
            (None, true) => Ended::Failed(last.unwrap_or_default().to_owned()),
            (None, false) => Ended::Whole,
        };
    }

    /// A line that looks as if it told a step, and cannot be read.
    pub(super) fn cannot_read(&mut self, line: u64, text: &str) {
        match &mut self.unread {
            Some(unread) => unread.count += 1,
            None => {
                self.unread = Some(Unread {
                    count: 1,
                    line,
                    text: text.trim().chars().take(120).collect(),
                });
            }
        }
    }

    /// The number of the last step.
    pub(super) fn last_step(&self) -> u64 {
        let last = self.steps.last().map_or(0, |step| step.number);
        self.all_steps.unwrap_or(last).max(last)
    }

    /// Steps done before the log begins: it goes on from a snapshot where its first step is later
    /// than those that follow are apart.
    pub(super) fn earlier_steps(&self) -> u64 {
        match self.steps.as_slice() {
            [first, second, ..]
                if first.number > 2_u64.saturating_mul(second.number - first.number) =>
            {
                first.number - 1
            }
            _ => 0,
        }
    }

    pub(super) fn done_steps(&self) -> u64 {
        self.last_step() - self.earlier_steps()
    }
}

/// Of an epoch that was begun.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Unfinished {
    pub(super) seconds: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    /// Counted from one.
    pub(super) number: u64,
    /// Not finite where training diverged; none where the log does not have it.
    pub(super) loss: Option<f64>,
    /// Since the first line with a time.
    pub(super) at_seconds: Option<f64>,
    /// As the log itself says.
    pub(super) seconds: Option<f64>,
    /// Which of the programs that wrote the log did it, from zero.
    pub(super) part: u32,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Ended {
    /// Nothing says how.
    #[default]
    Cut,
    Whole,
    OutOfMemory(String),
    Failed(String),
}

impl Ended {
    pub(super) fn status(&self) -> Status {
        match self {
            Ended::Cut => Status::Interrupted,
            Ended::Whole => Status::Ok,
            Ended::OutOfMemory(_) => Status::OutOfMemory,
            Ended::Failed(_) => Status::Failed,
        }
    }
}

/// Allocators also say so of what they then do in another way, which is no end.
pub(super) fn says_out_of_memory(message: &str) -> bool {
    let message = message.to_lowercase();
    let words = [
        "resourceexhaustederror",
        "oom when allocating tensor",
        "resource exhausted: oom",
        "out of memory: killed process",
        "outofmemoryerror",
        "cuda out of memory",
    ];
    words.iter().any(|word| message.contains(word)) && !message.contains("not a failure")
}

#[derive(Debug)]
pub(super) struct Unread {
    count: u64,
    pub(super) line: u64,
    text: String,
}

impl Unread {
    pub(super) fn sentence(&self) -> String {
        match self.count {
            1 => format!(
                "`{}` looks like a step but cannot be parsed; ignored",
                self.text
            ),
            count => format!(
                "{count} lines look like steps but cannot be parsed, the first: `{}`; ignored",
                self.text
            ),
        }
    }
}

/// Which phase the run was in, by the times of the lines that say so.
#[derive(Debug, Default)]
pub(super) struct Phases {
    marks: Vec<Mark>,
    end_seconds: f64,
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    phase: &'static str,
    at_seconds: f64,
}

impl Phases {
    pub(super) fn is_timed(&self) -> bool {
        self.end_seconds > 0.0
    }

    /// A line was written then.
    pub(super) fn pass(&mut self, at_seconds: f64) {
        if self.marks.is_empty() {
            self.begin(phase::START, at_seconds);
        }
        self.end_seconds = self.end_seconds.max(at_seconds);
    }

    /// Never before the one before it: threads may write out of order.
    pub(super) fn begin(&mut self, phase: &'static str, at_seconds: f64) {
        let after = self.marks.last().map_or(0.0, |mark| mark.at_seconds);
        self.marks.push(Mark {
            phase,
            at_seconds: at_seconds.max(after),
        });
    }

    pub(super) fn now(&self) -> Option<&'static str> {
        self.marks.last().map(|mark| mark.phase)
    }

    pub(super) fn all(&self) -> Vec<Phase> {
        let ends = self.marks.iter().skip(1).map(|mark| mark.at_seconds);
        let ends = ends.chain([self.end_seconds]);
        let mut all: Vec<Phase> = Vec::new();
        for (mark, end_seconds) in self.marks.iter().zip(ends) {
            let seconds = end_seconds - mark.at_seconds;
            match all.last_mut() {
                Some(last) if last.name == mark.phase => last.seconds += seconds,
                _ if seconds > 0.0 => all.push(Phase {
                    name: mark.phase.to_owned(),
                    begin_seconds: mark.at_seconds,
                    seconds,
                }),
                _ => {}
            }
        }
        all
    }
}

/// How long was trained until a moment.
#[derive(Debug)]
pub(super) struct TrainClock {
    /// With what was trained before each.
    parts: Vec<(Phase, f64)>,
}

impl TrainClock {
    pub(super) fn of(phases: &[Phase]) -> Self {
        let mut before_seconds = 0.0;
        let mut parts = Vec::new();
        for part in phases.iter().filter(|part| part.name == phase::TRAIN) {
            parts.push((part.clone(), before_seconds));
            before_seconds += part.seconds;
        }
        TrainClock { parts }
    }

    pub(super) fn until(&self, at_seconds: f64) -> f64 {
        let begun = self
            .parts
            .partition_point(|(part, _)| part.begin_seconds <= at_seconds);
        let last = begun.checked_sub(1).and_then(|place| self.parts.get(place));
        last.map_or(0.0, |(part, before_seconds)| {
            before_seconds + (at_seconds - part.begin_seconds).clamp(0.0, part.seconds)
        })
    }
}
