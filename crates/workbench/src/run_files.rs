//! Files of a run's bundle other than its record. Unreadable files are reported, and the rest is shown.

use model::{Event, EventKind, RunId, RunRecord, Sample};
use report::ToldStep;

use crate::error::Error;
use crate::open::Results;

/// What could be read of a file, and what is wrong with the rest of it.
pub struct Read<T> {
    pub found: T,
    pub wrong: Option<String>,
}

/// None where there is no such file.
fn file(results: &Results, run: RunId, name: &str) -> Result<Option<String>, String> {
    let read = results.store.read_run_file(run, name);
    let read = read.map_err(|error| format!("{run}: {error}"))?;
    Ok(read.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

pub(crate) fn samples(results: &Results, run: RunId) -> Read<Option<Vec<Sample>>> {
    let read = file(results, run, "samples.csv").and_then(|text| {
        let parse = |text: String| {
            measure::samples::parse(&text).map_err(|error| {
                format!(
                    "{run}: {error}: the file is damaged, so resource use over time is not shown"
                )
            })
        };
        text.map(parse).transpose()
    });
    match read {
        Ok(found) => Read { found, wrong: None },
        Err(wrong) => Read {
            found: None,
            wrong: Some(wrong),
        },
    }
}

/// What is kept of a run; none where it was not made.
pub fn record(results: &Results, run: RunId) -> Result<Option<RunRecord>, Error> {
    let records = results.store.records()?;
    Ok(records.into_iter().find(|record| record.run == run))
}

/// The steps that the run reported.
pub fn steps(results: &Results, run: RunId) -> Read<Vec<ToldStep>> {
    let text = match file(results, run, "events.jsonl") {
        Ok(text) => text.unwrap_or_default(),
        Err(wrong) => {
            return Read {
                found: Vec::new(),
                wrong: Some(wrong),
            };
        }
    };
    let mut found = Vec::new();
    let (mut bad, mut first_bad) = (0, None);
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str::<Event>(line) {
            Ok(event) => found.extend(step(event.kind)),
            Err(_) => {
                bad += 1;
                first_bad.get_or_insert(index + 1);
            }
        }
    }
    let wrong = first_bad.map(|line| {
        let lines = report::format::counted(bad, "line is", "lines are");
        format!(
            "{run}: {lines} not an event in events.jsonl, the first is line {line}: the file is damaged or truncated, and steps may be missing"
        )
    });
    Read { found, wrong }
}

fn step(kind: EventKind) -> Option<ToldStep> {
    match kind {
        EventKind::Step {
            step,
            epoch,
            loss,
            seconds,
            images,
        } => Some(ToldStep {
            step,
            epoch,
            loss,
            seconds,
            images,
        }),
        _ => None,
    }
}
