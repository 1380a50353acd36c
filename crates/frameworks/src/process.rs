//! Child processes that can hang, be stopped, and take their own children along.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(50);
/// Between being asked to end and being ended.
const GRACE: Duration = Duration::from_secs(5);

/// After the end of a process, its pipes are listened to until they are silent for so long.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Of an answer no more is kept: whoever says more says nonsense.
const MOST_BYTES: usize = 1 << 20;

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
    // Whom it left behind holds its pipes open, and would be waited for.
    end(&mut child, libc::SIGKILL);
    let text = |heard: Option<Heard>| heard.map(Heard::text).unwrap_or_default();
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
    let said_from = log.metadata()?.len();
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
        if let Some(line) = last_line(watch.log, said_from)
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

/// What comes through a pipe, read in a thread of its own.
struct Heard {
    pieces: Receiver<Vec<u8>>,
}

fn read_all(mut pipe: impl io::Read + Send + 'static) -> Heard {
    let (sender, pieces) = mpsc::channel();
    thread::spawn(move || {
        let mut piece = vec![0; 1 << 16];
        let mut heard = 0;
        while let Ok(bytes) = pipe.read(&mut piece) {
            let kept = bytes.min(MOST_BYTES - heard);
            heard += kept;
            // Read on, whatever is said: a full pipe would hold who speaks.
            if bytes == 0 || (kept > 0 && sender.send(piece[..kept].to_vec()).is_err()) {
                return;
            }
        }
    });
    Heard { pieces }
}

impl Heard {
    /// All of it; where someone holds the pipe who left the group, what has come by now.
    fn text(self) -> String {
        let mut bytes = Vec::new();
        while let Ok(piece) = self.pieces.recv_timeout(LAST_WORDS) {
            bytes.extend(piece);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
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

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_hangs_is_ended_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let script = "sleep 600 & echo $!; wait";
        let mut lines = Vec::new();
        let ending = watch(
            &mut shell(script),
            &mut Watch {
                log: &log,
                timeout: Some(Duration::from_secs(1)),
                stop: &|| false,
                line: &mut |line| lines.push(line.to_owned()),
            },
        );
        assert_eq!(ending.unwrap(), Ending::TimedOut);
        let child: libc::pid_t = lines.pop().unwrap().parse().unwrap();
        let deadline = Instant::now() + GRACE;
        // SAFETY: signal 0 only asks whether the process is there.
        while unsafe { libc::kill(child, 0) } == 0 && !is_dead(child) {
            assert!(Instant::now() < deadline, "{child} lives on");
            thread::sleep(POLL);
        }
        assert!(ask(&mut shell("sleep 600"), POLL).unwrap().timed_out);
    }

    #[test]
    fn whoever_is_left_behind_is_not_waited_for() {
        let begin = Instant::now();
        let answer = ask(&mut shell("sleep 600 & echo here"), GRACE).unwrap();
        assert!(answer.success && answer.stdout == "here\n");
        // One that has left the group cannot be ended with it.
        let answer = ask(&mut shell("setsid sleep 8 & sleep 0.5; echo there"), GRACE).unwrap();
        assert!(answer.success && answer.stdout == "there\n");
        assert!(
            begin.elapsed() < Duration::from_secs(6),
            "it was waited for"
        );
    }

    /// Ended, and not yet fetched by whoever is its parent now.
    fn is_dead(process: libc::pid_t) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{process}/stat"));
        status.is_ok_and(|text| text.contains(") Z "))
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
