//! One training step by the real adapter. An import shows less: tinygrad is imported without the
//! compiler it needs for its first step.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::process::{Answer, ask};

/// Seconds are usual; Theano and tinygrad compile, and a busy machine takes its time.
pub(crate) const TRIAL_TIMEOUT: Duration = Duration::from_secs(300);
const JOB_VARIABLE: &str = "BANCADA_JOB";
const EVENTS_VARIABLE: &str = "BANCADA_EVENTS";

/// What the step needs, made by who knows networks.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// A job of one step, with its weights and images, to which the framework's name is added.
    pub job: Value,
    /// For files that nobody needs afterwards.
    pub folder: PathBuf,
    /// This program, which trains by Caffe's.
    pub bancada: PathBuf,
}

/// What is started for it.
pub(crate) struct Started {
    pub(crate) command: Command,
    events: PathBuf,
}

impl Trial {
    /// By the adapter of `name`.
    pub(crate) fn of_adapter(
        &self,
        name: &str,
        python: &Path,
        adapter: &Path,
    ) -> io::Result<Started> {
        let mut command = Command::new(python);
        command.arg(adapter);
        self.started(name, command)
    }

    pub(crate) fn of_caffe(&self) -> io::Result<Started> {
        let mut command = Command::new(&self.bancada);
        command.arg("caffe-train");
        self.started("caffe", command)
    }

    fn started(&self, name: &str, mut command: Command) -> io::Result<Started> {
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder)?;
        let mut job = self.job.clone();
        if let Value::Object(job) = &mut job {
            job.insert("framework".to_owned(), Value::from(name));
        }
        let path = folder.join("job.json");
        fs::write(&path, job.to_string())?;
        let events = folder.join("events.jsonl");
        fs::write(&events, "")?;
        command
            .current_dir(&folder)
            .env(JOB_VARIABLE, &path)
            .env(EVENTS_VARIABLE, &events);
        Ok(Started { command, events })
    }
}

impl Started {
    /// Why the step failed, by the framework's own word; waits for it.
    pub(crate) fn run(mut self) -> Result<(), String> {
        let answer = ask(&mut self.command, TRIAL_TIMEOUT)
            .map_err(|error| format!("it does not start: {error}"))?;
        match answer.success {
            true => Ok(()),
            false => Err(self.problem(&answer)),
        }
    }

    fn problem(&self, answer: &Answer) -> String {
        if answer.timed_out {
            let seconds = TRIAL_TIMEOUT.as_secs();
            return format!("a training step did not finish within {seconds} s");
        }
        let events = fs::read_to_string(&self.events).unwrap_or_default();
        let said = error_event(&events).or_else(|| last_line(&answer.stderr));
        match said {
            Some(said) => format!("a training step fails: {said}"),
            None => "a training step ends the process without a message".to_owned(),
        }
    }
}

/// The text of the last event `error`.
fn error_event(events: &str) -> Option<String> {
    let told = events.lines().rev().filter_map(|line| {
        let event: Value = serde_json::from_str(line).ok()?;
        let is_error = event.get("event")?.as_str()? == "error";
        is_error.then(|| event.get("text")?.as_str().map(str::to_owned))?
    });
    told.into_iter().next()
}

fn last_line(said: &str) -> Option<String> {
    let line = said.lines().rev().find(|line| !line.trim().is_empty());
    line.map(|line| line.trim().trim_start_matches("error: ").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_error_that_was_reported_is_found() {
        let check = |events: &str, expected: Option<&str>| {
            assert_eq!(error_event(events).as_deref(), expected, "{events}");
        };
        check("", None);
        check("{\"event\":\"phase\",\"phase\":\"train\"}\n", None);
        check(
            "{\"event\":\"error\",\"text\":\"a\"}\n{\"event\":\"error\",\"text\":\"b\"}\n{\"event\":\"note\"}\nx",
            Some("b"),
        );
        assert_eq!(last_line("a\nerror: b\n\n").as_deref(), Some("b"));
        assert_eq!(last_line("\n"), None);
    }
}
