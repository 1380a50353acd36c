//! Cores, and the threads that are worth starting for them.

use std::path::Path;

use super::Layout;

/// The processors this process may use.
pub(crate) fn affinity() -> Vec<usize> {
    // SAFETY: a set of processors is plain bits, for which all zero is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes at most the size given into `set`.
    let result = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) };
    if result != 0 {
        return Vec::new();
    }
    let most = usize::try_from(libc::CPU_SETSIZE).unwrap_or(0);
    // SAFETY: the index stays below the size of the set.
    (0..most)
        .filter(|processor| unsafe { libc::CPU_ISSET(*processor, &set) })
        .collect()
}

/// Cores this process may really use: affinity and cgroup quota (v1 and v2).
pub fn usable_cores() -> f64 {
    let by_affinity = match affinity().len() {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        count => count,
    } as f64;
    let quota = Layout::find(Path::new("/")).quota_cores();
    quota.map_or(by_affinity, |quota| quota.min(by_affinity))
}

/// Threads that use all of these cores. A part of a core needs a thread too: with 1.74 cores, one thread alone would
/// leave 0.74 of them to nobody.
pub fn threads_for(cores: f64) -> usize {
    (cores.ceil() as usize).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_core() {
        assert!(usable_cores() > 0.0);
        assert!(!affinity().is_empty());
    }

    #[test]
    fn a_part_of_a_core_has_a_thread() {
        let check = |cores, expected| assert_eq!(threads_for(cores), expected, "{cores}");
        check(0.579, 1);
        check(1.0, 1);
        check(1.737, 2);
        check(2.0, 2);
        check(3.473, 4);
        check(0.0, 1);
        check(f64::NAN, 1);
    }
}
