//! A study started in a process of its own, and asked to pause or to stop, whoever started it.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::error::Error;

/// What is asked of the process that carries out a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// The runs in progress end by themselves, and no other begins.
    Pause,
    /// The runs in progress are ended; they are made again when the study goes on.
    Stop,
}

/// The process that carries out the study of these results now.
pub fn running(results: &Path) -> Option<u32> {
    store::writer_of(results)
}

/// Of the process that holds the lock of these results at this moment, and of no other.
pub fn ask_to_end(results: &Path, wish: Wish) -> Result<(), Error> {
    let pid = running(results).and_then(|pid| i32::try_from(pid).ok());
    let pid = pid.and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| Error::other("nobody carries out this study at the moment"))?;
    let signal = match wish {
        Wish::Pause => Signal::USR1,
        Wish::Stop => Signal::INT,
    };
    kill_process(pid, signal).map_err(|error| Error::other(format!("process {pid:?}: {error}")))
}

/// A study that was started here. It goes on when its starter is gone.
#[derive(Debug)]
pub struct StartedStudy {
    child: Child,
    /// What it says to a person.
    said: PathBuf,
}

/// A study that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedStudy {
    pub code: Option<i32>,
    pub said: String,
}

impl EndedStudy {
    /// By somebody who asked for it, by a signal or here: nothing went wrong.
    pub fn is_interrupted(&self) -> bool {
        // As shells say it: 128 and the number of SIGINT.
        self.code == Some(130)
    }
}

/// `bancada run`, in a process group of its own: Ctrl-C in the terminal of its starter does not reach
/// it. `said` is a file for its messages.
pub fn start_study(
    program: &Path,
    file: &Path,
    scale: Option<&str>,
    said: PathBuf,
) -> Result<StartedStudy, Error> {
    let mut options = OpenOptions::new();
    let messages: File = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&said)
        .map_err(|error| Error::other(format!("{}: {error}", said.display())))?;
    let mut command = Command::new(program);
    command.arg("run").arg("--quiet");
    if let Some(scale) = scale {
        command.arg(format!("--scale={scale}"));
    }
    let child = command
        .arg("--")
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(messages)
        .process_group(0)
        .spawn()
        .map_err(|error| Error::other(format!("cannot start {}: {error}", program.display())))?;
    Ok(StartedStudy { child, said })
}

impl StartedStudy {
    /// `None` while it goes on.
    pub fn ended(&mut self) -> Option<EndedStudy> {
        let status = self.child.try_wait().ok()??;
        let said = fs::read_to_string(&self.said).unwrap_or_default();
        // Left behind, it harms nobody.
        _ = fs::remove_file(&self.said);
        Some(EndedStudy {
            code: status.code(),
            said,
        })
    }
}
