//! Child processes that can hang, be stopped, and take their own children along.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use host::Group;

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
    let answer = host::ask(isolate(command), timeout)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Answer {
        success: answer.success(),
        timed_out: answer.timed_out,
        stdout: text(&answer.stdout),
        stderr: text(&answer.stderr),
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
    let said_from = log.metadata()?.len();
    isolate(command)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log.try_clone()?);
    // A build's compilers end with it; and it ends when this program is killed, so that no
    // installer goes on in a folder that nobody holds the lock of.
    let mut child = Group::spawn(command)?;
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
            child.end(GRACE)?;
            return Ok(if late {
                Ending::TimedOut
            } else {
                Ending::Stopped
            });
        }
        if let Some(line) = last_line(watch.log, said_from)
            && line != last
        {
            (watch.line)(&line);
            last = line;
        }
        thread::sleep(POLL);
    }
}

/// What belongs to the person's shell must not be seen inside an isolated environment.
fn isolate(command: &mut Command) -> &mut Command {
    for name in [
        "PYTHONPATH",
        "PYTHONHOME",
        "PYTHONSTARTUP",
        "VIRTUAL_ENV",
        "CONDA_PREFIX",
    ] {
        command.env_remove(name);
    }
    command.env("PYTHONNOUSERSITE", "1")
}

/// The newest of what was said since `from`; what is cut at its beginning is no line.
fn last_line(path: &Path, from: u64) -> Option<String> {
    const WINDOW: u64 = 4000;
    let length = std::fs::metadata(path).ok()?.len().saturating_sub(from);
    let text = tail(path, length.min(WINDOW));
    let cut = usize::from(length > WINDOW);
    let mut lines: Vec<&str> = text.lines().skip(cut).map(str::trim).collect();
    lines.retain(|line| !line.is_empty());
    lines.pop().map(str::to_owned)
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

/// Of what a program said, the last lines that are not empty.
pub fn last_lines(said: &str, count: usize) -> Vec<String> {
    let lines: Vec<&str> = said.lines().filter(|l| !l.trim().is_empty()).collect();
    let begin = lines.len().saturating_sub(count);
    lines[begin..]
        .iter()
        .map(|line| (*line).to_owned())
        .collect()
}

/// As a person would type it; of a script only that there is one.
fn written(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| {
        let word = word.to_string_lossy();
        if word.contains('\n') {
            "SCRIPT".to_owned()
        } else if word.contains([' ', '<', '>', ';', '\'', '[']) {
            format!("{word:?}")
        } else {
            word.into_owned()
        }
    });
    words.collect::<Vec<String>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watched_until_it_ends_or_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let check = |script: &str, stop: bool, timeout: Duration, expected: Ending| {
            let mut lines = Vec::new();
            let mut command = Command::new("sh");
            let ending = watch(
                command.args(["-c", script]),
                &mut Watch {
                    log: &log,
                    timeout: Some(timeout),
                    stop: &|| stop,
                    line: &mut |line| lines.push(line.to_owned()),
                },
            );
            assert_eq!(ending.unwrap(), expected, "{script}");
            lines
        };
        let long = Duration::from_secs(60);
        check("exit 0", false, long, Ending::Done);
        check("exit 3", false, long, Ending::Failed);
        check("sleep 600", true, long, Ending::Stopped);
        let lines = check("echo here; sleep 600", false, 10 * POLL, Ending::TimedOut);
        assert_eq!(lines, ["here"]);
    }

    #[test]
    fn the_newest_line_of_this_step_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let check = |text: &str, from: u64, expected: Option<&str>| {
            std::fs::write(&log, text).unwrap();
            assert_eq!(last_line(&log, from).as_deref(), expected);
        };
        check("old\n$ uv\n", 9, None);
        check("old\n$ uv\nnew\n\n", 9, Some("new"));
        check(&format!("{}\n", "x".repeat(5000)), 0, None);
        check(&format!("{}\nlast\n", "x".repeat(5000)), 0, Some("last"));
    }

    #[test]
    fn commands_are_written_as_typed() {
        let mut command = Command::new("uv");
        command.args(["pip", "numpy<2", "import a\nimport b"]);
        assert_eq!(written(&command), "uv pip \"numpy<2\" SCRIPT");
    }
}
