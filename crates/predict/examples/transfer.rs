//! How well times are carried from one machine to another: every ordered pair of the machines that
//! `bench/transfer/measure.py` made, each target known by its probe alone.
//!
//!     cargo run --release -p predict --example transfer -- FOLDER [--cpu] [--engine]
//!
//! `--cpu` compares CPU time instead of time, for a machine that others use meanwhile; `--engine`
//! compares machines by the embedded engine only, as if no framework had been probed.

use std::collections::BTreeMap;
use std::error::Error;

use model::MachineProfile;
use model::profile::{FrameworkProbe, StepTime};
use predict::transfer::{Observation, Workload, transfer};

#[derive(Clone)]
struct Trial {
    network: String,
    error: f64,
    same_time_error: f64,
    is_covered: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let folder = arguments.first().ok_or("name the folder of the profiles")?;
    let mut profiles = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let profile: MachineProfile = serde_json::from_slice(&std::fs::read(&path)?)?;
            profiles.push(if has("--cpu") {
                by_cpu_time(profile)
            } else {
                profile
            });
        }
    }
    profiles.sort_by(|one, other| one.name.cmp(&other.name));
    let mut groups: [BTreeMap<String, Vec<Trial>>; 3] = Default::default();
    let mut all = Vec::new();
    for here in &profiles {
        for there in profiles.iter().filter(|there| there.name != here.name) {
            // A file has the embedded engine and the framework that it was measured for.
            let measured_for = |profile: &MachineProfile| profile.frameworks.last().cloned();
            let (Some(own), Some(other)) = (measured_for(here), measured_for(there)) else {
                continue;
            };
            if own.framework != other.framework {
                continue;
            }
            for trial in trials(here, there, &own, &other, has("--engine")) {
                let names = [&own.framework, &there.name, &trial.network];
                for (group, name) in groups.iter_mut().zip(names) {
                    group.entry(name.clone()).or_default().push(trial.clone());
                }
                all.push(trial);
            }
        }
    }
    println!(
        "| | predictions | median error | 90th percentile | in the 95 % interval | same time assumed: median error |"
    );
    println!("|---|---|---|---|---|---|");
    for (name, trials) in groups.iter().flatten() {
        row(name, trials);
    }
    row("all", &all);
    Ok(())
}

/// Every network of the user's, from here to there.
fn trials(
    here: &MachineProfile,
    there: &MachineProfile,
    own: &FrameworkProbe,
    other: &FrameworkProbe,
    by_engine: bool,
) -> Vec<Trial> {
    let of_user = |probe: &FrameworkProbe| -> Vec<StepTime> {
        let steps = probe.steps.iter().filter(|step| step.kind.is_none());
        steps.cloned().collect()
    };
    let (measured, truths) = (of_user(own), of_user(other));
    let (here, there) = (probe_only(here, by_engine), probe_only(there, by_engine));
    let trial = |step: &StepTime| {
        let truth = truths.iter().find(|truth| truth.network == step.network)?;
        let others: Vec<Observation> = measured
            .iter()
            .filter(|other| other.network != step.network)
            .map(|other| Observation {
                work: &other.work,
                seconds: other.seconds.median,
            })
            .collect();
        let workload = Workload {
            framework: &own.framework,
            work: &step.work,
            seconds: step.seconds,
            memory_bytes: None,
        };
        let found = transfer(&workload, &others, &here, &there).ok()?;
        let truth = truth.seconds.median;
        Some(Trial {
            network: step.network.clone(),
            error: (found.seconds / truth - 1.0).abs(),
            same_time_error: (step.seconds.median / truth - 1.0).abs(),
            is_covered: (found.low..=found.high).contains(&truth),
        })
    };
    measured.iter().filter_map(trial).collect()
}

/// As a probe without networks of the user's would be.
fn probe_only(profile: &MachineProfile, by_engine: bool) -> MachineProfile {
    let mut profile = profile.clone();
    if by_engine {
        profile
            .frameworks
            .retain(|probe| probe.framework == "engine");
    }
    for probe in &mut profile.frameworks {
        probe.steps.retain(|step| step.kind.is_some());
    }
    profile
}

fn by_cpu_time(mut profile: MachineProfile) -> MachineProfile {
    for step in profile
        .frameworks
        .iter_mut()
        .flat_map(|probe| &mut probe.steps)
    {
        step.seconds = step.cpu_seconds;
    }
    profile
}

fn row(name: &str, trials: &[Trial]) {
    let quantile = |of: fn(&Trial) -> f64, share: f64| {
        let mut values: Vec<f64> = trials.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        let place = (share * (values.len() as f64 - 1.0)).round() as usize;
        100.0 * values.get(place).copied().unwrap_or(f64::NAN)
    };
    let covered = trials.iter().filter(|trial| trial.is_covered).count();
    println!(
        "| {name} | {} | {:.1} % | {:.1} % | {:.0} % | {:.1} % |",
        trials.len(),
        quantile(|trial| trial.error, 0.5),
        quantile(|trial| trial.error, 0.9),
        100.0 * covered as f64 / trials.len() as f64,
        quantile(|trial| trial.same_time_error, 0.5),
    );
}
