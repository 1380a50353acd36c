//! What is known of the study now, in Prometheus' text format.

use std::collections::BTreeMap;
use std::fmt::Write;

use model::{EventKind, Money, RunId, RunRecord, Sample, Status, Study};
use runner::{Count, Progress};

pub(super) struct State {
    study: String,
    count: Count,
    seconds_left: f64,
    spent: Option<Money>,
    budget: Option<Money>,
    projected: Option<Money>,
    /// By how they ended, this time.
    ended: BTreeMap<&'static str, Ended>,
    runs: BTreeMap<RunId, Now>,
}

#[derive(Default)]
struct Ended {
    runs: u64,
    seconds: f64,
}

/// A run in progress.
#[derive(Default)]
struct Now {
    place: String,
    levels: String,
    seconds: f64,
    epoch: Option<f64>,
    step: Option<f64>,
    loss: Option<f64>,
    accuracy: Option<f64>,
    sample: Option<Box<Sample>>,
}

impl State {
    pub(super) fn new(study: &Study, runs: usize) -> Self {
        State {
            study: study.name.clone(),
            count: Count {
                done: 0,
                total: runs,
            },
            seconds_left: 0.0,
            spent: None,
            budget: study.budget,
            projected: None,
            ended: BTreeMap::new(),
            runs: BTreeMap::new(),
        }
    }

    pub(super) fn on(&mut self, progress: &Progress) {
        match progress {
            Progress::RunBegins {
                run,
                place,
                scenario,
                count,
                projected,
            } => {
                self.count = *count;
                self.projected = *projected;
                let now = Now {
                    place: place.clone(),
                    levels: scenario.levels_label(),
                    ..Now::default()
                };
                self.runs.insert(*run, now);
            }
            Progress::Event { run, event } => {
                if let Some(now) = self.runs.get_mut(run) {
                    now.on(&event.kind);
                }
            }
            Progress::Sample { run, sample } => {
                if let Some(now) = self.runs.get_mut(run) {
                    now.sample = Some(sample.clone());
                }
            }
            Progress::Tick {
                run,
                seconds,
                seconds_left,
                spent,
            } => {
                self.seconds_left = *seconds_left;
                self.spent = Some(*spent);
                if let Some(now) = self.runs.get_mut(run) {
                    now.seconds = *seconds;
                }
            }
            Progress::RunEnds {
                record,
                count,
                seconds_left,
                spent,
                projected,
                ..
            } => {
                self.count = *count;
                self.seconds_left = *seconds_left;
                self.spent = Some(*spent);
                self.projected = *projected;
                self.run_ends(record);
            }
            Progress::PlaceSetAside { .. } => {}
        }
    }

    fn run_ends(&mut self, record: &RunRecord) {
        self.runs.remove(&record.run);
        let ended = self.ended.entry(record.outcome.status.word()).or_default();
        ended.runs += 1;
        ended.seconds += record.seconds;
    }

    pub(super) fn text(&self) -> String {
        let study = [("study", self.study.as_str())];
        let mut text = Text::default();
        text.gauge("bancada_runs_done", "Runs of the study that have a result");
        text.sample(&study, self.count.done);
        text.gauge("bancada_runs_planned", "Runs of the study");
        text.sample(&study, self.count.total);
        text.gauge(
            "bancada_remaining_seconds",
            "Expected time until the study ends",
        );
        text.sample(&study, self.seconds_left);
        let amounts = [
            (
                "bancada_spent",
                "What the study has cost so far, with runs in progress",
                self.spent,
            ),
            ("bancada_budget", "What the study may cost", self.budget),
            (
                "bancada_projected_cost",
                "What the study is expected to cost in the end",
                self.projected,
            ),
        ];
        for (name, about, amount) in amounts {
            let Some(money) = amount else { continue };
            text.gauge(name, about);
            let currency = money.currency.to_string();
            text.sample(
                &[study[0], ("currency", &currency)],
                money.amount.normalize(),
            );
        }
        self.ended(&mut text);
        self.in_progress(&mut text);
        text.text
    }

    /// All outcomes from the beginning: a rate needs its zero.
    fn ended(&self, text: &mut Text) {
        let all = [
            Status::Ok,
            Status::Failed,
            Status::OutOfMemory,
            Status::TimedOut,
            Status::Interrupted,
        ];
        type Of = fn(&Ended) -> f64;
        let counters: [(&str, &str, Of); 2] = [
            (
                "bancada_runs_ended_total",
                "Runs that ended since the program was started",
                |e| e.runs as f64,
            ),
            (
                "bancada_run_seconds_total",
                "How long those runs lasted",
                |e| e.seconds,
            ),
        ];
        for (name, about, value) in counters {
            text.head(name, "counter", about);
            for status in all {
                let value = self.ended.get(status.word()).map_or(0.0, value);
                text.sample(&[("study", &self.study), ("status", status.word())], value);
            }
        }
    }

    fn in_progress(&self, text: &mut Text) {
        type Of = fn(&Now) -> Option<f64>;
        let gauges: [(&str, &str, Of); 9] = [
            (
                "bancada_run_in_progress",
                "Runs in progress, with their levels",
                |_| Some(1.0),
            ),
            ("bancada_run_seconds", "Time since the run began", |now| {
                Some(now.seconds)
            }),
            (
                "bancada_run_epoch",
                "Last epoch that the run reported",
                |now| now.epoch,
            ),
            (
                "bancada_run_step",
                "Last step that the run reported",
                |now| now.step,
            ),
            (
                "bancada_run_loss",
                "Last loss that the run reported",
                |now| now.loss,
            ),
            (
                "bancada_run_accuracy_ratio",
                "Last accuracy that the run reported",
                |now| now.accuracy,
            ),
            (
                "bancada_run_cpu_ratio",
                "CPU use of the run's processes, 1 is one core",
                |now| Some(now.sample.as_ref()?.run.cpu_percent? / 100.0),
            ),
            (
                "bancada_run_memory_bytes",
                "Memory of the run's processes",
                |now| Some(now.sample.as_ref()?.run.memory_bytes as f64),
            ),
            (
                "bancada_machine_cpu_ratio",
                "CPU use of the run's machine, 1 is all cores",
                |now| Some(now.sample.as_ref()?.machine.cpu_percent? / 100.0),
            ),
        ];
        for (name, about, value) in gauges {
            let known = self
                .runs
                .iter()
                .filter_map(|(run, now)| Some((run, now, value(now)?)));
            for (place, (run, now, value)) in known.enumerate() {
                if place == 0 {
                    text.gauge(name, about);
                }
                let run = run.to_string();
                let labels = [
                    ("study", self.study.as_str()),
                    ("run", &run),
                    ("place", &now.place),
                    ("levels", &now.levels),
                ];
                let few = if name == "bancada_run_in_progress" {
                    4
                } else {
                    3
                };
                text.sample(&labels[..few], value);
            }
        }
    }
}

impl Now {
    fn on(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Step {
                step, epoch, loss, ..
            } => {
                self.step = Some(*step as f64);
                self.epoch = epoch.map(f64::from).or(self.epoch);
                self.loss = loss.or(self.loss);
            }
            EventKind::Epoch {
                epoch,
                loss,
                accuracy,
                ..
            } => {
                self.epoch = Some(f64::from(*epoch));
                self.loss = loss.or(self.loss);
                self.accuracy = accuracy.or(self.accuracy);
            }
            EventKind::Accuracy { value } => self.accuracy = Some(*value),
            _ => {}
        }
    }
}

/// Samples stand below the head of their metric.
#[derive(Default)]
struct Text {
    text: String,
    name: &'static str,
}

impl Text {
    fn gauge(&mut self, name: &'static str, about: &str) {
        self.head(name, "gauge", about);
    }

    fn head(&mut self, name: &'static str, kind: &str, about: &str) {
        self.name = name;
        let _ = writeln!(self.text, "# HELP {name} {about}.\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let labels = labels.iter();
        let labels: Vec<String> = labels
            .map(|(name, value)| format!("{name}=\"{}\"", escape(value)))
            .collect();
        let _ = writeln!(self.text, "{}{{{}}} {value}", self.name, labels.join(","));
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
