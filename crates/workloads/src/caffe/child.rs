//! Caffe's process: started, its log read, ended with this one.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use model::{Asked, Stop};

use super::files::{SOLVER, Scratch, WEIGHTS};
use crate::error::Error;

/// How often it is seen whether this process shall end.
const LOOK: Duration = Duration::from_millis(100);
/// From the wish to the end by force.
const GRACE: Duration = Duration::from_secs(5);
/// A longer line is taken in pieces.
const LONGEST_LINE_BYTES: u64 = 1 << 16;

/// How Caffe ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) success: bool,
    /// `ended with 1`, `was ended by signal 9`.
    pub(super) how: String,
}

pub(super) fn train_command(caffe: &Path, scratch: &Scratch, threads: Option<u32>) -> Command {
    let mut command = Command::new(caffe);
    // Names without folders: Caffe takes a comma in `--weights` for the end of a name, and the texts
    // that stay with the results are right wherever these go.
    command
        .current_dir(scratch.folder())
        .arg("train")
        .arg(format!("--solver={SOLVER}"))
        .arg(format!("--weights={WEIGHTS}"))
        // Its log goes to stderr alone, and to no file elsewhere.
        .env("GLOG_logtostderr", "1")
        .env("GLOG_minloglevel", "0");
    if let Some(threads) = threads {
        // Caffe has no setting of its own: its matrix products are those of one of these.
        for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
            command.env(variable, threads.to_string());
        }
    }
    command
}

/// Gives every line of its log to `line`, and passes it on as it is.
pub(super) fn run(
    mut command: Command,
    stop: &Stop,
    line: &mut dyn FnMut(&str),
) -> Result<Ended, Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    let failed = |e: io::Error| Error::failed(format!("cannot start {program}: {e}"));
    let mut child = Running {
        child: command.spawn().map_err(failed)?,
        status: None,
        asked: None,
    };
    let lines = lines_of(&mut child.child);
    loop {
        match lines.recv_timeout(LOOK) {
            Ok(bytes) => {
                // Who reads our log may be gone; the training goes on.
                _ = io::stderr().write_all(&bytes);
                line(String::from_utf8_lossy(&bytes).trim_end());
            }
            // Someone it started may hold the log open although it is over.
            Err(RecvTimeoutError::Timeout) if child.is_over().map_err(failed)? => break,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        child.end_where_asked(stop);
    }
    loop {
        if child.is_over().map_err(failed)?
            && let Some(status) = child.status
        {
            return Ok(ended_how(status));
        }
        child.end_where_asked(stop);
        thread::sleep(LOOK / 10);
    }
}

struct Running {
    child: Child,
    status: Option<ExitStatus>,
    /// When it was told to end.
    asked: Option<Instant>,
}

impl Running {
    fn is_over(&mut self) -> io::Result<bool> {
        if self.status.is_none() {
            self.status = self.child.try_wait()?;
        }
        Ok(self.status.is_some())
    }

    fn end_where_asked(&mut self, stop: &Stop) {
        let wish = stop.asked();
        // Once it was waited for, its process id may be another's.
        if wish == Asked::Nothing || self.status.is_some() {
            return;
        }
        let since = *self.asked.get_or_insert_with(|| {
            if let Ok(pid) = i32::try_from(self.child.id()) {
                // SAFETY: no memory is touched, and the child is not yet waited for, so that the
                // number is its own.
                unsafe { libc::kill(pid, libc::SIGTERM) };
            }
            Instant::now()
        });
        if wish == Asked::Now || since.elapsed() > GRACE {
            // It may have ended just now.
            _ = self.child.kill();
        }
    }
}

/// Read in a thread of its own, so that a silent Caffe can be ended.
fn lines_of(child: &mut Child) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::sync_channel(1024);
    if let Some(stderr) = child.stderr.take() {
        thread::spawn(move || {
            let mut reader = BufReader::new(stderr);
            loop {
                let mut line = Vec::new();
                let read = reader
                    .by_ref()
                    .take(LONGEST_LINE_BYTES)
                    .read_until(b'\n', &mut line);
                let is_end = !matches!(read, Ok(bytes) if bytes > 0);
                if is_end || sender.send(line).is_err() {
                    return;
                }
            }
        });
    }
    receiver
}

fn ended_how(status: ExitStatus) -> Ended {
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    };
    Ended {
        success: status.success(),
        how,
    }
}
