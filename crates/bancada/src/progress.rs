//! Output for people and programs while a study runs. Consumes the runner's
//! [`Progress`]; shares no state with it.

use std::collections::BTreeMap;

use diagnostics::screen::safe;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use model::event::CountUnit;
use model::{EventKind, Money, RunId, RunRecord, Status, Study, Timestamp};
use report::format;
use runner::{Count, Progress};
use serde_json::json;

use crate::printer::{Printer, shown};

pub(crate) enum Reporter {
    Bar(Box<Bar>),
    Lines { printer: Printer, priced: bool },
    Json { printer: Printer },
    Quiet,
}

impl Reporter {
    pub(crate) fn choose(
        study: &Study,
        runs: usize,
        json: bool,
        quiet: bool,
        printer: &Printer,
    ) -> Self {
        let printer = *printer;
        let priced = study.environments.iter().any(|e| e.price.is_some());
        match (json, quiet, printer.talk_is_terminal) {
            (true, _, _) => Reporter::Json { printer },
            (_, true, _) => Reporter::Quiet,
            (_, _, true) => Reporter::Bar(Box::new(Bar::new(study, runs, priced))),
            _ => Reporter::Lines { printer, priced },
        }
    }

    pub(crate) fn on(&mut self, progress: &Progress) {
        match self {
            Reporter::Bar(bar) => bar.on(progress),
            Reporter::Lines { printer, priced } => {
                if let Progress::RunEnds {
                    record,
                    count: Count { done, total },
                    seconds_left,
                    spent,
                    allowed,
                    projected,
                } = progress
                {
                    let left = if done < total && *seconds_left > 0.0 {
                        format!(", {} left", format::duration(*seconds_left))
                    } else {
                        String::new()
                    };
                    let spent = if *priced {
                        format!(
                            ", {} spent{}",
                            spent_of(*spent, *allowed),
                            of_about(*projected, done < total)
                        )
                    } else {
                        String::new()
                    };
                    printer.talk(&format!(
                        "{done}/{total}  {}{left}{spent}",
                        ended_line(record)
                    ));
                }
                if let Some(line) = set_aside_line(progress) {
                    printer.talk(&line);
                }
            }
            Reporter::Json { printer } => {
                if let Some(value) = as_json(progress) {
                    printer.data(&with_time(value).to_string());
                }
            }
            Reporter::Quiet => {}
        }
    }

    /// A line for a person, whatever else is shown.
    pub(crate) fn say(&self, text: &str) {
        match self {
            Reporter::Bar(bar) => bar.bar.println(shown(text)),
            Reporter::Lines { printer, .. } | Reporter::Json { printer } => printer.talk(text),
            Reporter::Quiet => {}
        }
    }

    pub(crate) fn finish(&self) {
        if let Reporter::Bar(bar) = self {
            bar.bar.finish_and_clear();
        }
    }
}

/// One bar for the study. A single run in progress is told about behind it; runs at several places
/// have a line each below it.
pub(crate) struct Bar {
    screen: MultiProgress,
    bar: ProgressBar,
    epochs: Option<u32>,
    priced: bool,
    runs: BTreeMap<RunId, RunLine>,
    tail: String,
    /// What the whole study will have cost.
    projected: Option<Money>,
}

/// A run in progress.
struct RunLine {
    place: String,
    label: String,
    epoch: u32,
    loss: Option<f64>,
    /// By what it prints.
    recognised: Option<String>,
    /// Of a run beside others.
    line: Option<ProgressBar>,
}

/// A screen has no room for more; the others are counted by the bar alone.
const MOST_LINES: usize = 16;

impl Bar {
    fn new(study: &Study, runs: usize, priced: bool) -> Self {
        let screen = MultiProgress::new();
        let bar = screen.add(ProgressBar::new(runs as u64));
        let template = "  {bar:30.cyan/dim}  {pos}/{len}  {wide_msg}";
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("━╸━"));
        let epochs = match &study.workload {
            model::Workload::Train(train) if study.factor("epochs").is_none() => Some(train.epochs),
            _ => None,
        };
        Bar {
            screen,
            bar,
            epochs,
            priced,
            runs: BTreeMap::new(),
            tail: String::new(),
            projected: None,
        }
    }

    fn on(&mut self, progress: &Progress) {
        match progress {
            Progress::RunBegins {
                run,
                place,
                scenario,
                count,
                projected,
            } => {
                self.projected = *projected;
                self.bar.set_position(count.done as u64);
                let line = RunLine {
                    place: safe(place).into_owned(),
                    label: format!("{run}  {}", safe(&scenario.levels_label())),
                    epoch: 0,
                    loss: None,
                    recognised: None,
                    line: None,
                };
                self.runs.insert(*run, line);
            }
            Progress::Event { run, event } => {
                if let Some(line) = self.runs.get_mut(run) {
                    line.told(&event.kind);
                }
            }
            Progress::Sample { .. } => return,
            Progress::PlaceSetAside { .. } => {
                if let Some(line) = set_aside_line(progress) {
                    self.bar.println(shown(&line));
                }
            }
            Progress::Tick {
                seconds_left,
                spent,
                ..
            } => self.tail = self.tail_of(*seconds_left, *spent),
            Progress::RunEnds {
                record,
                count,
                seconds_left,
                spent,
                ..
            } => {
                self.tail = self.tail_of(*seconds_left, *spent);
                self.bar.set_position(count.done as u64);
                if let Some(RunLine {
                    line: Some(line), ..
                }) = self.runs.remove(&record.run)
                {
                    line.finish_and_clear();
                    self.screen.remove(&line);
                }
                if record.outcome.status != Status::Ok {
                    self.bar
                        .println(shown(&format!("  ! {}", ended_line(record))));
                }
            }
        }
        self.draw();
    }

    fn tail_of(&self, seconds_left: f64, spent: Money) -> String {
        let money = if self.priced {
            format!("   {spent}{}", of_about(self.projected, true))
        } else {
            String::new()
        };
        let left = if seconds_left > 0.0 {
            format!("   {} left", format::duration(seconds_left))
        } else {
            String::new()
        };
        format!("{left}{money}")
    }

    fn draw(&mut self) {
        let is_alone = self.runs.len() < 2 && self.runs.values().all(|run| run.line.is_none());
        if is_alone {
            let run = self.runs.values().next();
            let run = run.map(|run| run.words(self.epochs)).unwrap_or_default();
            return self.bar.set_message(format!("{run}{}", self.tail));
        }
        self.bar.set_message(self.tail.trim_start().to_owned());
        for run in self.runs.values_mut().take(MOST_LINES) {
            let words = format!("{}   {}", run.place, run.words(self.epochs));
            let line = run.line.get_or_insert_with(|| {
                let style = ProgressStyle::with_template("    {wide_msg}");
                let line = ProgressBar::new_spinner();
                line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
                self.screen.add(line)
            });
            line.set_message(words);
        }
    }
}

impl RunLine {
    fn told(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Step { epoch, loss, .. } => {
                self.epoch = epoch.unwrap_or(self.epoch);
                self.loss = loss.or(self.loss);
            }
            EventKind::Epoch { epoch, loss, .. } => {
                self.epoch = *epoch;
                self.loss = loss.or(self.loss);
            }
            EventKind::Recognised {
                unit,
                done,
                total,
                of_run,
                left,
            } => {
                let at = position_words(*unit, *done, total.filter(|_| *of_run));
                let left = left
                    .map(|left| format!("   {} left of this run", format::duration(left.seconds)));
                self.recognised = Some(format!("   {at}{}", left.unwrap_or_default()));
            }
            _ => {}
        }
    }

    fn words(&self, epochs: Option<u32>) -> String {
        let epoch = match (self.epoch, epochs) {
            (0, _) => self.recognised.clone().unwrap_or_default(),
            (epoch, Some(epochs)) => format!("   epoch {epoch}/{epochs}"),
            (epoch, None) => format!("   epoch {epoch}"),
        };
        let loss = self.loss.map(|loss| format!("  loss {loss:.2}"));
        format!("{}{epoch}{}", self.label, loss.unwrap_or_default())
    }
}

/// Where a run is by what it prints; the total is left out where others may follow.
fn position_words(unit: CountUnit, done: f64, total: Option<f64>) -> String {
    let (word, at) = match unit {
        CountUnit::Steps => ("step", done),
        // The one in progress.
        CountUnit::Epochs => (
            "epoch",
            total.unwrap_or(f64::INFINITY).min(done.floor() + 1.0),
        ),
    };
    match total {
        Some(total) => format!("{word} {at:.0}/{total:.0}"),
        None => format!("{word} {at:.0}"),
    }
}

/// What it will have been in the end, while there is more to come.
fn of_about(projected: Option<Money>, more_to_come: bool) -> String {
    match projected.filter(|_| more_to_come) {
        Some(projected) => format!(", about {projected} in total"),
        None => String::new(),
    }
}

fn spent_of(spent: Money, allowed: Option<Money>) -> String {
    match allowed {
        Some(allowed) => format!("{spent} of {allowed}"),
        None => spent.to_string(),
    }
}

fn set_aside_line(progress: &Progress) -> Option<String> {
    match progress {
        Progress::PlaceSetAside { place, why } => Some(format!(
            "  ! {place} is set aside, its runs are not done: {why}"
        )),
        _ => None,
    }
}

/// `C5-r3  rede2 · 64 · 64  ok  4.21 s`.
fn ended_line(record: &RunRecord) -> String {
    let levels = record.scenario.levels_label();
    let status = record.outcome.status;
    let detail = match record.outcome.in_a_line() {
        Some(detail) if status != Status::Ok => format!(": {detail}"),
        _ => String::new(),
    };
    let from = match record.prediction() {
        Some(prediction) => format!(
            " predicted from {} ({} of {} {})",
            format::duration(prediction.seen_seconds),
            prediction.steps_seen,
            prediction.steps,
            match prediction.unit {
                CountUnit::Steps => "steps",
                CountUnit::Epochs => "epochs",
            }
        ),
        None => String::new(),
    };
    format!(
        "{}  {levels}  {status}  {}{from}{detail}",
        record.run,
        format::duration(record.seconds)
    )
}

/// Every line says when it was printed, RFC 3339.
pub(crate) fn with_time(mut line: serde_json::Value) -> serde_json::Value {
    if let Some(fields) = line.as_object_mut() {
        fields.insert("time".to_owned(), json!(Timestamp::now()));
    }
    line
}

fn as_json(progress: &Progress) -> Option<serde_json::Value> {
    Some(match progress {
        Progress::RunBegins {
            run,
            place,
            scenario,
            count: Count { done, total },
            projected,
        } => {
            json!({ "event": "run-begins", "run": run, "place": place, "levels": scenario.levels, "done": done, "total": total, "projected": projected })
        }
        Progress::Event { run, event } => {
            let mut value = serde_json::to_value(event).ok()?;
            value.as_object_mut()?.insert("run".to_owned(), json!(run));
            value
        }
        Progress::Sample { run, sample } => {
            json!({ "event": "sample", "run": run, "sample": sample })
        }
        Progress::Tick { .. } => return None,
        Progress::RunEnds {
            record,
            count: Count { done, total },
            seconds_left,
            spent,
            projected,
            ..
        } => json!({
            "event": "run-ends",
            "run": record.run,
            "status": record.outcome.status,
            "detail": record.outcome.detail,
            "seconds": record.seconds,
            "metrics": record.metrics,
            "warnings": record.warnings,
            "done": done,
            "total": total,
            "seconds_left": seconds_left,
            "spent": spent,
            "projected": projected,
        }),
        Progress::PlaceSetAside { place, why } => {
            json!({ "event": "place-set-aside", "place": place, "why": why })
        }
    })
}
