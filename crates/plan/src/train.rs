//! What can be set for a training workload.

use std::path::PathBuf;

use model::{Level, Optimizer, Pipeline, Precision, TrainWorkload, named};

use crate::field::{Field, FieldKind, field, set, set_some};

/// In the order in which they are applied: the kind of optimizer before its constants.
pub(crate) const FIELDS: &[Field] = &[
    field("framework", FieldKind::Framework),
    field("network", FieldKind::Network),
    field("dataset", FieldKind::Dataset),
    field("data_dir", FieldKind::Text),
    field("image", FieldKind::Count(1024)),
    field("epochs", FieldKind::Count(1_000_000)),
    field("batch", FieldKind::Count(1_000_000)),
    field("images", FieldKind::Count(100_000_000)),
    field("held_out", FieldKind::Count(100_000_000)),
    field("optimizer", FieldKind::Optimizer),
    field("learning_rate", FieldKind::LearningRate),
    field("momentum", FieldKind::Momentum),
    field("threads", FieldKind::Count(4096)),
    field("device", FieldKind::Text),
    field("workers", FieldKind::Count(1024)),
    field("precision", FieldKind::Words(PRECISIONS)),
    field("compile", FieldKind::Flag),
    field("pipeline", FieldKind::Words(PIPELINES)),
    field("profile", FieldKind::Flag),
];

pub(crate) const PRECISIONS: &[&str] = &["float32", "mixed"];
pub(crate) const PIPELINES: &[&str] = &["cache", "own"];

pub(crate) const OPTIMIZERS: &[&str] = &["adam", "sgd"];

const DEFAULT_LEARNING_RATE: f64 = 0.001;
const DEFAULT_MOMENTUM: f64 = 0.9;

/// What holds where a study says nothing. The network has no default: it is the question.
pub(crate) fn defaults() -> TrainWorkload {
    TrainWorkload {
        framework: "engine".to_owned(),
        network: String::new(),
        dataset: "digits".to_owned(),
        data_dir: None,
        image: None,
        epochs: 1,
        batch: 32,
        images: None,
        held_out: None,
        optimizer: adam(DEFAULT_LEARNING_RATE),
        threads: None,
        device: "cpu".to_owned(),
        keep_model: true,
        precision: Precision::default(),
        compile: None,
        workers: 1,
        pipeline: Pipeline::default(),
        profile: false,
    }
}

/// Sets a field to a level. Levels of the wrong type, which no checked study has, change nothing.
pub(crate) fn apply(train: &mut TrainWorkload, field: &str, level: &Level) {
    let text = level.as_text();
    let count = level.as_int().and_then(|value| u32::try_from(value).ok());
    match field {
        "framework" => set(&mut train.framework, text.map(str::to_owned)),
        "network" => set(&mut train.network, text.map(str::to_owned)),
        "dataset" => set(&mut train.dataset, text.map(str::to_owned)),
        "data_dir" => set_some(&mut train.data_dir, text.map(PathBuf::from)),
        "image" => set_some(&mut train.image, count),
        "epochs" => set(&mut train.epochs, count),
        "batch" => set(&mut train.batch, count),
        "images" => set_some(&mut train.images, count),
        "held_out" => set_some(&mut train.held_out, count),
        "optimizer" => set_optimizer(&mut train.optimizer, text),
        "learning_rate" => set_learning_rate(&mut train.optimizer, level.as_float()),
        "momentum" => set_momentum(&mut train.optimizer, level.as_float()),
        "threads" => set_some(&mut train.threads, count),
        "device" => set(&mut train.device, text.map(str::to_owned)),
        "workers" => set(&mut train.workers, count),
        "precision" => set(&mut train.precision, text.and_then(named)),
        "compile" => set_some(&mut train.compile, level.as_bool()),
        "pipeline" => set(&mut train.pipeline, text.and_then(named)),
        "profile" => set(&mut train.profile, level.as_bool()),
        _ => {}
    }
}

/// Kingma and Ba 2015 give the constants of Adam.
fn adam(learning_rate: f64) -> Optimizer {
    Optimizer::Adam {
        learning_rate,
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-8,
    }
}

/// Keeps the learning rate: both kinds start from the same default, so that a study that varies
/// the optimizer varies nothing else.
fn set_optimizer(optimizer: &mut Optimizer, kind: Option<&str>) {
    *optimizer = match (kind, &*optimizer) {
        (Some("adam"), Optimizer::Sgd { learning_rate, .. }) => adam(*learning_rate),
        (Some("sgd"), Optimizer::Adam { learning_rate, .. }) => Optimizer::Sgd {
            learning_rate: *learning_rate,
            momentum: DEFAULT_MOMENTUM,
        },
        _ => return,
    };
}

fn set_learning_rate(optimizer: &mut Optimizer, value: Option<f64>) {
    let (Optimizer::Sgd { learning_rate, .. } | Optimizer::Adam { learning_rate, .. }) = optimizer;
    set(learning_rate, value);
}

fn set_momentum(optimizer: &mut Optimizer, value: Option<f64>) {
    if let Optimizer::Sgd { momentum, .. } = optimizer {
        set(momentum, value);
    }
}
