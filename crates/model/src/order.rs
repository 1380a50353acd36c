//! What to run, complete and serialisable, without a word about where: what a coordinator hands to
//! a place, and a place to `bancada work`.

use serde::{Deserialize, Serialize};

use crate::hosts::Hosts;
use crate::job::TrainJob;
use crate::run::{RunId, RunInput};
use crate::serving::{ServePrecision, ServeWorkload, Service};
use crate::study::{CommandWorkload, Limits, MeasureSettings};

/// Of the order, the measurement and what is written about a run in progress.
pub const ORDER_PROTOCOL: u32 = 1;

/// One run to carry out. Paths in it are as the study names them: relative to the folder of the
/// study file, which the place knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    pub protocol: u32,
    /// Unique to one attempt at one run: a measurement names the order it answers.
    pub id: String,
    pub run: RunId,
    /// The study's name for where it runs; an endpoint at a provider is named after it.
    pub environment: String,
    pub work: Work,
    pub limits: Limits,
    pub device: Option<String>,
    pub measure: MeasureSettings,
    /// That it takes at most, by the forecast. Not a limit: a queue that needs one makes it from this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_seconds: Option<f64>,
    /// A command is ended when its output says where it ends, and its total time is known to this part
    /// of it (half the width of the 95 % interval).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_at: Option<f64>,
    /// Files of the study's folder that the run depends on, by digest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<RunInput>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Work {
    Train(Box<TrainOrder>),
    Serve(Box<ServeOrder>),
    Command(CommandWorkload),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainOrder {
    /// With its version, where the study names one: `pytorch@2.2.0`.
    pub framework: String,
    /// As the study names it.
    pub network: String,
    /// Without what only the machine knows: threads, cache, weights, checkpoint, hosts.
    pub job: TrainJob,
    /// What a run may use as threads if the study says so; else the machine's cores decide.
    pub threads: Option<u32>,
    /// Machines for its workers; none means the one that the order is carried out on.
    pub hosts: Option<Hosts>,
    /// Of the user's own pictures; published datasets and generated ones are known by their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_digest: Option<String>,
    pub keep_model: bool,
    /// The decoded images are too few to be of use to other runs: they go with the run's folder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub discard_images: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServeOrder {
    pub workload: ServeWorkload,
    pub service: Option<Service>,
    /// Whether endpoints at a provider are used where the study describes them, and paid for.
    pub real: bool,
    /// Of random arrivals.
    pub seed: u64,
    /// Of the model's file, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_digest: Option<String>,
}

/// A model in the form that a stack reads: what has to be made before a server starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelWish {
    /// As the study names it.
    pub model: String,
    pub image: Option<u32>,
    pub classes: Option<u32>,
    pub stack: String,
    pub precision: ServePrecision,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// The user's own server, as a stack: its model is its own matter.
pub const COMMAND_STACK: &str = "command";

impl Order {
    /// Whether the run makes something at a provider that is paid for until it is deleted.
    pub fn makes_endpoint(&self) -> bool {
        match &self.work {
            Work::Serve(serve) => serve
                .elsewhere()
                .is_some_and(|service| !matches!(service, Service::Url(_))),
            Work::Train(_) | Work::Command(_) => false,
        }
    }
}

impl ServeOrder {
    /// What answers, where that is not a server started for the run.
    pub fn elsewhere(&self) -> Option<&Service> {
        let service = self.service.as_ref()?;
        let is_elsewhere = match service {
            Service::Url(_) => true,
            Service::RealTime(_) => self.real,
            Service::Serverless(serverless) => self.real && serverless.sagemaker.is_some(),
        };
        is_elsewhere.then_some(service)
    }

    /// None where the run starts no server of ours.
    pub fn model_wish(&self) -> Option<ModelWish> {
        let workload = &self.workload;
        let is_needed = workload.stack != COMMAND_STACK && self.elsewhere().is_none();
        is_needed.then(|| ModelWish {
            model: workload.model.clone(),
            image: workload.image,
            classes: workload.classes,
            stack: workload.stack.clone(),
            precision: workload.precision,
            digest: self.model_digest.clone(),
        })
    }
}
