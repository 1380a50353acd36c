//! Whether an environment is over- or undersized, from its resource use during training or load.

use messages::message;
use model::run::{Origin, metric, phase};
use model::serving::WORKER_MB_PER_CORE;
use model::{Environment, LoadShape, Service, Status, Study, Warning};
use serde::Serialize;

use crate::analysis::ScenarioResult;
use crate::scenarios::rows_of;
use crate::serving::load_of;
use crate::table::{Row, Table};
use crate::words::format;

/// Of one environment: the most that any of its runs used.
#[derive(Debug, Clone, Serialize)]
pub struct Provisioning {
    pub environment: String,
    /// Whose use says something.
    pub runs: usize,
    pub cpu_percent: f64,
    pub memory_percent: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_memory_percent: Option<f64>,
    /// Other runs that did not fit in memory.
    pub out_of_memory: usize,
    pub verdict: Fit,
    pub sentence: String,
}

/// How a place fits its load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fit {
    TooLarge,
    Fits,
    TooSmall,
    /// The GPU waits for a CPU that is full.
    StarvedGpu,
}

/// Of a run: with fewer readings than this, a peak may lie between two of them.
const LEAST_SAMPLES: f64 = 4.0;
/// Beyond nine tenths, queues grow and the kernel ends processes.
const FULL: f64 = 90.0;
/// A machine at the next smaller size has half of everything: what fits there twice over is too
/// large here.
const HALF: f64 = 45.0;

pub(crate) fn provisioning(table: &Table, scenarios: &[ScenarioResult]) -> Vec<Provisioning> {
    // Of workers elsewhere nothing is sampled here.
    let is_here = |environment: &&Environment| environment.hosts.is_none();
    let environments = table.study.environments.iter().filter(is_here);
    environments
        .filter_map(|environment| of_environment(table, scenarios, environment))
        .collect()
}

fn of_environment(
    table: &Table,
    scenarios: &[ScenarioResult],
    environment: &Environment,
) -> Option<Provisioning> {
    let service = environment.service.as_ref();
    let mut most: Option<Used> = None;
    let (mut runs, mut out_of_memory) = (0, 0);
    let own = |s: &&ScenarioResult| s.environment == environment.name;
    for scenario in scenarios.iter().filter(own) {
        let kind = Kind::of(table.study, scenario);
        for row in rows_of(table, scenario.number) {
            out_of_memory += usize::from(row.status() == Some(Status::OutOfMemory));
            let samples = work_seconds(row) / table.study.measure.interval_seconds;
            let says = row.is_ok()
                && is_measured_here(row)
                && !was_held_back(row)
                && samples >= LEAST_SAMPLES;
            let Some(used) = Used::of(row, kind, service).filter(|_| says) else {
                continue;
            };
            runs += 1;
            most = Some(most.map_or(used, |most| most.or_more(used)));
        }
    }
    let used = most?;
    let serves = table.study.workload.as_serve().is_some();
    let mut found = Provisioning {
        environment: environment.name.clone(),
        runs,
        cpu_percent: used.cpu,
        memory_percent: used.memory,
        gpu_percent: used.gpu,
        gpu_memory_percent: used.gpu_memory,
        out_of_memory,
        verdict: fit(&used, serves, out_of_memory > 0),
        sentence: String::new(),
    };
    found.sentence = sentence(&found, serves);
    Some(found)
}

/// What a run's use can be taken for.
#[derive(Clone, Copy)]
enum Kind {
    /// It uses what it can get.
    Works,
    /// It waits to be asked.
    Answers(LoadShape),
}

impl Kind {
    fn of(study: &Study, scenario: &ScenarioResult) -> Self {
        match study.workload.as_serve() {
            Some(_) => Kind::Answers(load_of(study, scenario)),
            None => Kind::Works,
        }
    }
}

/// In percent of what the run was given.
#[derive(Clone, Copy)]
struct Used {
    cpu: f64,
    memory: f64,
    gpu: Option<f64>,
    gpu_memory: Option<f64>,
}

impl Used {
    fn of(row: &Row, kind: Kind, service: Option<&Service>) -> Option<Self> {
        let cpu = match kind {
            Kind::Works => told(row, metric::CPU_PERCENT),
            Kind::Answers(load) => busy_percent(row, load, service),
        };
        Some(Used {
            cpu: cpu?,
            memory: memory_percent(row, service)?,
            gpu: told(row, metric::GPU_PERCENT),
            gpu_memory: told(row, metric::GPU_MEMORY_PERCENT),
        })
    }

    fn or_more(self, other: Used) -> Used {
        let more = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.max(other)),
            (one, other) => one.or(other),
        };
        Used {
            cpu: self.cpu.max(other.cpu),
            memory: self.memory.max(other.memory),
            gpu: more(self.gpu, other.gpu),
            gpu_memory: more(self.gpu_memory, other.gpu_memory),
        }
    }
}

fn told(row: &Row, name: &str) -> Option<f64> {
    let metric = row.record.metrics.get(name)?;
    Some(metric.value).filter(|value| value.is_finite())
}

/// Of a server elsewhere nothing is known but its answers, of an imported run not how it was
/// watched.
fn is_measured_here(row: &Row) -> bool {
    let serving = row.record.serving.as_ref();
    let is_elsewhere = serving.is_some_and(|serving| serving.is_elsewhere);
    let is_imported = matches!(row.record.origin, Origin::Imported { .. });
    !is_elsewhere && !is_imported
}

/// By others on the machine, or by its client: what it used is not what it would have used.
fn was_held_back(row: &Row) -> bool {
    row.record.warnings.iter().any(|warning| {
        matches!(
            warning,
            Warning::MachineBusy { .. }
                | Warning::FewerCores { .. }
                | Warning::Stolen { .. }
                | Warning::ClientLimited { .. }
        )
    })
}

fn work_seconds(row: &Row) -> f64 {
    let phases = row.record.phases.iter();
    let work = phases.filter(|phase| phase::is_work(&phase.name));
    work.map(|phase| phase.seconds).sum()
}

/// CPU time over the time in which there was something to answer: pauses of a series say nothing of
/// a machine's size. `None` if the load says nothing of it, either: a closed loop fills any machine,
/// and a cold one starts workers.
fn busy_percent(row: &Row, load: LoadShape, service: Option<&Service>) -> Option<f64> {
    let used = told(row, metric::CORES_USED)?;
    let percent = told(row, metric::CPU_PERCENT).filter(|percent| *percent > 0.0)?;
    let given = match service {
        Some(Service::Serverless(serverless)) => {
            (f64::from(serverless.memory_mb) / WORKER_MB_PER_CORE).min(100.0 * used / percent)
        }
        _ => 100.0 * used / percent,
    };
    match (load, service) {
        (LoadShape::Warm | LoadShape::RealTime, _) => {
            let warm = row.record.phases.iter().filter(|p| p.name == phase::WARM);
            let asked: f64 = warm.map(|p| p.seconds).sum();
            let busy = told(row, metric::BUSY_SECONDS).filter(|busy| *busy > 0.0)?;
            Some((100.0 * used * asked / busy / given).min(100.0))
        }
        (LoadShape::Rate | LoadShape::Poisson | LoadShape::Trace, None) => Some(percent),
        _ => None,
    }
}

/// Of a worker on demand: the emulator's processes together, over the memory that one has.
fn memory_percent(row: &Row, service: Option<&Service>) -> Option<f64> {
    match service {
        Some(Service::Serverless(serverless)) => {
            let bytes = told(row, metric::PEAK_MEMORY_BYTES)?;
            Some(100.0 * bytes / (f64::from(serverless.memory_mb) * 1_048_576.0))
        }
        _ => told(row, metric::MEMORY_PERCENT),
    }
}

/// Who serves must have something left for the next request; who trains is there to fill the
/// machine. Memory of a GPU says little when it is full: some frameworks take all of it at once.
fn fit(used: &Used, serves: bool, out_of_memory: bool) -> Fit {
    let half = |percent: Option<f64>| percent.is_none_or(|percent| percent <= HALF);
    let cpu_is_full = used.cpu >= FULL;
    if used.memory >= FULL || out_of_memory || (serves && cpu_is_full) {
        Fit::TooSmall
    } else if cpu_is_full && used.gpu.is_some_and(|gpu| gpu <= HALF) {
        Fit::StarvedGpu
    } else if used.cpu <= HALF && used.memory <= HALF && half(used.gpu) && half(used.gpu_memory) {
        Fit::TooLarge
    } else {
        Fit::Fits
    }
}

fn sentence(found: &Provisioning, serves: bool) -> String {
    let whole = format::whole;
    let environment = &found.environment;
    if let (Fit::StarvedGpu, Some(gpu)) = (found.verdict, found.gpu_percent) {
        return message!("size-gpu-starved", environment, gpu = whole(gpu));
    }
    let mut parts = vec![
        message!("size-cpu", percent = whole(found.cpu_percent)),
        message!("size-memory", percent = whole(found.memory_percent)),
    ];
    parts.extend(
        found
            .gpu_percent
            .map(|gpu| message!("size-gpu", percent = whole(gpu))),
    );
    let used = parts.join(", ");
    let judged = match found.verdict {
        Fit::TooLarge => "too-large",
        Fit::Fits | Fit::StarvedGpu => "fits",
        Fit::TooSmall if found.out_of_memory > 0 => "others-too-large",
        Fit::TooSmall if found.memory_percent >= FULL => "memory-is-small",
        Fit::TooSmall => "cpu-is-full",
    };
    message!("size-judged", environment, serves, used, judged)
}
