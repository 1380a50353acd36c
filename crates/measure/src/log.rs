//! The run's output: kept in `log.txt`, and read by the study's patterns.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::time::Instant;

use log_patterns::Patterns;
use model::{Event, Warning};

use crate::clock::unix_seconds;
use crate::error::MeasureError;
use crate::progress::{Progress, Said};

/// Kept of the beginning, where programs say what they are.
const HEAD_BYTES: u64 = 10_000_000;
/// Kept of the end, where they say why they stopped.
const TAIL_BYTES: usize = 1_000_000;
/// Longer lines are not matched: no pattern means them.
const LINE_BYTES: usize = 64 * 1024;

/// What one run's log needs.
#[derive(Debug)]
pub(crate) struct Logging {
    /// What was read before.
    pub(crate) begun: Vec<u8>,
    pub(crate) output: PipeReader,
    /// Closed at its other end when no more output is waited for.
    pub(crate) enough: PipeReader,
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    pub(crate) patterns: Patterns,
    /// Of runs whose progress is recognised.
    pub(crate) progress: Option<Progress>,
    /// Of the run.
    pub(crate) start: Instant,
}

/// What is known of a log once it has ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Log {
    /// The last lines, some tens of kilobytes at most.
    pub(crate) end: String,
    /// Of the study's patterns.
    pub(crate) warnings: Vec<Warning>,
}

/// Reads to the end of the output, or until there is enough and nothing more is waiting.
pub(crate) fn keep(mut logging: Logging, said: &Sender<Said>) -> Result<Log, MeasureError> {
    let mut keeper = Keeper {
        file: &logging.file,
        written: 0,
        tail: Tail::default(),
    };
    let mut lines = Lines::default();
    let mut chunk = vec![0; 64 * 1024];
    let folder = MeasureError::folder(&logging.path);
    keeper.keep(&logging.begun).map_err(&folder)?;
    while wait_for_output(&logging.output, &logging.enough) {
        let read = match logging.output.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        keeper.keep(&chunk[..read]).map_err(&folder)?;
        if let Some(progress) = &mut logging.progress {
            let seconds = logging.start.elapsed().as_secs_f64();
            progress.read(&chunk[..read], seconds, unix_seconds(), &mut |one| {
                let _ = said.send(one);
            });
        }
        if !logging.patterns.is_empty() {
            let at = Some(unix_seconds());
            lines.push(&chunk[..read], |line| {
                logging.patterns.read(line, |kind| {
                    // Nobody listening means that the run is being given up.
                    let _ = said.send(Said::Event(Event { at, kind }));
                });
            });
        }
    }
    let at = Some(unix_seconds());
    lines.finish(|line| {
        logging.patterns.read(line, |kind| {
            let _ = said.send(Said::Event(Event { at, kind }));
        });
    });
    let end = keeper.finish().map_err(folder)?;
    Ok(Log {
        end,
        warnings: logging.patterns.warnings(),
    })
}

/// Whether there is output to read; false if there is no more and enough was read.
fn wait_for_output(output: &PipeReader, enough: &PipeReader) -> bool {
    let watch = |pipe: &PipeReader| libc::pollfd {
        fd: pipe.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let mut both = [watch(output), watch(enough)];
    loop {
        // SAFETY: the array is live and of the length given.
        let result = unsafe { libc::poll(both.as_mut_ptr(), 2, -1) };
        if result >= 0 {
            return both[0].revents != 0;
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return false;
        }
    }
}

struct Keeper<'a> {
    file: &'a File,
    written: u64,
    tail: Tail,
}

impl Keeper<'_> {
    fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = usize::try_from(HEAD_BYTES.saturating_sub(self.written)).unwrap_or(usize::MAX);
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.file.write_all(head)?;
        self.written += head.len() as u64;
        self.tail.push(head, rest);
        Ok(())
    }

    /// The last lines.
    fn finish(mut self) -> io::Result<String> {
        let left_out = self.tail.cut_bytes();
        if left_out > 0 {
            let note = format!("\n[… {left_out} bytes omitted here …]\n");
            self.file.write_all(note.as_bytes())?;
        }
        self.file.write_all(self.tail.unwritten.make_contiguous())?;
        let end = self.tail.end.make_contiguous();
        Ok(String::from_utf8_lossy(end).into_owned())
    }
}

/// The end of the log, so far.
#[derive(Default)]
struct Tail {
    /// For a person and for recognising what went wrong.
    end: VecDeque<u8>,
    /// Beyond the head: not written yet.
    unwritten: VecDeque<u8>,
    beyond_head: u64,
}

impl Tail {
    fn push(&mut self, head: &[u8], beyond: &[u8]) {
        for part in [head, beyond] {
            push_bounded(&mut self.end, part, LINE_BYTES);
        }
        push_bounded(&mut self.unwritten, beyond, TAIL_BYTES);
        self.beyond_head += beyond.len() as u64;
    }

    fn cut_bytes(&self) -> u64 {
        self.beyond_head.saturating_sub(self.unwritten.len() as u64)
    }
}

fn push_bounded(kept: &mut VecDeque<u8>, bytes: &[u8], most: usize) {
    let bytes = &bytes[bytes.len().saturating_sub(most)..];
    let excess = (kept.len() + bytes.len()).saturating_sub(most);
    kept.drain(..excess);
    kept.extend(bytes);
}

/// Cuts output into lines; a carriage return ends one too, since progress bars draw with it.
#[derive(Default)]
struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&str)) {
        let mut parts = bytes.split(|byte| matches!(byte, b'\n' | b'\r')).peekable();
        while let Some(part) = parts.next() {
            if self.begun.len() + part.len() <= LINE_BYTES {
                self.begun.extend_from_slice(part);
            }
            if parts.peek().is_some() {
                self.end_line(&mut each);
            }
        }
    }

    fn finish(&mut self, mut each: impl FnMut(&str)) {
        self.end_line(&mut each);
    }

    fn end_line(&mut self, each: &mut impl FnMut(&str)) {
        if !self.begun.is_empty() {
            each(&String::from_utf8_lossy(&self.begun));
            self.begun.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_wherever_the_chunks_are() {
        let check = |chunks: &[&str], expected: &[&str]| {
            let (mut lines, mut seen) = (Lines::default(), Vec::new());
            for chunk in chunks {
                lines.push(chunk.as_bytes(), |line| seen.push(line.to_owned()));
            }
            lines.finish(|line| seen.push(line.to_owned()));
            assert_eq!(seen, expected, "{chunks:?}");
        };
        check(&["one\ntwo\n"], &["one", "two"]);
        check(&["on", "e\r", "\ntw", "o"], &["one", "two"]);
        check(&["50 %\r100 %\r\n"], &["50 %", "100 %"]);
        check(&[""], &[]);
    }

    #[test]
    fn of_a_huge_log_the_beginning_and_the_end_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.txt");
        let file = File::create(&path).unwrap();
        let mut keeper = Keeper {
            file: &file,
            written: 0,
            tail: Tail::default(),
        };
        let line = [b'x'; 99_999];
        for _ in 0..200 {
            keeper.keep(&line).unwrap();
            keeper.keep(b"\n").unwrap();
        }
        keeper.keep(b"the end\n").unwrap();
        assert!(keeper.finish().unwrap().ends_with("x\nthe end\n"));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.ends_with("x\nthe end\n"));
        assert!(text.contains("\n[… 9000008 bytes omitted here …]\n"));
        assert!(text.len() < 11_000_100, "{}", text.len());
    }
}
