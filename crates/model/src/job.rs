//! What a training workload is asked to do: the job file, JSON, the same for the embedded engine
//! and for every framework adapter.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::study::Optimizer;

pub const JOB_PROTOCOL: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainJob {
    pub protocol: u32,
    pub framework: String,
    /// The layer graph with its shapes, as the `network` crate writes it.
    pub network: serde_json::Value,
    pub data: DataJob,
    pub epochs: u32,
    pub batch: u32,
    pub optimizer: Optimizer,
    /// None leaves it to the framework.
    pub threads: Option<u32>,
    pub device: String,
    /// Initial weights, order of images and dropout come from it.
    pub seed: u64,
    /// Where the trained network is saved; none saves nothing.
    pub checkpoint: Option<PathBuf>,
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
}
