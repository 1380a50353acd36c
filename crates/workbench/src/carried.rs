//! Runs as they would be on machines that were probed.

use std::path::Path;

use frameworks::Home;
use model::profile::Measured;
use model::run::{machine_profile_file, metric, phase};
use model::{
    LayerWork, MachineProfile, Optimizer, Pipeline, Precision, Price, RunRecord, Scenario, Status,
    TrainJob, Work,
};
use network::Graph;
use predict::transfer::{Observation, Transfer, Workload, transfer};
use runner::OrderBuilder;

use crate::machines::Machines;
use crate::open::Results;

/// The runs of one environment on one machine.
pub struct Carried {
    /// As the price names it.
    pub machine: String,
    /// When it was probed.
    pub probed: String,
    /// Of every scenario, or why not even one is predicted.
    pub outcome: Result<Vec<CarriedScenario>, String>,
}

pub struct CarriedScenario {
    pub number: u32,
    pub transfer: Transfer,
}

/// What predictions are made from.
pub struct Carrier<'a> {
    pub results: &'a Results,
    /// Of the study file, where networks of its own are.
    pub folder: &'a Path,
    pub home: &'a Home,
    pub machines: &'a Machines,
}

/// A scenario that was measured.
struct MeasuredScenario {
    number: u32,
    framework: String,
    work: Vec<LayerWork>,
    seconds: Measured,
    memory_bytes: Option<u64>,
}

impl Carrier<'_> {
    /// `None` where that machine was not probed.
    pub fn carry(&self, records: &[RunRecord], price: &Price) -> Option<Carried> {
        let there = self.named(&price.machine)?;
        let counts = |record: &&RunRecord| {
            record.outcome.status == Status::Ok && record.unmet_limits().is_empty()
        };
        let records: Vec<&RunRecord> = records.iter().filter(counts).collect();
        Some(Carried {
            machine: price.machine.clone(),
            probed: there.measured.to_string().chars().take(10).collect(),
            outcome: self.predict(&records, there),
        })
    }

    /// A profile of a machine holds in every region.
    fn named(&self, machine: &str) -> Option<&MachineProfile> {
        let without_way = machine.split('+').next().unwrap_or(machine);
        let without_region = without_way.split('@').next().unwrap_or(without_way);
        let profiles = || self.machines.profiles.iter();
        let exact = profiles().find(|profile| profile.name == without_way);
        exact.or_else(|| profiles().find(|profile| profile.name == without_region))
    }

    fn predict(
        &self,
        records: &[&RunRecord],
        there: &MachineProfile,
    ) -> Result<Vec<CarriedScenario>, String> {
        let first = records.first().ok_or("no run succeeded")?;
        let here = &self.here(first)?;
        if let Some(other) = records
            .iter()
            .find(|record| !here.is_of(&record.machine, cores_of(record)))
        {
            return Err(format!(
                "{} ran on a different machine than {}",
                other.run, first.run
            ));
        }
        let mut measured = Vec::new();
        for scenario in scenarios(records) {
            let own: Vec<&RunRecord> = of_scenario(records, scenario).collect();
            let found = self.measured(scenario, &own);
            measured.push(found.map_err(|why| format!("{}: {why}", scenario.label()))?);
        }
        let predict = |scenario: &MeasuredScenario| {
            let others: Vec<Observation> = measured
                .iter()
                .filter(|other| other.number != scenario.number)
                .filter(|other| other.framework == scenario.framework)
                .map(|other| Observation {
                    work: &other.work,
                    seconds: other.seconds.median,
                })
                .collect();
            let workload = Workload {
                framework: &scenario.framework,
                work: &scenario.work,
                seconds: scenario.seconds,
                memory_bytes: scenario.memory_bytes,
            };
            let transfer = transfer(&workload, &others, here, there);
            Ok(CarriedScenario {
                number: scenario.number,
                transfer: transfer.map_err(|why| format!("C{}: {why}", scenario.number))?,
            })
        };
        measured.iter().map(predict).collect()
    }

    /// Of the machine of a run: as it was kept with the run, unless only a later probe has the
    /// framework.
    fn here(&self, record: &RunRecord) -> Result<MachineProfile, String> {
        let (machine, cores) = (&record.machine, cores_of(record));
        let kept = self.kept(record);
        let profiles = self.machines.profiles.iter();
        let own = profiles.filter(|profile| profile.is_of(machine, cores));
        let own = own.max_by_key(|profile| profile.rank_for(machine)).cloned();
        let framework = record.framework.as_ref().map(|framework| &framework.name);
        let has_framework = |profile: &MachineProfile| {
            framework.is_none_or(|name| profile.framework(name).is_some())
        };
        let (kept, own) = match (kept, own) {
            (Some(kept), Some(own)) if !has_framework(&kept) && has_framework(&own) => {
                (Some(own), None)
            }
            both => both,
        };
        kept.or(own).ok_or_else(|| {
            let option = match cores < machine.usable_cores {
                true => format!(" --cores {cores}"),
                false => String::new(),
            };
            format!(
                "the machine of the runs was not probed with {cores} cores: run `bancada probe{option}` on {}",
                machine.hostname
            )
        })
    }

    fn kept(&self, record: &RunRecord) -> Option<MachineProfile> {
        let name = machine_profile_file(record.machine_profile.as_ref()?);
        let text = self.results.store.read_file(&name).ok()??;
        serde_json::from_slice(&text).ok()
    }

    fn measured(
        &self,
        scenario: &Scenario,
        records: &[&RunRecord],
    ) -> Result<MeasuredScenario, String> {
        let builder = OrderBuilder::new(&self.results.study, self.folder, self.home.path());
        let built = builder.of_scenario(scenario).map_err(|e| e.to_string())?;
        let Work::Train(train) = built.order.work else {
            return Err("only trainings that Bancada starts itself are predicted".to_owned());
        };
        check_job(&train.job)?;
        let graph: Graph =
            serde_json::from_value(train.job.network.clone()).map_err(|e| e.to_string())?;
        let slots = slots(&train.job.optimizer);
        let work = graph.training_work(train.job.batch, slots);
        let told = |name: &str| -> Vec<f64> {
            let metrics = records.iter().filter_map(|record| record.metrics.get(name));
            metrics.map(|metric| metric.value).collect()
        };
        let memory = told(metric::PEAK_MEMORY_BYTES);
        Ok(MeasuredScenario {
            number: scenario.number,
            framework: train.framework.clone(),
            work: work.map_err(|e| e.to_string())?,
            seconds: Measured::of(&told(metric::STEP_SECONDS)).ok_or("no step time is known")?,
            memory_bytes: memory
                .into_iter()
                .reduce(f64::max)
                .map(|bytes| bytes as u64),
        })
    }
}

/// The probe measures 32-bit steps of one process on the processor.
fn check_job(job: &TrainJob) -> Result<(), String> {
    let reason = if job.device != "cpu" {
        "the probe does not measure GPUs"
    } else if job.precision != Precision::Float32 {
        "the probe does not measure mixed precision"
    } else if job.workers > 1 {
        "the probe does not measure communication between workers"
    } else if job.data.pipeline != Pipeline::Cache {
        "the probe does not measure the framework's own image loader"
    } else {
        return Ok(());
    };
    Err(reason.to_owned())
}

fn slots(optimizer: &Optimizer) -> u32 {
    match optimizer {
        Optimizer::Adam { .. } => 2,
        Optimizer::Sgd { momentum, .. } => u32::from(*momentum != 0.0),
    }
}

fn cores_of(record: &RunRecord) -> f64 {
    let usable = record.machine.usable_cores;
    record
        .environment
        .limits
        .cores
        .unwrap_or(usable)
        .min(usable)
}

fn scenarios<'a>(records: &[&'a RunRecord]) -> Vec<&'a Scenario> {
    let mut found: Vec<&Scenario> = Vec::new();
    for record in records {
        if found
            .iter()
            .all(|known| known.number != record.scenario.number)
        {
            found.push(&record.scenario);
        }
    }
    found
}

fn of_scenario<'r>(
    records: &'r [&'r RunRecord],
    scenario: &'r Scenario,
) -> impl Iterator<Item = &'r RunRecord> {
    let own = records.iter().copied();
    own.filter(|record| record.scenario.number == scenario.number)
}

/// An end of the intervals of predicted steps, or what lies between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    Low,
    Middle,
    High,
}

impl CarriedScenario {
    fn slowdown(&self, bound: Bound) -> f64 {
        let Transfer {
            seconds,
            low,
            high,
            slowdown,
            ..
        } = self.transfer;
        match bound {
            Bound::Low => slowdown * low / seconds,
            Bound::Middle => slowdown,
            Bound::High => slowdown * high / seconds,
        }
    }
}

impl Carried {
    /// The runs with the predicted times of their steps; everything else takes as long as it took.
    /// As they are where nothing is predicted.
    pub fn records(&self, records: &[RunRecord], bound: Bound) -> Vec<RunRecord> {
        let mut there = records.to_vec();
        for record in &mut there {
            let scenarios = self.outcome.iter().flatten();
            let mut own = scenarios.filter(|scenario| scenario.number == record.run.scenario);
            if let Some(scenario) = own.next() {
                slow_down(record, scenario.slowdown(bound));
            }
        }
        there
    }
}

fn slow_down(record: &mut RunRecord, times: f64) {
    let mut later = 0.0;
    for phase in &mut record.phases {
        phase.begin_seconds += later;
        if [phase::TRAIN, phase::VERIFY].contains(&phase.name.as_str()) {
            later += phase.seconds * (times - 1.0);
            phase.seconds *= times;
        }
    }
    record.seconds += later;
}
