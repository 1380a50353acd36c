//! A scenario → the command, variables and job file of its run.

use std::fmt;
use std::path::{Path, PathBuf};

use data::DataError;
use frameworks::{
    Framework, Home, HomeError, Kind, Machine, NotSetUp, SetupError, Spec, SpecError,
};
use model::job::{DataJob, JOB_PROTOCOL};
use model::study::LogPattern;
use model::{
    CommandWorkload, Environment, Limits, Scenario, Study, TrainJob, TrainWorkload, Warning,
    Workload,
};
use network::{Graph, InputSpec};

use crate::datasets::Datasets;
use crate::hosts::{self, HostError};
use crate::serving::{Asks, Models, prepare_serving};

/// Everything `measure` needs to know of a run's workload.
#[derive(Debug, Clone)]
pub struct PreparedRun {
    pub command: Vec<String>,
    pub env: Vec<(String, String)>,
    pub directory: Option<PathBuf>,
    pub log: Vec<LogPattern>,
    pub environment: Environment,
    /// For the embedded engine and the adapters; written beside the run as `job.json`.
    pub job: Option<TrainJob>,
    /// Whether the trained weights stay with the results.
    pub keep_model: bool,
    /// What trains, by its name alone.
    pub framework: Option<Trainer>,
    /// Of a run that serves: who asks.
    pub asks: Option<Asks>,
    /// What is known of it before it runs.
    pub warnings: Vec<Warning>,
}

/// What trains which network.
#[derive(Debug, Clone)]
pub struct Trainer {
    pub framework: &'static Framework,
    /// As the study names it.
    pub network: String,
    /// Of what is set up here; none where it is not known before it runs.
    pub version: Option<String>,
    /// With everything computed.
    pub graph: Graph,
}

impl PreparedRun {
    /// Nothing to do yet, there.
    pub(crate) fn new(environment: Environment) -> Self {
        PreparedRun {
            command: Vec::new(),
            env: Vec::new(),
            directory: None,
            log: Vec::new(),
            environment,
            job: None,
            keep_model: true,
            framework: None,
            asks: None,
            warnings: Vec::new(),
        }
    }

    pub(crate) fn makes_endpoint(&self) -> bool {
        self.asks.as_ref().is_some_and(Asks::makes_endpoint)
    }

    pub fn limits(&self) -> &Limits {
        &self.environment.limits
    }

    pub fn device(&self) -> Option<&str> {
        self.job
            .as_ref()
            .map(|job| job.device.as_str())
            .or(self.environment.device.as_deref())
    }
}

/// What preparing needs beside the study.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The program that holds the embedded engine: this one.
    pub bancada: &'a Path,
    /// Paths in the study are relative to its file's folder.
    pub study_folder: &'a Path,
    /// Environments of frameworks, adapters, datasets and their caches.
    pub home: &'a Home,
    /// What was found out of them already.
    pub datasets: &'a Datasets,
    /// The same of models to serve.
    pub models: &'a Models,
    /// Whether endpoints at a provider are used where a study describes them, and paid for.
    pub real: bool,
}

/// The same seed for all scenarios: initial weights and order of images then do not differ
/// between what is compared; it differs between repetitions, so that the spread is honest.
pub fn prepare(
    study: &Study,
    scenario: &Scenario,
    repetition: u32,
    surroundings: Surroundings<'_>,
) -> Result<PreparedRun, WorkloadError> {
    let resolved = plan::resolve(study, scenario);
    match resolved.workload {
        Workload::Train(train) => {
            let seed = study.seed.wrapping_add(u64::from(repetition - 1));
            prepare_training(study, &train, resolved.environment, seed, surroundings)
        }
        Workload::Serve(serve) => {
            let seed = study.seed.wrapping_add(u64::from(repetition - 1));
            prepare_serving(&serve, resolved.environment, seed, surroundings)
        }
        Workload::Command(command) if command.command.is_empty() => Err(WorkloadError::Nothing),
        Workload::Command(command) => {
            Ok(prepare_command(command, resolved.environment, surroundings))
        }
    }
}

fn prepare_command(
    workload: CommandWorkload,
    environment: Environment,
    surroundings: Surroundings<'_>,
) -> PreparedRun {
    let directory = match workload.directory {
        Some(directory) => surroundings.study_folder.join(directory),
        None => surroundings.study_folder.to_owned(),
    };
    PreparedRun {
        command: workload.command,
        env: workload.env.into_iter().collect(),
        directory: Some(directory),
        log: workload.log,
        ..PreparedRun::new(environment)
    }
}

fn prepare_training(
    study: &Study,
    train: &TrainWorkload,
    environment: Environment,
    seed: u64,
    surroundings: Surroundings<'_>,
) -> Result<PreparedRun, WorkloadError> {
    let Described {
        spec,
        graph,
        data_dir,
        image,
    } = described(study, train, surroundings)?;
    let network = serde_json::to_value(&graph).map_err(|e| WorkloadError::Network {
        network: train.network.clone(),
        why: e.to_string(),
    })?;
    let hosts = hosts::of_workers(&environment, train.workers);
    // More threads than there are cores would measure their waiting for each other.
    let given = |cores: f64| cores.min(measure::usable_cores()).ceil().max(1.0) as u32;
    let together = environment.limits.cores.map(given);
    let shared = || (train.workers > 1).then(|| given(f64::MAX));
    // Each worker has its share of them; no host has more workers than the first.
    let here = hosts.as_ref().map_or(train.workers, hosts::workers_here);
    let each = |threads: u32| (threads / here.max(1)).max(1);
    let threads = train.threads.or(together.or_else(shared).map(each));
    let device = environment
        .device
        .clone()
        .unwrap_or_else(|| train.device.clone());
    let mut job = TrainJob {
        protocol: JOB_PROTOCOL,
        framework: spec.name().to_owned(),
        network,
        data: DataJob {
            dataset: train.dataset.clone(),
            data_dir,
            image,
            images: train.images,
            held_out: train.held_out,
            seed: study.seed,
            cache: None,
            pipeline: train.pipeline,
        },
        epochs: train.epochs,
        batch: train.batch,
        optimizer: train.optimizer.clone(),
        threads,
        device,
        seed,
        weights: None,
        precision: train.precision,
        compile: train.compile,
        workers: train.workers,
        hosts,
        accuracy_each_epoch: study.target_accuracy_percent.is_some(),
        profile: train.profile,
        checkpoint: None,
        verify: None,
    };
    let Start {
        command,
        env,
        version,
    } = start(&spec, &job, surroundings)?;
    if let Some(hosts) = &mut job.hosts {
        hosts.variables = env.iter().map(|(name, _)| name.clone()).collect();
    }
    Ok(PreparedRun {
        command,
        env,
        job: Some(job),
        keep_model: train.keep_model,
        framework: Some(Trainer {
            framework: spec.framework,
            network: train.network.clone(),
            version,
            graph,
        }),
        ..PreparedRun::new(environment)
    })
}

/// What is trained in what, before it is asked whether that can be done here.
pub(crate) struct Described {
    pub(crate) spec: Spec,
    pub(crate) graph: Graph,
    data_dir: Option<PathBuf>,
    image: u32,
}

pub(crate) fn described(
    study: &Study,
    train: &TrainWorkload,
    surroundings: Surroundings<'_>,
) -> Result<Described, WorkloadError> {
    let spec = Spec::parse(&train.framework).map_err(WorkloadError::Framework)?;
    let data_dir = data_dir(train, surroundings);
    let info = surroundings
        .datasets
        .describe(&train.dataset, data_dir.as_deref())
        .map_err(WorkloadError::Data)?;
    let image = train.image.unwrap_or(info.side);
    let input = InputSpec {
        channels: info.channels,
        height: image,
        width: image,
        classes: info.classes,
    };
    let graph = describe(&train.network, study)?.instantiate(input);
    let graph = graph.map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        WorkloadError::Network {
            network: train.network.clone(),
            why: problems.join("; "),
        }
    })?;
    Ok(Described {
        spec,
        graph,
        data_dir,
        image,
    })
}

/// Its own, or where `bancada data fetch` puts it.
fn data_dir(train: &TrainWorkload, surroundings: Surroundings<'_>) -> Option<PathBuf> {
    match &train.data_dir {
        Some(dir) => Some(surroundings.study_folder.join(dir)),
        None => data::info(&train.dataset)
            .filter(|info| info.needs_folder)
            .map(|info| data::fetched_folder(surroundings.home.path(), info.name)),
    }
}

/// How a framework's process is started.
pub(crate) struct Start {
    pub(crate) command: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) version: Option<String>,
}

pub(crate) fn start(
    spec: &Spec,
    job: &TrainJob,
    surroundings: Surroundings<'_>,
) -> Result<Start, WorkloadError> {
    let own = |word: &str| Start {
        command: vec![
            surroundings.bancada.to_string_lossy().into_owned(),
            word.to_owned(),
        ],
        env: Vec::new(),
        version: None,
    };
    match spec.framework.kind {
        Kind::Engine => Ok(own("engine-train")),
        Kind::Caffe if Machine::here().caffe.is_none() => Err(WorkloadError::NoCaffe),
        Kind::Caffe => Ok(own("caffe-train")),
        // The plan names nothing that only serves.
        Kind::Python | Kind::Serving | Kind::Stack => start_adapter(spec, job, surroundings.home),
    }
}

fn start_adapter(spec: &Spec, job: &TrainJob, home: &Home) -> Result<Start, WorkloadError> {
    let installed = home.interpreter(spec).map_err(WorkloadError::NotSetUp)?;
    let adapters = home.adapters().map_err(WorkloadError::Home)?;
    let adapter = adapters.join(spec.framework.adapter.as_deref().unwrap_or_default());
    let mut command = vec![installed.python.to_string_lossy().into_owned()];
    // PyTorch's own launcher; the others, and all of them over hosts, start their workers themselves.
    if job.workers > 1 && job.hosts.is_none() && spec.name() == "pytorch" {
        let launcher = ["-m", "torch.distributed.run", "--standalone"].map(str::to_owned);
        command.extend(launcher);
        command.push(format!("--nproc-per-node={}", job.workers));
    }
    command.push(adapter.to_string_lossy().into_owned());
    let mut env = installed.variables;
    if let Some(threads) = job.threads {
        let variables = THREAD_VARIABLES.iter();
        env.extend(variables.map(|name| ((*name).to_owned(), threads.to_string())));
    }
    Ok(Start {
        command,
        env,
        version: Some(installed.version),
    })
}

/// What frameworks and their libraries take the number of threads from before they are asked.
const THREAD_VARIABLES: [&str; 4] = [
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
];

/// A zoo name, or a file of which the study holds the text.
fn describe(network: &str, study: &Study) -> Result<network::Description, WorkloadError> {
    let failed = |why: String| WorkloadError::Network {
        network: network.to_owned(),
        why,
    };
    let Some(text) = study.network_files.get(network) else {
        return network::load(network).map_err(|e| failed(e.to_string()));
    };
    network::parse(text).map_err(|diagnostics| {
        let messages: Vec<String> = diagnostics.into_iter().map(|d| d.message).collect();
        failed(messages.join("; "))
    })
}

#[derive(Debug)]
pub enum WorkloadError {
    /// The study holds measurements made elsewhere.
    Nothing,
    Data(DataError),
    Framework(SpecError),
    NotSetUp(NotSetUp),
    /// The machine has no `caffe` program.
    NoCaffe,
    Home(HomeError),
    Hosts(HostError),
    Network {
        network: String,
        why: String,
    },
    /// A model, a stack or a picture that cannot be had.
    Serving(String),
}

impl fmt::Display for WorkloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorkloadError::Nothing => f.write_str(
                "the study has no [workload], so there is nothing to run: import its measurements with bancada import",
            ),
            WorkloadError::Data(error) => error.fmt(f),
            WorkloadError::Framework(error) => error.fmt(f),
            WorkloadError::NotSetUp(error) => error.fmt(f),
            WorkloadError::NoCaffe => SetupError::NoCaffe.fmt(f),
            WorkloadError::Home(error) => error.fmt(f),
            WorkloadError::Serving(why) => f.write_str(why),
            WorkloadError::Hosts(error) => error.fmt(f),
            WorkloadError::Network { network, why } => write!(f, "network `{network}`: {why}"),
        }
    }
}

impl std::error::Error for WorkloadError {}
