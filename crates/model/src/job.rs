//! What a training workload is asked to do: the job file, JSON, the same for the embedded engine
//! and for every framework adapter. Documented for people in docs/protocol.md.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::profile::HostRates;
use crate::serving::{LoadShape, Service};
use crate::study::{Optimizer, Pipeline, Precision};

pub const JOB_PROTOCOL: u32 = 2;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainJob {
    pub protocol: u32,
    /// As the study names it: `pytorch`, `keras-jax`, without a version.
    pub framework: String,
    /// The layer graph with its shapes, as the `network` crate writes it.
    pub network: serde_json::Value,
    pub data: DataJob,
    pub epochs: u32,
    /// Of all workers together.
    pub batch: u32,
    pub optimizer: Optimizer,
    /// Of each worker; `None` leaves it to the framework.
    pub threads: Option<u32>,
    /// `cpu`, `cuda:0`, or several with commas, one a worker.
    pub device: String,
    /// Order of images and dropout come from it, and the initial weights where no file has them.
    pub seed: u64,
    /// Initial weights, safetensors. The embedded engine draws them itself where there are none.
    #[serde(default)]
    pub weights: Option<PathBuf>,
    #[serde(default)]
    pub precision: Precision,
    /// `None` means the framework's custom.
    #[serde(default)]
    pub compile: Option<bool>,
    /// Processes that share every batch.
    #[serde(default = "one")]
    pub workers: u32,
    /// Where they are started; none starts them all on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<WorkerHosts>,
    /// Whether held-out images are asked after every epoch, not only at the end: what it takes to
    /// get to an accuracy is to be known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accuracy_each_epoch: bool,
    /// Whether the framework's profiler is asked for the time of each kind of operator.
    #[serde(default)]
    pub profile: bool,
    /// Where the trained network is saved, safetensors; the framework's own format and ONNX lie
    /// next to it under the same name. None saves nothing.
    pub checkpoint: Option<PathBuf>,
    /// Only the beginning of the training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<PreviewJob>,
    /// Instead of training: tell what the first steps compute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<VerifyJob>,
    /// Instead of training: the time of steps of these networks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<ProbeJob>,
}

impl TrainJob {
    /// One epoch of a network by plain gradient descent, on one worker and the processor, with the
    /// same seed everywhere and nothing kept: for jobs that are of no study, which change what they
    /// need.
    pub fn plain(network: serde_json::Value, seed: u64) -> Self {
        TrainJob {
            protocol: JOB_PROTOCOL,
            framework: "engine".to_owned(),
            network,
            data: DataJob {
                dataset: "noise".to_owned(),
                data_dir: None,
                image: 0,
                images: None,
                held_out: None,
                seed,
                cache: None,
                pipeline: Pipeline::default(),
            },
            epochs: 1,
            batch: 1,
            optimizer: Optimizer::Sgd {
                learning_rate: 0.0,
                momentum: 0.0,
            },
            threads: None,
            device: "cpu".to_owned(),
            seed,
            weights: None,
            precision: Precision::default(),
            compile: None,
            workers: 1,
            hosts: None,
            accuracy_each_epoch: false,
            profile: false,
            checkpoint: None,
            preview: None,
            verify: None,
            probe: None,
        }
    }
}

/// Enough of a training to predict the whole: its start, steps until their time is known, a part of
/// the validation, its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreviewJob {
    /// At most so many steps.
    pub steps: u32,
    /// Batches of held-out images: the first one, then the others as a phase `verify` of their own.
    pub held_out_batches: u32,
    /// The training ends after the step in which this file is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enough: Option<PathBuf>,
    /// Half the width of the 95 % interval of a step's time, relative, at which it is known.
    pub precision: f64,
    /// Of training, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

fn one() -> u32 {
    1
}

/// One process a worker, the first where this job is started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerHosts {
    /// How the others reach the first worker.
    pub first: String,
    /// Of every worker, in their order.
    pub places: Vec<WorkerPlace>,
    /// Variables that every worker is started with.
    pub variables: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerPlace {
    pub host: String,
    /// Which of the workers of its host it is.
    pub local_rank: u32,
    /// The words that start a shell there; none where it is this machine.
    pub launch: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataJob {
    pub dataset: String,
    pub data_dir: Option<PathBuf>,
    /// Side of the square input in pixels.
    pub image: u32,
    pub images: Option<u32>,
    pub held_out: Option<u32>,
    /// The generator's seed: the same for all runs of a study, so that all see the same images.
    pub seed: u64,
    /// Folder of the decoded, resized, normalised images, as `data::cache` writes it. The embedded
    /// engine makes the images itself if it is missing.
    #[serde(default)]
    pub cache: Option<PathBuf>,
    #[serde(default)]
    pub pipeline: Pipeline,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerifyJob {
    /// Optimiser steps, each on the next batch.
    pub steps: u32,
    /// Where the [`crate::verify::VerifyReport`] is written, JSON.
    pub report: PathBuf,
}

/// Networks whose steps are measured by turns, so that a machine that is busy for a while is busy for
/// all of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeJob {
    pub networks: Vec<ProbeNetwork>,
    pub rounds: u32,
    /// Of each network in each round. Processor quotas are given by tenths of a second: a turn must
    /// have whole ones.
    pub turn_seconds: f64,
    /// Whether memory, disk and threads are measured too, which only the embedded engine does.
    pub host: bool,
    /// Where the [`ProbeReport`] is written, JSON.
    pub report: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeNetwork {
    pub name: String,
    /// The layer graph, with random weights.
    pub network: serde_json::Value,
    pub batch: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeReport {
    pub version: String,
    /// Of each network, in each round: the mean of its steps.
    pub rounds: Vec<Vec<StepSeconds>>,
    #[serde(default)]
    pub host: HostRates,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StepSeconds {
    pub seconds: f64,
    /// Of all threads of the process.
    pub cpu_seconds: f64,
}

/// What the client of a serving run is asked to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadClientJob {
    pub protocol: u32,
    pub target: LoadTarget,
    /// Sent in turn.
    pub bodies: Vec<PathBuf>,
    pub content_type: String,
    pub load: LoadJob,
    /// Every request of a series is written here, CSV.
    pub requests: PathBuf,
    /// The whole outcome of the load, with its histograms, JSON.
    pub outcome: PathBuf,
    /// A [`crate::serving::ServingRecord`], JSON.
    pub record: PathBuf,
    /// Of an endpoint at a provider, a [`crate::serving::EndpointRecord`], JSON.
    pub endpoint: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadJob {
    pub shape: LoadShape,
    pub clients: u32,
    pub rate: Option<f64>,
    pub requests: Option<u64>,
    pub pause_seconds: Option<f64>,
    pub seconds: f64,
    pub under_seconds: Option<f64>,
    pub timeout_seconds: f64,
    pub trace: Option<PathBuf>,
    /// Of random arrivals.
    pub seed: u64,
}

/// Who answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LoadTarget {
    /// A server on this machine that fulfils the container contract, started with this client.
    Server {
        /// `http://127.0.0.1:8080`.
        address: String,
        /// How long it may take to its first healthy ping.
        start_timeout_seconds: f64,
    },
    /// Somewhere else: an address, or an endpoint that the client sets up and tears down.
    Service { service: Service, name: String },
}
