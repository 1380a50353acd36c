//! The file a workload tells its events on: followed while it grows, put in order at the end.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use log_patterns::accuracy::fraction;
use model::{Event, EventKind, Warning};

/// A longer line is not an event.
const LINE_BYTES: usize = 64 * 1024;
/// So much is kept of what was reported; what comes later counts in the results all the same.
pub(crate) const MOST_BYTES: u64 = 64 << 20;
/// Of a line that is not an event, this much is shown.
const SHOWN_CHARS: usize = 120;

/// At one look no more than a few megabytes are read.
const CHUNK_BYTES: usize = 16 * 1024;
const MOST_CHUNKS: usize = 256;

/// Whether a look came to the end of what was reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    All,
    Part,
}

/// `events.jsonl` of one run.
#[derive(Debug)]
pub(crate) struct EventFile {
    path: PathBuf,
    file: File,
    offset: u64,
    lines: Lines,
    bad: u64,
    first_bad: Option<String>,
    kept: Kept,
    /// Written beside the file from the first line on that cannot stay as it is.
    ordered: Option<Ordered>,
}

/// How much of the events is kept.
#[derive(Debug)]
struct Kept {
    most_bytes: u64,
    bytes: u64,
    is_full: bool,
    left_out: u64,
}

impl Kept {
    /// Whether there is room for one more line. After the first that is left out, all are, so
    /// that what is kept is a beginning without gaps.
    fn takes(&mut self, line: &[u8]) -> bool {
        let bytes = line.len() as u64 + 1;
        self.is_full |= self.bytes + bytes > self.most_bytes;
        match self.is_full {
            true => self.left_out += u64::from(!line.trim_ascii().is_empty()),
            false => self.bytes += bytes,
        }
        !self.is_full
    }
}

#[derive(Debug)]
struct Ordered {
    path: PathBuf,
    writer: BufWriter<File>,
}

impl EventFile {
    /// Makes an empty file, so that a workload may append or open as it likes.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        File::create(path)?;
        Ok(EventFile {
            path: path.to_owned(),
            file: File::open(path)?,
            offset: 0,
            lines: Lines::default(),
            bad: 0,
            first_bad: None,
            kept: Kept {
                most_bytes: MOST_BYTES,
                bytes: 0,
                is_full: false,
                left_out: 0,
            },
            ordered: None,
        })
    }

    /// Reads what was appended, within bounds, so that a workload that never stops telling does
    /// not keep this thread from ending it; `at` of each event reported is filled.
    pub(crate) fn poll(&mut self, now: f64, mut tell: impl FnMut(Event)) -> io::Result<Read> {
        if self.file.metadata()?.len() < self.offset {
            // The workload opened it anew instead of appending: what is there now is new.
            self.offset = 0;
            self.lines = Lines::default();
        }
        let mut chunk = [0; CHUNK_BYTES];
        for _ in 0..MOST_CHUNKS {
            let read = match self.file.read_at(&mut chunk, self.offset) {
                Ok(0) => return Ok(Read::All),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            for line in self.lines.push(&chunk[..read]) {
                self.take(line, now, &mut tell)?;
            }
            self.offset += read as u64;
        }
        Ok(Read::Part)
    }

    /// A log line's event, or one reported by this program.
    pub(crate) fn add(&mut self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        let reported = self.lines.taken.saturating_sub(self.lines.begun_bytes);
        let is_kept = self.kept.takes(&line);
        line.push(b'\n');
        let ordered = self.order_up_to(reported)?;
        match is_kept {
            true => ordered.writer.write_all(&line),
            false => Ok(()),
        }
    }

    /// Reads the last, perhaps unended, line and puts the file in order.
    pub(crate) fn finish(
        &mut self,
        now: f64,
        mut tell: impl FnMut(Event),
    ) -> io::Result<Vec<Warning>> {
        // What is appended from now on comes too late: a process that was not ended might never
        // stop.
        let end = self.file.metadata()?.len();
        while self.offset < end && self.poll(now, &mut tell)? == Read::Part {}
        if let Some(line) = self.lines.finish() {
            // Written in order, it gets the end of line that it lacks.
            self.order_up_to(line.begin)?;
            self.take(line, now, &mut tell)?;
        }
        if let Some(Ordered { path, mut writer }) = self.ordered.take() {
            writer.flush()?;
            fs::rename(path, &self.path)?;
        }
        let first = self.first_bad.take();
        let bad = first.map(|first| Warning::BadEvents {
            lines: self.bad,
            first,
        });
        let Kept {
            most_bytes,
            left_out,
            ..
        } = self.kept;
        let cut = (left_out > 0).then(|| Warning::EventsCut {
            kept: format!("{} MB of events", most_bytes >> 20),
            left_out,
        });
        Ok(bad.into_iter().chain(cut).collect())
    }

    fn take(&mut self, line: Line, now: f64, tell: &mut impl FnMut(Event)) -> io::Result<()> {
        let parsed = match &line.bytes {
            Some(bytes) if bytes.trim_ascii().is_empty() => return self.keep(&line, None),
            Some(bytes) => parse(bytes).and_then(with_fractions),
            None => None,
        };
        let Some(Parsed {
            mut event,
            is_plain,
        }) = parsed
        else {
            self.bad += 1;
            let bytes = line
                .bytes
                .as_deref()
                .unwrap_or(b"(a line of more than 64 kB)");
            self.first_bad.get_or_insert_with(|| {
                String::from_utf8_lossy(bytes)
                    .chars()
                    .take(SHOWN_CHARS)
                    .collect()
            });
            self.order_up_to(line.begin)?;
            return Ok(());
        };
        let stays = event.at.is_some() && is_plain;
        event.at.get_or_insert(now);
        self.keep(&line, (!stays).then_some(&event))?;
        tell(event);
        Ok(())
    }

    /// Keeps a line as the workload wrote it, or as the event put in its place.
    fn keep(&mut self, line: &Line, instead: Option<&Event>) -> io::Result<()> {
        let reported = line.bytes.as_deref().unwrap_or_default();
        let written = match instead {
            Some(event) => Cow::Owned(serde_json::to_vec(event)?),
            None => Cow::Borrowed(reported),
        };
        if !self.kept.takes(&written) {
            return self.order_up_to(line.begin).map(|_| ());
        }
        if instead.is_some() {
            self.order_up_to(line.begin)?;
        }
        let Some(ordered) = &mut self.ordered else {
            return Ok(());
        };
        ordered.writer.write_all(&written)?;
        ordered.writer.write_all(b"\n")
    }

    /// From here on a second file is written; what was reported so far is copied as it is.
    fn order_up_to(&mut self, reported: u64) -> io::Result<&mut Ordered> {
        let ordered = match self.ordered.take() {
            Some(ordered) => ordered,
            None => {
                let path = self.path.with_extension("ordered");
                let mut writer = BufWriter::new(File::create(&path)?);
                let mut source = io::Read::take(File::open(&self.path)?, reported);
                io::copy(&mut source, &mut writer)?;
                Ordered { path, writer }
            }
        };
        Ok(self.ordered.insert(ordered))
    }
}

/// Cuts what is appended into lines.
#[derive(Debug, Default)]
struct Lines {
    begun: Vec<u8>,
    begun_bytes: u64,
    taken: u64,
}

#[derive(Debug, PartialEq, Eq)]
struct Line {
    /// Where in the file it begins.
    begin: u64,
    /// None for a line that is too long.
    bytes: Option<Vec<u8>>,
}

impl Lines {
    fn push(&mut self, mut bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.begin(&bytes[..end]);
            let begin = self.taken - self.begun_bytes;
            self.taken += 1;
            lines.push(self.end(begin));
            bytes = &bytes[end + 1..];
        }
        self.begin(bytes);
        lines
    }

    fn finish(&mut self) -> Option<Line> {
        (self.begun_bytes > 0).then(|| self.end(self.taken - self.begun_bytes))
    }

    fn begin(&mut self, part: &[u8]) {
        if self.begun.len() + part.len() <= LINE_BYTES {
            self.begun.extend_from_slice(part);
        }
        self.begun_bytes += part.len() as u64;
        self.taken += part.len() as u64;
    }

    fn end(&mut self, begin: u64) -> Line {
        let is_whole = self.begun.len() as u64 == self.begun_bytes;
        self.begun_bytes = 0;
        let bytes = std::mem::take(&mut self.begun);
        Line {
            begin,
            bytes: is_whole.then_some(bytes),
        }
    }
}

struct Parsed {
    event: Event,
    /// The line is JSON as it stands.
    is_plain: bool,
}

fn parse(line: &[u8]) -> Option<Parsed> {
    if let Ok(event) = serde_json::from_slice(line) {
        return Some(Parsed {
            event,
            is_plain: true,
        });
    }
    // Python writes NaN and Infinity, which are not JSON, for a loss that went astray.
    let text = without_nan(std::str::from_utf8(line).ok()?)?;
    let event = serde_json::from_str(&text).ok()?;
    Some(Parsed {
        event,
        is_plain: false,
    })
}

/// Accuracies as fractions; none where one cannot be an accuracy.
fn with_fractions(mut parsed: Parsed) -> Option<Parsed> {
    let reported = match &mut parsed.event.kind {
        EventKind::Accuracy { value }
        | EventKind::Epoch {
            accuracy: Some(value),
            ..
        } => value,
        _ => return Some(parsed),
    };
    let fraction = fraction(*reported)?;
    // Whoever reads the file later finds fractions.
    parsed.is_plain &= fraction == *reported;
    *reported = fraction;
    Some(parsed)
}

/// `NaN`, `Infinity` and `-Infinity` outside of texts become `null`; none if there are none.
fn without_nan(line: &str) -> Option<String> {
    let mut out = String::with_capacity(line.len());
    let (mut in_text, mut escaped, mut found) = (false, false, false);
    let mut rest = line;
    while let Some(next) = rest.chars().next() {
        let word = ["NaN", "-Infinity", "Infinity"]
            .iter()
            .find(|word| rest.starts_with(**word));
        if let Some(word) = word.filter(|_| !in_text) {
            out.push_str("null");
            rest = &rest[word.len()..];
            found = true;
            continue;
        }
        if next == '"' && !escaped {
            in_text = !in_text;
        }
        escaped = next == '\\' && !escaped;
        out.push(next);
        rest = &rest[next.len_utf8()..];
    }
    found.then_some(out)
}

#[cfg(test)]
mod tests;
