//! Child processes that may hang, and have children of their own.

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks whether a process has ended; the first ones come sooner.
const LONGEST_POLL: Duration = Duration::from_millis(20);
/// After the end of a process, its pipes are listened to until they are silent for so long.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Of each stream no more is kept.
const MOST_BYTES: usize = 1 << 20;

/// What a process printed, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: ExitStatus,
    pub timed_out: bool,
    /// At most the first megabyte, of either.
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Answer {
    pub fn success(&self) -> bool {
        self.status.success() && !self.timed_out
    }
}

/// Runs a program without input to its end, or kills it and its children when `timeout` is over.
pub fn ask(command: &mut Command, timeout: Duration) -> io::Result<Answer> {
    ask_with(command, Stdio::null(), timeout)
}

/// The same for a program that reads.
pub fn ask_with(command: &mut Command, input: Stdio, timeout: Duration) -> io::Result<Answer> {
    command
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut group = Group::spawn(command)?;
    let stdout = group.take_output().map(read_all);
    let stderr = group.take_errors().map(read_all);
    let ended = group.wait_until(Instant::now() + timeout)?;
    let status = match ended {
        Some(status) => status,
        None => group.end(Duration::ZERO)?,
    };
    let bytes = |heard: Option<Receiver<Vec<u8>>>| heard.map(all_of).unwrap_or_default();
    Ok(Answer {
        status,
        timed_out: ended.is_none(),
        stdout: bytes(stdout),
        stderr: bytes(stderr),
    })
}

/// A process that leads a group of its own, so that its children end with it. All of them are
/// killed when it is dropped; the process itself also when the thread that started it ends.
#[derive(Debug)]
pub struct Group {
    child: Child,
    ended: Option<ExitStatus>,
}

impl Group {
    pub fn spawn(command: &mut Command) -> io::Result<Group> {
        command.process_group(0);
        // SAFETY: signal and prctl are async-signal-safe and touch no memory of ours.
        unsafe {
            command.pre_exec(|| {
                be_ended_by_others();
                Ok(())
            });
        }
        Ok(Group {
            child: command.spawn()?,
            ended: None,
        })
    }

    /// A process that also leads a session of its own, with `terminal` as its terminal.
    pub(crate) fn spawn_in_session(command: &mut Command, terminal: &OwnedFd) -> io::Result<Group> {
        let terminal = terminal.as_raw_fd();
        // SAFETY: setsid, ioctl, signal and prctl are async-signal-safe and touch no memory of ours;
        // the terminal is open until the program is started.
        unsafe {
            command.pre_exec(move || {
                if libc::setsid() < 0 || libc::ioctl(terminal, libc::TIOCSCTTY, 0) < 0 {
                    return Err(io::Error::last_os_error());
                }
                be_ended_by_others();
                Ok(())
            });
        }
        Ok(Group {
            child: command.spawn()?,
            ended: None,
        })
    }

    pub fn take_output(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    pub fn take_errors(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// How it ended, if it has; whom it left behind in its group is killed then.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.ended.is_none() && self.has_ended()? {
            // Not yet waited for, it still keeps the group's number from being another's.
            self.signal(libc::SIGKILL);
            self.ended = Some(self.child.wait()?);
        }
        Ok(self.ended)
    }

    /// Readable once it has ended; none where the system has no such thing (Linux before 5.3).
    pub fn end_descriptor(&self) -> Option<OwnedFd> {
        let process = libc::pid_t::try_from(self.child.id()).ok()?;
        // SAFETY: no memory is touched.
        let opened = unsafe { libc::syscall(libc::SYS_pidfd_open, process, 0) };
        let opened = RawFd::try_from(opened).ok().filter(|opened| *opened >= 0)?;
        // SAFETY: it was opened here, and nobody else has it.
        Some(unsafe { OwnedFd::from_raw_fd(opened) })
    }

    /// None where it still runs then.
    pub fn wait_until(&mut self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        let mut pause = Duration::from_millis(1);
        loop {
            let ended = self.try_wait()?;
            if ended.is_some() || Instant::now() >= deadline {
                return Ok(ended);
            }
            thread::sleep(pause);
            pause = (2 * pause).min(LONGEST_POLL);
        }
    }

    /// Asks all of them to end, and kills those that have not after `grace`.
    pub fn end(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        if let Some(ended) = self.ended {
            return Ok(ended);
        }
        if !grace.is_zero() {
            self.signal(libc::SIGTERM);
            if let Some(ended) = self.wait_until(Instant::now() + grace)? {
                return Ok(ended);
            }
        }
        self.signal(libc::SIGKILL);
        let ended = self.child.wait()?;
        self.ended = Some(ended);
        Ok(ended)
    }

    /// Whether it was stopped (Ctrl-Z) since this was last asked.
    pub fn has_stopped(&self) -> bool {
        let options = libc::WSTOPPED | libc::WNOHANG;
        // SAFETY: all zeros are a siginfo_t, and the kernel writes to no other memory.
        unsafe {
            let mut about: libc::siginfo_t = std::mem::zeroed();
            libc::waitid(libc::P_PID, self.child.id(), &mut about, options) == 0
                && about.si_pid() != 0
        }
    }

    /// To all of the group, unless its leader has been waited for.
    pub fn send(&self, signal: libc::c_int) {
        if self.ended.is_none() {
            self.signal(signal);
        }
    }

    fn has_ended(&self) -> io::Result<bool> {
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: all zeros are a siginfo_t, and the kernel writes to no other memory.
        let (failed, process) = unsafe {
            let mut about: libc::siginfo_t = std::mem::zeroed();
            let failed = libc::waitid(libc::P_PID, self.child.id(), &mut about, options);
            (failed, about.si_pid())
        };
        match failed {
            0 => Ok(process != 0),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn signal(&self, signal: libc::c_int) {
        if let Ok(group) = libc::pid_t::try_from(self.child.id()) {
            // SAFETY: no memory is touched, and the group is ours: its leader is not yet waited for.
            unsafe { libc::kill(-group, signal) };
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end(Duration::ZERO);
    }
}

/// A shell starts background jobs with the keyboard's signals ignored, which programs inherit; those of a
/// group are to end when they are asked to.
///
/// # Safety
///
/// Changes the signals of the whole process: for a new one that is not yet its program.
unsafe fn be_ended_by_others() {
    // SAFETY: neither touches memory.
    unsafe {
        libc::signal(libc::SIGINT, libc::SIG_DFL);
        libc::signal(libc::SIGQUIT, libc::SIG_DFL);
        #[cfg(target_os = "linux")]
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
}

/// Read in a thread of its own.
fn read_all(mut pipe: impl io::Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, pieces) = mpsc::channel();
    thread::spawn(move || {
        let mut piece = vec![0; 1 << 16];
        let mut heard = 0;
        while let Ok(bytes) = pipe.read(&mut piece) {
            let kept = bytes.min(MOST_BYTES - heard);
            heard += kept;
            // Read on, however much comes: a full pipe would stop the process.
            if bytes == 0 || (kept > 0 && sender.send(piece[..kept].to_vec()).is_err()) {
                return;
            }
        }
    });
    pieces
}

/// All of it; where a process that left the group holds the pipe open, what has come by now.
fn all_of(pieces: Receiver<Vec<u8>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Ok(piece) = pieces.recv_timeout(LAST_WORDS) {
        bytes.extend(piece);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_is_printed_and_how_it_ended() {
        let check = |script: &str, stdout: &str, stderr: &str, code: Option<i32>| {
            let answer = ask(&mut shell(script), LONG).unwrap();
            assert_eq!(String::from_utf8_lossy(&answer.stdout), stdout, "{script}");
            assert_eq!(String::from_utf8_lossy(&answer.stderr), stderr, "{script}");
            assert_eq!(answer.status.code(), code, "{script}");
            assert_eq!(answer.success(), code == Some(0));
        };
        check("echo here; echo there >&2", "here\n", "there\n", Some(0));
        check("exit 3", "", "", Some(3));
        check("kill -9 $$", "", "", None);
        // No input, and not this program's.
        check("cat", "", "", Some(0));
        assert!(ask(&mut Command::new("no-such-program"), LONG).is_err());
    }

    #[test]
    fn much_is_read_and_a_megabyte_kept() {
        let answer = ask(&mut shell("head -c 3000000 /dev/zero"), LONG).unwrap();
        assert!(answer.success());
        assert_eq!(answer.stdout.len(), MOST_BYTES);
    }

    #[test]
    fn a_process_that_hangs_is_killed_with_its_children() {
        let script = "sleep 600 & echo $!; wait";
        let answer = ask(&mut shell(script), Duration::from_millis(500)).unwrap();
        assert!(answer.timed_out && !answer.success());
        wait_for_the_end_of(&answer);
    }

    #[test]
    fn who_is_left_behind_is_killed_and_not_waited_for() {
        let answer = ask(&mut shell("sleep 600 & echo $!"), LONG).unwrap();
        assert!(answer.success());
        wait_for_the_end_of(&answer);
        // One that has left the group is not killed with it.
        let answer = ask(&mut shell("setsid sleep 8 & sleep 0.5; echo there"), LONG).unwrap();
        assert!(answer.success() && answer.stdout == b"there\n");
    }

    #[test]
    fn asked_to_end_a_process_may_tidy_up() {
        let mut command = shell("trap 'echo tidy; exit 5' TERM; echo begun; sleep 600 & wait");
        let mut group = Group::spawn(command.stdout(Stdio::piped())).unwrap();
        let said = group.take_output().map(read_all).unwrap();
        assert_eq!(said.recv().unwrap(), b"begun\n");
        assert_eq!(group.try_wait().unwrap(), None);
        assert_eq!(group.end(LONG).unwrap().code(), Some(5));
        assert_eq!(all_of(said), b"tidy\n");
        assert_eq!(group.end(LONG).unwrap().code(), Some(5));
    }

    /// It printed its child's number.
    fn wait_for_the_end_of(answer: &Answer) {
        let child: u32 = String::from_utf8_lossy(&answer.stdout)
            .trim()
            .parse()
            .unwrap();
        let is_over = || {
            let status = std::fs::read_to_string(format!("/proc/{child}/stat"));
            status.map_or(true, |text| text.contains(") Z "))
        };
        let deadline = Instant::now() + LONG;
        while !is_over() {
            assert!(Instant::now() < deadline, "{child} is still running");
            thread::sleep(LONGEST_POLL);
        }
    }
}
