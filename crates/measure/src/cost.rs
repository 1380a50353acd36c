//! What sampling itself costs on this machine.

use std::io;
use std::path::Path;

use host::limits::cgroup::GroupFiles;

use crate::sampler::probe::{Parts, Probe};
use crate::sampler::thread_cpu_seconds;
use crate::samples;

/// What is read in one sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampledSet {
    /// `/proc/stat`, `meminfo`, `diskstats`, `net/dev` and, of each process of the tree, its
    /// CPU time and memory.
    Basic,
    /// All that a run's sample holds, and writing it down.
    Whole,
}

/// CPU seconds of this thread for one sample of a process tree, on average over `samples`.
pub fn sampling_cpu_seconds(leader: i32, set: SampledSet, samples: u32) -> io::Result<f64> {
    let proc = Path::new("/proc");
    let parts = match set {
        SampledSet::Basic => Parts::BASIC,
        SampledSet::Whole => Parts::ALL,
    };
    let mut probe = Probe::open(proc, parts)?;
    probe.follow(proc, leader, GroupFiles::default());
    let mut row = Vec::new();
    // The first reading opens what later ones keep open.
    let mut last = probe.read(0.0, None).counters;
    let begin = thread_cpu_seconds();
    for number in 1..=samples {
        let reading = probe.read(f64::from(number), Some(last));
        last = reading.counters;
        if set == SampledSet::Whole {
            row.clear();
            samples::write_row(reading.sample, &mut row);
        }
    }
    Ok((thread_cpu_seconds() - begin) / f64::from(samples.max(1)))
}
