//! Scenarios that need a larger machine than the one they would run on.

use std::collections::BTreeMap;

use diagnostics::{Diagnostic, Problems, Span};
use model::{Capacity, Environment, Level, Limits, Scenario, Service, Study, UnmetLimit, Workload};

use crate::read::{DraftFactor, read_factors};
use crate::resolve::{CORES, ENVIRONMENT, MEMORY, resolve};

/// The machines that scenarios would run on.
#[derive(Clone, Copy)]
pub struct Machine<'a> {
    /// None where it is not known yet: a machine elsewhere says it when it is reached.
    pub capacity_of: &'a dyn Fn(&Environment) -> Option<Capacity>,
    /// Endpoints are set up at their provider, not emulated here.
    pub has_real_endpoints: bool,
}

/// One error for each factor, or environment, whose limits the machine cannot give to one of
/// these scenarios. `text` is the study file's: it tells where they stand.
pub fn beyond_capacity(
    text: &str,
    study: &Study,
    scenarios: &[&Scenario],
    machine: &Machine<'_>,
) -> Vec<Diagnostic> {
    let mut found: BTreeMap<Asker, Found<'_>> = BTreeMap::new();
    for scenario in scenarios {
        let resolved = resolve(study, scenario);
        let Some(limits) = limits_here(&resolved.environment, &resolved.workload, machine) else {
            continue;
        };
        let Some(capacity) = (machine.capacity_of)(&resolved.environment) else {
            continue;
        };
        for unmet in limits.beyond(&capacity) {
            let asker = Asker::of(scenario, &resolved.environment, &unmet);
            let found = found.entry(asker).or_default();
            found.scenarios.push(scenario);
            found.is_elsewhere |= !resolved.environment.location.is_here();
            if !found.unmet.contains(&unmet) {
                found.unmet.push(unmet);
            }
        }
    }
    if found.is_empty() {
        return Vec::new();
    }
    let places = Places::read(text);
    let too_large: Vec<&Scenario> = found
        .values()
        .flat_map(|found| found.scenarios.iter().copied())
        .collect();
    let diagnostic = |(asker, found): (&Asker, &Found<'_>)| {
        let message = found.message(asker);
        let mistake = match places.span(asker, found) {
            Some(span) => Diagnostic::at(span, message),
            None => Diagnostic::whole(message),
        };
        match asker.rest(study, scenarios, &too_large) {
            Some(only) => mistake.note(format!(
                "`run` and `plan` select the runs that fit with --only {only}"
            )),
            None => mistake,
        }
    };
    found.iter().map(diagnostic).collect()
}

/// None for what was measured elsewhere, or is answered elsewhere.
fn limits_here(
    environment: &Environment,
    workload: &Workload,
    machine: &Machine<'_>,
) -> Option<Limits> {
    let is_imported = matches!(workload, Workload::Command(c) if c.command.is_empty());
    match &environment.service {
        _ if is_imported => None,
        Some(Service::Url(_)) => None,
        Some(Service::Serverless(_) | Service::RealTime(_)) if machine.has_real_endpoints => None,
        Some(Service::Serverless(worker)) => Some(worker.worker_limits()),
        Some(Service::RealTime(_)) | None => Some(environment.limits.clone()),
    }
}

/// The key of an environment whose workers bring their own size.
const SERVERLESS: &str = "serverless";

/// What a limit comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Asker {
    Factor(&'static str),
    Environment { name: String, key: &'static str },
}

impl Asker {
    fn of(scenario: &Scenario, environment: &Environment, unmet: &UnmetLimit) -> Self {
        let key = match unmet {
            UnmetLimit::Memory { .. } => MEMORY,
            UnmetLimit::Cores { .. } | UnmetLimit::PartOfCore { .. } => CORES,
        };
        let is_worker = matches!(environment.service, Some(Service::Serverless(_)));
        let key = if is_worker { SERVERLESS } else { key };
        match scenario.level(key) {
            Some(_) => Asker::Factor(key),
            None => Asker::Environment {
                name: environment.name.clone(),
                key,
            },
        }
    }

    /// `cores=1,2`: levels that no scenario is too large with; none where nothing would be left.
    fn rest(
        &self,
        study: &Study,
        scenarios: &[&Scenario],
        too_large: &[&Scenario],
    ) -> Option<String> {
        let factor = match self {
            Asker::Factor(name) => name,
            Asker::Environment { .. } => ENVIRONMENT,
        };
        let has = |scenarios: &[&Scenario], level: &Level| {
            scenarios.iter().any(|s| s.level(factor) == Some(level))
        };
        let levels = &study.factor(factor)?.levels;
        let fitting: Vec<String> = levels
            .iter()
            .filter(|level| has(scenarios, level) && !has(too_large, level))
            .map(ToString::to_string)
            .collect();
        (!fitting.is_empty()).then(|| format!("{factor}={}", fitting.join(",")))
    }
}

#[derive(Default)]
struct Found<'s> {
    scenarios: Vec<&'s Scenario>,
    unmet: Vec<UnmetLimit>,
    is_elsewhere: bool,
}

impl Found<'_> {
    fn message(&self, asker: &Asker) -> String {
        let who = match asker {
            Asker::Factor(name) => format!("the factor `{name}`"),
            Asker::Environment { name, .. } => format!("the environment `{name}`"),
        };
        let most = self
            .unmet
            .iter()
            .max_by(|a, b| amount(a).total_cmp(&amount(b)));
        let Some(most) = most else { return who };
        let up_to = if self.unmet.len() > 1 { "up to " } else { "" };
        let machine = match self.is_elsewhere {
            true => "its machine",
            false => "this machine",
        };
        format!(
            "{who} requests {up_to}{}, but {machine} has {}",
            most.asked(),
            most.available()
        )
    }
}

fn amount(unmet: &UnmetLimit) -> f64 {
    match unmet {
        UnmetLimit::Cores { asked, .. } | UnmetLimit::PartOfCore { asked, .. } => *asked,
        UnmetLimit::Memory { asked_bytes, .. } => *asked_bytes as f64,
    }
}

/// Where levels and limits stand in the file.
struct Places {
    factors: Vec<DraftFactor>,
    limits: BTreeMap<(String, String), Span>,
}

impl Places {
    fn read(text: &str) -> Self {
        // The file has been read and found good.
        let ignored = Problems::default();
        diagnostics::parse(text, &ignored, |top| {
            let mut limits = BTreeMap::new();
            let environments = top.table("environments");
            for (name, value) in environments.iter().flat_map(|table| table.entries()) {
                let Some(table) = value.table("environments") else {
                    continue;
                };
                for (key, value) in table.entries() {
                    let place = (name.value.to_owned(), key.value.to_owned());
                    limits.insert(place, value.span.clone());
                }
            }
            Places {
                factors: read_factors(&top),
                limits,
            }
        })
    }

    /// `None` for what a `[scale.NAME]` brought.
    fn span(&self, asker: &Asker, found: &Found<'_>) -> Option<Span> {
        match asker {
            Asker::Factor(name) => {
                let factor = self.factors.iter().find(|f| f.name.value == *name)?;
                let level = found.scenarios.first()?.level(name)?;
                factor.find(level).map(|level| level.span.clone())
            }
            Asker::Environment { name, key } => {
                let place = (name.clone(), (*key).to_owned());
                self.limits.get(&place).cloned()
            }
        }
    }
}
