//! The run's process and all its descendants.
//!
//! Members are found by the kernel's own lists (a control group's, or each thread's `children`)
//! and only when some process was started on the machine since the last look. Who has been seen
//! stays a member to its end, also when its parent ended before it. What left the tree unseen is
//! found by a look through all processes for the session, taken seldom.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::file::{Buffer, Source};
use super::task::{
    Io, Scheduling, Stat, parse_high_water_bytes, parse_ids, parse_io, parse_scheduling, parse_stat,
};

/// Files kept open for this many processes and threads; the rest are opened for each reading.
const KEPT_MEMBERS: usize = 64;
/// Threads of one process whose waiting is read.
const WATCHED_THREADS: usize = 64;
/// A look through all processes may take this share of the time between two looks.
const SCAN_SHARE: u32 = 2000;
/// The same where the kernel has no `children`, so that looking is the only way.
const SCAN_SHARE_WITHOUT_CHILDREN: u32 = 100;

/// One reading of the tree. What counts up never counts down, whoever ends meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct TreeReading {
    pub(crate) processes: u32,
    pub(crate) threads: u32,
    pub(crate) resident_bytes: u64,
    pub(crate) cpu_seconds: f64,
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
    pub(crate) waited_seconds: f64,
    pub(crate) context_switches: u64,
}

#[derive(Debug)]
pub(crate) struct Tree {
    proc: PathBuf,
    leader: i32,
    members: Vec<Member>,
    /// The list of a control group's processes, where the run has one.
    group: Option<Source>,
    units: Units,
    forks: Option<u64>,
    next_scan: Instant,
    has_children_files: bool,
    ticks: Rising,
    read_bytes: Rising,
    write_bytes: Rising,
    waited_nanoseconds: u64,
    turns: u64,
    found: Vec<i32>,
    pub(crate) parts: TreeParts,
}

/// What is read of each process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TreeParts {
    CpuAndMemory,
    /// Also its disk use, and how long its threads waited for a core.
    All,
}

/// What the kernel counts in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Units {
    pub(crate) ticks_per_second: f64,
    pub(crate) page_bytes: u64,
}

impl Tree {
    pub(crate) fn new(proc: &Path, leader: i32, group: Option<Source>, units: Units) -> Self {
        let children = proc.join(format!("{leader}/task/{leader}/children"));
        let mut tree = Tree {
            proc: proc.to_owned(),
            leader,
            members: Vec::new(),
            group,
            units,
            forks: None,
            next_scan: Instant::now(),
            has_children_files: children.exists(),
            ticks: Rising::default(),
            read_bytes: Rising::default(),
            write_bytes: Rising::default(),
            waited_nanoseconds: 0,
            turns: 0,
            found: Vec::new(),
            parts: TreeParts::All,
        };
        tree.add(leader);
        tree
    }

    /// Reads all members. `forks` is the machine's count of processes ever started.
    pub(crate) fn read(&mut self, forks: u64, buffer: &mut Buffer) -> TreeReading {
        if self.forks != Some(forks) {
            self.discover(buffer);
            self.forks = Some(forks);
        }
        let mut sum = Sum::default();
        let (waited, turns) = (&mut self.waited_nanoseconds, &mut self.turns);
        self.members.retain_mut(|member| {
            let Some(stat) = member.stat(buffer) else {
                return false;
            };
            sum.add(&stat);
            if self.parts == TreeParts::CpuAndMemory {
                return true;
            }
            sum.add_io(member.io(buffer));
            member.follow_threads(&self.proc, &stat);
            for thread in &mut member.threads {
                let passed = thread.passed(buffer);
                *waited = waited.saturating_add(passed.waited_nanoseconds);
                *turns = turns.saturating_add(passed.turns);
            }
            true
        });
        TreeReading {
            processes: sum.processes,
            threads: sum.threads,
            resident_bytes: sum.resident_pages.saturating_mul(self.units.page_bytes),
            cpu_seconds: self.ticks.follow(sum.ticks) as f64 / self.units.ticks_per_second,
            read_bytes: self.read_bytes.follow(sum.read_bytes),
            write_bytes: self.write_bytes.follow(sum.write_bytes),
            waited_seconds: self.waited_nanoseconds as f64 / 1e9,
            context_switches: self.turns,
        }
    }

    /// The most memory the leader ever held, by the kernel.
    pub(crate) fn leader_high_water_bytes(&self, buffer: &mut Buffer) -> Option<u64> {
        let status = Source::reopened(self.proc.join(format!("{}/status", self.leader)));
        status.read(buffer).ok().and_then(parse_high_water_bytes)
    }

    fn discover(&mut self, buffer: &mut Buffer) {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        if let Some(group) = &self.group {
            found.extend(group.read(buffer).into_iter().flat_map(parse_ids));
            self.add_all(&found);
        } else {
            // Members are appended while walking, so children of children are met as well.
            let mut next = 0;
            while next < self.members.len() {
                found.clear();
                self.members[next].children(&mut found, buffer);
                self.add_all(&found);
                next += 1;
            }
            self.scan(&mut found, buffer);
        }
        self.found = found;
    }

    /// Looks through all processes for those that left the tree but not the session.
    fn scan(&mut self, found: &mut Vec<i32>, buffer: &mut Buffer) {
        let begin = Instant::now();
        if begin < self.next_scan {
            return;
        }
        found.clear();
        for pid in all_processes(&self.proc) {
            let source = Source::reopened(self.proc.join(format!("{pid}/stat")));
            let stat = source.read(buffer).ok().and_then(parse_stat);
            if stat.is_some_and(|s| s.session == self.leader || s.group == self.leader) {
                found.push(pid);
            }
        }
        self.add_all(found);
        let share = if self.has_children_files {
            SCAN_SHARE
        } else {
            SCAN_SHARE_WITHOUT_CHILDREN
        };
        self.next_scan = begin + (begin.elapsed() * share).max(Duration::from_millis(100));
    }

    fn add_all(&mut self, pids: &[i32]) {
        for pid in pids {
            if !self.members.iter().any(|member| member.pid == *pid) {
                self.add(*pid);
            }
        }
    }

    fn add(&mut self, pid: i32) {
        let keep = self.members.len() < KEPT_MEMBERS;
        if let Some(member) = Member::open(&self.proc, pid, keep) {
            self.members.push(member);
        }
    }
}

/// The numbers of all processes that `/proc` shows.
pub(crate) fn all_processes(proc: &Path) -> impl Iterator<Item = i32> {
    fs::read_dir(proc)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok())
        })
}

#[derive(Debug, Default)]
struct Sum {
    processes: u32,
    threads: u32,
    resident_pages: u64,
    ticks: u64,
    read_bytes: u64,
    write_bytes: u64,
}

impl Sum {
    fn add(&mut self, stat: &Stat) {
        if !stat.has_ended() {
            self.processes += 1;
            self.threads = self.threads.saturating_add(stat.threads);
        }
        self.resident_pages = self.resident_pages.saturating_add(stat.resident_pages);
        // A child's time moves to its parent when it is waited for, so that nothing counts twice.
        self.ticks = self
            .ticks
            .saturating_add(stat.own_ticks)
            .saturating_add(stat.children_ticks);
    }

    fn add_io(&mut self, io: Io) {
        self.read_bytes = self.read_bytes.saturating_add(io.read_bytes);
        self.write_bytes = self.write_bytes.saturating_add(io.write_bytes);
    }
}

/// A sum over members that loses the part of those who end without a parent to keep it: falls
/// are made good, so that it only rises. A fall must last two readings, since a child that ends
/// between the readings of its parent and of itself is missing for one.
#[derive(Debug, Default)]
struct Rising {
    best: u64,
    lost: u64,
    fell: bool,
}

impl Rising {
    fn follow(&mut self, now: u64) -> u64 {
        let total = now.saturating_add(self.lost);
        if total >= self.best {
            self.best = total;
            self.fell = false;
        } else if self.fell {
            self.lost = self.lost.saturating_add(self.best - total);
            self.fell = false;
        } else {
            self.fell = true;
        }
        self.best
    }
}

#[derive(Debug)]
struct Member {
    pid: i32,
    start_ticks: Option<u64>,
    stat: Source,
    /// None where reading it is not allowed.
    io: Option<Source>,
    threads: Vec<Thread>,
    counted_threads: u32,
    keep: bool,
}

impl Member {
    fn open(proc: &Path, pid: i32, keep: bool) -> Option<Self> {
        let folder = proc.join(pid.to_string());
        let stat = open(folder.join("stat"), keep)?;
        let io = open(folder.join("io"), keep);
        let mut member = Member {
            pid,
            start_ticks: None,
            stat,
            io,
            threads: Vec::new(),
            counted_threads: 0,
            keep,
        };
        member.list_threads(proc);
        Some(member)
    }

    fn stat(&mut self, buffer: &mut Buffer) -> Option<Stat> {
        let stat = self.stat.read(buffer).ok().and_then(parse_stat)?;
        // A file opened anew may show another process under the same number.
        let start = *self.start_ticks.get_or_insert(stat.start_ticks);
        (start == stat.start_ticks).then_some(stat)
    }

    fn io(&self, buffer: &mut Buffer) -> Io {
        let read = self.io.as_ref().and_then(|io| io.read(buffer).ok());
        read.and_then(parse_io).unwrap_or_default()
    }

    fn children(&self, found: &mut Vec<i32>, buffer: &mut Buffer) {
        for thread in &self.threads {
            if let Some(Ok(text)) = thread.children.as_ref().map(|file| file.read(buffer)) {
                found.extend(parse_ids(text));
            }
        }
    }

    fn follow_threads(&mut self, proc: &Path, stat: &Stat) {
        let replaced = self.threads.iter().any(|thread| thread.has_ended);
        if (stat.threads != self.counted_threads || replaced) && !stat.has_ended() {
            self.list_threads(proc);
            self.counted_threads = stat.threads;
        }
    }

    fn list_threads(&mut self, proc: &Path) {
        let folder = proc.join(format!("{}/task", self.pid));
        let listed: Vec<i32> = all_processes(&folder).take(WATCHED_THREADS).collect();
        self.threads
            .retain(|thread| !thread.has_ended && listed.contains(&thread.tid));
        for tid in listed {
            if !self.threads.iter().any(|thread| thread.tid == tid) {
                let keep = self.keep && self.threads.len() < 8;
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
        let passed = Scheduling {
            waited_nanoseconds: now
                .waited_nanoseconds
                .saturating_sub(self.last.waited_nanoseconds),
            turns: now.turns.saturating_sub(self.last.turns),
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_only_rise_and_count_nothing_twice() {
        let check = |readings: &[u64], expected: &[u64]| {
            let mut rising = Rising::default();
            let seen: Vec<u64> = readings.iter().map(|now| rising.follow(*now)).collect();
            assert_eq!(seen, expected, "{readings:?}");
        };
        check(&[1, 5, 9], &[1, 5, 9]);
        // Missing for one reading, then with its parent again.
        check(&[10, 4, 11], &[10, 10, 11]);
        // Gone for good: what comes after is added.
        check(&[10, 4, 4, 6], &[10, 10, 10, 12]);
    }

    /// A made-up `/proc`: a leader with a child, of which only the kernel's lists know.
    #[test]
    fn a_tree_is_walked_by_the_lists_of_children() {
        let proc = tempfile::tempdir().unwrap();
        let process = |pid: i32, children: &str, ticks: u64| {
            let task = proc.path().join(format!("{pid}/task/{pid}"));
            fs::create_dir_all(&task).unwrap();
            let stat = format!(
                "{pid} (x) R 1 {pid} {pid} 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 {pid} 0 10 0\n"
            );
            fs::write(task.join("children"), children).unwrap();
            fs::write(task.join("schedstat"), "5 2000000000 3\n").unwrap();
            fs::write(proc.path().join(format!("{pid}/stat")), stat).unwrap();
            let io = "read_bytes: 7\nwrite_bytes: 9\n";
            fs::write(proc.path().join(format!("{pid}/io")), io).unwrap();
        };
        process(10, "11 ", 50);
        process(11, "12 ", 100);
        process(12, "", 150);
        process(99, "", 1000);
        let units = Units {
            ticks_per_second: 100.0,
            page_bytes: 4096,
        };
        let mut tree = Tree::new(proc.path(), 10, None, units);
        let expected = TreeReading {
            processes: 3,
            threads: 3,
            resident_bytes: 30 * 4096,
            cpu_seconds: 3.0,
            read_bytes: 21,
            write_bytes: 27,
            waited_seconds: 6.0,
            context_switches: 9,
        };
        assert_eq!(tree.read(1, &mut Buffer::new()), expected);
    }
}
