//! One process of the run's tree, and its threads.
//!
//! In most samples only its memory and its CPU clock are read, which is half the price of its
//! `stat` and finer than that file's hundredths of a second. The rest is read again when some
//! process or thread was started on the machine, or one of the tree ended.

use std::path::{Path, PathBuf};

use host::limits::bytes::parse_ids;

use super::file::{Buffer, Source};
use super::task::{Io, Scheduling, Stat, parse_io, parse_pages, parse_scheduling, parse_stat};
use super::tree::all_processes;

/// Threads of one process whose waiting is read.
const WATCHED_THREADS: usize = 64;
/// Threads of one process whose files are kept open.
const KEPT_THREADS: usize = 8;

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) pid: i32,
    stat: Source,
    /// None for the many: their `stat` is read each time.
    pages: Option<Source>,
    /// None where reading it is not allowed.
    io: Option<Source>,
    clock: Option<libc::clockid_t>,
    /// As last read.
    known: Option<Stat>,
    threads: Vec<Thread>,
    counted_threads: u32,
    keep: bool,
}

/// How a member is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Short,
    Whole,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MemberReading {
    pub(crate) stat: Stat,
    /// By its clock; none where that cannot be read.
    pub(crate) own_nanoseconds: Option<u64>,
}

impl Member {
    pub(crate) fn open(proc: &Path, pid: i32, keep: bool) -> Option<Self> {
        let folder = proc.join(pid.to_string());
        let mut member = Member {
            pid,
            stat: open(folder.join("stat"), keep)?,
            pages: open(folder.join("statm"), keep).filter(|_| keep),
            io: open(folder.join("io"), keep),
            clock: cpu_clock(proc, pid),
            known: None,
            threads: Vec::new(),
            counted_threads: 0,
            keep,
        };
        member.list_threads(proc);
        Some(member)
    }

    /// None when it is no more.
    pub(crate) fn read(&mut self, look: Look, buffer: &mut Buffer) -> Option<MemberReading> {
        let short = match (look, &self.pages, self.known) {
            (Look::Short, Some(pages), Some(known)) => {
                let resident_pages = parse_pages(pages.read(buffer).ok()?)?;
                // One that has ended holds no pages, and its state says so.
                (resident_pages > 0).then_some(Stat {
                    resident_pages,
                    ..known
                })
            }
            _ => None,
        };
        let stat = match short {
            Some(stat) => stat,
            None => self.read_stat(buffer)?,
        };
        let own_nanoseconds = self.clock.and_then(nanoseconds);
        Some(MemberReading {
            stat,
            own_nanoseconds,
        })
    }

    pub(crate) fn io(&self, buffer: &mut Buffer) -> Io {
        let read = self.io.as_ref().and_then(|io| io.read(buffer).ok());
        read.and_then(parse_io).unwrap_or_default()
    }

    /// What its threads waited and ran since the last reading.
    pub(crate) fn scheduling(&mut self, buffer: &mut Buffer) -> Scheduling {
        let mut sum = Scheduling::default();
        for thread in &mut self.threads {
            sum = sum.plus(&thread.passed(buffer));
        }
        sum
    }

    pub(crate) fn children(&self, found: &mut Vec<i32>, buffer: &mut Buffer) {
        for thread in &self.threads {
            if let Some(Ok(text)) = thread.children.as_ref().map(|file| file.read(buffer)) {
                found.extend(parse_ids(text));
            }
        }
    }

    /// Lists the threads anew when they cannot be the same any more.
    pub(crate) fn follow_threads(&mut self, proc: &Path, stat: &Stat) {
        let replaced = self.threads.iter().any(|thread| thread.has_ended);
        if (stat.threads != self.counted_threads || replaced) && !stat.has_ended() {
            self.list_threads(proc);
            self.counted_threads = stat.threads;
        }
    }

    fn read_stat(&mut self, buffer: &mut Buffer) -> Option<Stat> {
        let stat = self.stat.read(buffer).ok().and_then(parse_stat)?;
        // A file opened anew may show another process under the same number.
        let is_same = self
            .known
            .is_none_or(|known| known.start_ticks == stat.start_ticks);
        self.known = Some(stat).filter(|_| is_same);
        self.known
    }

    fn list_threads(&mut self, proc: &Path) {
        let folder = proc.join(format!("{}/task", self.pid));
        let listed: Vec<i32> = all_processes(&folder).take(WATCHED_THREADS).collect();
        self.threads
            .retain(|thread| !thread.has_ended && listed.contains(&thread.tid));
        for tid in listed {
            if !self.threads.iter().any(|thread| thread.tid == tid) {
                let keep = self.keep && self.threads.len() < KEPT_THREADS;
                self.threads
                    .push(Thread::open(&folder.join(tid.to_string()), tid, keep));
            }
        }
    }
}

#[derive(Debug)]
struct Thread {
    tid: i32,
    scheduling: Option<Source>,
    children: Option<Source>,
    last: Scheduling,
    has_ended: bool,
}

impl Thread {
    fn open(folder: &Path, tid: i32, keep: bool) -> Self {
        Thread {
            tid,
            scheduling: open(folder.join("schedstat"), keep),
            children: open(folder.join("children"), keep),
            last: Scheduling::default(),
            has_ended: false,
        }
    }

    /// What passed since the last reading.
    fn passed(&mut self, buffer: &mut Buffer) -> Scheduling {
        let Some(source) = &self.scheduling else {
            return Scheduling::default();
        };
        let Ok(text) = source.read(buffer) else {
            self.has_ended = true;
            return Scheduling::default();
        };
        let now = parse_scheduling(text).unwrap_or(self.last);
        let passed = now.since(&self.last);
        self.last = now;
        passed
    }
}

fn open(path: PathBuf, keep: bool) -> Option<Source> {
    if keep {
        Source::kept(path).ok()
    } else {
        Some(Source::reopened(path))
    }
}

/// The clock that counts the CPU time of all threads of a process; a made-up one has none.
fn cpu_clock(proc: &Path, pid: i32) -> Option<libc::clockid_t> {
    if proc != Path::new("/proc") {
        return None;
    }
    let mut clock = 0;
    // SAFETY: writes only into `clock`.
    let result = unsafe { libc::clock_getcpuclockid(pid, &raw mut clock) };
    (result == 0).then_some(clock)
}

fn nanoseconds(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes only into `time`.
    let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
    let seconds = u64::try_from(time.tv_sec).ok().filter(|_| result == 0)?;
    seconds
        .checked_mul(1_000_000_000)?
        .checked_add(u64::try_from(time.tv_nsec).ok()?)
}
