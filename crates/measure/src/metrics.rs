//! The numbers of one run by name.

use std::collections::BTreeMap;

use model::run::{Metric, Phase, metric, phase};

use crate::process::Usage;
use crate::reported_metrics::ReportedMetrics;
use crate::sampler::Sampled;
use crate::sampler::trace::Point;
use crate::story::{LastLoss, Story};

/// All that a run's numbers are made of.
#[derive(Debug)]
pub(crate) struct Facts<'a> {
    pub(crate) seconds: f64,
    pub(crate) phases: &'a [Phase],
    pub(crate) story: &'a Story,
    pub(crate) sampled: &'a Sampled,
    pub(crate) usage: Usage,
    pub(crate) group_cpu_seconds: Option<f64>,
    pub(crate) group_peak_bytes: Option<u64>,
    /// Up to this much, the kernel's peak may be that of this process from before the start.
    pub(crate) own_bytes: u64,
    /// Of who asked a server.
    pub(crate) client_cpu_seconds: Option<f64>,
    /// Cores the run was given.
    pub(crate) cores: f64,
    /// The least of the limit and of what the machine has.
    pub(crate) memory_bytes: u64,
}

impl Facts<'_> {
    /// Where the workload reports a number under a name of ours, what was measured stands.
    pub(crate) fn metrics(&self) -> ReportedMetrics {
        let mut all = self.story.metrics.clone();
        let mut measured = BTreeMap::new();
        let ours = self.of_time().into_iter().chain(self.of_training());
        let ours = ours
            .chain(self.of_cpu())
            .chain(self.of_memory_and_disk())
            .chain(self.of_gpus())
            .chain(self.of_energy());
        for (name, value) in ours {
            let definition = metric::definition(name);
            let unit = definition.map_or("", |metric| metric.unit.symbol());
            if let Some(value) = value.filter(|value| value.is_finite()) {
                let unit = unit.to_owned();
                measured.insert(name.to_owned(), Metric { value, unit });
            }
        }
        all.overrule(measured);
        all
    }

    pub(crate) fn cpu_seconds(&self) -> f64 {
        // Each misses something: the group nothing but is not always there, the kernel's sum
        // what nobody waited for, the samples what came after the last.
        let sampled = self
            .sampled
            .trace
            .last()
            .map_or(0.0, |point| point.run_cpu_seconds);
        self.group_cpu_seconds
            .unwrap_or(self.usage.cpu_seconds.max(sampled))
    }

    /// What passed in the phases that the run is there for; cores and CPU shares are of these.
    pub(crate) fn work(&self) -> Option<Point> {
        let mut work = Point::default();
        // A server's steady state, where it has one: what its first answer takes is kept apart.
        let is_steady = self.phases.iter().any(|p| p.name == phase::WARM);
        let counts = |p: &&Phase| match is_steady {
            true => p.name == phase::WARM,
            false => phase::is_work(&p.name),
        };
        for part in self.phases.iter().filter(counts) {
            let end_seconds = part.begin_seconds + part.seconds;
            let passed = self
                .sampled
                .trace
                .between(part.begin_seconds, end_seconds)?;
            let seconds = part.seconds;
            work = work.plus(1.0, &Point { seconds, ..passed });
        }
        let is_whole = self.phases.len() == 1;
        if is_whole {
            work.run_cpu_seconds = self.cpu_seconds();
        }
        (work.seconds > 0.0).then_some(work)
    }

    fn of_time(&self) -> Vec<Named> {
        let trains = self
            .phases
            .iter()
            .filter(|phase| phase.name == phase::TRAIN);
        let train_seconds = trains.map(|phase| phase.seconds).reduce(|a, b| a + b);
        let images = self.story.steps.images as f64;
        let rate = train_seconds
            .filter(|s| *s > 0.0 && images > 0.0)
            .map(|s| images / s);
        let epochs: Vec<f64> = self.story.epochs.iter().filter_map(|e| e.seconds).collect();
        let mean = epochs.iter().sum::<f64>() / epochs.len() as f64;
        vec![
            (metric::TOTAL_SECONDS, Some(self.seconds)),
            (metric::TRAIN_SECONDS, train_seconds),
            (metric::EPOCH_SECONDS, Some(mean)),
            (metric::STEP_SECONDS, self.story.steps.median_seconds()),
            (metric::FIRST_STEP_SECONDS, self.story.steps.first_seconds),
            (metric::IMAGES_PER_SECOND, rate),
        ]
    }

    fn of_training(&self) -> Vec<Named> {
        let mut epochs = self.story.epochs.iter().rev();
        let loss = match self.story.last_loss() {
            LastLoss::Told(loss) => Some(loss),
            LastLoss::Untold | LastLoss::Lost { .. } => None,
        };
        let accuracy = self
            .story
            .accuracy
            .or_else(|| epochs.find_map(|e| e.accuracy));
        vec![
            (metric::LOSS, loss),
            (metric::ACCURACY, accuracy.map(|fraction| 100.0 * fraction)),
        ]
    }

    fn of_cpu(&self) -> Vec<Named> {
        let work = self.work();
        let cores_used = work.map(|t| t.run_cpu_seconds / t.seconds);
        // Of a run that was over before its first sample, the kernel knows as much.
        let is_whole = self.sampled.samples == 0 && self.phases.len() == 1;
        let cores_used = cores_used.or_else(|| is_whole.then(|| self.cpu_seconds() / self.seconds));
        let machine = work.filter(|t| t.core_seconds > 0.0);
        let machine = machine.map(|t| 100.0 * t.busy_core_seconds / t.core_seconds);
        vec![
            (metric::CPU_SECONDS, Some(self.cpu_seconds())),
            (metric::CLIENT_CPU_SECONDS, self.client_cpu_seconds),
            (metric::CORES_USED, cores_used),
            (
                metric::CPU_PERCENT,
                cores_used.map(|used| 100.0 * used / self.cores),
            ),
            (metric::MACHINE_CPU_PERCENT, machine),
            (metric::SAMPLER_CPU_SECONDS, Some(self.sampled.cpu_seconds)),
        ]
    }

    fn of_memory_and_disk(&self) -> Vec<Named> {
        let peak = self.peak_bytes() as f64;
        let last = self.sampled.last.map(|counters| counters.run);
        let group_peak = self.group_peak_bytes.map(|bytes| bytes as f64);
        let work = self
            .work()
            .filter(|work| work.run_memory_byte_seconds > 0.0);
        let mean = work.map(|work| work.run_memory_byte_seconds / work.seconds);
        vec![
            (
                metric::MEAN_MEMORY_PERCENT,
                mean.map(|bytes| 100.0 * bytes / self.memory_bytes as f64),
            ),
            (metric::PEAK_MEMORY_BYTES, Some(peak)),
            (
                metric::MEMORY_PERCENT,
                Some(100.0 * peak / self.memory_bytes as f64),
            ),
            (metric::GROUP_PEAK_MEMORY_BYTES, group_peak),
            (
                metric::DISK_READ_BYTES,
                last.map(|run| run.read_bytes as f64),
            ),
            (
                metric::DISK_WRITE_BYTES,
                last.map(|run| run.write_bytes as f64),
            ),
        ]
    }

    /// The kernel's high-water mark of the largest process, or the largest sum seen over the
    /// tree. A process begins as a copy of the one that starts it, and the kernel keeps the
    /// copy's size as its first peak: a smaller figure is not believed.
    fn peak_bytes(&self) -> u64 {
        let sampled = self
            .sampled
            .peak_tree_bytes
            .max(self.sampled.leader_high_water_bytes);
        if self.usage.peak_bytes > self.own_bytes || sampled == 0 {
            sampled.max(self.usage.peak_bytes)
        } else {
            sampled
        }
    }

    /// Of a run that was over before its first sample, the kernel may know no more than what this
    /// process held.
    pub(crate) fn knows_peak(&self) -> bool {
        self.sampled.samples > 0 || self.usage.peak_bytes > self.own_bytes
    }

    fn of_gpus(&self) -> Vec<Named> {
        if self.sampled.gpus == 0 {
            return Vec::new();
        }
        let work = self.work();
        vec![
            (
                metric::GPU_PERCENT,
                work.map(|t| t.gpu_percent_seconds / t.seconds),
            ),
            (
                metric::GPU_MEMORY_PERCENT,
                work.map(|t| t.gpu_memory_percent_seconds / t.seconds),
            ),
        ]
    }

    /// Of the whole machine, from the first sample to the last.
    fn of_energy(&self) -> Vec<Named> {
        let sampled = self.sampled;
        let by_power = sampled.trace.whole().map(|point| point.gpu_joules);
        let by_power = by_power.filter(|_| sampled.has_gpu_power);
        let counted = sampled.last.and_then(|counters| counters.joules);
        vec![
            (metric::CPU_ENERGY_JOULES, counted),
            (
                metric::GPU_ENERGY_JOULES,
                sampled.gpu_counter_joules.or(by_power),
            ),
        ]
    }
}

/// Its unit is that of the metric's definition.
type Named = (&'static str, Option<f64>);
