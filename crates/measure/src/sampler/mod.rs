//! Samples beside the run, on a thread of its own.

mod disk;
mod file;
pub(crate) mod gpu;
mod member;
pub(crate) mod memory;
mod network;
mod pressure;
pub(crate) mod probe;
pub(crate) mod rapl;
mod rows;
pub(crate) mod stat;
pub(crate) mod task;
pub(crate) mod trace;
pub(crate) mod tree;

pub(crate) use host::limits::bytes::value;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use host::limits::cgroup::ForeignGroup;
use model::Sample;

use crate::container::Counts;
use crate::error::MeasureError;
use crate::samples;
use probe::{Counters, Probe};
use rows::Rows;
use trace::{Point, Trace};

/// Samples asked for beside the clock come no closer than this.
const CLOSEST: Duration = Duration::from_millis(5);
/// The kernel's peak only rises, so that it need not be read with every sample.
const PEAK_EVERY: Duration = Duration::from_millis(200);
const FLUSH_EVERY: Duration = Duration::from_secs(1);
/// The file's buffer is written out at this size, whatever the time.
const FLUSH_BYTES: usize = 64 * 1024;

/// What the run's thread tells the sampler's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SampleRequest {
    /// One more now: a phase began, and its border should be sharp.
    Now,
    /// The run's processes are these, from now on.
    Follow(ForeignGroup),
    /// The process has ended and was not waited for yet: take the last sample.
    Last,
}

/// What one run's sampling needs.
#[derive(Debug)]
pub(crate) struct Sampling {
    pub(crate) probe: Probe,
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    pub(crate) interval: Duration,
    pub(crate) start: Instant,
    /// Up to this much, the kernel's peak may be that of this process from before the start.
    pub(crate) own_bytes: u64,
}

/// What the samples say together.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Sampled {
    pub(crate) trace: Trace,
    pub(crate) first: Option<Counters>,
    pub(crate) last: Option<Counters>,
    pub(crate) samples: u64,
    pub(crate) peak_tree_bytes: u64,
    pub(crate) leader_high_water_bytes: u64,
    pub(crate) most_swap_used_bytes: u64,
    pub(crate) gpus: u32,
    pub(crate) has_gpu_power: bool,
    /// By the GPUs' own counters, where all of them have one.
    pub(crate) gpu_counter_joules: Option<f64>,
    pub(crate) late: u64,
    pub(crate) worst_gap_seconds: f64,
    /// CPU time of the sampler's thread.
    pub(crate) cpu_seconds: f64,
}

/// Samples until the last is asked for or nobody listens any more.
pub(crate) fn sample_until_last(
    mut sampling: Sampling,
    wishes: &Receiver<SampleRequest>,
    samples: &Sender<Sample>,
) -> Result<Sampled, MeasureError> {
    let mut writer = Writer::new(&sampling)?;
    let mut rows = Rows::new(sampling.interval.as_secs_f64());
    let mut sampled = Sampled {
        gpus: sampling.probe.gpus(),
        ..Sampled::default()
    };
    let mut schedule = Schedule::new(sampling.interval);
    let mut is_last = false;
    let mut next_peak = sampling.start;
    let gpus_before = sampling.probe.gpu_counter_joules();
    loop {
        let now = Instant::now();
        let seconds = now.duration_since(sampling.start).as_secs_f64();
        let units = sampling.probe.units();
        let place = rows.place(seconds, is_last);
        let reading = sampling.probe.read(seconds, rows.since(place));
        sampled.take(reading.sample, &reading.counters, units.ticks_per_second);
        if let Some(row) = rows.take(place, reading.sample, reading.counters) {
            writer.write(&row, now)?;
            // A listener that went away is reported by the channel of wishes.
            let _ = samples.send(row);
        }
        let is_small = reading.sample.run.memory_bytes <= sampling.own_bytes;
        if is_small && now >= next_peak {
            next_peak = now + PEAK_EVERY;
            let high = sampling.probe.leader_high_water_bytes().unwrap_or(0);
            sampled.leader_high_water_bytes = sampled.leader_high_water_bytes.max(high);
        }
        if is_last {
            break;
        }
        match schedule.wait(now, wishes) {
            Some(SampleRequest::Last) => is_last = true,
            Some(SampleRequest::Follow(group)) => {
                let files = group.sampled_files();
                sampling
                    .probe
                    .follow(Path::new("/proc"), group.leader, files);
            }
            Some(SampleRequest::Now) | None => {}
        }
    }
    if let Some(row) = rows.finish() {
        writer.write(&row, Instant::now())?;
        let _ = samples.send(row);
    }
    writer.flush()?;
    let gpus_after = sampling.probe.gpu_counter_joules();
    let gpus = gpus_before.zip(gpus_after);
    sampled.gpu_counter_joules = gpus.map(|(before, after)| after - before);
    sampled.late = schedule.late;
    sampled.worst_gap_seconds = schedule.worst.as_secs_f64();
    sampled.cpu_seconds = thread_cpu_seconds();
    Ok(sampled)
}

impl Sampled {
    pub(crate) fn count_high_water(&mut self, bytes: u64) {
        self.leader_high_water_bytes = self.leader_high_water_bytes.max(bytes);
    }

    /// A container's group is gone when its last sample is taken.
    pub(crate) fn count_container(&mut self, counts: &Counts) {
        self.count_high_water(counts.peak_bytes);
        if let Some(cpu_seconds) = counts.cpu_seconds {
            self.trace.count_last(counts.at_seconds, cpu_seconds);
        }
    }

    fn take(&mut self, sample: &Sample, counters: &Counters, ticks_per_second: f64) {
        let point = self.point(sample, counters, ticks_per_second);
        self.trace.push(point);
        self.first.get_or_insert(*counters);
        self.last = Some(*counters);
        self.samples += 1;
        self.peak_tree_bytes = self.peak_tree_bytes.max(sample.run.memory_bytes);
        let swapped = sample.machine.swap_used_bytes;
        self.most_swap_used_bytes = self.most_swap_used_bytes.max(swapped);
    }

    fn point(&mut self, sample: &Sample, counters: &Counters, ticks_per_second: f64) -> Point {
        let before = self.trace.last().unwrap_or_default();
        let passed = if self.samples == 0 {
            0.0
        } else {
            sample.seconds - before.seconds
        };
        let mean = |of: &dyn Fn(&model::sample::GpuSample) -> f64| {
            sample.gpus.iter().map(of).sum::<f64>() / (sample.gpus.len().max(1)) as f64
        };
        let memory = |gpu: &model::sample::GpuSample| {
            100.0 * gpu.memory_used_bytes as f64 / gpu.memory_total_bytes.max(1) as f64
        };
        self.has_gpu_power |= sample.gpus.iter().any(|gpu| gpu.power_watts.is_some());
        let watts: f64 = sample.gpus.iter().filter_map(|gpu| gpu.power_watts).sum();
        Point {
            seconds: sample.seconds,
            run_cpu_seconds: counters.run.cpu_seconds,
            run_waited_seconds: counters.run.waited_seconds,
            busy_core_seconds: counters.cpu.busy as f64 / ticks_per_second,
            stolen_core_seconds: counters.cpu.steal as f64 / ticks_per_second,
            core_seconds: counters.cpu.total as f64 / ticks_per_second,
            run_memory_byte_seconds: before.run_memory_byte_seconds
                + passed * sample.run.memory_bytes as f64,
            gpu_percent_seconds: before.gpu_percent_seconds
                + passed * mean(&|gpu| gpu.used_percent),
            gpu_memory_percent_seconds: before.gpu_memory_percent_seconds + passed * mean(&memory),
            gpu_joules: before.gpu_joules + passed * watts,
        }
    }
}

/// When the next sample is due, and how well that was kept.
#[derive(Debug)]
struct Schedule {
    interval: Duration,
    due: Option<Instant>,
    last_regular: Option<Instant>,
    late: u64,
    worst: Duration,
}

impl Schedule {
    fn new(interval: Duration) -> Self {
        Schedule {
            interval,
            due: None,
            last_regular: None,
            late: 0,
            worst: Duration::ZERO,
        }
    }

    /// Waits for the next moment to sample after one taken at `now`.
    fn wait(&mut self, now: Instant, wishes: &Receiver<SampleRequest>) -> Option<SampleRequest> {
        let due = *self.due.get_or_insert(now);
        if now >= due {
            self.judge(now);
            // Missed moments are left out rather than made up for in a burst.
            let missed = (now - due).as_nanos() / self.interval.as_nanos().max(1);
            let steps = u32::try_from(missed + 1).unwrap_or(u32::MAX);
            self.due = Some(due + self.interval * steps);
        }
        loop {
            let left = self
                .due
                .unwrap_or(now)
                .saturating_duration_since(Instant::now());
            match wishes.recv_timeout(left) {
                Ok(SampleRequest::Now) if now.elapsed() < CLOSEST => {}
                Ok(wish) => return Some(wish),
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => return Some(SampleRequest::Last),
            }
        }
    }

    fn judge(&mut self, now: Instant) {
        if let Some(last) = self.last_regular.replace(now) {
            let gap = now - last;
            self.worst = self.worst.max(gap);
            self.late += u64::from(gap > self.interval + self.interval / 2);
        }
    }
}

#[derive(Debug)]
struct Writer {
    file: File,
    path: PathBuf,
    rows: Vec<u8>,
    flushed: Instant,
}

impl Writer {
    fn new(sampling: &Sampling) -> Result<Self, MeasureError> {
        let path = sampling.path.clone();
        let file = sampling
            .file
            .try_clone()
            .map_err(MeasureError::folder(&path))?;
        let rows = samples::header(sampling.probe.gpus()).into_bytes();
        Ok(Writer {
            file,
            path,
            rows,
            flushed: Instant::now(),
        })
    }

    fn write(&mut self, sample: &Sample, now: Instant) -> Result<(), MeasureError> {
        samples::write_row(sample, &mut self.rows);
        if self.rows.len() >= FLUSH_BYTES || now.duration_since(self.flushed) >= FLUSH_EVERY {
            self.flush()?;
            self.flushed = now;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), MeasureError> {
        self.file
            .write_all(&self.rows)
            .map_err(MeasureError::folder(&self.path))?;
        self.rows.clear();
        Ok(())
    }
}

/// CPU seconds of the calling thread.
pub fn thread_cpu_seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock exists on every Linux and writes only into `time`.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// What this process holds, which a process that it starts first holds too. A little more, since
/// it goes on growing up to the start.
pub(crate) fn own_resident_bytes() -> u64 {
    let text = std::fs::read("/proc/self/status").unwrap_or_default();
    let bytes = value(&text, b"VmRSS:").unwrap_or(0).saturating_mul(1024);
    bytes.saturating_add(bytes / 10).saturating_add(1 << 20)
}

/// Cores of the whole machine, also where this process may use fewer.
pub(crate) fn machine_cores() -> u32 {
    stat::cores(&std::fs::read("/proc/stat").unwrap_or_default()).max(1)
}
