//! What a worker leaves: one run as it was measured. The coordinator adds scenario, price and bill;
//! then it is a [`crate::RunRecord`].

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::capacity::Capacity;
use crate::event::{CountUnit, Event};
use crate::location::Container;
use crate::machine::Inventory;
use crate::order::{ModelWish, ORDER_PROTOCOL, Order};
use crate::profile::MachineProfile;
use crate::run::{
    Epoch, FrameworkRecord, Metric, OperatorTime, Outcome, Phase, RunId, Status, phase,
};
use crate::sample::Sample;
use crate::serving::ServingRecord;
use crate::warning::Warning;

/// The names of a worker's files in the folder of its run.
pub const ORDER_FILE: &str = "order.json";
pub const MEASUREMENT_FILE: &str = "measurement.json";
pub const PROGRESS_FILE: &str = "progress.jsonl";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    pub protocol: u32,
    /// [`Order::id`] of the order it answers.
    pub order: String,
    pub run: RunId,
    /// Version of the worker.
    pub bancada: String,
    pub outcome: Outcome,
    pub started: Timestamp,
    /// From start of the process to its end, by the monotonic clock.
    pub seconds: f64,
    /// Without gap, summing to `seconds`.
    pub phases: Vec<Phase>,
    pub epochs: Vec<Epoch>,
    pub metrics: BTreeMap<String, Metric>,
    pub warnings: Vec<Warning>,
    /// `cgroup v2`, `cgroup v1`, `affinity`, `docker`, `podman`, `none`.
    pub limits_by: String,
    pub device: Option<String>,
    pub command: Vec<String>,
    pub machine: Inventory,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framework: Option<FrameworkRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serving: Option<ServingRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profile: Vec<OperatorTime>,
    /// Of the machine with the cores of the run, where it was probed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_profile: Option<Box<MachineProfile>>,
    /// Of a run that was ended because its time was known ([`Order::known_at`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreseen: Option<Foreseen>,
}

/// What the output of a run said of the whole when it was ended because that was enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Foreseen {
    pub unit: CountUnit,
    pub done: f64,
    pub total: f64,
    /// Of the whole run, from its start.
    pub total_seconds: f64,
    /// Standard error of it.
    pub relative_error: f64,
}

impl Measurement {
    /// With this end and nothing else known of it: of no order, machine or command.
    pub fn new(outcome: Outcome, started: Timestamp) -> Self {
        Measurement {
            protocol: ORDER_PROTOCOL,
            order: String::new(),
            run: RunId::new(0, 0),
            bancada: env!("CARGO_PKG_VERSION").to_owned(),
            outcome,
            started,
            seconds: 0.0,
            phases: Vec::new(),
            epochs: Vec::new(),
            metrics: BTreeMap::new(),
            warnings: Vec::new(),
            limits_by: "none".to_owned(),
            device: None,
            command: Vec::new(),
            machine: Inventory::default(),
            framework: None,
            serving: None,
            profile: Vec::new(),
            machine_profile: None,
            foreseen: None,
        }
    }

    /// Of an order whose worker left none. The time that it used is paid; `seconds` is none where it
    /// never began, and used no machine.
    pub fn not_left(
        order: &Order,
        status: Status,
        why: String,
        seconds: Option<f64>,
        now: Timestamp,
    ) -> Self {
        let whole = |seconds: f64| Phase {
            name: phase::TRAIN.to_owned(),
            begin_seconds: 0.0,
            seconds,
        };
        Measurement {
            order: order.id.clone(),
            run: order.run,
            seconds: seconds.unwrap_or(0.0),
            phases: seconds.map(whole).into_iter().collect(),
            device: order.device.clone(),
            ..Measurement::new(Outcome::without_end(status, why), now)
        }
    }
}

/// What a run in progress reports: a line of `progress.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Happening {
    /// `at` is always filled.
    Event(Event),
    Sample(Box<Sample>),
}

/// What a machine is asked to have ready before these orders come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadyRequest {
    pub orders: Vec<Order>,
    /// Where results will be: other hosts of a run must see it too.
    pub results: Option<PathBuf>,
    /// In which the orders will be carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
}

/// A machine, and what it has ready.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Ready {
    pub machine: Inventory,
    pub capacity: Capacity,
    /// Images that were decoded now; those that were there already are not named.
    pub decoded: Vec<DecodedImages>,
    pub models: Vec<MadeModel>,
    /// Of containers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ReadyImage>,
    /// What could not be made ready, as sentences.
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecodedImages {
    pub dataset: String,
    pub images: u32,
    /// Of the square images.
    pub side: u32,
    pub bytes: u64,
}

/// An image that the engine of this machine has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadyImage {
    /// As the study asks for it.
    pub container: Container,
    /// Of trainings that need Python.
    pub framework: Option<String>,
    /// `docker` or `podman`.
    pub engine: String,
    pub engine_version: String,
    pub name: String,
    /// Of its content: runs are started by it, whatever becomes of the name.
    pub id: String,
    pub bytes: u64,
    pub source: ImageSource,
    /// To find, pull or build it.
    pub seconds: f64,
    /// Whether the engine has a first process for containers, which passes signals on.
    pub has_init: bool,
    /// Files of this machine's Python, where the image does not have one.
    pub python_files: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImageSource {
    Present,
    Pulled,
    Built,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MadeModel {
    pub wish: ModelWish,
    pub model: ReadyModel,
}

/// A model on the disk, converted, optimised and quantised, so that no measured start is charged
/// for it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ReadyModel {
    /// Arguments of `bancada serve` that serve it.
    pub served: Vec<String>,
    /// What a different stack reads.
    pub stack_folder: Option<PathBuf>,
    pub bytes: Option<u64>,
    /// What computes: `ONNX Runtime`, `the embedded engine`, or the stack's own.
    pub runtime: Option<String>,
    /// Of its square input.
    pub side: Option<u32>,
    /// On held-out images, percent; none where its weights were not trained.
    pub accuracy_percent: Option<f64>,
    /// Of a quantised model: how often it names the same class as the model it was made of.
    pub agreement_percent: Option<f64>,
}

impl Ready {
    pub fn model(&self, wish: &ModelWish) -> Option<&ReadyModel> {
        let made = self.models.iter().find(|made| made.wish == *wish);
        made.map(|made| &made.model)
    }

    pub fn image(&self, container: &Container, framework: Option<&str>) -> Option<&ReadyImage> {
        let is_wanted = |image: &&ReadyImage| {
            image.container == *container && image.framework.as_deref() == framework
        };
        self.images.iter().find(is_wanted)
    }
}
