//! The script and its streams. Each goes where it would go without us: one that is a terminal is a
//! pseudo-terminal, everything else is a pipe.

use std::fs::File;
use std::io::{self, IsTerminal as _, PipeReader, Read, Write as _, pipe};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use host::Group;
use host::terminal::{PseudoTerminal, RawMode, Window, resize, wait_readable};
use model::event::EVENTS_VARIABLE;

use super::screen::Screen;

const CTRL_Z: u8 = 0x1a;
/// The end of a process that cannot be waited for together with its streams is looked for this often.
const LOOKED_EVERY: Duration = Duration::from_millis(10);
const CHUNK_BYTES: usize = 64 * 1024;

/// Whose output it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Terminal,
    Output,
    Errors,
}

impl Source {
    pub(super) const COUNT: usize = 3;
}

pub(super) struct Streams {
    group: Group,
    terminal: Option<Copied<File>>,
    pipes: Vec<Copied<PipeReader>>,
    keys: Option<Keys>,
    /// Readable once the script has ended; none where that is not known so, and after its end.
    end: Option<OwnedFd>,
    has_ended: bool,
    /// What was last written where standard errors go did not end its line.
    is_line_open: bool,
}

/// What is read here is written there.
struct Copied<F> {
    source: Source,
    from: F,
    to: File,
    is_open: bool,
    /// `to` is where standard errors go.
    is_to_errors: bool,
}

/// What is typed.
struct Keys {
    mode: RawMode,
    typed: File,
}

impl Streams {
    /// With the last line of the terminal reserved, the script has the others from its first moment.
    pub(super) fn start(
        command: &[String],
        events: &Path,
        to_errors: bool,
        is_line_reserved: bool,
    ) -> io::Result<Self> {
        let [program, arguments @ ..] = command else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        };
        let (input, output, errors) = (io::stdin(), io::stdout(), io::stderr());
        let output_to: BorrowedFd<'_> = if to_errors {
            errors.as_fd()
        } else {
            output.as_fd()
        };
        let screens: Vec<BorrowedFd<'_>> = [output_to, errors.as_fd()]
            .into_iter()
            .filter(BorrowedFd::is_terminal)
            .collect();
        let shown = screens.first().copied();
        let outer = shown.and_then(Window::of);
        let outer = outer.map(|window| match is_line_reserved {
            true => Screen::inside(window),
            false => window,
        });
        let window = outer.or_else(|| Window::of(&input));
        let needs_terminal = shown.is_some() || input.is_terminal();
        let terminal = needs_terminal
            .then(|| PseudoTerminal::open(window, &input))
            .transpose()?;
        let mut pipes = Vec::new();
        let mut started = Command::new(program);
        started.args(arguments).env(EVENTS_VARIABLE, events);
        if input.is_terminal()
            && let Some(terminal) = &terminal
        {
            started.stdin(terminal.stream()?);
        }
        // One pipe for both where they go to the same place: their order is kept.
        let is_one = is_same(output_to, errors.as_fd());
        let output_stream = stream(Source::Output, output_to, terminal.as_ref(), &mut pipes)?;
        if matches!(output_stream, Stream::Pipe(_)) {
            // Python would hold its output back.
            started.env("PYTHONUNBUFFERED", "1");
        }
        let errors_stream = match (&output_stream, is_one) {
            (Stream::Pipe(pipe), true) => Stream::Pipe(pipe.try_clone()?),
            _ => stream(
                Source::Errors,
                errors.as_fd(),
                terminal.as_ref(),
                &mut pipes,
            )?,
        };
        started.stdout(output_stream).stderr(errors_stream);
        let Some(terminal) = terminal else {
            let group = Group::spawn(&mut started)?;
            return Ok(Streams::of(group, None, pipes, None));
        };
        let keys = Keys::take()?;
        if keys.is_none() {
            terminal.leave_output();
        }
        let (group, ours) = terminal.spawn(started)?;
        let to = shown.unwrap_or(errors.as_fd());
        let copied = Copied::new(Source::Terminal, ours, to)?;
        Ok(Streams::of(group, Some(copied), pipes, keys))
    }

    fn of(
        group: Group,
        terminal: Option<Copied<File>>,
        pipes: Vec<Copied<PipeReader>>,
        keys: Option<Keys>,
    ) -> Self {
        Streams {
            end: group.end_descriptor(),
            group,
            terminal,
            pipes,
            keys,
            has_ended: false,
            is_line_open: false,
        }
    }

    /// The terminal that shows the script's output.
    pub(super) fn terminal(&self) -> Option<File> {
        let copied = self.terminal.as_ref()?;
        copied
            .to
            .is_terminal()
            .then(|| copied.to.try_clone().ok())?
    }

    /// To the terminal's own size where none is given.
    pub(super) fn resize(&self, window: Option<Window>) {
        if let Some(terminal) = &self.terminal
            && let Some(window) = window.or_else(|| Window::of(&terminal.to))
        {
            resize(&terminal.from, window);
        }
    }

    /// Passes on what is there, after at most `timeout`, or at the end of the script. False when no
    /// more comes.
    pub(super) fn pass_on(
        &mut self,
        timeout: Duration,
        mut each: impl FnMut(Source, &[u8]),
    ) -> bool {
        let mut watched: Vec<BorrowedFd<'_>> = Vec::new();
        let keys = self.keys.as_ref().map(|keys| keys.typed.as_fd());
        watched.extend(keys);
        watched.extend(
            self.terminal
                .iter()
                .filter(|t| t.is_open)
                .map(|t| t.from.as_fd()),
        );
        watched.extend(
            self.pipes
                .iter()
                .filter(|p| p.is_open)
                .map(|p| p.from.as_fd()),
        );
        watched.extend(self.end.as_ref().map(AsFd::as_fd));
        let timeout = match self.end.is_some() || self.has_ended {
            true => timeout,
            false => timeout.min(LOOKED_EVERY),
        };
        let mut ready = wait_readable(&watched, timeout).into_iter();
        if keys.is_some() && ready.next() == Some(true) {
            self.type_on();
        }
        for terminal in self.terminal.iter_mut().filter(|t| t.is_open) {
            if ready.next() == Some(true) {
                terminal.pass_on(&mut each, &mut self.is_line_open);
            }
        }
        for pipe in self.pipes.iter_mut().filter(|p| p.is_open) {
            if ready.next() == Some(true) {
                pipe.pass_on(&mut each, &mut self.is_line_open);
            }
        }
        self.terminal.iter().any(|t| t.is_open) || self.pipes.iter().any(|p| p.is_open)
    }

    fn type_on(&mut self) {
        let mut typed = [0; 1024];
        let Some(keys) = &mut self.keys else { return };
        match keys.typed.read(&mut typed) {
            // Nobody in the script's session could continue it, so that its terminal does not stop it.
            Ok(1) if typed[0] == CTRL_Z => self.group.send(libc::SIGSTOP),
            Ok(bytes) if bytes > 0 => {
                if let Some(terminal) = &mut self.terminal {
                    // A program that does not read loses keys, as at a full terminal.
                    _ = terminal.from.write_all(&typed[..bytes]);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => self.keys = None,
        }
    }

    pub(super) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        let ended = self.group.try_wait()?;
        if ended.is_some() {
            self.has_ended = true;
            self.end = None;
        }
        Ok(ended)
    }

    /// A line of ours does not begin in one of the script's.
    pub(super) fn end_line(&mut self) {
        if std::mem::take(&mut self.is_line_open) {
            _ = io::stderr().write_all(b"\n");
        }
    }

    pub(super) fn send(&self, signal: libc::c_int) {
        self.group.send(signal);
    }

    /// By Ctrl-Z, so that we stop too.
    pub(super) fn has_stopped(&self) -> bool {
        self.keys.is_some() && self.group.has_stopped()
    }

    pub(super) fn leave_terminal(&self) {
        if let Some(keys) = &self.keys {
            keys.mode.leave();
        }
    }

    pub(super) fn enter_terminal(&self) {
        if let Some(keys) = &self.keys {
            keys.mode.again();
        }
    }

    /// The terminal is as it was.
    pub(super) fn give_back(&mut self) {
        self.keys = None;
    }
}

impl Keys {
    fn take() -> io::Result<Option<Keys>> {
        let input = io::stdin();
        let Some(mode) = RawMode::enter(&input) else {
            return Ok(None);
        };
        let typed = File::from(input.as_fd().try_clone_to_owned()?);
        Ok(Some(Keys { mode, typed }))
    }
}

impl<F: Read> Copied<F> {
    fn new(source: Source, from: F, to: BorrowedFd<'_>) -> io::Result<Self> {
        Ok(Copied {
            source,
            from,
            to: File::from(to.try_clone_to_owned()?),
            is_open: true,
            is_to_errors: is_same(to, io::stderr().as_fd()),
        })
    }

    fn pass_on(&mut self, each: &mut impl FnMut(Source, &[u8]), is_line_open: &mut bool) {
        let mut chunk = [0; CHUNK_BYTES];
        match self.from.read(&mut chunk) {
            Ok(bytes) if bytes > 0 => {
                let bytes = &chunk[..bytes];
                // Whoever read it may be gone (`| head`); the script goes on.
                _ = self.to.write_all(bytes);
                if self.is_to_errors {
                    *is_line_open = !bytes.ends_with(b"\n");
                }
                each(self.source, bytes);
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
                ) => {}
            _ => self.is_open = false,
        }
    }
}

enum Stream {
    Terminal(Stdio),
    Pipe(OwnedFd),
}

impl From<Stream> for Stdio {
    fn from(stream: Stream) -> Stdio {
        match stream {
            Stream::Terminal(stdio) => stdio,
            Stream::Pipe(pipe) => Stdio::from(pipe),
        }
    }
}

fn stream(
    source: Source,
    to: BorrowedFd<'_>,
    terminal: Option<&PseudoTerminal>,
    pipes: &mut Vec<Copied<PipeReader>>,
) -> io::Result<Stream> {
    if let Some(terminal) = terminal.filter(|_| to.is_terminal()) {
        return terminal.stream().map(Stream::Terminal);
    }
    let (ours, scripts) = pipe()?;
    pipes.push(Copied::new(source, ours, to)?);
    Ok(Stream::Pipe(OwnedFd::from(scripts)))
}

fn is_same(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> bool {
    let identity = |descriptor: BorrowedFd<'_>| {
        let about = File::from(descriptor.try_clone_to_owned().ok()?)
            .metadata()
            .ok()?;
        Some((about.dev(), about.ino()))
    };
    identity(one).is_some() && identity(one) == identity(other)
}
