//! Events that the script emits (docs/protocol.md), read while it runs.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use model::Event;
use model::event::EVENTS_VARIABLE;

/// A longer line is no event.
const LINE_BYTES: usize = 64 * 1024;
const CHUNK_BYTES: usize = 64 * 1024;
/// At one look; more waits for the next one.
const MOST_CHUNKS: usize = 16;
/// Read events are dropped when they are so many.
const MOST_FILE_BYTES: u64 = 64 << 20;

pub(super) struct Events {
    path: PathBuf,
    file: File,
    /// Else it is that of a study which `watch` itself is run in.
    is_ours: bool,
    offset: u64,
    begun: Vec<u8>,
    /// A line is longer than may be.
    is_too_long: bool,
    started: f64,
}

impl Events {
    pub(super) fn follow() -> io::Result<Events> {
        let outer = std::env::var_os(EVENTS_VARIABLE).map(PathBuf::from);
        let outer = outer.and_then(|path| Some((File::open(&path).ok()?, path)));
        let is_ours = outer.is_none();
        let (file, path) = match outer {
            Some(outer) => outer,
            None => own_file()?,
        };
        Ok(Events {
            offset: file.metadata()?.len(),
            path,
            file,
            is_ours,
            begun: Vec::new(),
            is_too_long: false,
            started: clock(),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What was appended, with its seconds since the start. What cannot be read is no progress.
    pub(super) fn read(&mut self, now: f64, mut each: impl FnMut(&Event, f64)) {
        let mut chunk = vec![0; CHUNK_BYTES];
        for _ in 0..MOST_CHUNKS {
            match self.file.read_at(&mut chunk, self.offset) {
                Ok(0) => return self.drop_read(),
                Ok(read) => {
                    self.offset += read as u64;
                    self.take(chunk.get(..read).unwrap_or_default(), now, &mut each);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    fn take(&mut self, bytes: &[u8], now: f64, each: &mut impl FnMut(&Event, f64)) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            match self.begun.len() + line.len() <= LINE_BYTES {
                true => self.begun.extend_from_slice(line),
                false => self.is_too_long = true,
            }
            if !line.ends_with(b"\n") {
                continue;
            }
            if !self.is_too_long
                && let Ok(event) = serde_json::from_slice::<Event>(&self.begun)
            {
                let seconds = event.at.map_or(now, |at| at - self.started);
                each(&event, seconds.clamp(0.0, now));
            }
            self.begun.clear();
            self.is_too_long = false;
        }
    }

    fn drop_read(&mut self) {
        if self.is_ours && self.offset > MOST_FILE_BYTES && self.file.set_len(0).is_ok() {
            self.offset = 0;
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        if self.is_ours {
            _ = fs::remove_file(&self.path);
        }
    }
}

/// Nobody else's, wherever temporary files are.
fn own_file() -> io::Result<(File, PathBuf)> {
    let name = format!("bancada-{}-{:.0}.jsonl", std::process::id(), 1e9 * clock());
    let path = std::env::temp_dir().join(name);
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)?;
    Ok((file, path))
}

fn clock() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}
