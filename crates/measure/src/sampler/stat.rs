//! `/proc/stat`: where the machine's CPU time went, since boot.

use host::limits::bytes::{fields, lines, number};

/// Times in clock ticks, summed over all cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CpuTimes {
    pub(crate) busy: u64,
    pub(crate) iowait: u64,
    pub(crate) steal: u64,
    /// Busy, idle, waiting and stolen.
    pub(crate) total: u64,
    pub(crate) context_switches: u64,
    /// Processes and threads ever started. Unchanged means that no process tree has grown.
    pub(crate) forks: u64,
}

pub(crate) fn parse(text: &[u8]) -> Option<CpuTimes> {
    let mut lines = lines(text);
    let mut ticks = [0_u64; 8];
    let mut first = fields(lines.next()?.strip_prefix(b"cpu ")?);
    for tick in &mut ticks {
        // Old kernels have fewer columns; what is missing was not counted.
        *tick = first.next().and_then(number).unwrap_or(0);
    }
    let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
    let mut times = CpuTimes {
        busy: sum(&[user, nice, system, irq, softirq]),
        iowait,
        steal,
        total: sum(&[user, nice, system, idle, iowait, irq, softirq, steal]),
        ..CpuTimes::default()
    };
    for line in lines {
        if let Some(rest) = line.strip_prefix(b"ctxt ") {
            times.context_switches = number(rest)?;
        } else if let Some(rest) = line.strip_prefix(b"processes ") {
            times.forks = number(rest)?;
            break;
        }
    }
    Some(times)
}

fn sum(ticks: &[u64]) -> u64 {
    ticks.iter().fold(0, |sum, tick| sum.saturating_add(*tick))
}

/// The number of cores that are on line.
pub(crate) fn cores(text: &[u8]) -> u32 {
    let is_core = |line: &&[u8]| {
        line.strip_prefix(b"cpu")
            .is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_digit))
    };
    u32::try_from(lines(text).filter(is_core).count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"cpu  120141 10 9830 128828 491 5 107 665 7 0\n\
        cpu0 59507 0 4338 65708 112 0 9 350 0 0\ncpu1 60633 0 5492 63120 379 0 98 315 0 0\n\
        intr 608317 0 0 25\nctxt 409349\nbtime 1794775825\nprocesses 19910\nprocs_running 3\n";

    #[test]
    fn all_of_it_is_read() {
        let expected = CpuTimes {
            busy: 120141 + 10 + 9830 + 5 + 107,
            iowait: 491,
            steal: 665,
            total: 120141 + 10 + 9830 + 128828 + 491 + 5 + 107 + 665,
            context_switches: 409349,
            forks: 19910,
        };
        assert_eq!(parse(TEXT), Some(expected));
        assert_eq!(cores(TEXT), 2);
    }

    #[test]
    fn what_is_not_a_stat_file_gives_nothing() {
        assert_eq!(parse(b""), None);
        assert_eq!(parse(b"MemTotal: 3 kB\n"), None);
        assert_eq!(cores(b"cpufreq\n"), 0);
    }
}
