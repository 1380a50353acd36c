//! A program at the other end of two pipes, which may fall silent at any time.

use std::io::{self, BufReader, Read, Write};
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::wire::{self, Answer, Frame, Hello, PROTOCOL};

/// Lines that a login shell may print before the agent speaks.
const MOST_NOISE: usize = 200;
/// Of what the program complains about, to be shown.
const MOST_COMPLAINTS: usize = 8 << 10;
/// A pipe that is ready takes so many bytes without waiting.
const PIPE_CHUNK: usize = 4096;
/// For a program to end whose input was closed.
const ENDING: Duration = Duration::from_millis(300);
/// For the last words of a program that has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(crate) struct Connection {
    child: Child,
    input: Option<Timed<ChildStdin>>,
    output: BufReader<Timed<ChildStdout>>,
    complaints: Arc<Mutex<Vec<u8>>>,
    listener: thread::JoinHandle<()>,
}

impl Connection {
    /// Returns when the agent has said its first line.
    pub(crate) fn open(mut command: Command, silence: Duration) -> Result<Connection, Broken> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C reaches the coordinator, which decides what becomes of its connections.
            .process_group(0);
        let mut child = command.spawn().map_err(|error| {
            let program = command.get_program().to_string_lossy().into_owned();
            Broken::new(format!("cannot start {program}: {error}"))
        })?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(Broken::new("its pipes are missing".to_owned()));
        };
        let (complaints, listener) = listen(errors);
        let mut connection = Connection {
            child,
            input: Some(Timed::new(input, silence)),
            output: BufReader::new(Timed::new(output, silence)),
            complaints,
            listener,
        };
        match connection.greet() {
            Ok(()) => Ok(connection),
            Err(error) => Err(connection.broken(&error)),
        }
    }

    fn greet(&mut self) -> io::Result<()> {
        for _ in 0..MOST_NOISE {
            let Some(line) = wire::receive_line(&mut self.output)? else {
                return Err(io::ErrorKind::UnexpectedEof.into());
            };
            let Ok(hello) = serde_json::from_slice::<Frame<Hello>>(&line) else {
                continue;
            };
            return match hello.message.bancada_agent {
                PROTOCOL => Ok(()),
                other => Err(io::Error::other(format!(
                    "its agent has protocol {other}, this program {PROTOCOL}"
                ))),
            };
        }
        Err(io::Error::other("no agent answered"))
    }

    /// Sends a request, with `body` after it, and returns the answer. The bytes after an answer are
    /// to be read from [`Self::body`] before anything else is asked.
    pub(crate) fn ask(
        &mut self,
        request: &impl Serialize,
        body: Option<(u64, &mut dyn Read)>,
    ) -> Result<Frame<Answer>, Broken> {
        let asked = self.try_ask(request, body);
        asked.map_err(|error| self.broken(&error))
    }

    fn try_ask(
        &mut self,
        request: &impl Serialize,
        body: Option<(u64, &mut dyn Read)>,
    ) -> io::Result<Frame<Answer>> {
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        let input = self.input.as_mut().ok_or_else(closed)?;
        match body {
            None => wire::send(input, request, 0)?,
            Some((bytes, from)) => {
                wire::send(input, request, bytes)?;
                let sent = io::copy(&mut from.take(bytes), input)?;
                if sent != bytes {
                    return Err(io::Error::other("a file became shorter while it was sent"));
                }
            }
        }
        loop {
            let answer = self.receive::<Answer>()?;
            if !matches!(answer.message, Answer::Working) {
                return Ok(answer);
            }
        }
    }

    fn receive<T: DeserializeOwned>(&mut self) -> io::Result<Frame<T>> {
        let received = wire::receive(&mut self.output)?;
        received.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    pub(crate) fn body(&mut self) -> &mut dyn Read {
        &mut self.output
    }

    /// Why nothing more is to be had: in the program's own words where it has any.
    pub(crate) fn broken(&mut self, error: &io::Error) -> Broken {
        self.input = None;
        // It closed its output a moment before it ends.
        let status = self.wait(LAST_WORDS);
        let deadline = Instant::now() + LAST_WORDS;
        // A process that stays behind may keep the pipe open.
        while status.is_some() && !self.listener.is_finished() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        let complaints = self.complaints.lock();
        let complaints = complaints.unwrap_or_else(PoisonError::into_inner).clone();
        Broken {
            complaints: String::from_utf8_lossy(&complaints).into_owned(),
            exit_code: status.and_then(|status| status.code()),
            why: match error.kind() {
                io::ErrorKind::TimedOut => "no answer came in time".to_owned(),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => {
                    "the other end closed it".to_owned()
                }
                _ => error.to_string(),
            },
        }
    }

    fn wait(&mut self, patience: Duration) -> Option<std::process::ExitStatus> {
        let deadline = Instant::now() + patience;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Err(_) => return None,
                Ok(None) if Instant::now() > deadline => return None,
                Ok(None) => thread::sleep(Duration::from_millis(2)),
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.input = None;
        if self.wait(ENDING).is_none() {
            // What it leaves is on the other machine's disk.
            _ = self.child.kill();
            _ = self.child.wait();
        }
    }
}

/// A connection that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Broken {
    /// What the program printed.
    pub(crate) complaints: String,
    pub(crate) exit_code: Option<i32>,
    why: String,
}

impl Broken {
    fn new(why: String) -> Self {
        Broken {
            why,
            ..Broken::default()
        }
    }

    /// For people.
    pub(crate) fn words(&self) -> String {
        let complaints = self.complaints.trim();
        match complaints.is_empty() {
            true => self.why.clone(),
            false => complaints.trim_start_matches("error: ").to_owned(),
        }
    }
}

/// Reads all the time: a program whose complaints nobody reads would stop.
fn listen(mut from: ChildStderr) -> (Arc<Mutex<Vec<u8>>>, thread::JoinHandle<()>) {
    let complaints = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&complaints);
    let listener = thread::spawn(move || {
        let mut buffer = [0; 1024];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
            let room = MOST_COMPLAINTS.saturating_sub(heard.len());
            heard.extend_from_slice(&buffer[..length.min(room)]);
        }
    });
    (complaints, listener)
}

/// A pipe that is not waited for longer than this.
#[derive(Debug)]
pub struct Timed<P> {
    pipe: P,
    silence: Duration,
}

impl<P> Timed<P> {
    pub fn new(pipe: P, silence: Duration) -> Self {
        Timed { pipe, silence }
    }
}

impl<P: Read + std::os::fd::AsRawFd> Read for Timed<P> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        wait_for(self.pipe.as_raw_fd(), libc::POLLIN, self.silence)?;
        self.pipe.read(buffer)
    }
}

impl<P: Write + std::os::fd::AsRawFd> Write for Timed<P> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        wait_for(self.pipe.as_raw_fd(), libc::POLLOUT, self.silence)?;
        self.pipe.write(&buffer[..buffer.len().min(PIPE_CHUNK)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.flush()
    }
}

fn wait_for(pipe: RawFd, events: libc::c_short, silence: Duration) -> io::Result<()> {
    let mut poll = libc::pollfd {
        fd: pipe,
        events,
        revents: 0,
    };
    let deadline = Instant::now() + silence;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let milliseconds = i32::try_from(left.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: the pointer is to one live local.
        match unsafe { libc::poll(&raw mut poll, 1, milliseconds.max(1)) } {
            0 => return Err(io::ErrorKind::TimedOut.into()),
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            _ => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(script: &str) -> Result<Connection, Broken> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Connection::open(command, Duration::from_millis(500))
    }

    #[test]
    fn noise_before_the_agent_is_passed_over() {
        let hello = r#"echo Welcome; echo; echo '{"message":{"bancada_agent":1}}'"#;
        let mut connection = open(&format!("{hello}; read x; echo '{{\"message\":\"done\"}}'"));
        let answer = connection.as_mut().unwrap().ask(&"describe", None);
        assert!(matches!(answer.unwrap().message, Answer::Done));
        let again = connection.unwrap().ask(&"describe", None).unwrap_err();
        assert_eq!(again.words(), "the other end closed it");
    }

    #[test]
    fn a_broken_connection_has_the_programs_own_words() {
        let broken = open("echo 'ssh: no route' >&2; exit 255").unwrap_err();
        assert_eq!(broken.words(), "ssh: no route");
        assert_eq!(broken.exit_code, Some(255));
        let silent = open("sleep 30").unwrap_err();
        assert_eq!(silent.words(), "no answer came in time");
        let other = open("echo '{\"message\":{\"bancada_agent\":99}}'; sleep 30").unwrap_err();
        assert!(other.words().contains("protocol 99"));
    }

    /// More than a pipe holds, to somebody who does not read.
    #[test]
    fn a_reader_that_stopped_is_noticed() {
        let hello = r#"echo '{"message":{"bancada_agent":1}}'"#;
        let mut connection = open(&format!("{hello}; sleep 30")).unwrap();
        let mut body = io::repeat(0);
        let asked = connection.ask(&"put", Some((1 << 20, &mut body)));
        assert_eq!(asked.unwrap_err().words(), "no answer came in time");
    }
}
