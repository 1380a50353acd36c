//! Who asks a server: a second process beside the run's, outside its limits and its samples.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use model::event::{EVENTS_VARIABLE, STARTED_VARIABLE};

use crate::outcome::last_lines;
use crate::process::Usage;
use crate::request::ClientCommand;

/// Of what a client that failed said.
const SHOWN_LINES: usize = 5;
/// What it says, beside the run's other files.
const OUTPUT: &str = "client.txt";

#[derive(Debug)]
pub(crate) struct Client {
    pid: i32,
    output: PathBuf,
    end: Option<Usage>,
}

/// Whether the client did what it was there for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Through,
    /// With its last words.
    Failed(String),
    /// The server ended while it was still asking.
    CutShort,
}

impl Client {
    pub(crate) fn start(
        asked: &ClientCommand,
        events: &Path,
        server_started_unix_seconds: f64,
    ) -> io::Result<Self> {
        let nothing = || io::Error::new(io::ErrorKind::InvalidInput, "the client has no command");
        let (program, arguments) = asked.command.split_first().ok_or_else(nothing)?;
        let output = events.with_file_name(OUTPUT);
        // Rounded down: what is reported of the start must not come after it.
        let started = format!("{:.6}", server_started_unix_seconds - 1e-6);
        let file = File::create(&output)?;
        let second = file.try_clone()?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .envs(asked.env.iter().map(|(name, value)| (name, value)))
            .env(EVENTS_VARIABLE, events)
            .env(STARTED_VARIABLE, started)
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(second);
        // SAFETY: two system calls on the new process alone.
        unsafe {
            command.pre_exec(|| {
                let dies = libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
                match libc::setsid() == -1 || dies == -1 {
                    true => Err(io::Error::last_os_error()),
                    false => Ok(()),
                }
            });
        }
        let child = command.spawn()?;
        Ok(Client {
            pid: i32::try_from(child.id()).unwrap_or(i32::MAX),
            output,
            end: None,
        })
    }

    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// Whether it has ended by now.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.wait(libc::WNOHANG);
        self.end.is_some()
    }

    /// Ends it where it has not ended by itself.
    pub(crate) fn kill(&mut self) {
        if !self.has_ended() {
            // SAFETY: it is our own child and not reaped, so that the number is its own.
            unsafe { libc::kill(self.pid, libc::SIGKILL) };
            self.wait(0);
        }
    }

    pub(crate) fn end(&self) -> Option<Usage> {
        self.end
    }

    /// Of a client that ended by itself.
    pub(crate) fn verdict(&self) -> Verdict {
        match self.end {
            Some(Usage {
                exit_code: Some(0), ..
            }) => Verdict::Through,
            _ => Verdict::Failed(self.last_words()),
        }
    }

    /// Its output is kept where it said something.
    pub(crate) fn tidy(&self) {
        if fs::metadata(&self.output).is_ok_and(|file| file.len() == 0) {
            // An empty file left behind harms nobody.
            let _ = fs::remove_file(&self.output);
        }
    }

    fn last_words(&self) -> String {
        let text = fs::read(&self.output).unwrap_or_default();
        let words = last_lines(&String::from_utf8_lossy(&text), SHOWN_LINES);
        match words.trim_start_matches("error: ") {
            "" => "the client ended without a message".to_owned(),
            words => words.to_owned(),
        }
    }

    fn wait(&mut self, options: i32) {
        if self.end.is_none() {
            self.end = Usage::of_ended(self.pid, options);
        }
    }
}

/// Whatever goes wrong in measuring, nobody goes on asking.
impl Drop for Client {
    fn drop(&mut self) {
        self.kill();
    }
}
