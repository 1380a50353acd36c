//! Made-up runs shaped like the studies of docs/studies.md: what a report has to cope with.

use model::run::{FrameworkRecord, OperatorTime, Verified, metric};
use model::study::{Scale, ScaleChange};
use model::*;

use super::{Noise, Recipe, World, bill, factor, metrics, phases};

const IMAGES: f64 = 1024.0;

fn texts(levels: &[&str]) -> Vec<Level> {
    levels.iter().map(|l| Level::from(*l)).collect()
}

fn numbers(levels: &[i64]) -> Vec<Level> {
    levels.iter().map(|n| Level::from(*n)).collect()
}

fn text(scenario: &Scenario, factor: &str) -> String {
    scenario
        .level(factor)
        .map(|l| l.to_string())
        .unwrap_or_default()
}

fn number(scenario: &Scenario, factor: &str) -> f64 {
    scenario
        .level(factor)
        .and_then(|l| l.as_float())
        .unwrap_or(1.0)
}

/// The 48 scenarios of study A, in reais.
pub fn study_a() -> World {
    let mut world = Recipe {
        factors: vec![
            factor("environment", &texts(&["cpu", "gpu"])),
            factor("framework", &texts(&["mxnet", "pytorch", "tensorflow"])),
            factor("dataset", &texts(&["mnist", "cifar10"])),
            factor("image", &numbers(&[32, 64])),
            factor("network", &texts(&["rede1", "rede2"])),
        ],
        repetitions: 5,
        currency: Currency::BRL,
        ..Recipe::default()
    }
    .world();
    world.study.name = "training-cost".to_owned();
    for record in &mut world.records {
        let name = text(&record.scenario, "framework");
        let version = match name.as_str() {
            "mxnet" => "1.9.1",
            "pytorch" => "2.2.0",
            _ => "2.14.0",
        };
        record.framework = Some(framework(&name, version, Some(verified(2e-6, None))));
        if name == "tensorflow" {
            let startup = &mut record.phases[0];
            startup.seconds += 6.0;
            record.seconds += 6.0;
        }
    }
    world
}

/// Study D: two frameworks, two networks, ten batches, two devices; cells that do not fit, runs
/// that take too long, runs that diverge, profiles.
pub fn study_d() -> World {
    let mut world = Recipe {
        factors: vec![
            factor("framework", &texts(&["caffe", "tensorflow"])),
            factor("network", &texts(&["alexnet", "googlenet"])),
            factor("environment", &texts(&["cpu", "gpu"])),
            factor("batch", &numbers(&[1, 2, 4, 8, 16, 32, 64, 128, 256, 512])),
        ],
        repetitions: 3,
        ..Recipe::default()
    }
    .world();
    world.study.name = "frameworks-and-batches".to_owned();
    world.study.objective = Some(
        "How do framework, network, device and batch size decide the time of an image?".into(),
    );
    world.study.budget = None;
    let mut noise = Noise(7);
    for record in &mut world.records {
        let seconds = per_image_d(&record.scenario) * (1.0 + 0.02 * noise.next());
        train_for(record, seconds, 10);
        learn_d(record, noise.next());
        let caffe = text(&record.scenario, "framework") == "caffe";
        let network = text(&record.scenario, "network");
        record.framework = Some(match caffe {
            true => framework("caffe", "1.0", None),
            false => framework("tensorflow", "2.21.0", Some(verified(4e-6, None))),
        });
        if caffe {
            record.warnings.push(Warning::NotVerified {
                framework: "caffe".to_owned(),
                network,
                cannot: None,
            });
        }
        record.profile = operators(&record.scenario, seconds);
    }
    let ended: Vec<(RunId, Status)> = world
        .records
        .iter()
        .filter_map(|r| Some((r.run, ending_d(r)?)))
        .collect();
    for (run, status) in ended {
        let detail = match status {
            Status::OutOfMemory => "the device has no memory left: 12 GB are taken",
            _ => "took longer than 10 min",
        };
        world.end_as(&run.to_string(), status, detail);
        world.record(&run.to_string()).profile.clear();
    }
    world
}

fn per_image_d(scenario: &Scenario) -> f64 {
    let batch = number(scenario, "batch");
    let network = match text(scenario, "network").as_str() {
        "googlenet" => 1.9,
        _ => 1.0,
    };
    let own = match text(scenario, "framework").as_str() {
        "tensorflow" => 1.2,
        _ => 1.0,
    };
    match text(scenario, "environment").as_str() {
        "gpu" => network * own * (0.0009 + 0.02 / batch),
        _ => network * own * (0.045 + 0.09 / batch),
    }
}

/// The record as if each image took so long.
fn train_for(record: &mut RunRecord, per_image: f64, epochs: u32) {
    let train = per_image * IMAGES * f64::from(epochs);
    record.phases = phases(train);
    record.seconds = record.phases.iter().map(|p| p.seconds).sum();
    record.metrics = metrics(record, &record.scenario.clone(), train, 0.0);
    let mut set = |name: &str, unit: &str, value: f64| {
        let unit = unit.to_owned();
        record
            .metrics
            .insert(name.to_owned(), Metric { value, unit });
    };
    set(metric::IMAGES_PER_SECOND, "1/s", 1.0 / per_image);
    set(metric::EPOCH_SECONDS, "s", train / f64::from(epochs));
    set("first_step_seconds", "s", 2.5 + per_image);
    let price = record.price.clone().unwrap();
    record.bill = Some(bill(record.seconds, &price, Currency::USD).into());
}

/// Small batches learn in fewer epochs; with batch 1 GoogLeNet diverges.
fn learn_d(record: &mut RunRecord, jitter: f64) {
    let batch = number(&record.scenario, "batch");
    let googlenet = text(&record.scenario, "network") == "googlenet";
    let epoch = |epoch: u32| {
        let rate = 1.6 / (1.0 + batch / 12.0).sqrt();
        let loss = 6.9 * (-rate * f64::from(epoch)).exp() * (1.0 + 0.08 * jitter).abs() + 0.004;
        let lost = googlenet && batch < 2.0 && epoch > 3;
        Epoch {
            epoch,
            loss: Some(loss).filter(|_| !lost),
            accuracy: None,
            seconds: Some(1.0),
        }
    };
    record.epochs = (1..=10).map(epoch).collect();
    if record.epochs.iter().any(|e| e.loss.is_none()) {
        record.warnings.push(Warning::Diverged { epoch: Some(4) });
        record.metrics.remove(metric::LOSS);
    }
}

fn ending_d(record: &RunRecord) -> Option<Status> {
    let batch = number(&record.scenario, "batch");
    let gpu = text(&record.scenario, "environment") == "gpu";
    let googlenet = text(&record.scenario, "network") == "googlenet";
    let tensorflow = text(&record.scenario, "framework") == "tensorflow";
    match () {
        () if gpu && batch >= 512.0 => Some(Status::OutOfMemory),
        () if gpu && googlenet && batch >= 256.0 && tensorflow => Some(Status::OutOfMemory),
        // It fits in one of three runs only.
        () if gpu && googlenet && batch >= 256.0 => {
            (record.run.repetition > 1).then_some(Status::OutOfMemory)
        }
        () if !gpu && googlenet && batch < 2.0 && tensorflow => Some(Status::TimedOut),
        () => None,
    }
}

fn operators(scenario: &Scenario, per_image: f64) -> Vec<OperatorTime> {
    let batch = number(scenario, "batch");
    let steps = 10.0 * batch * per_image;
    let alexnet = text(scenario, "network") == "alexnet";
    let dense = if alexnet { 0.34 } else { 0.06 };
    let parts = [
        ("Conv2DBackpropFilter", "convolution", 0.3 - dense / 4.0),
        ("Conv2DBackpropInput", "convolution", 0.26 - dense / 4.0),
        ("Conv2D", "convolution", 0.22 - dense / 4.0),
        ("MatMul", "matrix-product", dense),
        ("MaxPoolGrad", "pooling", 0.04),
        ("MaxPool", "pooling", 0.03),
        ("LRN", "normalisation", 0.03),
        ("ReluGrad", "activation", 0.02),
        ("Relu", "activation", 0.015),
        ("MEMCPYHtoD <weights>", "copy", 0.12 / batch.sqrt()),
        ("ResourceApplyGradientDescent", "optimiser", 0.05),
        ("Shape", "something new", 0.002),
    ];
    let operator = |(name, kind, share): (&str, &str, f64)| OperatorTime {
        name: name.to_owned(),
        kind: kind.to_owned(),
        calls: 10 * (1 + name.len() as u64 % 7),
        seconds: steps * share,
    };
    parts.into_iter().map(operator).collect()
}

/// Two frameworks and two networks, trained by one and by two workers.
pub fn workers() -> World {
    let mut world = Recipe {
        factors: vec![
            factor("network", &texts(&["rede1", "rede2"])),
            factor("workers", &numbers(&[1, 2])),
        ],
        repetitions: 4,
        ..Recipe::default()
    }
    .world();
    world.study.name = "workers".to_owned();
    if let Workload::Train(train) = &mut world.study.workload {
        train.framework = "pytorch".to_owned();
    }
    let mut noise = Noise(11);
    for record in &mut world.records {
        let workers = number(&record.scenario, "workers");
        let deep = text(&record.scenario, "network") == "rede2";
        // What each step loses to telling the others.
        let lost = if deep { 0.05 } else { 0.18 };
        let alone = if deep { 0.002 } else { 0.001 };
        let share = 1.0 / workers + lost * (workers - 1.0) / workers;
        train_for(record, alone * share * (1.0 + 0.01 * noise.next()), 4);
        record.framework = Some(framework("pytorch", "2.15.0", Some(verified(1e-6, None))));
    }
    world
}

/// Study C: cores, on the machine and in a container; made smaller by a scale.
pub fn study_c() -> World {
    let mut world = Recipe {
        factors: vec![
            factor("environment", &texts(&["machine", "docker"])),
            factor("network", &texts(&["keras-mnist", "keras-cifar"])),
            factor("cores", &numbers(&[1, 2, 4, 8, 16, 24])),
        ],
        repetitions: 3,
        ..Recipe::default()
    }
    .world();
    world.study.name = "cores".to_owned();
    let change = |what: &str, from: Option<&str>, to: &str| ScaleChange {
        what: what.to_owned(),
        from: from.map(str::to_owned),
        to: to.to_owned(),
    };
    world.study.scale = Some(Scale {
        name: "small".to_owned(),
        changes: vec![
            change("images", Some("60000"), "1024"),
            change("epochs", Some("12"), "2"),
            change("repetitions", Some("10"), "3"),
            change(
                "environment",
                Some("machine, docker, gpu"),
                "machine, docker",
            ),
        ],
    });
    let mut noise = Noise(13);
    for record in &mut world.records {
        let cores = number(&record.scenario, "cores");
        let large = text(&record.scenario, "network") == "keras-cifar";
        let serial = if large { 0.03 } else { 0.09 };
        let inside = if text(&record.scenario, "environment") == "docker" {
            1.01
        } else {
            1.0
        };
        let one = if large { 0.004 } else { 0.001 };
        let share = serial + (1.0 - serial) / cores;
        train_for(
            record,
            one * inside * share * (1.0 + 0.01 * noise.next()),
            2,
        );
    }
    world
}

/// A machine that was bought against two that are rented, one of them by the minute; an accuracy to
/// get to.
pub fn paying() -> World {
    let mut world = Recipe {
        factors: vec![
            factor("environment", &texts(&["nuc", "cpu", "gpu"])),
            factor("network", &texts(&["rede1", "rede2"])),
            factor("image", &numbers(&[32, 64])),
        ],
        repetitions: 4,
        ..Recipe::default()
    }
    .world();
    world.study.name = "paying".to_owned();
    world.study.target_accuracy_percent = Some(97.0);
    for environment in &mut world.study.environments {
        environment.price = Some(paying_price(&environment.name).into());
    }
    let mut noise = Noise(17);
    for record in &mut world.records {
        let gpu = record.environment.name == "gpu";
        let slower = if record.environment.name == "nuc" {
            0.7
        } else {
            1.0
        };
        let trained = record.metrics[metric::TRAIN_SECONDS].value;
        let train = 40.0 * slower * trained * (1.0 + 0.02 * noise.next());
        record.phases = phases(train);
        record.phases[0].seconds = if gpu { 9.0 } else { 3.0 };
        let mut begin = 0.0;
        for phase in &mut record.phases {
            phase.begin_seconds = begin;
            begin += phase.seconds;
        }
        record.seconds = begin;
        record.metrics = metrics(record, &record.scenario.clone(), train, noise.next());
        if gpu {
            let starved = record.metrics.get_mut(metric::GPU_PERCENT);
            starved.unwrap().value -= 50.0;
        }
        for epoch in &mut record.epochs {
            epoch.seconds = Some(train / 4.0);
            // The second network stays below.
            let deep = record.scenario.levels[1].level.to_string() == "rede2";
            let most = if deep { 0.96 } else { 0.985 };
            epoch.accuracy = epoch.accuracy.map(|a| a.min(most));
        }
        let price = paying_price(&record.environment.name);
        let request = cost::BillRequest::of(record, &price, Currency::USD, &[]);
        record.bill = Some(cost::bill(&request).bill.into());
        record.price = Some(price.into());
    }
    world
}

fn paying_price(environment: &str) -> Price {
    let mut price = super::price(environment);
    price.billing.step_seconds = 1;
    match environment {
        "nuc" => {
            let own = OwnMachine {
                purchase: "900 USD".parse().unwrap(),
                years: "4".parse().unwrap(),
                watts: "65".parse().unwrap(),
                electricity_per_kilowatt_hour: "0.30 USD".parse().unwrap(),
                hours_per_day: None,
            };
            price.machine = "own".to_owned();
            price.per_hour = cost::own_machine_per_hour(&own).unwrap();
            price.own = Some(own);
        }
        "gpu" => price.billing.step_seconds = 60,
        _ => {}
    }
    price
}

pub fn framework(name: &str, version: &str, verified: Option<Verified>) -> FrameworkRecord {
    FrameworkRecord {
        name: name.to_owned(),
        version: Some(version.to_owned()),
        verified,
    }
}

pub fn verified(first: f64, differs_at: Option<&str>) -> Verified {
    Verified {
        when: Timestamp::from_second(1_699_000_000).unwrap(),
        first_loss_difference: first,
        last_loss_difference: first * 40.0,
        steps: 5,
        differs_at: differs_at.map(str::to_owned),
    }
}
