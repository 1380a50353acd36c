//! Logs of any program, read by the regular expressions of a study, as while it runs.

use log_patterns::Patterns;
use model::study::LogPattern;
use model::{EventKind, Metric};

use super::told::{Step, Told};

/// Fails with what is wrong with a regular expression.
pub(super) fn read(text: &str, patterns: &[LogPattern]) -> Result<Told, String> {
    let mut patterns = Patterns::new(patterns).map_err(|error| error.to_string())?;
    let mut told = Told::default();
    for line in text.split(['\n', '\r']) {
        patterns.read(line, |kind| on(&mut told, kind));
    }
    told.warnings = patterns.warnings();
    if !told.is_empty() {
        told.end_by_errors(text);
    }
    Ok(told)
}

fn on(told: &mut Told, kind: EventKind) {
    match kind {
        EventKind::Step {
            step,
            loss,
            seconds,
            images,
            ..
        } => {
            told.batch = images.or(told.batch);
            told.step(Step {
                number: step,
                loss,
                at_seconds: None,
                seconds,
                part: 0,
            });
        }
        EventKind::Epoch {
            epoch,
            loss,
            accuracy,
            seconds,
        } => {
            let own = told.epoch(epoch);
            own.loss = loss.or(own.loss);
            own.accuracy = accuracy.or(own.accuracy);
            own.seconds = seconds.or(own.seconds);
            told.accuracy = accuracy.or(told.accuracy);
        }
        EventKind::Accuracy { value } => told.accuracy = Some(value),
        EventKind::Metric { name, value, unit } => {
            told.metrics.insert(name, Metric { value, unit });
        }
        // Lines have no times, so nothing says how long a phase was; no pattern gives the others.
        _ => {}
    }
}
