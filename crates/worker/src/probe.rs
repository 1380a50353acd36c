//! What a machine can do: training steps of small networks, in processes that are held to the cores
//! of the question, by the embedded engine and by every framework that is asked for.

use std::fs;
use std::path::Path;

use frameworks::{Kind, Spec};
use measure::Stop;
use model::job::{ProbeJob, ProbeNetwork, ProbeReport, StepSeconds};
use model::profile::{FrameworkProbe, HostRates, Measured, StepTime};
use model::study::Limits;
use model::{LayerWork, Optimizer, TrainJob, WorkKind};
use network::Graph;

use crate::bind::{Context, start};
use crate::error::WorkError;
use crate::reported::Reported;

const ONE_CORE_ROUNDS: u32 = 2;
const TURN_SECONDS: f64 = 0.3;
/// A framework may compile twelve networks first.
const TIMEOUT_SECONDS: f64 = 900.0;
/// Numbers that Adam keeps beside each parameter.
const ADAM_SLOTS: u32 = 2;
const SEED: u64 = 1;

/// A network whose steps are measured.
#[derive(Debug, Clone)]
pub struct Subject {
    pub name: String,
    /// Of networks that are mostly one kind.
    pub kind: Option<WorkKind>,
    pub graph: Graph,
    pub batch: u32,
    work: Vec<LayerWork>,
}

impl Subject {
    /// Of the user's.
    pub fn new(name: &str, graph: Graph, batch: u32) -> Result<Self, network::NotProbed> {
        Ok(Subject {
            name: name.to_owned(),
            kind: None,
            work: graph.training_work(batch, ADAM_SLOTS)?,
            graph,
            batch,
        })
    }

    /// Those that every probe has.
    pub fn all() -> Vec<Self> {
        let made = network::probe_networks().into_iter();
        made.filter_map(|probed| {
            let subject = Subject::new(probed.name, probed.graph, probed.batch).ok()?;
            Some(Subject {
                kind: Some(probed.kind),
                ..subject
            })
        })
        .collect()
    }
}

/// What one process is asked.
pub struct ProbeQuestion<'a> {
    pub spec: &'a Spec,
    pub subjects: &'a [Subject],
    /// That it may use; `None` for all.
    pub cores: Option<f64>,
    /// Whether one core is compared with all: fewer networks, fewer rounds.
    pub one_core: bool,
    /// Turns of each network.
    pub rounds: u32,
}

/// What came of it.
pub struct Probed {
    pub framework: FrameworkProbe,
    pub host: HostRates,
    /// Cores that the process really had.
    pub cores: f64,
}

/// `folder` is for scratch.
pub fn probe(
    question: &ProbeQuestion<'_>,
    context: Context<'_>,
    folder: &Path,
    stop: &Stop,
) -> Result<Result<Probed, String>, WorkError> {
    let spec = question.spec;
    let cores = if question.one_core {
        Some(1.0)
    } else {
        question.cores
    };
    let given = cores.unwrap_or(f64::MAX).min(measure::usable_cores());
    let is_asked = |subject: &&Subject| !question.one_core || subject.is_large();
    let subjects: Vec<&Subject> = question.subjects.iter().filter(is_asked).collect();
    let folder = folder.join(format!("{spec}-{given}"));
    fs::create_dir_all(&folder).map_err(|e| WorkError::write(&folder, e))?;
    let job = job(question, &subjects, given, &folder)?;
    let start = match start(spec, &job, context) {
        Ok(start) => start,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let reported = Reported {
        start,
        job: &job,
        folder: &folder,
        report: &folder.join("report.json"),
        limits: Limits {
            cores,
            memory_bytes: None,
        },
        timeout_seconds: TIMEOUT_SECONDS,
    };
    let report = reported.carry_out(stop)?;
    Ok(report.and_then(|report| probed(question, &subjects, &job, report, given)))
}

impl Subject {
    fn is_large(&self) -> bool {
        self.name.ends_with("-large")
    }
}

fn job(
    question: &ProbeQuestion<'_>,
    subjects: &[&Subject],
    cores: f64,
    folder: &Path,
) -> Result<TrainJob, WorkError> {
    let mut networks = Vec::new();
    for subject in subjects {
        let network = serde_json::to_value(&subject.graph).map_err(|e| WorkError::Network {
            network: subject.name.clone(),
            why: e.to_string(),
        })?;
        networks.push(ProbeNetwork {
            name: subject.name.clone(),
            network,
            batch: subject.batch,
        });
    }
    let is_engine = question.spec.framework.kind == Kind::Engine;
    Ok(TrainJob {
        framework: question.spec.name().to_owned(),
        // So slowly that no loss runs away: numbers that are NaN or tiny take other times.
        optimizer: Optimizer::Adam {
            learning_rate: 1e-6,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-7,
        },
        threads: Some(cores.ceil().max(1.0) as u32),
        probe: Some(ProbeJob {
            networks,
            rounds: match question.one_core {
                true => question.rounds.min(ONE_CORE_ROUNDS),
                false => question.rounds,
            },
            turn_seconds: TURN_SECONDS,
            host: is_engine && !question.one_core,
            report: folder.join("report.json"),
        }),
        ..TrainJob::plain(serde_json::Value::Null, SEED)
    })
}

fn probed(
    question: &ProbeQuestion<'_>,
    subjects: &[&Subject],
    job: &TrainJob,
    report: ProbeReport,
    cores: f64,
) -> Result<Probed, String> {
    let mut steps = Vec::new();
    for (subject, rounds) in subjects.iter().zip(&report.rounds) {
        let median = |of: fn(&StepSeconds) -> f64| {
            let values: Vec<f64> = rounds.iter().map(of).collect();
            Measured::of(&values)
                .ok_or_else(|| format!("it reported no time for `{}`", subject.name))
        };
        steps.push(StepTime {
            network: subject.name.clone(),
            kind: subject.kind,
            batch: subject.batch,
            work: subject.work.clone(),
            seconds: median(|round| round.seconds)?,
            cpu_seconds: median(|round| round.cpu_seconds)?,
        });
    }
    if steps.len() < subjects.len() {
        return Err(format!(
            "it reported {} of {} networks",
            steps.len(),
            subjects.len()
        ));
    }
    Ok(Probed {
        framework: FrameworkProbe {
            framework: question.spec.to_string(),
            version: report.version,
            threads: job.threads,
            steps,
        },
        host: report.host,
        cores,
    })
}
