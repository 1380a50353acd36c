//! Made-up runs whose answer is known: time = base × effect of every level × a little noise.
//! Shared with the tests and the example of `report`.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses its own part"
)]
#![allow(
    clippy::unwrap_used,
    clippy::allow_attributes,
    reason = "fixed inputs of tests"
)]

mod design;
mod machine;
pub mod serving;
pub mod studies;
pub mod times;

use std::collections::BTreeMap;

use analyse::{Analysis, Input, analyse};
use model::run::{BUNDLE_SCHEMA, EnvironmentRecord, Origin, metric};
use model::study::{FactorLevel, MeasureSettings};
use model::*;

pub use design::full_factorial;
pub use machine::price;
use machine::{bill, machine};

pub struct World {
    pub study: Study,
    pub plan: Plan,
    pub records: Vec<RunRecord>,
}

/// How runs are made up.
pub struct Recipe {
    pub factors: Vec<Factor>,
    pub repetitions: u32,
    /// Relative noise of every time.
    pub noise: f64,
    /// From the first run to the last, as a fraction.
    pub drift: f64,
    pub currency: Currency,
}

impl Default for Recipe {
    /// The quickstart: two networks, two image sizes, two batches.
    fn default() -> Self {
        Recipe {
            factors: vec![
                factor("network", &[Level::from("rede1"), Level::from("rede2")]),
                factor("image", &[Level::from(32), Level::from(64)]),
                factor("batch", &[Level::from(32), Level::from(64)]),
            ],
            repetitions: 3,
            noise: 0.012,
            drift: 0.0,
            currency: Currency::USD,
        }
    }
}

pub fn analysis(world: &World) -> Analysis {
    analyse(&world.input())
}

/// Phases by name, begin and seconds.
pub fn phases_of(parts: &[(&str, f64, f64)]) -> Vec<Phase> {
    let phase = |(name, begin_seconds, seconds): &(&str, f64, f64)| Phase {
        name: (*name).to_owned(),
        begin_seconds: *begin_seconds,
        seconds: *seconds,
    };
    parts.iter().map(phase).collect()
}

pub fn factor(name: &str, levels: &[Level]) -> Factor {
    Factor {
        name: name.to_owned(),
        levels: levels.to_vec(),
    }
}

impl Recipe {
    pub fn world(&self) -> World {
        let study = self.study();
        let scenarios = full_factorial(&study.factors);
        let mut runs = Vec::new();
        for repetition in 1..=self.repetitions {
            let mut block: Vec<u32> = scenarios.iter().map(|s| s.number).collect();
            // A fixed shuffle: 7 is prime to every size used here but its own multiples.
            block.sort_by_key(|n| (n * 7 + repetition * 3) % (scenarios.len() as u32 + 1));
            runs.extend(block.into_iter().map(|scenario| RunId {
                scenario,
                repetition,
            }));
        }
        let plan = Plan {
            scenarios,
            runs,
            seed: study.seed,
        };
        let mut records = Vec::new();
        let mut clock = 1_700_000_000.0;
        let mut noise = Noise(42);
        for (place, id) in plan.runs.iter().enumerate() {
            let scenario = plan.scenario(id.scenario).unwrap();
            let progress = place as f64 / plan.runs.len() as f64;
            let factor = (1.0 + self.noise * noise.next()) * (1.0 + self.drift * progress);
            let record = self.record(
                &study,
                scenario,
                *id,
                Moment {
                    clock,
                    factor,
                    jitter: noise.next(),
                },
            );
            clock += record.seconds + 0.2;
            records.push(record);
        }
        World {
            study,
            plan,
            records,
        }
    }

    fn study(&self) -> Study {
        let names = self.factors.iter().find(|f| f.name == "environment");
        let names: Vec<String> = names.map_or_else(
            || vec!["local".to_owned()],
            |f| f.levels.iter().map(|l| l.to_string()).collect(),
        );
        Study {
            name: "quickstart".to_owned(),
            objective: Some(
                "Which network, image size and batch train fastest, and what does a run cost?"
                    .to_owned(),
            ),
            repetitions: self.repetitions,
            seed: 2024,
            order: RunSequence::Blocks,
            budget: Some("1 USD".parse().unwrap()),
            currency: self.currency,
            rates: Vec::new(),
            factors: self.factors.clone(),
            exclude: Vec::new(),
            design: Default::default(),
            workload: Workload::Train(TrainWorkload {
                framework: "engine".to_owned(),
                network: "rede1".to_owned(),
                dataset: "digits".to_owned(),
                data_dir: None,
                image: None,
                epochs: 4,
                batch: 64,
                images: Some(1024),
                held_out: Some(256),
                optimizer: Optimizer::Adam {
                    learning_rate: 0.001,
                    beta1: 0.9,
                    beta2: 0.999,
                    epsilon: 1e-8,
                },
                threads: None,
                device: "cpu".to_owned(),
                keep_model: true,
                precision: Default::default(),
                compile: None,
                workers: 1,
                pipeline: Default::default(),
                profile: false,
            }),
            environments: names
                .into_iter()
                .map(|name| Environment {
                    price: Some(price(&name).into()),
                    device: (name == "gpu").then(|| "cuda:0".to_owned()),
                    service: None,
                    hosts: None,
                    location: Default::default(),
                    power: None,
                    carbon: None,
                    limits: Limits {
                        cores: Some(2.0),
                        memory_bytes: None,
                    },
                    name,
                })
                .collect(),
            measure: MeasureSettings {
                interval_seconds: 0.5,
                timeout_seconds: Some(600.0),
                grace_seconds: 5.0,
            },
            metrics: Vec::new(),
            target_accuracy_percent: None,
            roles: BTreeMap::new(),
            equal_within_percent: None,
            pareto: Vec::new(),
            carbon: None,
            until: None,
            goal: None,
            import: None,
            network_files: Default::default(),
            scale: None,
        }
    }

    fn record(&self, study: &Study, scenario: &Scenario, run: RunId, moment: Moment) -> RunRecord {
        let environment = scenario
            .level("environment")
            .map_or("local".to_owned(), |l| l.to_string());
        let seconds = 1.6 * work(scenario) * moment.factor;
        let phases = phases(seconds);
        let total: f64 = phases.iter().map(|p| p.seconds).sum();
        let price = price(&environment);
        let mut record = RunRecord {
            schema: BUNDLE_SCHEMA,
            study: study.name.clone(),
            run,
            scenario: scenario.clone(),
            fingerprint: String::new(),
            inputs: Vec::new(),
            origin: Origin::Measured {
                bancada: "0.1.0".to_owned(),
            },
            outcome: Outcome::ok(),
            started: Timestamp::from_millisecond((moment.clock * 1000.0) as i64).unwrap(),
            seconds: total,
            phases,
            epochs: epochs(scenario, seconds, moment.jitter),
            metrics: BTreeMap::new(),
            environment: EnvironmentRecord {
                limits: Limits {
                    cores: Some(2.0),
                    memory_bytes: None,
                },
                limits_by: "cgroup v2".to_owned(),
                device: (environment == "gpu").then(|| "cuda:0".to_owned()),
                name: environment.clone(),
            },
            command: vec!["bancada".to_owned(), "engine".to_owned()],
            machine: machine(environment == "gpu"),
            rental: None,
            bill: Some(bill(total, &price, self.currency).into()),
            price: Some(price.into()),
            warnings: Vec::new(),
            framework: None,
            serving: None,
            profile: Vec::new(),
            machine_profile: None,
        };
        record.metrics = metrics(&record, scenario, seconds, moment.jitter);
        record
    }
}

struct Moment {
    clock: f64,
    factor: f64,
    jitter: f64,
}

/// How much work the levels make, each by its own factor, with one interaction.
fn work(scenario: &Scenario) -> f64 {
    let mut work = 1.0;
    for FactorLevel { factor, level } in &scenario.levels {
        let text = level.to_string();
        work *= match (factor.as_str(), text.as_str()) {
            ("image", "64") => 2.9,
            ("network", "rede2") => 1.7,
            ("batch", "64") => 0.85,
            ("environment", "gpu") => 0.09,
            ("framework", "pytorch") => 0.8,
            ("framework", "tensorflow") => 1.15,
            ("dataset", "cifar10") => 1.1,
            (_, number) => number.parse::<f64>().map_or(1.0, |n| 1.0 + n / 1000.0),
        };
    }
    let deep = scenario
        .level("network")
        .is_some_and(|l| l.to_string() == "rede2");
    let large = scenario
        .level("image")
        .is_some_and(|l| l.to_string() == "64");
    if deep && large { work * 1.12 } else { work }
}

fn phases(train: f64) -> Vec<Phase> {
    let parts = [
        ("startup", 0.05),
        ("load-data", 0.21),
        ("start", 0.08),
        ("train", train),
        ("verify", 0.06 * train),
        ("save", 0.03),
        ("shutdown", 0.01),
    ];
    let mut begin = 0.0;
    let phase = |(name, seconds): (&str, f64)| {
        let phase = Phase {
            name: name.to_owned(),
            begin_seconds: begin,
            seconds,
        };
        begin += seconds;
        phase
    };
    parts.into_iter().map(phase).collect()
}

fn epochs(scenario: &Scenario, train: f64, jitter: f64) -> Vec<Epoch> {
    let speed = 0.9 + 0.1 * f64::from(scenario.number % 4);
    let epoch = |epoch: u32| {
        let loss = 2.3 * (-speed * f64::from(epoch)).exp() * (1.0 + 0.05 * jitter) + 0.02;
        let accuracy = Some((1.0 - loss / 6.0).clamp(0.0, 0.985));
        Epoch {
            epoch,
            loss: Some(loss),
            accuracy,
            seconds: Some(train / 4.0),
        }
    };
    (1..=4).map(epoch).collect()
}

fn metrics(
    record: &RunRecord,
    scenario: &Scenario,
    train: f64,
    jitter: f64,
) -> BTreeMap<String, Metric> {
    let side = scenario
        .level("image")
        .and_then(|l| l.as_float())
        .unwrap_or(32.0);
    let batch = scenario
        .level("batch")
        .and_then(|l| l.as_float())
        .unwrap_or(64.0);
    let last = record.epochs.last();
    let mut values = vec![
        (metric::TOTAL_SECONDS, "s", record.seconds),
        (metric::TRAIN_SECONDS, "s", train),
        (metric::EPOCH_SECONDS, "s", train / 4.0),
        (metric::STEP_SECONDS, "s", train / 4.0 / (1024.0 / batch)),
        (metric::IMAGES_PER_SECOND, "1/s", 4096.0 / train),
        (metric::CPU_SECONDS, "s", train * 1.92),
        (metric::CORES_USED, "", 1.92),
        (metric::CPU_PERCENT, "%", 96.0 + jitter),
        (
            metric::PEAK_MEMORY_BYTES,
            "B",
            9e7 + side * side * batch * 1.3e3 + 2e5 * jitter,
        ),
        (metric::MEMORY_PERCENT, "%", 1.0 + side / 32.0),
        (metric::SAMPLER_CPU_SECONDS, "s", record.seconds * 2.2e-4),
    ];
    if let Some(epoch) = last {
        values.extend(epoch.loss.map(|loss| (metric::LOSS, "", loss)));
        values.extend(
            epoch
                .accuracy
                .map(|accuracy| (metric::ACCURACY, "%", accuracy * 100.0)),
        );
    }
    if record.environment.name == "gpu" {
        values.push((metric::GPU_PERCENT, "%", 71.0 + 3.0 * jitter));
        values.push((metric::GPU_MEMORY_PERCENT, "%", 12.0 + side / 16.0));
        values.push((metric::GPU_ENERGY_JOULES, "J", 62.0 * train));
    }
    let metric = |(name, unit, value): (&str, &str, f64)| {
        (
            name.to_owned(),
            Metric {
                value,
                unit: unit.to_owned(),
            },
        )
    };
    values.into_iter().map(metric).collect()
}

/// Numbers that look normal, the same every time: a sum of twelve uniform ones.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl World {
    pub fn input(&self) -> Input<'_> {
        Input {
            study: &self.study,
            plan: &self.plan,
            records: &self.records,
            superseded: &[],
            searched: None,
            repriced: None,
        }
    }

    pub fn record(&mut self, run: &str) -> &mut RunRecord {
        let run: RunId = run.parse().unwrap();
        self.records.iter_mut().find(|r| r.run == run).unwrap()
    }

    /// The run ends so, with nothing measured.
    pub fn end_as(&mut self, run: &str, status: Status, detail: &str) {
        let record = self.record(run);
        record.outcome = Outcome {
            status,
            detail: Some(detail.to_owned()),
            exit_code: None,
            signal: Some(9),
        };
        record
            .metrics
            .retain(|name, _| name == metric::TOTAL_SECONDS);
        record.epochs.clear();
    }
}
