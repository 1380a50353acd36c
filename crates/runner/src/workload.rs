//! A scenario → the command, variables and job file of its run.

use std::fmt;
use std::path::{Path, PathBuf};

use model::job::{DataJob, JOB_PROTOCOL};
use model::study::LogPattern;
use model::{
    CommandWorkload, Environment, Limits, Scenario, Study, TrainJob, TrainWorkload, Workload,
};
use network::InputSpec;

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
}

impl PreparedRun {
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
        environment,
        job: None,
        keep_model: true,
    }
}

fn prepare_training(
    study: &Study,
    train: &TrainWorkload,
    environment: Environment,
    seed: u64,
    surroundings: Surroundings<'_>,
) -> Result<PreparedRun, WorkloadError> {
    let info =
        data::info(&train.dataset).ok_or_else(|| WorkloadError::Dataset(train.dataset.clone()))?;
    let image = train.image.unwrap_or(info.side);
    let description = describe(&train.network, study)?;
    let input = InputSpec {
        channels: info.channels,
        height: image,
        width: image,
        classes: info.classes,
    };
    let graph = description.instantiate(input).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        WorkloadError::Network {
            network: train.network.clone(),
            why: problems.join("; "),
        }
    })?;
    let network = serde_json::to_value(&graph).map_err(|e| WorkloadError::Network {
        network: train.network.clone(),
        why: e.to_string(),
    })?;
    // More threads than there are cores would measure their waiting for each other.
    let given = |cores: f64| cores.min(measure::usable_cores()).ceil().max(1.0) as u32;
    let threads = train.threads.or(environment.limits.cores.map(given));
    let device = environment
        .device
        .clone()
        .unwrap_or_else(|| train.device.clone());
    let job = TrainJob {
        protocol: JOB_PROTOCOL,
        framework: train.framework.clone(),
        network,
        data: DataJob {
            dataset: train.dataset.clone(),
            data_dir: train
                .data_dir
                .as_ref()
                .map(|dir| surroundings.study_folder.join(dir)),
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
        profile: train.profile,
        checkpoint: None,
        verify: None,
    };
    Ok(PreparedRun {
        command: vec![
            surroundings.bancada.to_string_lossy().into_owned(),
            "engine-train".to_owned(),
        ],
        env: Vec::new(),
        directory: None,
        log: Vec::new(),
        environment,
        job: Some(job),
        keep_model: train.keep_model,
    })
}

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
    Dataset(String),
    Network {
        network: String,
        why: String,
    },
}

impl fmt::Display for WorkloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorkloadError::Nothing => f.write_str(
                "the study has no [workload], so there is nothing to run: its measurements come by bancada import",
            ),
            WorkloadError::Dataset(name) => {
                let known: Vec<&str> = data::names().collect();
                write!(f, "unknown dataset `{name}`; known: {}", known.join(", "))
            }
            WorkloadError::Network { network, why } => write!(f, "network `{network}`: {why}"),
        }
    }
}

impl std::error::Error for WorkloadError {}
