//! Made-up runs and folders for the tests and the bench.

#![allow(dead_code, reason = "each binary uses a part of it")]

use std::collections::BTreeMap;
use std::path::Path;

use model::run::{EnvironmentRecord, Origin, metric};
use model::study::FactorLevel;
use model::{
    Epoch, Inventory, Level, Limits, Metric, Outcome, Phase, RunId, RunRecord, Scenario, Status,
    Timestamp,
};
use store::{Store, StudyIdentity};

pub(crate) fn identity(name: &str) -> StudyIdentity {
    StudyIdentity {
        name: name.to_owned(),
        fingerprint: format!("fingerprint of {name}"),
    }
}

pub(crate) fn writer(dir: &Path) -> Store {
    Store::create_or_open(dir, &identity("study")).expect("opens for writing")
}

pub(crate) fn run(text: &str) -> RunId {
    text.parse().expect("a run such as C3-r2")
}

/// Begins and commits, with a log beside the record.
pub(crate) fn keep(store: &Store, record: &RunRecord) {
    let staging = store.begin(record.run).expect("begins");
    std::fs::write(staging.folder().join("log.txt"), record.seconds.to_string())
        .expect("writes the log");
    staging.commit(record).expect("commits");
}

pub(crate) fn failed(id: &str, seconds: f64) -> RunRecord {
    let mut failed = record(run(id), seconds);
    failed.outcome.status = Status::Failed;
    failed
}

pub(crate) fn ok(id: &str, seconds: f64) -> RunRecord {
    record(run(id), seconds)
}

pub(crate) fn imported(id: &str, line: u64, seconds: f64) -> RunRecord {
    let mut imported = record(run(id), seconds);
    imported.origin = Origin::Imported {
        file: "old.csv".to_owned(),
        line,
        undated: false,
    };
    imported
}

/// As large as a real one: ten epochs, eight phases, a machine.
pub(crate) fn record(run: RunId, seconds: f64) -> RunRecord {
    let names = [
        metric::TOTAL_SECONDS,
        metric::TRAIN_SECONDS,
        metric::EPOCH_SECONDS,
        metric::STEP_SECONDS,
        metric::IMAGES_PER_SECOND,
        metric::LOSS,
        metric::ACCURACY,
        metric::CPU_SECONDS,
        metric::CORES_USED,
        metric::CPU_PERCENT,
        metric::MACHINE_CPU_PERCENT,
        metric::PEAK_MEMORY_BYTES,
        metric::MEMORY_PERCENT,
        metric::DISK_READ_BYTES,
        metric::DISK_WRITE_BYTES,
        metric::SAMPLER_CPU_SECONDS,
    ];
    let metrics: BTreeMap<String, Metric> = names
        .iter()
        .enumerate()
        .map(|(place, name)| {
            let value = seconds / (place as f64 + 3.0);
            (
                (*name).to_owned(),
                Metric {
                    value,
                    unit: "s".to_owned(),
                },
            )
        })
        .collect();
    let phases = [
        "startup",
        "load-data",
        "start",
        "train",
        "verify",
        "save",
        "shutdown",
    ];
    RunRecord {
        schema: model::run::BUNDLE_SCHEMA,
        study: "study".to_owned(),
        run,
        scenario: scenario(run.scenario),
        fingerprint: String::new(),
        inputs: Vec::new(),
        origin: Origin::Measured {
            bancada: "0.1.0".to_owned(),
        },
        outcome: Outcome::ok(),
        started: Timestamp::UNIX_EPOCH,
        seconds,
        phases: phases
            .iter()
            .enumerate()
            .map(|(place, name)| Phase {
                name: (*name).to_owned(),
                begin_seconds: seconds * place as f64 / 7.0,
                seconds: seconds / 7.0,
            })
            .collect(),
        epochs: (1..=10)
            .map(|epoch| Epoch {
                epoch,
                loss: Some(seconds / f64::from(epoch)),
                accuracy: Some(0.1 * f64::from(epoch)),
                seconds: Some(seconds / 10.0),
            })
            .collect(),
        metrics,
        environment: EnvironmentRecord {
            name: "local".to_owned(),
            limits: Limits::default(),
            limits_by: "none".to_owned(),
            device: None,
        },
        command: vec!["bancada".to_owned(), "job".to_owned(), "train".to_owned()],
        machine: machine(),
        price: None,
        rental: None,
        bill: None,
        warnings: Vec::new(),
        framework: None,
        serving: None,
        profile: Vec::new(),
        machine_profile: None,
    }
}

fn scenario(number: u32) -> Scenario {
    let level = |factor: &str, level: Level| FactorLevel {
        factor: factor.to_owned(),
        level,
    };
    Scenario {
        number,
        levels: vec![
            level("network", Level::from("rede1")),
            level("image", Level::from(32)),
            level("batch", Level::from(i64::from(number))),
        ],
    }
}

fn machine() -> Inventory {
    Inventory {
        hostname: "bench".to_owned(),
        cpu_model: "A processor of some make and 2.80 GHz".to_owned(),
        logical_cores: 4,
        usable_cores: 4.0,
        memory_bytes: 8 << 30,
        kernel: "6.1.0".to_owned(),
        operating_system: "Debian GNU/Linux 13".to_owned(),
        architecture: "x86_64".to_owned(),
        versions: [
            ("bancada", "0.1.0"),
            ("engine", "0.1.0"),
            ("gemm-f32", "0.19.0"),
        ]
        .into_iter()
        .map(|(name, version)| (name.to_owned(), version.to_owned()))
        .collect(),
        ..Inventory::default()
    }
}
