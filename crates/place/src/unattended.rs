//! A worker whose process nobody can look at: it runs on another machine, and what started it may
//! forget it. Everything is in its folder: who works there, a pulse, and a request to end.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::Cancel;
use crate::error::PlaceError;
use crate::files;

const CLAIM_FILE: &str = "worker.json";
const PULSE_FILE: &str = "pulse";
const CANCEL_FILE: &str = "cancel";
/// Between two beats of the pulse, which is also how long a request to end may take to be seen.
const BEAT: Duration = Duration::from_secs(1);

/// Files of this module, which are nobody's results.
pub(crate) const FILES: [&str; 3] = [CLAIM_FILE, PULSE_FILE, CANCEL_FILE];

/// Who carries out the order in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Claim {
    pub host: String,
    pub pid: u32,
    /// The number of its job, as the job knows it.
    pub job: Option<String>,
    pub node: Option<String>,
}

/// Takes the order for this process. False where another one had it first: a job that is submitted
/// or started twice is carried out once.
pub fn claim(folder: &Path, claim: &Claim) -> io::Result<bool> {
    let mut options = OpenOptions::new();
    let options = options.write(true).create_new(true).mode(0o600);
    match options.open(folder.join(CLAIM_FILE)) {
        Ok(mut file) => {
            file.write_all(&serde_json::to_vec(claim)?)?;
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Until the process ends: shows that it lives, and calls `end` when somebody asks for it. The first
/// look is before this returns: a request that came before the worker is not missed.
pub fn attend(folder: &Path, end: impl Fn(Cancel) + Send + 'static) {
    let (pulse, cancel) = (folder.join(PULSE_FILE), folder.join(CANCEL_FILE));
    let mut beats: u64 = 0;
    let mut look = move || {
        beats += 1;
        // A full disk must not end the run; the pulse is missed then, which is noticed elsewhere.
        _ = fs::write(&pulse, beats.to_string());
        match fs::read_to_string(&cancel).as_deref() {
            Ok("now") => end(Cancel::Now),
            Ok("finish") => end(Cancel::Finish),
            _ => {}
        }
    };
    look();
    thread::spawn(move || {
        loop {
            thread::sleep(BEAT);
            look();
        }
    });
}

pub(crate) fn is_claimed(folder: &Path) -> bool {
    folder.join(CLAIM_FILE).is_file()
}

/// Of a worker that has begun.
pub(crate) fn claimed_by(folder: &Path) -> Option<Claim> {
    files::read(&folder.join(CLAIM_FILE)).ok().flatten()
}

/// Of a worker that may be gone: from its first sign of life to the last.
pub(crate) fn seen_for(folder: &Path) -> Duration {
    let changed = |name: &str| fs::metadata(folder.join(name)).and_then(|file| file.modified());
    let (Ok(begin), Ok(end)) = (changed(CLAIM_FILE), changed(PULSE_FILE)) else {
        return Duration::ZERO;
    };
    end.duration_since(begin).unwrap_or_default()
}

/// Leaves a request to end, which the worker also finds when it begins later.
pub(crate) fn request_end(folder: &Path, how: Cancel) -> Result<(), PlaceError> {
    let path = folder.join(CANCEL_FILE);
    if how == Cancel::Finish && path.is_file() {
        return Ok(());
    }
    let word = match how {
        Cancel::Finish => "finish",
        Cancel::Now => "now",
    };
    host::write_whole(&path, word).map_err(|error| PlaceError::io("write", &path, &error))
}

pub(crate) fn end_was_requested(folder: &Path) -> bool {
    folder.join(CANCEL_FILE).is_file()
}

/// The pulse of a worker as somebody else sees it: by changes alone, because clocks of two machines
/// differ.
#[derive(Debug)]
pub(crate) struct Pulse {
    path: PathBuf,
    last: String,
    looked: Option<Instant>,
    changed: Instant,
}

impl Pulse {
    pub(crate) fn of(folder: &Path) -> Self {
        Pulse {
            path: folder.join(PULSE_FILE),
            last: String::new(),
            looked: None,
            changed: Instant::now(),
        }
    }

    /// For how long there has been no sign of life, at least since somebody looks.
    pub(crate) fn silent_for(&mut self) -> Duration {
        let now = Instant::now();
        if self.looked.is_none_or(|looked| now - looked >= BEAT / 2) {
            self.looked = Some(now);
            let beat = fs::read_to_string(&self.path).unwrap_or_default();
            if beat != self.last {
                self.last = beat;
                self.changed = now;
            }
        }
        now - self.changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn an_order_is_claimed_once() {
        let folder = tempfile::tempdir().unwrap();
        let first = Claim {
            job: Some("7".into()),
            ..Claim::default()
        };
        assert!(!is_claimed(folder.path()));
        assert!(claim(folder.path(), &first).unwrap());
        assert!(!claim(folder.path(), &Claim::default()).unwrap());
        assert_eq!(claimed_by(folder.path()), Some(first));
    }

    #[test]
    fn a_request_that_came_before_the_worker_is_found() {
        let folder = tempfile::tempdir().unwrap();
        request_end(folder.path(), Cancel::Now).unwrap();
        request_end(folder.path(), Cancel::Finish).unwrap();
        let (sender, requests) = mpsc::channel();
        attend(folder.path(), move |how| _ = sender.send(how));
        assert_eq!(requests.try_recv(), Ok(Cancel::Now), "it is not weakened");
    }

    #[test]
    fn a_pulse_is_seen_by_its_changes() {
        let folder = tempfile::tempdir().unwrap();
        let mut pulse = Pulse::of(folder.path());
        attend(folder.path(), |_| {});
        thread::sleep(Duration::from_millis(1800));
        assert!(pulse.silent_for() < Duration::from_millis(1500));
        fs::remove_dir_all(folder.path()).unwrap();
        thread::sleep(Duration::from_millis(600));
        let silent = pulse.silent_for();
        thread::sleep(Duration::from_millis(100));
        assert!(pulse.silent_for() > silent);
    }
}
