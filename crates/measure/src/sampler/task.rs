//! What `/proc/<pid>` says of one process or thread.

use host::limits::bytes::{fields, number, value};

/// `/proc/<pid>/stat`, what is used of it. Times in clock ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stat {
    pub(crate) state: u8,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    pub(crate) own_ticks: u64,
    /// Of children that ended and were waited for.
    pub(crate) children_ticks: u64,
    pub(crate) threads: u32,
    /// With the number, names a process for good: numbers come again, starts do not.
    pub(crate) start_ticks: u64,
    pub(crate) resident_pages: u64,
}

impl Stat {
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }
}

pub(crate) fn parse_stat(text: &[u8]) -> Option<Stat> {
    // The name in brackets may hold blanks and brackets: what counts begins after the last.
    let close = text.iter().rposition(|b| *b == b')')?;
    let mut words = fields(&text[close + 1..]);
    let state = *words.next()?.first()?;
    let mut id = || {
        words
            .next()
            .and_then(number)
            .and_then(|n| i32::try_from(n).ok())
    };
    let (parent, group, session) = (id()?, id()?, id()?);
    let mut at = |skipped: usize| words.nth(skipped).and_then(number);
    let own_ticks = at(7)?.saturating_add(at(0)?);
    let children_ticks = at(0)?.saturating_add(at(0)?);
    let threads = u32::try_from(at(2)?).ok()?;
    let start_ticks = at(1)?;
    let resident_pages = at(1)?;
    Some(Stat {
        state,
        parent,
        group,
        session,
        own_ticks,
        children_ticks,
        threads,
        start_ticks,
        resident_pages,
    })
}

/// `/proc/<pid>/io`: bytes that really went to and from disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Io {
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
}

pub(crate) fn parse_io(text: &[u8]) -> Option<Io> {
    Some(Io {
        read_bytes: value(text, b"read_bytes:")?,
        write_bytes: value(text, b"write_bytes:")?,
    })
}

/// `/proc/<pid>/task/<tid>/schedstat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Scheduling {
    /// Ready to run, but another had the core.
    pub(crate) waited_nanoseconds: u64,
    /// Times it was put on a core.
    pub(crate) turns: u64,
}

impl Scheduling {
    pub(crate) fn since(&self, before: &Scheduling) -> Scheduling {
        Scheduling {
            waited_nanoseconds: self
                .waited_nanoseconds
                .saturating_sub(before.waited_nanoseconds),
            turns: self.turns.saturating_sub(before.turns),
        }
    }

    pub(crate) fn plus(&self, other: &Scheduling) -> Scheduling {
        Scheduling {
            waited_nanoseconds: self
                .waited_nanoseconds
                .saturating_add(other.waited_nanoseconds),
            turns: self.turns.saturating_add(other.turns),
        }
    }
}

/// The resident pages of `/proc/<pid>/statm`.
pub(crate) fn parse_pages(text: &[u8]) -> Option<u64> {
    fields(text).nth(1).and_then(number)
}

pub(crate) fn parse_scheduling(text: &[u8]) -> Option<Scheduling> {
    let mut words = fields(text).skip(1).map(number);
    Some(Scheduling {
        waited_nanoseconds: words.next()??,
        turns: words.next()??,
    })
}

/// `VmHWM` of `/proc/<pid>/status`: the most memory it ever held.
pub(crate) fn parse_high_water_bytes(text: &[u8]) -> Option<u64> {
    value(text, b"VmHWM:").map(|kilobytes| kilobytes.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_with_brackets_does_not_mislead() {
        let text = b"4711 (a) b (c) S 12 13 14 0 -1 4194560 100 200 3 4 50 60 7 8 20 0 9 0 99887 \
            1000000 2500 18446744073709551615 1 1 0\n";
        let expected = Stat {
            state: b'S',
            parent: 12,
            group: 13,
            session: 14,
            own_ticks: 110,
            children_ticks: 15,
            threads: 9,
            start_ticks: 99887,
            resident_pages: 2500,
        };
        assert_eq!(parse_stat(text), Some(expected));
        assert!(!expected.has_ended());
    }

    #[test]
    fn io_scheduling_and_lists_are_read() {
        let io =
            b"rchar: 6976\nwchar: 1\nsyscr: 10\nsyscw: 0\nread_bytes: 4096\nwrite_bytes: 512\n";
        assert_eq!(
            parse_io(io),
            Some(Io {
                read_bytes: 4096,
                write_bytes: 512
            })
        );
        assert_eq!(parse_io(b"rchar: 6976\n"), None);
        let scheduling = Scheduling {
            waited_nanoseconds: 6001,
            turns: 2,
        };
        assert_eq!(parse_scheduling(b"343555 6001 2\n"), Some(scheduling));
        assert_eq!(parse_scheduling(b"343555 6001\n"), None);
        assert_eq!(
            parse_high_water_bytes(b"VmPeak: 9 kB\nVmHWM:\t  12 kB\n"),
            Some(12288)
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(text: Vec<u8>) {
            let _ = parse_stat(&text);
            let _ = parse_io(&text);
            let _ = parse_scheduling(&text);
        }
    }
}
