//! Real runs of real processes: how they end, what they tell, what is left of them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod clients;
mod ends;
mod events;
mod limits;
mod progress;

use std::fs;
use std::path::Path;
use std::process::Command;

use measure::{Request, Stop, Watched};
use model::run::{Status, metric};
use model::study::{Limits, LogEvent, LogPattern, MeasureSettings};
use model::{Event, EventKind, Measurement, Warning};
use tempfile::TempDir;

/// One run and the folder it left.
struct Ran {
    measured: Measurement,
    folder: TempDir,
    events: Vec<Event>,
    samples: usize,
}

impl Ran {
    fn detail(&self) -> &str {
        self.measured.outcome.detail.as_deref().unwrap_or_default()
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    fn metric(&self, name: &str) -> Option<f64> {
        self.measured.metrics.get(name).map(|metric| metric.value)
    }

    fn phases(&self) -> Vec<&str> {
        self.measured
            .phases
            .iter()
            .map(|phase| phase.name.as_str())
            .collect()
    }
}

fn request(command: &[&str], folder: &Path) -> Request {
    Request {
        command: command.iter().map(|&word| word.to_owned()).collect(),
        env: Vec::new(),
        directory: None,
        folder: folder.to_owned(),
        limits: Limits::default(),
        settings: MeasureSettings {
            interval_seconds: 0.05,
            timeout_seconds: Some(60.0),
            grace_seconds: 5.0,
        },
        log: Vec::new(),
        progress: None,
        reports_steps: false,
        client: None,
        container: None,
        outlives: false,
        cgroup_name: "test".to_owned(),
    }
}

fn carry_out(command: &[&str], change: impl FnOnce(&mut Request)) -> Ran {
    stoppable(command, change, &Stop::new(), |_| ())
}

fn stoppable(
    command: &[&str],
    change: impl FnOnce(&mut Request),
    stop: &Stop,
    mut on_event: impl FnMut(&Event),
) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let mut request = request(command, folder.path());
    change(&mut request);
    let (mut events, mut samples) = (Vec::new(), 0);
    let measured = measure::run(&request, stop, &mut |watched| match watched {
        Watched::Event(event) => {
            on_event(event);
            events.push(event.clone());
        }
        Watched::Sample(_) => samples += 1,
        Watched::Tick { seconds } => assert!(seconds >= 0.0),
    })
    .unwrap();
    let sum: f64 = measured.phases.iter().map(|phase| phase.seconds).sum();
    assert!(
        (sum - measured.seconds).abs() < 1e-9,
        "phases sum to the run"
    );
    Ran {
        measured,
        folder,
        events,
        samples,
    }
}

fn sh(script: &str) -> Ran {
    carry_out(&["sh", "-c", script], |_| ())
}

fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty()
        && !stat
            .rsplit(')')
            .next()
            .unwrap()
            .trim_start()
            .starts_with('Z')
}

/// The ready event of a script, for tests that must not act before it.
const READY: &str = r#"echo '{"event":"note","text":"ready"}' >> "$BANCADA_EVENTS""#;
