//! Where the work is done: device names and threads.

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::EngineError;

/// The engine computes on the processor; other devices are for the frameworks.
pub(crate) fn check_device(name: &str) -> Result<(), EngineError> {
    match name {
        "cpu" => Ok(()),
        _ => Err(EngineError::Device {
            device: name.to_owned(),
        }),
    }
}

/// Threads of our own, not rayon's global ones: a process can train with different numbers, and
/// work begun inside a pool stays there without being handed over at every operation.
/// None takes as many as the process may use.
pub(crate) fn threads(wanted: Option<u32>) -> Result<ThreadPool, EngineError> {
    let threads = wanted.unwrap_or(0);
    if wanted == Some(0) {
        return Err(EngineError::Setting {
            name: "threads",
            problem: "is 0: use at least 1".to_owned(),
        });
    }
    ThreadPoolBuilder::new()
        .num_threads(threads as usize)
        .thread_name(|index| format!("engine-{index}"))
        .build()
        .map_err(|error| EngineError::Threads {
            threads,
            problem: error.to_string(),
        })
}

/// Asks the C library to keep freed memory: a step frees and takes the same large blocks again, and
/// giving them back to the kernel each time costs about a tenth of the CPU time. For the whole
/// process, so for processes that train and do little else.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn keep_freed_memory() {
    const LARGEST_THRESHOLD: i32 = 32 << 20;
    // SAFETY: mallopt only sets numbers of the allocator, under its own lock; it refuses bad ones.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGEST_THRESHOLD);
        libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX);
        libc::mallopt(libc::M_TOP_PAD, 2 * LARGEST_THRESHOLD);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keep_freed_memory() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_the_only_device() {
        assert!(check_device("cpu").is_ok());
        for name in ["tpu", "cpu:0", "cuda:0", "wgpu", ""] {
            let error = check_device(name).unwrap_err().to_string();
            assert!(error.contains("only on `cpu`"), "{error}");
            assert!(error.contains("such as pytorch"), "{error}");
        }
    }

    #[test]
    fn no_threads_are_refused() {
        assert!(threads(Some(0)).is_err());
        assert_eq!(threads(Some(3)).unwrap().current_num_threads(), 3);
    }
}
