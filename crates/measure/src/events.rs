//! The file a workload tells its events on: followed while it grows, put in order at the end.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use model::{Event, Warning};

/// A longer line is not an event.
const LINE_BYTES: usize = 64 * 1024;
/// Of a line that is not an event, this much is shown.
const SHOWN_CHARS: usize = 120;

/// `events.jsonl` of one run.
#[derive(Debug)]
pub(crate) struct EventFile {
    path: PathBuf,
    file: File,
    offset: u64,
    lines: Lines,
    bad: u64,
    first_bad: Option<String>,
    /// Written beside the file from the first line on that cannot stay as it is.
    ordered: Option<Ordered>,
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
            ordered: None,
        })
    }

    /// Reads what was appended; `at` of each event told is filled.
    pub(crate) fn poll(&mut self, now: f64, mut tell: impl FnMut(Event)) -> io::Result<()> {
        if self.file.metadata()?.len() < self.offset {
            // The workload opened it anew instead of appending: what is there now is new.
            self.offset = 0;
            self.lines = Lines::default();
        }
        let mut chunk = [0; 16 * 1024];
        loop {
            let read = match self.file.read_at(&mut chunk, self.offset) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            for line in self.lines.push(&chunk[..read]) {
                self.take(line, now, &mut tell)?;
            }
            self.offset += read as u64;
        }
        Ok(())
    }

    /// A log line's event, or one told by this program.
    pub(crate) fn add(&mut self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        let told = self.lines.taken.saturating_sub(self.lines.begun_bytes);
        self.order_up_to(told)?.writer.write_all(&line)
    }

    /// Reads the last, perhaps unended, line and puts the file in order.
    pub(crate) fn finish(
        &mut self,
        now: f64,
        mut tell: impl FnMut(Event),
    ) -> io::Result<Option<Warning>> {
        self.poll(now, &mut tell)?;
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
        Ok(first.map(|first| Warning::BadEvents {
            lines: self.bad,
            first,
        }))
    }

    fn take(&mut self, line: Line, now: f64, tell: &mut impl FnMut(Event)) -> io::Result<()> {
        let parsed = match &line.bytes {
            Some(bytes) if bytes.trim_ascii().is_empty() => return self.keep(&line, None),
            Some(bytes) => parse(bytes),
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
        if instead.is_some() {
            self.order_up_to(line.begin)?;
        }
        let Some(ordered) = &mut self.ordered else {
            return Ok(());
        };
        match instead {
            Some(event) => serde_json::to_writer(&mut ordered.writer, event)?,
            None => ordered
                .writer
                .write_all(line.bytes.as_deref().unwrap_or_default())?,
        }
        ordered.writer.write_all(b"\n")
    }

    /// From here on a second file is written; what was told so far is copied as it is.
    fn order_up_to(&mut self, told: u64) -> io::Result<&mut Ordered> {
        let ordered = match self.ordered.take() {
            Some(ordered) => ordered,
            None => {
                let path = self.path.with_extension("ordered");
                let mut writer = BufWriter::new(File::create(&path)?);
                let mut source = io::Read::take(File::open(&self.path)?, told);
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
mod tests {
    use super::*;
    use model::EventKind;
    use proptest::prelude::*;

    struct Told {
        events: Vec<Event>,
        warning: Option<Warning>,
        file: String,
    }

    /// What is told of these pieces, each appended before a look at second 1, 2, …
    fn follow(pieces: &[&str]) -> Told {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let mut file = EventFile::create(&path).unwrap();
        let mut append = fs::OpenOptions::new().append(true).open(&path).unwrap();
        let mut events = Vec::new();
        let mut now = 0.0;
        for piece in pieces {
            append.write_all(piece.as_bytes()).unwrap();
            now += 1.0;
            file.poll(now, |event| events.push(event)).unwrap();
        }
        let warning = file.finish(now + 1.0, |event| events.push(event)).unwrap();
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "nothing is left beside it"
        );
        Told {
            events,
            warning,
            file: fs::read_to_string(&path).unwrap(),
        }
    }

    fn note(at: f64, text: &str) -> Event {
        Event {
            at: Some(at),
            kind: EventKind::Note {
                text: text.to_owned(),
            },
        }
    }

    #[test]
    fn a_file_in_order_stays_as_it_is() {
        let text = "{\"event\":\"note\", \"extra\":1, \"text\":\"a\",\"at\":5.5}\n";
        let told = follow(&[text]);
        assert_eq!(told.events, [note(5.5, "a")]);
        assert_eq!(told.warning, None);
        assert_eq!(told.file, text);
    }

    #[test]
    fn the_moment_of_reading_is_filled_in_and_written_down() {
        let told = follow(&[
            "{\"at\":0.5,\"event\":\"note\",\"text\":\"a\"}\n{\"event\":\"note\",",
            "\"text\":\"b\"}\n",
            "{\"at\":9,\"event\":\"note\",\"text\":\"c\"}",
        ]);
        assert_eq!(
            told.events,
            [note(0.5, "a"), note(2.0, "b"), note(9.0, "c")]
        );
        assert_eq!(
            told.file,
            "{\"at\":0.5,\"event\":\"note\",\"text\":\"a\"}\n\
             {\"at\":2.0,\"event\":\"note\",\"text\":\"b\"}\n\
             {\"at\":9,\"event\":\"note\",\"text\":\"c\"}\n"
        );
    }

    #[test]
    fn what_is_no_event_is_counted_and_left_out() {
        let long = format!(
            "{{\"event\":\"note\",\"text\":\"{}\"}}\n",
            "x".repeat(70_000)
        );
        let told = follow(&[
            "{\"at\":1,\"event\":\"note\",\"text\":\"a\"}\n",
            "hello\n\n{\"event\":\"no-such\"}\n",
            &long,
            "{\"at\":2,\"event\":\"note\",\"text\":\"b\"}\n",
        ]);
        assert_eq!(told.events, [note(1.0, "a"), note(2.0, "b")]);
        assert_eq!(
            told.warning,
            Some(Warning::BadEvents {
                lines: 3,
                first: "hello".to_owned()
            })
        );
        assert!(
            !told.file.contains("hello") && !told.file.contains("xxx"),
            "{}",
            told.file
        );
    }

    #[test]
    fn a_loss_that_is_not_a_number_is_no_mistake() {
        let told = follow(&["{\"at\":1,\"event\":\"step\",\"step\":3,\"loss\":NaN}\n"]);
        let kind = EventKind::Step {
            step: 3,
            epoch: None,
            loss: None,
            seconds: None,
            images: None,
        };
        assert_eq!(
            told.events,
            [Event {
                at: Some(1.0),
                kind
            }]
        );
        assert_eq!(told.warning, None);
        assert_eq!(told.file, "{\"at\":1.0,\"event\":\"step\",\"step\":3}\n");
    }

    #[test]
    fn texts_keep_their_nan() {
        let check = |line: &str, expected: Option<&str>| {
            assert_eq!(without_nan(line).as_deref(), expected, "{line}");
        };
        check(
            r#"{"a":-Infinity,"b":"NaN \" NaN"}"#,
            Some(r#"{"a":null,"b":"NaN \" NaN"}"#),
        );
        check(r#"{"a":1}"#, None);
    }

    #[test]
    fn events_of_the_log_are_written_among_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let mut file = EventFile::create(&path).unwrap();
        fs::write(
            &path,
            "{\"at\":1,\"event\":\"note\",\"text\":\"a\"}\n{\"at\":3,",
        )
        .unwrap();
        file.poll(1.0, |_| ()).unwrap();
        file.add(&note(2.0, "log")).unwrap();
        let mut append = fs::OpenOptions::new().append(true).open(&path).unwrap();
        append
            .write_all(b"\"event\":\"note\",\"text\":\"b\"}\n")
            .unwrap();
        file.finish(9.0, |_| ()).unwrap();
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "{\"at\":1,\"event\":\"note\",\"text\":\"a\"}\n\
             {\"at\":2.0,\"event\":\"note\",\"text\":\"log\"}\n\
             {\"at\":3,\"event\":\"note\",\"text\":\"b\"}\n"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_cut_gives_the_same_lines(text in "[ab\n]{0,60}", cuts in proptest::collection::vec(0_usize..60, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let mut lines = Lines::default();
            let mut seen: Vec<Line> =
                cuts.windows(2).flat_map(|w| lines.push(&text.as_bytes()[w[0]..w[1]])).collect();
            seen.extend(lines.finish());
            let texts: Vec<String> = seen.iter()
                .map(|line| String::from_utf8(line.bytes.clone().unwrap()).unwrap()).collect();
            prop_assert_eq!(texts, text.lines().map(str::to_owned).collect::<Vec<_>>());
            for line in &seen {
                let begin = line.begin as usize;
                prop_assert!(begin == 0 || text.as_bytes()[begin - 1] == b'\n');
            }
        }

        #[test]
        fn any_line_is_survived(line: Vec<u8>) {
            let _ = parse(&line);
        }
    }
}
