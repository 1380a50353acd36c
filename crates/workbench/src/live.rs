//! What happens in a study while it is carried out, for whoever looks: the process that carries it
//! out writes its [`Progress`] to a file beside the results, thinned to what an eye can follow, and
//! anyone may read the file as it grows. So a study is seen alike wherever it was started and
//! wherever its runs are, and nothing depends on whether somebody looks.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::{EventKind, Level, RunId, Scenario};
use runner::Progress;
use serde::{Deserialize, Serialize};

const LIVE_FILE: &str = ".live.jsonl";
/// Of each run, one sample, one step and one tick in this time.
const THIN_TO: Duration = Duration::from_secs(1);
/// A file of this size is begun anew.
const LARGEST_BYTES: u64 = 8 * 1024 * 1024;

/// The first line of a file: who writes it, and which part of the session it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    live: u32,
    process: u32,
    part: u32,
}

/// Held by whoever carries out a study. A file that cannot be written ends the writing, and nothing
/// else.
pub struct LiveWriter {
    path: PathBuf,
    part: u32,
    file: Option<File>,
    bytes: u64,
    runs: BTreeMap<RunId, RunState>,
}

struct RunState {
    /// Its `RunBegins`, for the next part of the file.
    begins: Vec<u8>,
    last_sample: Option<Instant>,
    last_step: Option<Instant>,
    last_tick: Option<Instant>,
}

impl LiveWriter {
    /// Replaces what an earlier session left.
    pub fn begin(results: &Path) -> Self {
        let mut writer = LiveWriter {
            path: results.join(LIVE_FILE),
            part: 0,
            file: None,
            bytes: 0,
            runs: BTreeMap::new(),
        };
        writer.file = writer.next_part().ok();
        writer
    }

    pub fn on(&mut self, progress: &Progress) {
        if self.file.is_none() || !self.is_due(progress) {
            return;
        }
        let Ok(mut line) = serde_json::to_vec(progress) else {
            return;
        };
        line.push(b'\n');
        match progress {
            Progress::RunBegins { run, .. } => {
                let state = RunState {
                    begins: line.clone(),
                    last_sample: None,
                    last_step: None,
                    last_tick: None,
                };
                self.runs.insert(*run, state);
            }
            Progress::RunEnds { record, .. } => _ = self.runs.remove(&record.run),
            _ => {}
        }
        if self.write(&line).is_err() {
            self.file = None;
        }
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        if self.bytes > LARGEST_BYTES {
            self.file = Some(self.next_part()?);
            let begun: Vec<u8> = self.runs.values().flat_map(|r| r.begins.clone()).collect();
            self.append(&begun)?;
        }
        self.append(line)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        self.file
            .as_mut()
            .map_or(Ok(()), |file| file.write_all(bytes))
    }

    /// For its owner alone, as levels and notes of a study may say much. A reader of the part before
    /// reads that to its end.
    fn next_part(&mut self) -> io::Result<File> {
        self.part += 1;
        self.bytes = 0;
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut options = OpenOptions::new();
        let mut file = options
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&self.path)?;
        let head = Head {
            live: 1,
            process: std::process::id(),
            part: self.part,
        };
        let mut line = serde_json::to_vec(&head)?;
        line.push(b'\n');
        file.write_all(&line)?;
        Ok(file)
    }

    /// What comes many times a second is thinned; the rest passes.
    fn is_due(&mut self, progress: &Progress) -> bool {
        let (run, last): (&RunId, fn(&mut RunState) -> &mut Option<Instant>) = match progress {
            Progress::Tick { run, .. } => (run, |state| &mut state.last_tick),
            Progress::Sample { run, .. } => (run, |state| &mut state.last_sample),
            Progress::Event { run, event } => match event.kind {
                EventKind::Step { .. } => (run, |state| &mut state.last_step),
                EventKind::Operator { .. } => return false,
                _ => return true,
            },
            _ => return true,
        };
        self.runs
            .get_mut(run)
            .is_some_and(|state| passes(last(state)))
    }
}

/// Nobody follows what is over.
impl Drop for LiveWriter {
    fn drop(&mut self) {
        if self.file.is_some() {
            // One that stays behind is replaced by the next session.
            _ = std::fs::remove_file(&self.path);
        }
    }
}

fn passes(last: &mut Option<Instant>) -> bool {
    let is_due = last.is_none_or(|last| last.elapsed() >= THIN_TO);
    if is_due {
        *last = Some(Instant::now());
    }
    is_due
}

/// Reads what a [`LiveWriter`] writes, whoever that is.
#[derive(Debug)]
pub struct LiveReader {
    path: PathBuf,
    head: Option<Head>,
    file: Option<File>,
    /// The beginning of a line that is not whole yet.
    rest: Vec<u8>,
}

/// What came since the last look.
#[derive(Debug, Default)]
pub struct News {
    /// Of another session: what was known before is over.
    pub is_new: bool,
    pub progress: Vec<Progress>,
}

impl LiveReader {
    pub fn new(results: &Path) -> Self {
        LiveReader {
            path: results.join(LIVE_FILE),
            head: None,
            file: None,
            rest: Vec::new(),
        }
    }

    /// Whole lines since the last look. What cannot be read is left out.
    pub fn read(&mut self) -> News {
        let mut news = News::default();
        let current = self.first_line();
        if current != self.head {
            // The rest of the part before.
            news.progress.extend(self.lines());
            news.is_new = !goes_on(self.head.as_ref(), current.as_ref());
            self.file = current.as_ref().and_then(|_| File::open(&self.path).ok());
            self.head = current;
            self.rest.clear();
        }
        news.progress.extend(self.lines());
        news
    }

    /// `None` where nobody writes.
    fn first_line(&self) -> Option<Head> {
        let mut file = File::open(&self.path).ok()?;
        let mut first = [0; 200];
        let length = file.read(&mut first).ok()?;
        let line = first[..length].split(|byte| *byte == b'\n').next()?;
        serde_json::from_slice(line).ok()
    }

    fn lines(&mut self) -> Vec<Progress> {
        let Some(file) = &mut self.file else {
            return Vec::new();
        };
        // The next look finds what this one could not read.
        _ = file.read_to_end(&mut self.rest);
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
            return Vec::new();
        };
        let whole: Vec<u8> = self.rest.drain(..=end).collect();
        let lines = whole.split(|byte| *byte == b'\n');
        lines
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect()
    }
}

/// `C3 · n 3 · lenet5`: a number alone does not say what it is of.
pub fn scenario_words(scenario: &Scenario) -> String {
    let levels = scenario.levels.iter().map(|of| match &of.level {
        Level::Text(level) => format!(" · {level}"),
        level => format!(" · {} {level}", of.factor),
    });
    scenario.label() + &levels.collect::<String>()
}

/// Whether the second is a later part of the first's session: runs in progress are told again in it.
fn goes_on(before: Option<&Head>, now: Option<&Head>) -> bool {
    let both = before.zip(now);
    both.is_some_and(|(before, now)| before.process == now.process && before.part < now.part)
}

/// The end of the log of a run in progress here, at most so many bytes; none while it is elsewhere,
/// from where the log comes with the run.
pub fn log_in_progress(results: &Path, run: RunId, most_bytes: u64) -> Option<String> {
    let path = results.join("runs").join(format!(".{run}.partial/log.txt"));
    end_of(&path, most_bytes)
}

/// The end of the log of a run that is kept.
pub fn log_kept(results: &Path, run: RunId, most_bytes: u64) -> Option<String> {
    end_of(
        &results.join("runs").join(run.to_string()).join("log.txt"),
        most_bytes,
    )
}

fn end_of(path: &Path, most_bytes: u64) -> Option<String> {
    let mut file = host::open_regular(path, OpenOptions::new().read(true)).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most_bytes)))
        .ok()?;
    let mut bytes = Vec::new();
    file.take(most_bytes).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let whole = match length > most_bytes {
        true => text.split_once('\n').map_or("", |(_, rest)| rest),
        false => &text,
    };
    Some(whole.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Event, Sample};

    fn begins(name: &str) -> Progress {
        Progress::RunBegins {
            run: name.parse().unwrap(),
            place: "here".to_owned(),
            scenario: model::Scenario {
                number: 1,
                levels: Vec::new(),
            },
            count: runner::Count { done: 0, total: 2 },
            projected: None,
        }
    }

    fn sample(name: &str) -> Progress {
        Progress::Sample {
            run: name.parse().unwrap(),
            sample: Box::new(Sample::default()),
        }
    }

    fn note(text: &str) -> Progress {
        let kind = EventKind::Note {
            text: text.to_owned(),
        };
        Progress::Event {
            run: "C1-r1".parse().unwrap(),
            event: Event { at: None, kind },
        }
    }

    #[test]
    fn a_reader_sees_what_was_written_thinned() {
        let folder = tempfile::tempdir().unwrap();
        let mut reader = LiveReader::new(folder.path());
        assert!(reader.read().progress.is_empty());
        let mut writer = LiveWriter::begin(folder.path());
        for progress in [begins("C1-r1"), sample("C1-r1"), sample("C1-r1"), note("a")] {
            writer.on(&progress);
        }
        let news = reader.read();
        assert!(news.is_new);
        assert_eq!(news.progress, [begins("C1-r1"), sample("C1-r1"), note("a")]);
        writer.on(&note("b"));
        let news = reader.read();
        assert!(!news.is_new);
        assert_eq!(news.progress, [note("b")]);
        drop(writer);
        assert!(reader.read().is_new);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_large_file_is_begun_anew_with_the_runs_in_progress() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = LiveWriter::begin(folder.path());
        let mut reader = LiveReader::new(folder.path());
        writer.on(&begins("C1-r1"));
        reader.read();
        let large = note(&"x".repeat(1024 * 1024));
        (0..9).for_each(|_| writer.on(&large));
        writer.on(&note("last"));
        let news = reader.read();
        assert!(!news.is_new);
        let [.., again, after, last] = news.progress.as_slice() else {
            panic!("{} lines", news.progress.len());
        };
        assert_eq!(
            [again, after, last],
            [&begins("C1-r1"), &large, &note("last")]
        );
        assert_eq!(news.progress.len(), 11);
    }
}
