//! Serving as a workload: the server, the load, and where it runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::study::Limits;

/// Serve a model and load it. A factor of the same name as a field takes the field's place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServeWorkload {
    /// `bancada`, a stack that `bancada setup` installs, or `command`.
    pub stack: String,
    /// A name of the zoo, a network file, an ONNX file, a folder with one, or a run's folder.
    pub model: String,
    /// Side of the square input of a described network; `None` keeps its own.
    pub image: Option<u32>,
    pub classes: Option<u32>,
    #[serde(default)]
    pub precision: ServePrecision,
    pub load: LoadShape,
    /// Clients of a closed loop.
    pub clients: u32,
    /// Requests a second of an open loop.
    pub rate: Option<f64>,
    /// Requests that count; `None` means what the load's name means.
    pub requests: Option<u64>,
    /// Between an answer and the next request of a series that is not cold; `None` means what the load's
    /// name means.
    pub pause_seconds: Option<f64>,
    /// The same of cold requests; `None` means a little more than the idle time of the environment's
    /// workers.
    #[serde(default)]
    pub cold_pause_seconds: Option<f64>,
    /// How long requests count, of loads that are not series.
    pub seconds: f64,
    /// The latency that 99 of 100 requests must keep, for the search of the highest rate.
    pub under_seconds: Option<f64>,
    /// After which a request without an answer has failed.
    pub timeout_seconds: f64,
    /// A picture, or a folder of them, relative to the study file; `None` means a drawn picture.
    pub body: Option<PathBuf>,
    /// A file with the times of recorded requests, relative to the study file.
    pub trace: Option<PathBuf>,
    /// Processes or threads that answer; `None` leaves it to the stack.
    pub workers: Option<u32>,
    /// Of each worker; `None` leaves it to the stack.
    pub threads: Option<u32>,
    /// The user's own server, with `{port}` for its port.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Files that the server consists of, in addition to those named in the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
}

/// Of the protocol `cold`, after which the workers of its study were gone.
pub const COLD_PAUSE_SECONDS: f64 = 15.0 * 60.0;

impl ServeWorkload {
    /// Between two requests of a series, at that place; `None` means what the load's name means.
    pub fn pause_at(&self, service: Option<&Service>) -> Option<f64> {
        if self.load != LoadShape::Cold {
            return self.pause_seconds;
        }
        // As much more than the idle time as the protocol's pause is more than the default.
        let gone = |idle: f64| idle * COLD_PAUSE_SECONDS / DEFAULT_IDLE_SECONDS + 0.1;
        self.cold_pause_seconds.or(match service {
            Some(Service::Serverless(serverless)) => Some(gone(serverless.idle_seconds)),
            _ => None,
        })
    }
}

/// A little less than the pause of cold requests.
pub const DEFAULT_IDLE_SECONDS: f64 = 14.0 * 60.0;

words! {
    /// How requests follow each other.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum LoadShape {
        /// One request not counted, then 25 in series, 5 s apart.
        Warm = "warm",
        /// 10 requests 15 min apart, so that a serverless worker is gone each time.
        Cold = "cold",
        /// 25 in series, 5 s apart, all counted.
        RealTime = "real-time",
        /// Clients that send as soon as they are answered.
        Clients = "clients",
        /// At a constant rate.
        Rate = "rate",
        /// At a rate, as independent users come.
        Poisson = "poisson",
        /// At recorded times.
        Trace = "trace",
        /// Looks for the highest rate that keeps a latency.
        Search = "search",
    }
}

impl LoadShape {
    /// One request after the other, with pauses.
    pub fn is_series(self) -> bool {
        matches!(
            self,
            LoadShape::Warm | LoadShape::Cold | LoadShape::RealTime
        )
    }
}

/// What the numbers of a served model are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServePrecision {
    #[default]
    Float32,
    /// Weights and products in 8 bits, calibrated on images of a dataset.
    Int8,
}

/// Where requests are answered, if not by a server that the run starts by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Service {
    /// A worker started on demand and gone when idle: by the emulator here, in front of the
    /// workload's stack, or at the provider.
    Serverless(Serverless),
    /// A server that runs already.
    Url(UrlService),
    /// A machine that is always on at the provider.
    RealTime(RealTime),
}

/// "At 1,769 MB, a function has the equivalent of one vCPU" (AWS Lambda developer guide,
/// Configure Lambda function memory). SageMaker serverless runs on Lambda and publishes no figure
/// of its own.
pub const WORKER_MB_PER_CORE: f64 = 1769.0;

impl Serverless {
    /// What a worker of this size has, at the provider and as far as possible in the emulator.
    pub fn worker_limits(&self) -> Limits {
        Limits {
            cores: Some(f64::from(self.memory_mb) / WORKER_MB_PER_CORE),
            memory_bytes: Some(u64::from(self.memory_mb) << 20),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Serverless {
    pub memory_mb: u32,
    /// After which the emulator ends an idle worker. A provider has its own.
    pub idle_seconds: f64,
    /// Workers at once.
    pub concurrency: u32,
    /// The endpoint at the provider; `None` if it is only emulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sagemaker: Option<SageMaker>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UrlService {
    /// Of `POST /invocations` or whatever takes the body.
    pub url: String,
    /// Sent with every request: `name: value`, with `{variable}` of the process.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RealTime {
    /// `ml.m5.xlarge`.
    pub instance: String,
    pub sagemaker: SageMaker,
}

/// What SageMaker needs to make an endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SageMaker {
    pub region: String,
    /// Of the container image in the provider's registry.
    pub image: String,
    pub role: String,
    /// `s3://bucket/model.tar.gz`; `None` if the image holds the model.
    pub model_data: Option<String>,
    /// How long CloudWatch is asked for its figures, after the endpoint is gone.
    pub figures_seconds: f64,
}

/// What became of an endpoint at a provider, as its client last wrote it. Written before anything
/// is made, so that one whose client was killed is known, too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndpointRecord {
    pub name: String,
    pub region: String,
    /// With all it is made of.
    pub is_gone: bool,
    /// As the end of a sentence.
    pub detail: String,
}

/// What the client of a serving run saw, beside the run's metrics.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServingRecord {
    /// Requests that count, by how they ended: `ok`, `429`, `timed-out`, …
    pub ends: BTreeMap<String, u64>,
    /// Total latency of the answers that are ok, by share.
    pub latency: Vec<QuantileRecord>,
    /// The model alone, by the server's clock; empty where it tells none.
    pub prediction: Vec<QuantileRecord>,
    /// What was wrong with the first request that failed.
    pub first_failure: Option<String>,
    /// Why the figures tell about the client rather than the server, if they do.
    pub client_limited: Option<String>,
    /// What computed the answers, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// What stood between client and stack, in words: the emulator and its idle time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The server was elsewhere: CPU and memory of the run are the client's alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_elsewhere: bool,
}

impl ServingRecord {
    pub fn requests(&self) -> u64 {
        self.ends.values().sum()
    }

    pub fn failed(&self) -> u64 {
        self.requests() - self.ends.get(OK).copied().unwrap_or(0)
    }
}

/// How a request that was answered well ended.
pub const OK: &str = "ok";

/// A quantile of one run's requests. They depend on each other: only several runs give an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct QuantileRecord {
    /// 0.99.
    pub share: f64,
    pub seconds: f64,
}
