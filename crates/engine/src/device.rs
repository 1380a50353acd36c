//! Where the work is done: device names and threads.

use burn_tensor::Device;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{DeviceProblem, EngineError};

/// The devices that can be named, whether built in or not.
pub fn known_devices() -> Vec<&'static str> {
    vec!["cpu", "wgpu", "wgpu:N", "cuda", "cuda:N"]
}

/// `cpu`, `wgpu`, `wgpu:1`, `cuda:0` …
pub(crate) fn device(name: &str) -> Result<Device, EngineError> {
    let wrong = |problem| EngineError::Device {
        device: name.to_owned(),
        problem,
    };
    let (kind, number) = match name.split_once(':') {
        Some((kind, number)) => (
            kind,
            Some(
                number
                    .parse::<u16>()
                    .map_err(|_| wrong(DeviceProblem::Unknown))?,
            ),
        ),
        None => (name, None),
    };
    match (kind, number) {
        ("cpu", None) => Ok(Device::flex()),
        ("wgpu", number) => wgpu(number).map_err(wrong),
        ("cuda", number) => cuda(number).map_err(wrong),
        _ => Err(wrong(DeviceProblem::Unknown)),
    }
}

#[cfg(feature = "wgpu")]
fn wgpu(number: Option<u16>) -> Result<Device, DeviceProblem> {
    use burn_tensor::DeviceKind;
    let kind = number.map_or(DeviceKind::DefaultDevice, |number| {
        DeviceKind::DiscreteGpu(number.into())
    });
    Ok(Device::wgpu(kind))
}

#[cfg(not(feature = "wgpu"))]
fn wgpu(_: Option<u16>) -> Result<Device, DeviceProblem> {
    Err(DeviceProblem::NotBuilt {
        name: "wgpu",
        feature: "wgpu",
    })
}

#[cfg(feature = "cuda")]
fn cuda(number: Option<u16>) -> Result<Device, DeviceProblem> {
    Ok(Device::cuda(usize::from(number.unwrap_or(0))))
}

#[cfg(not(feature = "cuda"))]
fn cuda(_: Option<u16>) -> Result<Device, DeviceProblem> {
    Err(DeviceProblem::NotBuilt {
        name: "CUDA",
        feature: "cuda",
    })
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

    fn check_error(name: &str, expected: &str) {
        let error = device(name).err().map(|error| error.to_string());
        assert!(
            error.as_ref().is_some_and(|error| error.contains(expected)),
            "{name}: {error:?}"
        );
    }

    #[test]
    fn the_processor_is_always_there() {
        assert!(device("cpu").is_ok());
    }

    #[test]
    fn unknown_devices_list_the_known() {
        for name in ["tpu", "cpu:0", "cuda:x", "cuda:-1", ""] {
            check_error(name, "known: cpu, wgpu, wgpu:N, cuda, cuda:N");
        }
    }

    #[cfg(not(feature = "cuda"))]
    #[test]
    fn a_device_that_was_not_built_in_says_how_to_build_it() {
        check_error(
            "cuda:0",
            "this bancada was built without CUDA, which `cuda:0` needs: cargo run --release --features cuda",
        );
    }

    #[test]
    fn no_threads_are_refused() {
        assert!(threads(Some(0)).is_err());
        assert_eq!(threads(Some(3)).unwrap().current_num_threads(), 3);
    }
}
