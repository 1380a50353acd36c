//! A study that serves: answers whose costs, cold starts and break-evens are known.

use std::collections::BTreeMap;

use model::run::{Metric, metric, phase};
use model::serving::{OK, QuantileRecord, Serverless};
use model::{
    Level, LoadShape, Phase, ServePrecision, ServeWorkload, Service, ServingRecord, Workload,
};

use super::{Recipe, World, factor};

const REQUESTS: f64 = 25.0;

/// What is made up of one kind of place.
struct Made {
    latency: f64,
    cost: f64,
    cores: f64,
}

/// On demand an answer costs 2e-6 and takes 0.1 s; a machine answers in 0.05 s for 0.36 an hour, so
/// that a day of it is 8.64 and worth 4,320,000 answers on demand, more than the 1,728,000 it can
/// give; the expensive one on demand costs 10e-6.
fn made(environment: &str, load: &str) -> Made {
    let cold = if load == "cold" { 4.0 } else { 1.0 };
    match environment {
        "small" => Made {
            latency: 0.1 * cold,
            cost: 2e-6,
            cores: 0.3,
        },
        "large" => Made {
            latency: 0.1 * cold,
            cost: 10e-6,
            cores: 0.3,
        },
        _ => Made {
            latency: 0.05,
            cost: 0.05 * 0.36 / 3600.0,
            cores: 1.9,
        },
    }
}

fn workload() -> ServeWorkload {
    ServeWorkload {
        stack: "bancada".to_owned(),
        model: "mobilenet".to_owned(),
        image: Some(224),
        classes: None,
        precision: ServePrecision::Float32,
        load: LoadShape::Warm,
        clients: 1,
        rate: None,
        requests: None,
        pause_seconds: None,
        cold_pause_seconds: None,
        seconds: 10.0,
        under_seconds: None,
        timeout_seconds: 60.0,
        body: None,
        trace: None,
        workers: None,
        threads: None,
        command: Vec::new(),
        env: BTreeMap::new(),
        inputs: Vec::new(),
    }
}

pub fn world() -> World {
    let levels = |names: &[&str]| {
        names
            .iter()
            .map(|name| Level::from(*name))
            .collect::<Vec<_>>()
    };
    let mut world = Recipe {
        factors: vec![
            factor("environment", &levels(&["small", "large", "machine"])),
            factor("load", &levels(&["cold", "warm"])),
        ],
        ..Recipe::default()
    }
    .world();
    world.study.workload = Workload::Serve(workload());
    for (environment, memory_mb) in [("small", 1024), ("large", 4096)] {
        let found = world.study.environments.iter_mut();
        let found = found.into_iter().find(|e| e.name == environment).unwrap();
        found.service = Some(Service::Serverless(Serverless {
            memory_mb,
            idle_seconds: 60.0,
            concurrency: 5,
            sagemaker: None,
        }));
    }
    for record in &mut world.records {
        let level = |name: &str| record.scenario.level(name).unwrap().to_string();
        let Made {
            latency,
            cost,
            cores,
        } = made(&level("environment"), &level("load"));
        // Repetitions differ by a hundredth, in a known way and in an order of each scenario's own.
        let (scenario, repetition) = (record.run.scenario, record.run.repetition);
        let place = (repetition * (1 + scenario % 2) + scenario) % 3;
        let jitter = 1.0 + 0.01 * (f64::from(place) - 1.0);
        let busy = REQUESTS * latency * jitter;
        record.epochs.clear();
        record.phases = vec![Phase {
            name: phase::WARM.to_owned(),
            begin_seconds: 0.0,
            seconds: 2.0 * busy,
        }];
        record.seconds = 2.0 * busy;
        record.metrics = [
            (metric::LATENCY_SECONDS, latency * jitter, "s"),
            (metric::PREDICTION_SECONDS, 0.02, "s"),
            (metric::PREDICTION_PERCENT, 2.0 / (latency * jitter), "%"),
            (metric::REQUESTS, REQUESTS, ""),
            (metric::FAILED_REQUESTS, 0.0, ""),
            (
                metric::COLD_REQUESTS,
                match (level("load").as_str(), level("environment").as_str()) {
                    ("cold", "small" | "large") => REQUESTS,
                    _ => 0.0,
                },
                "",
            ),
            (metric::BUSY_SECONDS, busy, "s"),
            (metric::COST_PER_INFERENCE, cost * jitter, "USD"),
            // Half of the time of the load is pauses.
            (metric::CORES_USED, cores / 2.0, ""),
            (metric::CPU_PERCENT, 100.0 * cores / 2.0 / 2.0, "%"),
            (metric::MEMORY_PERCENT, 10.0, "%"),
            (metric::PEAK_MEMORY_BYTES, 100e6, "B"),
        ]
        .into_iter()
        .map(|(name, value, unit)| {
            let unit = unit.to_owned();
            (name.to_owned(), Metric { value, unit })
        })
        .collect();
        record.serving = Some(Box::new(ServingRecord {
            ends: [(OK.to_owned(), REQUESTS as u64)].into(),
            latency: vec![QuantileRecord {
                share: 0.5,
                seconds: latency,
            }],
            prediction: Vec::new(),
            first_failure: None,
            client_limited: None,
            runtime: None,
            service: None,
            is_elsewhere: false,
        }));
    }
    world
}
