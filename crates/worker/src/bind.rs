//! An order bound to this machine: the command, variables and job file of its run.

use std::path::{Path, PathBuf};

use frameworks::{Framework, Home, InImage, Kind, Machine, Spec, in_image};
use model::job::WorkerHosts;
use model::location::{Container, ContainerImage};
use model::order::TrainOrder;
use model::study::LogPattern;
use model::{CommandWorkload, Order, Ready, TrainJob, Work};
use network::Graph;

use crate::error::WorkError;
use crate::hosts;
use crate::serving::{LoadClient, bind_serving};

/// Python prints at once.
const UNBUFFERED: &str = "PYTHONUNBUFFERED";

/// This machine, as far as a worker has to know it.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The program that holds the embedded engine: this one.
    pub bancada: &'a Path,
    /// Where the files of the study are: paths in an order are relative to it.
    pub files: &'a Path,
    /// Environments of frameworks, adapters, datasets and their caches.
    pub home: &'a Home,
    /// In which the run is started.
    pub container: Option<&'a Container>,
}

/// Everything `measure` needs to know of a run's workload.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bound {
    pub(crate) command: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) log: Vec<LogPattern>,
    /// Of a run that trains.
    pub(crate) training: Option<Training>,
    /// Of a run that serves: the client.
    pub(crate) client: Option<LoadClient>,
}

/// For the embedded engine and the adapters.
#[derive(Debug, Clone)]
pub(crate) struct Training {
    pub(crate) trainer: Trainer,
    /// Written beside the run as `job.json`.
    pub(crate) job: TrainJob,
    /// Whether the trained weights stay with the results.
    pub(crate) keep_model: bool,
    pub(crate) discard_images: bool,
}

/// What trains which network.
#[derive(Debug, Clone)]
pub(crate) struct Trainer {
    pub(crate) framework: &'static Framework,
    /// As the study names it.
    pub(crate) network: String,
    /// Of what is set up here; none where it is not known before it runs.
    pub(crate) version: Option<String>,
    /// With everything computed.
    pub(crate) graph: Graph,
}

impl Bound {
    pub(crate) fn job(&self) -> Option<&TrainJob> {
        self.training.as_ref().map(|training| &training.job)
    }
}

pub(crate) fn bind(order: &Order, ready: &Ready, context: Context<'_>) -> Result<Bound, WorkError> {
    match &order.work {
        Work::Train(train) => bind_training(order, train, context),
        Work::Serve(serve) => bind_serving(order, serve, ready, context),
        Work::Command(command) if command.command.is_empty() => Err(WorkError::Nothing),
        Work::Command(command) => Ok(bind_command(command.clone(), context)),
    }
}

fn bind_command(workload: CommandWorkload, context: Context<'_>) -> Bound {
    let directory = match workload.directory {
        Some(directory) => context.files.join(directory),
        None => context.files.to_owned(),
    };
    // Python keeps what it prints to a pipe until there is much of it, and progress would come late.
    let mut env = workload.env;
    env.entry(UNBUFFERED.to_owned())
        .or_insert_with(|| "1".to_owned());
    Bound {
        command: workload.command,
        env: env.into_iter().collect(),
        directory: Some(directory),
        log: workload.log,
        ..Bound::default()
    }
}

fn bind_training(
    order: &Order,
    train: &TrainOrder,
    context: Context<'_>,
) -> Result<Bound, WorkError> {
    let spec = Spec::parse(&train.framework).map_err(WorkError::Framework)?;
    let graph = graph_of(train)?;
    let mut job = train.job.clone();
    job.data.data_dir = data_dir(&job, context);
    check_data(train, job.data.data_dir.as_deref())?;
    job.hosts = hosts::of_workers(train.hosts.as_ref(), job.workers);
    job.threads = threads(order, train, job.hosts.as_ref());
    let Start {
        command,
        env,
        version,
    } = start(&spec, &job, context)?;
    if let Some(hosts) = &mut job.hosts {
        hosts.variables = env.iter().map(|(name, _)| name.clone()).collect();
    }
    Ok(Bound {
        command,
        env,
        training: Some(Training {
            trainer: Trainer {
                framework: spec.framework,
                network: train.network.clone(),
                version,
                graph,
            },
            job,
            keep_model: train.keep_model,
            discard_images: train.discard_images,
        }),
        ..Bound::default()
    })
}

pub(crate) fn graph_of(train: &TrainOrder) -> Result<Graph, WorkError> {
    serde::Deserialize::deserialize(&train.job.network).map_err(|e: serde_json::Error| {
        WorkError::Network {
            network: train.network.clone(),
            why: e.to_string(),
        }
    })
}

fn check_data(train: &TrainOrder, folder: Option<&Path>) -> Result<(), WorkError> {
    let (Some(expected), Some(folder)) = (&train.data_digest, folder) else {
        return Ok(());
    };
    let found = data::folder_digest(folder).map_err(WorkError::Data)?;
    match found == *expected {
        true => Ok(()),
        false => Err(WorkError::OtherData(folder.display().to_string())),
    }
}

/// Of each worker. More threads than there are cores would measure their waiting for each other.
fn threads(order: &Order, train: &TrainOrder, hosts: Option<&WorkerHosts>) -> Option<u32> {
    let workers = train.job.workers;
    let given = |cores: f64| cores.min(measure::usable_cores()).ceil().max(1.0) as u32;
    let together = order.limits.cores.map(given);
    let shared = || (workers > 1).then(|| given(f64::MAX));
    // Each worker has its share of them; no host has more workers than the first.
    let here = hosts.map_or(workers, hosts::workers_here);
    let each = |threads: u32| (threads / here.max(1)).max(1);
    train.threads.or(together.or_else(shared).map(each))
}

/// The study's own, or where `bancada data fetch` puts it.
pub(crate) fn data_dir(job: &TrainJob, context: Context<'_>) -> Option<PathBuf> {
    match &job.data.data_dir {
        Some(dir) => Some(context.files.join(dir)),
        None => data::info(&job.data.dataset)
            .filter(|info| info.needs_folder)
            .map(|info| data::fetched_folder(context.home.path(), info.name)),
    }
}

/// How a framework's process is started.
pub(crate) struct Start {
    pub(crate) command: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) version: Option<String>,
}

pub(crate) fn start(spec: &Spec, job: &TrainJob, context: Context<'_>) -> Result<Start, WorkError> {
    let own = |word: &str| Start {
        command: vec![
            context.bancada.to_string_lossy().into_owned(),
            word.to_owned(),
        ],
        env: Vec::new(),
        version: None,
    };
    match spec.framework.kind {
        Kind::Engine => Ok(own("engine-train")),
        Kind::Caffe if Machine::here().caffe.is_none() => Err(WorkError::NoCaffe),
        Kind::Caffe => Ok(own("caffe-train")),
        // The plan names nothing that only serves.
        Kind::Python | Kind::Serving | Kind::Stack => start_adapter(spec, job, context),
    }
}

/// The framework is here, or in the image that was built for it.
fn interpreter(spec: &Spec, context: Context<'_>) -> Result<InImage, WorkError> {
    let container = context.container.map(|container| &container.image);
    if let (Some(ContainerImage::Base(_)), Some(there)) = (container, in_image(spec)) {
        return Ok(there);
    }
    let installed = context.home.interpreter(spec);
    let installed = installed.map_err(WorkError::NotSetUp)?;
    Ok(InImage {
        python: installed.python,
        version: installed.version,
        variables: installed.variables,
    })
}

fn start_adapter(spec: &Spec, job: &TrainJob, context: Context<'_>) -> Result<Start, WorkError> {
    let installed = interpreter(spec, context)?;
    let adapters = context.home.adapters().map_err(WorkError::Home)?;
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
