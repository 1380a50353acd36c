//! Child processes that can hang, be stopped, and take their own children along.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(50);
/// Between being asked to end and being ended.
const GRACE: Duration = Duration::from_secs(5);

/// What a short question was answered.
pub(crate) struct Answer {
    pub(crate) success: bool,
    pub(crate) timed_out: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn ask(command: &mut Command, timeout: Duration) -> io::Result<Answer> {
    prepare(command);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdout = child.stdout.take().map(read_all);
    let stderr = child.stderr.take().map(read_all);
    let deadline = Instant::now() + timeout;
    let mut timed_out = false;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > deadline {
            timed_out = true;
            end(&mut child, libc::SIGKILL);
            break child.wait()?;
        }
        thread::sleep(POLL / 5);
    };
    let text = |reader: Option<thread::JoinHandle<String>>| {
        reader.and_then(|r| r.join().ok()).unwrap_or_default()
    };
    Ok(Answer {
        success: status.success() && !timed_out,
        timed_out,
        stdout: text(stdout),
        stderr: text(stderr),
    })
}

/// How long work is watched.
pub(crate) struct Watch<'a> {
    /// Everything the process says is appended here.
    pub(crate) log: &'a Path,
    pub(crate) timeout: Option<Duration>,
    pub(crate) stop: &'a dyn Fn() -> bool,
    /// Told the newest line of the log now and then.
    pub(crate) line: &'a mut dyn FnMut(&str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Done,
    Failed,
    TimedOut,
    Stopped,
}

pub(crate) fn watch(command: &mut Command, watch: &mut Watch<'_>) -> io::Result<Ending> {
    let mut log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(watch.log)?;
    writeln!(log, "$ {}", written(command))?;
    prepare(command);
    let mut child = command
        .stdout(log.try_clone()?)
        .stderr(log.try_clone()?)
        .spawn()?;
    let begin = Instant::now();
    let mut last = String::new();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(match status.success() {
                true => Ending::Done,
                false => Ending::Failed,
            });
        }
        let late = watch.timeout.is_some_and(|limit| begin.elapsed() > limit);
        if late || (watch.stop)() {
            end_kindly(&mut child)?;
            return Ok(if late {
                Ending::TimedOut
            } else {
                Ending::Stopped
            });
        }
        if let Some(line) = last_line(watch.log)
            && line != last
        {
            (watch.line)(&line);
            last = line;
        }
        thread::sleep(POLL);
    }
}

/// Its own group, so that a build's compilers end with it; and it ends when this program is killed,
/// so that no installer goes on in a folder that nobody holds the lock of.
fn prepare(command: &mut Command) {
    command.stdin(Stdio::null()).process_group(0);
    // What belongs to the person's shell must not be seen inside an isolated environment.
    for name in [
        "PYTHONPATH",
        "PYTHONHOME",
        "PYTHONSTARTUP",
        "VIRTUAL_ENV",
        "CONDA_PREFIX",
    ] {
        command.env_remove(name);
    }
    command.env("PYTHONNOUSERSITE", "1");
    #[cfg(target_os = "linux")]
    // SAFETY: prctl is async-signal-safe and touches no memory of ours.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
}

fn end_kindly(child: &mut Child) -> io::Result<()> {
    end(child, libc::SIGTERM);
    let deadline = Instant::now() + GRACE;
    while Instant::now() < deadline {
        if child.try_wait()?.is_some() {
            break;
        }
        thread::sleep(POLL);
    }
    // The group may outlive its leader.
    end(child, libc::SIGKILL);
    child.wait()?;
    Ok(())
}

fn end(child: &mut Child, signal: libc::c_int) {
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        // SAFETY: a signal to a group that we made; a group that is gone is an error we ignore.
        unsafe { libc::kill(-group, signal) };
    }
}

fn read_all(mut pipe: impl io::Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn last_line(path: &Path) -> Option<String> {
    tail(path, 600)
        .lines()
        .rev()
        .map(|line| line.trim())
        .find(|line| !line.is_empty() && !line.starts_with("$ "))
        .map(str::to_owned)
}

/// The last bytes of a file as text; empty when it cannot be read.
pub(crate) fn tail(path: &Path, bytes: u64) -> String {
    let read = || -> io::Result<String> {
        let mut file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
        let mut tail = Vec::new();
        file.take(bytes).read_to_end(&mut tail)?;
        Ok(String::from_utf8_lossy(&tail).into_owned())
    };
    read().unwrap_or_default()
}

fn written(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| {
        let word = word.to_string_lossy();
        match word.contains([' ', '\n', '<', '>', ';', '\'']) {
            true => format!("{word:?}"),
            false => word.into_owned(),
        }
    });
    words.collect::<Vec<String>>().join(" ")
}
