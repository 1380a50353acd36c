//! A program in a terminal of its own, so that it draws as it would without us.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::child::Group;

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub rows: u16,
    pub columns: u16,
}

impl Window {
    /// None of what is not a terminal, or has no size.
    pub fn of(terminal: impl AsFd) -> Option<Window> {
        // SAFETY: `winsize` is plain numbers, so all zeros is a value of it.
        let mut size: libc::winsize = unsafe { std::mem::zeroed() };
        let descriptor = terminal.as_fd().as_raw_fd();
        // SAFETY: TIOCGWINSZ writes one `winsize` to the address given.
        let answered = unsafe { libc::ioctl(descriptor, libc::TIOCGWINSZ, &mut size) } == 0;
        (answered && size.ws_col > 0 && size.ws_row > 0).then_some(Window {
            rows: size.ws_row,
            columns: size.ws_col,
        })
    }

    fn size(self) -> libc::winsize {
        libc::winsize {
            ws_row: self.rows,
            ws_col: self.columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        }
    }
}

/// Both ends of a pseudo-terminal.
#[derive(Debug)]
pub struct PseudoTerminal {
    ours: File,
    programs: OwnedFd,
}

impl PseudoTerminal {
    /// With the settings (echo, keys) of `like`, where that is a terminal.
    pub fn open(window: Option<Window>, like: impl AsFd) -> io::Result<Self> {
        let (mut ours, mut programs) = (-1, -1);
        let settings = settings(like.as_fd());
        let size = window.map(Window::size);
        let settings_at = settings
            .as_ref()
            .map_or(std::ptr::null(), std::ptr::from_ref);
        let size_at = size.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: both numbers are live, and settings and size are null or live.
        let failed = unsafe {
            libc::openpty(
                &mut ours,
                &mut programs,
                std::ptr::null_mut(),
                settings_at.cast_mut(),
                size_at.cast_mut(),
            )
        };
        if failed != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: openpty gave two descriptors that nobody else has.
        let (ours, programs) =
            unsafe { (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(programs)) };
        for end in [&ours, &programs] {
            // SAFETY: no memory is touched; programs that are started must not inherit the ends.
            unsafe { libc::fcntl(end.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
        }
        // SAFETY: no memory is touched. What is typed to a program that never reads must not stop us.
        unsafe { libc::fcntl(ours.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        Ok(PseudoTerminal {
            ours: File::from(ours),
            programs,
        })
    }

    /// What the program writes is handed over as it is, for a terminal that makes `\r\n` of `\n`
    /// itself: one that is not in [`RawMode`].
    pub fn leave_output(&self) {
        if let Some(mut settings) = settings(self.programs.as_fd()) {
            settings.c_oflag &= !libc::OPOST;
            // SAFETY: the settings are live.
            unsafe { libc::tcsetattr(self.programs.as_raw_fd(), libc::TCSANOW, &settings) };
        }
    }

    /// For the program's input, output or errors.
    pub fn stream(&self) -> io::Result<Stdio> {
        self.programs.try_clone().map(Stdio::from)
    }

    /// Starts a program that has this terminal as its own: Ctrl-C and Ctrl-Z reach it, and all of its
    /// group. Gives our end, which reads what it writes; the other end is the program's alone.
    pub fn spawn(self, mut command: Command) -> io::Result<(Group, File)> {
        let group = Group::spawn_in_session(&mut command, &self.programs)?;
        Ok((group, self.ours))
    }
}

/// Tells a program the new size of its terminal; it gets SIGWINCH.
pub fn resize(terminal: &File, window: Window) {
    // SAFETY: TIOCSWINSZ reads one `winsize`, which is live.
    unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSWINSZ, &window.size()) };
}

fn settings(terminal: BorrowedFd<'_>) -> Option<libc::termios> {
    // SAFETY: `termios` is plain numbers, and tcgetattr writes one to the address given.
    unsafe {
        let mut settings: libc::termios = std::mem::zeroed();
        (libc::tcgetattr(terminal.as_raw_fd(), &mut settings) == 0).then_some(settings)
    }
}

/// A terminal that hands over every key as it is typed, until this is dropped.
pub struct RawMode {
    terminal: OwnedFd,
    before: libc::termios,
}

impl RawMode {
    /// None of what is not a terminal, or belongs to a job in the foreground that is not ours.
    pub fn enter(terminal: impl AsFd) -> Option<RawMode> {
        let terminal = terminal.as_fd().try_clone_to_owned().ok()?;
        let before = settings(terminal.as_fd())?;
        // SAFETY: no memory is touched.
        let is_ours = unsafe { libc::tcgetpgrp(terminal.as_raw_fd()) == libc::getpgrp() };
        let mode = is_ours.then_some(RawMode { terminal, before })?;
        mode.again();
        Some(mode)
    }

    /// After the terminal was left for a while.
    pub fn again(&self) {
        let mut raw = self.before;
        // SAFETY: `raw` is live.
        unsafe { libc::cfmakeraw(&mut raw) };
        self.set(&raw);
    }

    /// As it was before.
    pub fn leave(&self) {
        self.set(&self.before);
    }

    fn set(&self, settings: &libc::termios) {
        // SAFETY: the settings are live.
        unsafe { libc::tcsetattr(self.terminal.as_raw_fd(), libc::TCSADRAIN, settings) };
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Waits until one of them can be read or has ended, and says which. None after `timeout`, or when
/// a signal came.
pub fn wait_readable(files: &[BorrowedFd<'_>], timeout: Duration) -> Vec<bool> {
    let mut watched: Vec<libc::pollfd> = files
        .iter()
        .map(|file| libc::pollfd {
            fd: file.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    let milliseconds = libc::c_int::try_from(timeout.as_millis()).unwrap_or(libc::c_int::MAX);
    // SAFETY: the array is live and of the length given.
    let ready = unsafe {
        libc::poll(
            watched.as_mut_ptr(),
            watched.len() as libc::nfds_t,
            milliseconds,
        )
    };
    watched
        .iter()
        .map(|file| ready > 0 && file.revents != 0)
        .collect()
}

/// Stops this program, as Ctrl-Z would, until it is continued.
pub fn stop_here() {
    // SAFETY: no memory is touched.
    unsafe { libc::raise(libc::SIGSTOP) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::time::Instant;

    fn shell(script: &str) -> (Group, File) {
        let window = Window {
            rows: 20,
            columns: 70,
        };
        let terminal =
            PseudoTerminal::open(Some(window), File::open("/dev/null").unwrap()).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command.stdin(terminal.stream().unwrap());
        command.stdout(terminal.stream().unwrap());
        command.stderr(terminal.stream().unwrap());
        terminal.spawn(command).unwrap()
    }

    /// Until it contains the text; all of it, if that never comes.
    fn read_until(terminal: &mut File, text: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(30);
        let mut read = Vec::new();
        while Instant::now() < deadline && !String::from_utf8_lossy(&read).contains(text) {
            let mut chunk = [0; 4096];
            if wait_readable(&[terminal.as_fd()], Duration::from_millis(100)) != [true] {
                continue;
            }
            match terminal.read(&mut chunk) {
                Ok(bytes) if bytes > 0 => read.extend_from_slice(&chunk[..bytes]),
                _ => break,
            }
        }
        String::from_utf8_lossy(&read).into_owned()
    }

    #[test]
    fn a_program_has_a_terminal_of_the_size_given() {
        let (_group, mut ours) =
            shell("test -t 0 && test -t 1 && test -t 2 && stty size; tty | cut -c1-5");
        assert_eq!(read_until(&mut ours, "/dev/"), "20 70\r\n/dev/\r\n");
    }

    #[test]
    fn output_can_be_left_as_it_is() {
        let terminal = PseudoTerminal::open(None, File::open("/dev/null").unwrap()).unwrap();
        terminal.leave_output();
        let mut command = Command::new("echo");
        command.arg("text").stdout(terminal.stream().unwrap());
        let (_group, mut ours) = terminal.spawn(command).unwrap();
        assert_eq!(read_until(&mut ours, "\n"), "text\n");
    }

    #[test]
    fn a_new_size_is_passed_on() {
        let (_group, mut ours) =
            shell("trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.1; done");
        assert_eq!(read_until(&mut ours, "ready"), "ready\r\n");
        let window = Window {
            rows: 30,
            columns: 90,
        };
        resize(&ours, window);
        assert_eq!(read_until(&mut ours, "30 90"), "30 90\r\n");
    }

    #[test]
    fn control_c_reaches_the_program() {
        let (mut group, mut ours) =
            shell("trap 'echo caught; exit 3' INT; echo ready; while :; do sleep 0.1; done");
        read_until(&mut ours, "ready");
        ours.write_all(b"\x03").unwrap();
        assert!(read_until(&mut ours, "caught\r\n").ends_with("caught\r\n"));
        let ended = group
            .wait_until(Instant::now() + Duration::from_secs(30))
            .unwrap();
        assert_eq!(ended.unwrap().code(), Some(3));
    }

    #[test]
    fn a_stopped_program_is_noticed_once() {
        // No child: a shell that waits for the start of one is not stopped before that one goes on.
        let (group, mut ours) = shell("echo ready; exec sleep 60");
        read_until(&mut ours, "ready");
        assert!(!group.has_stopped());
        group.send(libc::SIGSTOP);
        let deadline = Instant::now() + Duration::from_secs(30);
        while !group.has_stopped() {
            assert!(Instant::now() < deadline);
        }
        assert!(!group.has_stopped());
        group.send(libc::SIGCONT);
    }
}
