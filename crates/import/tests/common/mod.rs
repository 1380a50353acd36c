//! Studies and their plans, small.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use import::{ImportSpec, InputFile, RowKind};
use model::study::{FactorLevel, MeasureSettings};
use model::{
    CommandWorkload, Currency, Environment, Factor, Level, Limits, Plan, RunSequence, Scenario,
    Study, Workload,
};

pub(crate) fn study(factors: &[(&str, &[Level])]) -> Study {
    Study {
        name: "old".to_owned(),
        objective: None,
        repetitions: 2,
        seed: 1,
        order: RunSequence::Listed,
        budget: None,
        currency: Currency::USD,
        rates: Vec::new(),
        factors: factors
            .iter()
            .map(|(name, levels)| Factor {
                name: (*name).to_owned(),
                levels: levels.to_vec(),
            })
            .collect(),
        exclude: Vec::new(),
        design: Default::default(),
        workload: Workload::Command(CommandWorkload {
            command: Vec::new(),
            env: Default::default(),
            directory: None,
            inputs: Vec::new(),
            log: Vec::new(),
        }),
        environments: vec![Environment {
            name: "server".to_owned(),
            price: None,
            limits: Limits {
                cores: Some(4.0),
                memory_bytes: None,
            },
            device: None,
            service: None,
            hosts: None,
            location: Default::default(),
            power: None,
            carbon: None,
        }],
        measure: MeasureSettings {
            interval_seconds: 1.0,
            timeout_seconds: None,
            grace_seconds: 1.0,
        },
        metrics: Vec::new(),
        target_accuracy_percent: None,
        roles: std::collections::BTreeMap::new(),
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

/// The first factor varies slowest.
pub(crate) fn plan(study: &Study) -> Plan {
    let mut levels: Vec<Vec<FactorLevel>> = vec![Vec::new()];
    for factor in &study.factors {
        let with = |before: &Vec<FactorLevel>| {
            let before = before.clone();
            let one = move |level: &Level| {
                let mut all = before.clone();
                all.push(FactorLevel {
                    factor: factor.name.clone(),
                    level: level.clone(),
                });
                all
            };
            factor.levels.iter().map(one).collect::<Vec<_>>()
        };
        levels = levels.iter().flat_map(with).collect();
    }
    let scenarios = levels
        .into_iter()
        .zip(1..)
        .map(|(levels, number)| Scenario { number, levels });
    Plan {
        scenarios: scenarios.collect(),
        runs: Vec::new(),
        seed: 1,
    }
}

pub(crate) fn spec(row: RowKind, factors: &[&str], metrics: &[&str]) -> ImportSpec {
    ImportSpec {
        factors: factors
            .iter()
            .map(|text| text.parse().expect("a factor"))
            .collect(),
        metrics: metrics
            .iter()
            .map(|text| text.parse().expect("a metric"))
            .collect(),
        row: Some(row),
        ..ImportSpec::default()
    }
}

pub(crate) fn file(name: &str, text: &str) -> InputFile {
    InputFile {
        name: name.to_owned(),
        text: text.to_owned(),
    }
}
