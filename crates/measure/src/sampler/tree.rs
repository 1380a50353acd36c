//! The run's process and all its descendants.
//!
//! Members are found by the kernel's own lists (a cgroup's, or each thread's `children`)
//! and only when some process was started on the machine since the last look. Who has been seen
//! stays a member to its end, also when its parent ended before it. What left the tree unseen is
//! found by a look through all processes for the session, taken seldom.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use host::limits::bytes::parse_ids;

use super::file::{Buffer, Source};
use super::member::{Look, Member, MemberReading};
use super::task::{Io, Scheduling, parse_high_water_bytes, parse_stat};

/// Files kept open for this many processes and threads; the rest are opened for each reading.
const KEPT_MEMBERS: usize = 64;
/// A look through all processes may take this share of the time between two looks.
const SCAN_SHARE: u32 = 10_000;
/// The same where the kernel has no `children`, so that looking is the only way.
const SCAN_SHARE_WITHOUT_CHILDREN: u32 = 100;

/// A short run is looked through once, at its end, by whoever ends it.
const FIRST_SCAN_AFTER: Duration = Duration::from_secs(1);
/// What was used by children that ended is read at least so often.
const WHOLE_LOOK_EVERY: Duration = Duration::from_millis(500);

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
    /// The list of a cgroup's processes, where the run has one.
    group: Option<Source>,
    units: Units,
    forks: Option<u64>,
    /// Some member ended: what it used is its parent's now.
    has_lost: bool,
    next_whole_look: Instant,
    next_scan: Instant,
    has_children_files: bool,
    cpu_nanoseconds: Rising,
    read_bytes: Rising,
    write_bytes: Rising,
    scheduling: Scheduling,
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
            has_lost: false,
            next_whole_look: Instant::now(),
            // At first there is nobody who could have left.
            next_scan: Instant::now() + FIRST_SCAN_AFTER,
            has_children_files: children.exists(),
            cpu_nanoseconds: Rising::default(),
            read_bytes: Rising::default(),
            write_bytes: Rising::default(),
            scheduling: Scheduling::default(),
            found: Vec::new(),
            parts: TreeParts::All,
        };
        tree.add(leader);
        tree
    }

    /// Reads all members. `forks` is the machine's count of processes ever started.
    pub(crate) fn read(&mut self, forks: u64, buffer: &mut Buffer) -> TreeReading {
        let look = self.next_look(forks, buffer);
        let mut sum = Sum::default();
        let scheduling = &mut self.scheduling;
        let before = self.members.len();
        self.members.retain_mut(|member| {
            let Some(reading) = member.read(look, buffer) else {
                return false;
            };
            sum.add(&reading, self.units.ticks_per_second);
            if self.parts == TreeParts::All {
                sum.add_io(member.io(buffer));
                member.follow_threads(&self.proc, &reading.stat);
                *scheduling = scheduling.plus(&member.scheduling(buffer));
            }
            true
        });
        self.has_lost = self.members.len() < before;
        TreeReading {
            processes: sum.processes,
            threads: sum.threads,
            resident_bytes: sum.resident_pages.saturating_mul(self.units.page_bytes),
            cpu_seconds: self.cpu_nanoseconds.follow(sum.cpu_nanoseconds) as f64 / 1e9,
            read_bytes: self.read_bytes.follow(sum.read_bytes),
            write_bytes: self.write_bytes.follow(sum.write_bytes),
            waited_seconds: self.scheduling.waited_nanoseconds as f64 / 1e9,
            context_switches: self.scheduling.turns,
        }
    }

    /// Finds new members, and says how closely all must be looked at.
    fn next_look(&mut self, forks: u64, buffer: &mut Buffer) -> Look {
        let now = Instant::now();
        let has_grown = self.forks.replace(forks) != Some(forks);
        if has_grown {
            self.discover(buffer);
        }
        if has_grown || self.has_lost || now >= self.next_whole_look {
            self.next_whole_look = now + WHOLE_LOOK_EVERY;
            return Look::Whole;
        }
        Look::Short
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
    cpu_nanoseconds: u64,
    read_bytes: u64,
    write_bytes: u64,
}

impl Sum {
    fn add(&mut self, reading: &MemberReading, ticks_per_second: f64) {
        let stat = &reading.stat;
        if !stat.has_ended() {
            self.processes += 1;
            self.threads = self.threads.saturating_add(stat.threads);
        }
        self.resident_pages = self.resident_pages.saturating_add(stat.resident_pages);
        let nanoseconds = |ticks: u64| (ticks as f64 * 1e9 / ticks_per_second) as u64;
        let own = reading
            .own_nanoseconds
            .unwrap_or_else(|| nanoseconds(stat.own_ticks));
        // A child's time moves to its parent when it is waited for, so that nothing counts twice.
        let all = own.saturating_add(nanoseconds(stat.children_ticks));
        self.cpu_nanoseconds = self.cpu_nanoseconds.saturating_add(all);
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
            fs::write(proc.path().join(format!("{pid}/statm")), "99 10 0\n").unwrap();
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
        // Nothing was started since: memory alone is read again.
        let statm = proc.path().join("11/statm");
        fs::write(statm, "99 15 0\n").unwrap();
        let grown = TreeReading {
            resident_bytes: 35 * 4096,
            ..expected
        };
        assert_eq!(tree.read(1, &mut Buffer::new()), grown);
    }
}
