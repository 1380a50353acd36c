//! What one scenario does, and where.

use std::path::{Path, PathBuf};

use model::{
    CommandWorkload, Environment, Level, Limits, Scenario, ServeWorkload, Study, TrainWorkload,
    Workload,
};

use crate::placeholder::substitute;
use crate::{serve, train, values};

/// Factors that act on the environment, whatever the workload.
pub(crate) const ENVIRONMENT: &str = "environment";
pub(crate) const CORES: &str = "cores";
pub(crate) const MEMORY: &str = "memory";

/// A scenario with all its levels in their places.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// Factors `cores` and `memory` have taken the place of its own limits; its price is that of
    /// all the hosts that the scenario needs.
    pub environment: Environment,
    /// Nothing is left to fill in. Paths stay as typed, relative to the study file.
    pub workload: Workload,
}

/// Puts a scenario's levels into the study's environment and workload.
///
/// The environment is the level of the factor `environment`, otherwise the study's only one. Its
/// device, where it has one, is also the workload's.
pub fn resolve(study: &Study, scenario: &Scenario) -> Resolved {
    let mut environment = resolve_environment(study, scenario);
    let workload = match &study.workload {
        Workload::Train(train) => Workload::Train(resolve_train(train, scenario, &environment)),
        Workload::Serve(serve) => Workload::Serve(resolve_serve(serve, scenario)),
        Workload::Command(command) => Workload::Command(resolve_command(command, scenario)),
    };
    if let Workload::Train(train) = &workload {
        pay_for_hosts(&mut environment, train.workers);
    }
    Resolved {
        environment,
        workload,
    }
}

/// A price is that of one machine: as many are paid as the workers of a run are on.
fn pay_for_hosts(environment: &mut Environment, workers: u32) {
    let Some(hosts) = &environment.hosts else {
        return;
    };
    let machines = hosts.machines(workers);
    if let Some(price) = environment.price.as_mut().filter(|_| machines > 1) {
        price.of_machines(machines);
    }
}

/// This machine, all of it, unpriced.
pub(crate) fn local() -> Environment {
    Environment {
        name: "local".to_owned(),
        price: None,
        limits: Limits::default(),
        device: None,
        service: None,
        hosts: None,
        location: model::Location::default(),
        power: None,
        carbon: None,
    }
}

fn resolve_environment(study: &Study, scenario: &Scenario) -> Environment {
    let named = scenario.level(ENVIRONMENT).and_then(Level::as_text);
    let found = match named {
        Some(name) => study.environment(name),
        None => study.environments.first(),
    };
    let mut environment = found.cloned().unwrap_or_else(local);
    if let Some(cores) = scenario.level(CORES).and_then(Level::as_float) {
        environment.limits.cores = Some(cores);
    }
    let memory = scenario.level(MEMORY).and_then(Level::as_text);
    if let Some(bytes) = memory.and_then(|text| values::size_bytes(text).ok()) {
        environment.limits.memory_bytes = Some(bytes);
    }
    let cores = environment.limits.cores;
    // A price without sizes is the same for all runs, and kept once.
    environment.price = environment.price.map(|price| match price.sizes.is_empty() {
        true => price,
        false => price.for_cores(cores).into(),
    });
    environment
}

fn resolve_train(
    workload: &TrainWorkload,
    scenario: &Scenario,
    environment: &Environment,
) -> TrainWorkload {
    let mut resolved = workload.clone();
    for field in train::FIELDS {
        if let Some(level) = scenario.level(field.name) {
            train::apply(&mut resolved, field.name, level);
        }
    }
    if let Some(device) = &environment.device {
        resolved.device.clone_from(device);
    }
    // A device without a worker would be paid for nothing.
    let devices = u32::try_from(resolved.device.split(',').count()).unwrap_or(1);
    resolved.workers = resolved.workers.max(devices);
    // `{dataset}` is the dataset of this scenario even where the dataset is no factor.
    let level = |name: &str| match name {
        "dataset" => Some(resolved.dataset.clone()),
        _ => level_text(scenario, name),
    };
    resolved.data_dir = resolved
        .data_dir
        .as_deref()
        .map(|dir| substitute_path(dir, level));
    resolved
}

fn resolve_serve(workload: &ServeWorkload, scenario: &Scenario) -> ServeWorkload {
    let mut resolved = workload.clone();
    for field in serve::FIELDS {
        if let Some(level) = scenario.level(field.name) {
            serve::apply(&mut resolved, field.name, level);
        }
    }
    // `{port}` is nobody's level, and stays for whoever starts the server.
    let fill = |text: &String| substitute(text, |name| level_text(scenario, name));
    resolved.command = resolved.command.iter().map(fill).collect();
    resolved.inputs = resolved.inputs.iter().map(fill).collect();
    for value in resolved.env.values_mut() {
        *value = fill(value);
    }
    resolved
}

fn resolve_command(workload: &CommandWorkload, scenario: &Scenario) -> CommandWorkload {
    let fill = |text: &String| substitute(text, |name| level_text(scenario, name));
    let fill_path = |path: &PathBuf| substitute_path(path, |name| level_text(scenario, name));
    CommandWorkload {
        command: workload.command.iter().map(fill).collect(),
        env: workload
            .env
            .iter()
            .map(|(name, value)| (name.clone(), fill(value)))
            .collect(),
        directory: workload.directory.as_ref().map(fill_path),
        log: workload.log.clone(),
        inputs: workload.inputs.iter().map(fill).collect(),
    }
}

fn level_text(scenario: &Scenario, factor: &str) -> Option<String> {
    scenario.level(factor).map(Level::to_string)
}

fn substitute_path(path: &Path, level: impl Fn(&str) -> Option<String>) -> PathBuf {
    match path.to_str() {
        Some(text) => PathBuf::from(substitute(text, level)),
        None => path.to_owned(),
    }
}
