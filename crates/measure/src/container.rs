//! A run in a container: what is its child is only the engine's client, so its processes are found,
//! counted, signalled and judged by the container that they are in.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use host::limits::cgroup::ForeignGroup;
use model::Timestamp;
use serde_json::Value;

use crate::request::Contained;
use crate::sampler::task::parse_high_water_bytes;

/// An engine that takes longer does not answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// Where the usual places of groups do not have it, all processes are looked through so often.
const SEARCH_EVERY: Duration = Duration::from_millis(500);
/// How the engines' first processes in a container begin their complaints.
const FIRST_PROCESSES: [&str; 2] = ["[FATAL tini", "catatonit:"];
/// The id of a container, in hexadecimal digits.
const ID_LENGTH: usize = 64;

/// A container from its start to its removal.
#[derive(Debug)]
pub(crate) struct Container<'a> {
    asked: &'a Contained,
    id: Option<String>,
    group: Option<ForeignGroup>,
    next_search: Instant,
    /// After the start of the run, when the container was first seen.
    pub(crate) seen_seconds: f64,
    pub(crate) counts: Counts,
}

/// What its group said when it was last there: it goes with the container.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Counts {
    /// Whether any process of it was ever seen.
    pub(crate) was_seen: bool,
    /// Seconds after the start of the run.
    pub(crate) at_seconds: f64,
    pub(crate) cpu_seconds: Option<f64>,
    pub(crate) group_peak_bytes: Option<u64>,
    /// Of the largest of its processes.
    pub(crate) peak_bytes: u64,
}

/// What the engine says of it after its end.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Ending {
    pub(crate) exit_code: Option<i32>,
    pub(crate) out_of_memory: bool,
    /// By the engine's clock, in seconds of the Unix epoch.
    pub(crate) started: Option<f64>,
    pub(crate) finished: Option<f64>,
    /// Why it is not the workload that failed.
    pub(crate) error: Option<String>,
}

impl<'a> Container<'a> {
    pub(crate) fn new(asked: &'a Contained) -> Self {
        Container {
            asked,
            id: None,
            group: None,
            next_search: Instant::now() + SEARCH_EVERY,
            seen_seconds: 0.0,
            counts: Counts::default(),
        }
    }

    /// Counts what it used. Gives its group when it is seen for the first time.
    pub(crate) fn look(&mut self, seconds: f64) -> Option<ForeignGroup> {
        let found = match self.group {
            Some(_) => None,
            None => self.find(),
        };
        if found.is_some() {
            self.seen_seconds = seconds;
        }
        self.group = self.group.take().or_else(|| found.clone());
        if let Some(group) = &self.group {
            self.counts.take(group, seconds);
        }
        found
    }

    fn find(&mut self) -> Option<ForeignGroup> {
        if self.id.is_none() {
            self.next_search = Instant::now() + SEARCH_EVERY;
            self.id = fs::read_to_string(&self.asked.id_file)
                .ok()
                .filter(|id| id.len() >= ID_LENGTH);
        }
        let (root, id) = (Path::new("/"), self.id.as_ref()?.trim());
        let quickly = ForeignGroup::find_quickly(root, id);
        quickly.filter(ForeignGroup::is_complete).or_else(|| {
            let now = Instant::now();
            let is_due = now >= self.next_search;
            is_due.then(|| self.next_search = now + SEARCH_EVERY)?;
            ForeignGroup::find(root, id)
        })
    }

    /// Whether the engine can be asked to signal it.
    pub(crate) fn exists(&self) -> bool {
        self.id.is_some()
    }

    /// Without waiting: an engine may need its time. Where it does not answer, its client is ended.
    pub(crate) fn signal(&self, signal: i32, client: i32) {
        let mut command = self.engine(&["kill", "--signal", &signal.to_string()]);
        let thread = std::thread::Builder::new().name("engine".to_owned());
        let asked = thread.spawn(move || {
            let answered = host::ask(&mut command, PATIENCE).is_ok_and(|answer| answer.success());
            if !answered && signal == libc::SIGKILL {
                // SAFETY: numbers alone; it leads a group of its own and is buried after the run.
                unsafe { libc::kill(-client, libc::SIGKILL) };
            }
        });
        if asked.is_err() {
            // SAFETY: as above.
            unsafe { libc::kill(-client, signal) };
        }
    }

    /// What became of it; then it is removed. `client_code` is what its client ended with.
    pub(crate) fn end(&self, client_code: Option<i32>) -> Ending {
        let mut command = self.engine(&[
            "inspect",
            "--type",
            "container",
            "--format",
            "{{json .State}}",
        ]);
        let answer = host::ask(&mut command, PATIENCE);
        let engine = self.asked.engine;
        let ending = match answer {
            Ok(answer) if answer.success() => {
                let state = serde_json::from_slice(&answer.stdout).unwrap_or_default();
                let ending = Ending::of_state(&state, engine);
                Ending {
                    // Of one that never began or still runs, only the client's end is known.
                    exit_code: ending.finished.and(ending.exit_code).or(client_code),
                    ..ending
                }
            }
            // The client says why, and its words are in the log.
            Ok(answer) if no_such(&answer.stderr) => Ending {
                exit_code: client_code,
                error: Some(format!("{engine} did not start the container")),
                ..Ending::default()
            },
            _ => Ending {
                exit_code: client_code,
                error: Some(format!(
                    "{engine} stopped answering while the run was in progress"
                )),
                ..Ending::default()
            },
        };
        // What cannot be removed now is removed before the next run.
        let removal = self.asked.removal();
        let words: Vec<&str> = removal.iter().skip(1).map(String::as_str).collect();
        _ = host::ask(Command::new(self.asked.engine).args(words), PATIENCE);
        ending
    }

    fn engine(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.asked.engine);
        command.args(words).arg(&self.asked.name);
        command
    }
}

fn no_such(complaint: &[u8]) -> bool {
    let text = String::from_utf8_lossy(complaint).to_lowercase();
    text.contains("no such")
}

impl Contained {
    /// For whoever outlives this program.
    pub(crate) fn removal(&self) -> Vec<String> {
        let mut words = vec![self.engine, "rm", "--force", "--volumes"];
        if self.engine == "podman" {
            // It would wait ten seconds for one that does not listen to SIGTERM.
            words.extend(["--time", "0"]);
        }
        words.push(&self.name);
        words.into_iter().map(str::to_owned).collect()
    }
}

impl Counts {
    fn take(&mut self, group: &ForeignGroup, seconds: f64) {
        let cpu_seconds = group.cpu_seconds();
        let processes = group.processes();
        let peaks = processes.iter().filter_map(|pid| high_water_bytes(*pid));
        let peak = peaks.max();
        if cpu_seconds.is_none() && peak.is_none() {
            return;
        }
        self.was_seen = true;
        self.at_seconds = seconds;
        self.cpu_seconds = cpu_seconds.or(self.cpu_seconds);
        self.group_peak_bytes = group.peak_memory_bytes().or(self.group_peak_bytes);
        self.peak_bytes = self.peak_bytes.max(peak.unwrap_or(0));
    }
}

fn high_water_bytes(pid: i32) -> Option<u64> {
    let mut text = [0; 4096];
    let mut status = fs::File::open(format!("/proc/{pid}/status")).ok()?;
    let length = status.read(&mut text).ok()?;
    parse_high_water_bytes(&text[..length])
}

impl Ending {
    fn of_state(state: &Value, engine: &str) -> Self {
        let text = |name: &str| state[name].as_str().unwrap_or_default();
        let exit_code = state["ExitCode"].as_i64();
        let exit_code = exit_code.and_then(|code| i32::try_from(code).ok());
        let started = moment(text("StartedAt"));
        let out_of_memory = state["OOMKilled"].as_bool().unwrap_or(false);
        let of_engine = text("Error").trim();
        let error = match exit_code {
            _ if started.is_none() => {
                let why = if of_engine.is_empty() { "" } else { ": " };
                Some(format!(
                    "{engine} could not start the command{why}{of_engine}"
                ))
            }
            Some(137) if !out_of_memory => Some("the container was killed (SIGKILL)".to_owned()),
            _ => None,
        };
        Ending {
            exit_code,
            out_of_memory,
            started,
            finished: moment(text("FinishedAt")),
            error,
        }
    }
}

impl Ending {
    /// Why it is not the workload that failed. The engine's first process in a container starts the
    /// command, so that only the log knows that there is no such program.
    pub(crate) fn reason(&self, log_end: &str) -> Option<String> {
        let could_not_start = matches!(self.exit_code, Some(126 | 127));
        let complaint = || {
            let line = log_end.trim_end().lines().next_back()?;
            let is_of_first = FIRST_PROCESSES.iter().any(|name| line.contains(name));
            is_of_first.then(|| format!("the image could not start the command: {line}"))
        };
        let error = self.error.clone();
        error.or_else(|| could_not_start.then(complaint).flatten())
    }
}

/// None of a moment that has not come: engines write the year 1 then.
fn moment(text: &str) -> Option<f64> {
    let moment: Timestamp = text.parse().ok()?;
    let seconds = moment.as_nanosecond() as f64 / 1e9;
    (seconds > 0.0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(state: &str) -> Ending {
        Ending::of_state(&serde_json::from_str(state).unwrap(), "docker")
    }

    #[test]
    fn what_the_engine_says_of_an_end() {
        let full = r#"{"Status":"exited","OOMKilled":true,"ExitCode":137,"Error":"","StartedAt":"2026-11-18T08:32:27.5Z","FinishedAt":"2026-11-18T08:32:28.75Z"}"#;
        let end = ending(full);
        assert!(end.out_of_memory && end.error.is_none());
        let seconds = end.finished.unwrap() - end.started.unwrap();
        assert!((seconds - 1.25).abs() < 1e-3, "{seconds}");
        // Podman writes the offset of its time zone.
        let podman = full.replace("27.5Z", "27.5+00:00").replace("true", "false");
        let end = ending(&podman);
        assert_eq!(end.exit_code, Some(137));
        assert!(end.started.is_some());
        assert_eq!(
            end.error.as_deref(),
            Some("the container was killed (SIGKILL)")
        );
    }

    #[test]
    fn the_first_process_may_say_that_the_image_lacks_the_command() {
        let check = |exit_code, log: &str, expected: Option<&str>| {
            let ending = Ending {
                exit_code: Some(exit_code),
                ..Ending::default()
            };
            assert_eq!(ending.reason(log).as_deref(), expected);
        };
        let line = "[FATAL tini (7)] exec x failed: No such file or directory";
        let words = format!("the image could not start the command: {line}");
        check(127, &format!("{line}\n"), Some(&words));
        check(127, "sh: x: not found\n", None);
        check(1, line, None);
    }

    #[test]
    fn a_command_that_the_image_lacks_is_the_engine_s_word() {
        let state = r#"{"Status":"created","ExitCode":127,"Error":"exec: \"x\": not found","StartedAt":"0001-01-01T00:00:00Z","FinishedAt":"0001-01-01T00:00:00Z"}"#;
        let end = ending(state);
        assert_eq!((end.started, end.exit_code), (None, Some(127)));
        let words = "docker could not start the command: exec: \"x\": not found";
        assert_eq!(end.error.as_deref(), Some(words));
    }
}
