//! What tells a process from all others: its number, its start and the machine's.

use std::fs;

/// Of the machine's last start: numbers of processes begin anew after it.
pub fn boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

/// When a process was started, in clock ticks since the machine's start; `None` where there is no such
/// process, or only what is left of one.
pub fn start_ticks(pid: u32) -> Option<u64> {
    start_ticks_in(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The same of its `/proc/PID/stat`.
pub fn start_ticks_in(stat: &str) -> Option<u64> {
    // The name of the program, in parentheses, may hold anything.
    let (_, after) = stat.rsplit_once(") ")?;
    let mut fields = after.split(' ');
    let is_alive = !matches!(fields.next()?, "Z" | "X");
    fields.nth(18)?.parse().ok().filter(|_| is_alive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_there_has_a_start() {
        assert!(boot_id().is_some());
        assert!(start_ticks(std::process::id()).is_some_and(|ticks| ticks > 0));
        assert_eq!(start_ticks(u32::MAX), None);
    }

    #[test]
    fn what_is_left_of_a_process_has_none() {
        let stat = |state: &str| {
            let zeros = " 0".repeat(18);
            format!("7 (a) Z name) {state}{zeros} 42 0")
        };
        assert_eq!(start_ticks_in(&stat("S")), Some(42));
        assert_eq!(start_ticks_in(&stat("Z")), None);
        assert_eq!(start_ticks_in("nonsense"), None);
    }
}
