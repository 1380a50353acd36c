//! The energy of a run and its CO₂: measured where counters can be read, otherwise by the stated power model, and
//! always with where it comes from. Figures from different sources are never compared.

use std::collections::{BTreeMap, BTreeSet};

use model::energy::CpuUse;
use model::run::metric;
use model::{CarbonIntensity, EnergyCounters, EnergySource, RunRecord, Study};

use crate::lists::{entry, push_new, unique};
use crate::table::{Row, Table};
use crate::words::energy as words;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Energy {
    pub(crate) joules: f64,
    pub(crate) source: EnergySource,
}

/// Of what was measured on the machine; `None` without a counter and without a stated model.
pub(crate) fn of_run(study: &Study, record: &RunRecord) -> Option<Energy> {
    let told = |name: &str| {
        let value = record.metrics.get(name).map(|metric| metric.value);
        value.filter(|value| value.is_finite())
    };
    let energy = |joules: f64, source: EnergySource| Some(Energy { joules, source });
    if let Some(joules) = told(metric::ENERGY_JOULES) {
        return energy(joules, EnergySource::Reported);
    }
    let environment = study.environment(&record.environment.name);
    // Counters and CPU time are then those of the client, or of one machine of several.
    let is_elsewhere = record.serving.as_ref().is_some_and(|s| s.is_elsewhere);
    if is_elsewhere || environment.is_some_and(|e| e.hosts.is_some()) {
        return None;
    }
    let gpus = told(metric::GPU_ENERGY_JOULES);
    if let Some(joules) = told(metric::CPU_ENERGY_JOULES) {
        return match gpus {
            Some(gpus) => energy(joules + gpus, EnergySource::RaplAndNvml),
            None => energy(joules, EnergySource::Rapl),
        };
    }
    let power = environment.and_then(|environment| environment.power.as_ref());
    let modelled = power
        .zip(told(metric::CPU_SECONDS))
        .and_then(|(power, cpu_seconds)| {
            power.joules(CpuUse {
                seconds: record.seconds,
                cpu_seconds,
                machine_cores: record.machine.logical_cores,
            })
        });
    match (modelled, gpus) {
        (Some(joules), Some(gpus)) => energy(joules + gpus, EnergySource::ModelledAndNvml),
        (Some(joules), None) => energy(joules, EnergySource::Modelled),
        (None, Some(gpus)) => energy(gpus, EnergySource::Nvml),
        (None, None) => None,
    }
}

/// Of the place where a run happened.
pub(crate) fn carbon<'s>(study: &'s Study, record: &RunRecord) -> Option<&'s CarbonIntensity> {
    let environment = study.environment(&record.environment.name);
    let own = environment.and_then(|environment| environment.carbon.as_ref());
    own.or(study.carbon.as_ref())
}

/// Metrics that are only comparable where they come from the same source.
pub(crate) fn is_energy(name: &str) -> bool {
    name == metric::ENERGY_JOULES || name == metric::CO2_GRAMS
}

/// In the order of their first runs.
pub(crate) fn sources<'r>(rows: impl IntoIterator<Item = &'r Row<'r>>) -> Vec<EnergySource> {
    unique(rows.into_iter().filter_map(|row| row.energy_source))
}

/// Where energy and CO₂ come from, and what is missing for them.
pub(crate) fn notes(table: &Table) -> Vec<String> {
    let mut notes = Vec::new();
    let sources = sources(&table.runs);
    let is_modelled = |source: &EnergySource| words::is_modelled(*source);
    match sources.as_slice() {
        [] => notes.extend(nothing(table)),
        [only] => notes.push(words::source(*only)),
        _ => {
            let mut scenarios: BTreeMap<EnergySource, BTreeSet<u32>> = BTreeMap::new();
            for row in &table.runs {
                if let Some(source) = row.energy_source {
                    let of_source = scenarios.entry(source).or_default();
                    of_source.insert(row.record.run.scenario);
                }
            }
            notes.push(words::mixed(&scenarios));
        }
    }
    if sources.iter().any(is_modelled) {
        let modelled = table.runs.iter().filter(|row| {
            let source = row.energy_source;
            source.as_ref().is_some_and(is_modelled)
        });
        let stated = modelled.filter_map(|row| {
            let name = row.record.environment.name.as_str();
            Some((name, table.study.environment(name)?.power.as_ref()?))
        });
        for (power, names) in by_value(stated) {
            notes.push(words::model(&names, power));
        }
    }
    let with_energy = table.runs.iter().filter(|row| row.energy_source.is_some());
    let intensities = with_energy.filter_map(|row| {
        let name = row.record.environment.name.as_str();
        Some((name, carbon(table.study, row.record)?))
    });
    for (intensity, names) in by_value(intensities) {
        notes.push(words::carbon(&names, intensity));
    }
    notes.extend(refused(table));
    notes
}

/// Environments for which the same is stated, together.
fn by_value<'v, T: PartialEq>(
    stated: impl Iterator<Item = (&'v str, &'v T)>,
) -> Vec<(&'v T, Vec<String>)> {
    let mut all: Vec<(&T, Vec<String>)> = Vec::new();
    for (name, value) in stated {
        let names = &mut entry(
            &mut all,
            |(known, _)| *known == value,
            || (value, Vec::new()),
        )
        .1;
        push_new(names, name.to_owned());
    }
    all
}

/// A study that wants energy and has none.
fn nothing(table: &Table) -> Option<String> {
    (wants_energy(table.study) && !table.runs.is_empty()).then(words::nothing)
}

fn wants_energy(study: &Study) -> bool {
    let named = study.metrics.iter().chain(&study.pareto);
    let mut meant = named.filter_map(|word| metric::meant(word));
    let stated = |e: &model::Environment| e.power.is_some() || e.carbon.is_some();
    meant.any(|metric| is_energy(metric.name))
        || study.carbon.is_some()
        || study.environments.iter().any(stated)
}

/// Once for all machines: whoever did not ask for energy need not hear of it.
fn refused(table: &Table) -> Option<String> {
    let refused = table.runs.iter().map(|row| &row.record.machine);
    let refused = refused.filter(|m| m.energy_counters == Some(EnergyCounters::Unreadable));
    let names = unique(refused.map(|machine| machine.hostname.clone()));
    (wants_energy(table.study) && !names.is_empty()).then(|| words::refused(&names))
}
