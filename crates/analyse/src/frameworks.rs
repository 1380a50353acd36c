//! Frameworks side by side: who trained, in which version, whether it was shown to compute the
//! same, and what it took. Means are over combinations that all of them carried out, as a
//! framework that ran out of memory on the hard ones would otherwise look fast.

use std::collections::BTreeMap;

use messages::{message, word};
use model::run::{Origin, Verified, metric, phase};
use model::{Study, Warning};
use serde::Serialize;

use crate::along::Along;
use crate::analysis::{ScenarioResult, StatusCounts};
use crate::lists::{entry, push_new};
use crate::speedup::geometric_mean;
use crate::table::{Row, Table};
use crate::words::format;

#[derive(Debug, Clone, Serialize)]
pub struct Frameworks {
    /// In the order of the study.
    pub frameworks: Vec<FrameworkResult>,
    /// Combinations of the other factors that all of them carried out: means are over these.
    pub combinations: usize,
    pub combinations_in_all: usize,
    /// What was not verified, and what computes otherwise.
    pub cautions: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct FrameworkResult {
    /// As the study names it: `pytorch@2.2.0`.
    pub name: String,
    /// By its own word; several where runs were made with several.
    pub versions: Vec<String>,
    pub runs: StatusCounts,
    /// One a network.
    pub checks: Vec<FrameworkCheck>,
    /// Means over the shared combinations, geometric except for the accuracy.
    pub metrics: BTreeMap<String, f64>,
    /// Startup and start: loading the framework, building and compiling the network.
    pub before_training_seconds: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrameworkCheck {
    pub network: Option<String>,
    pub state: CheckState,
    pub runs: usize,
    /// Of these runs, those that were not checked.
    pub unchecked: usize,
    /// Why `bancada verify` cannot check those of them that it cannot, as the end of a sentence.
    pub cannot: Option<String>,
    /// The latest.
    pub verified: Option<Verified>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckState {
    /// The embedded engine, which the others are compared with.
    Reference,
    Agrees,
    NotVerified,
    /// It was shown to compute something else.
    Differs,
}

const FACTOR: &str = "framework";

pub(crate) fn frameworks(table: &Table, scenarios: &[ScenarioResult]) -> Option<Frameworks> {
    let mut found = told(table);
    if found.iter().all(|f| is_engine(&f.name)) {
        return None;
    }
    let groups = Groups::new(scenarios, &found);
    for (place, framework) in found.iter_mut().enumerate() {
        framework.metrics = COMPARED
            .iter()
            .filter_map(|name| {
                let value = |s: &ScenarioResult| s.mean(name).map(|e| e.value);
                Some((
                    (*name).to_owned(),
                    groups.mean(place, *name != metric::ACCURACY, value)?,
                ))
            })
            .collect();
        framework.before_training_seconds = groups.mean(place, true, before_training);
    }
    Some(Frameworks {
        combinations: groups.shared(|s| (s.runs.ok > 0).then_some(1.0)).count(),
        combinations_in_all: groups.lines.len(),
        cautions: found
            .iter()
            .flat_map(|one| cautions(one, found.len() > 1))
            .collect(),
        frameworks: found,
    })
}

const COMPARED: [&str; 7] = [
    metric::TRAIN_SECONDS,
    metric::EPOCH_SECONDS,
    metric::STEP_SECONDS,
    metric::FIRST_STEP_SECONDS,
    metric::IMAGES_PER_SECOND,
    metric::ACCURACY,
    metric::PEAK_MEMORY_BYTES,
];

/// The version in a level (`engine@1`) is no other framework.
fn is_engine(name: &str) -> bool {
    name.split('@').next() == Some("engine")
}

/// Scenarios arranged with one column a framework.
struct Groups<'s> {
    lines: Vec<Vec<Option<&'s ScenarioResult>>>,
    /// Frameworks without any result cannot be compared, and must not empty the table.
    compared: Vec<bool>,
}

impl<'s> Groups<'s> {
    fn new(scenarios: &'s [ScenarioResult], found: &[FrameworkResult]) -> Self {
        let along = Along::new(scenarios, FACTOR);
        let lines: Vec<Vec<Option<&ScenarioResult>>> = match along.levels.is_empty() {
            // Only one framework: every scenario is its own.
            true => scenarios.iter().map(|s| vec![Some(s)]).collect(),
            false => {
                let place =
                    |f: &FrameworkResult| along.levels.iter().position(|l| l.level == f.name);
                let places: Vec<Option<usize>> = found.iter().map(place).collect();
                let line = |line: &crate::along::Line<'s>| {
                    let cell = |place: &Option<usize>| line.cells[(*place)?];
                    places.iter().map(cell).collect()
                };
                along.lines.iter().map(line).collect()
            }
        };
        Groups {
            lines,
            compared: found.iter().map(|f| f.runs.ok > 0).collect(),
        }
    }

    /// Values of each line where every compared framework has one.
    fn shared(
        &self,
        value: impl Fn(&ScenarioResult) -> Option<f64>,
    ) -> impl Iterator<Item = Vec<Option<f64>>> {
        self.lines.iter().filter_map(move |line| {
            let values: Vec<Option<f64>> = line.iter().map(|cell| cell.and_then(&value)).collect();
            let whole = values
                .iter()
                .zip(&self.compared)
                .all(|(value, compared)| value.is_some() || !compared);
            (whole && values.iter().any(Option::is_some)).then_some(values)
        })
    }

    fn mean(
        &self,
        place: usize,
        geometric: bool,
        value: impl Fn(&ScenarioResult) -> Option<f64>,
    ) -> Option<f64> {
        let values: Vec<f64> = self
            .shared(value)
            .filter_map(|line| *line.get(place)?)
            .collect();
        match values.is_empty() {
            true => None,
            false if geometric && values.iter().all(|v| *v > 0.0) => Some(geometric_mean(&values)),
            false => Some(values.iter().sum::<f64>() / values.len() as f64),
        }
    }
}

fn before_training(scenario: &ScenarioResult) -> Option<f64> {
    let parts = scenario
        .phases
        .iter()
        .filter(|p| p.phase == phase::STARTUP || p.phase == phase::START);
    parts.map(|p| p.seconds).reduce(|a, b| a + b)
}

/// What runs tell of the frameworks, one entry each.
fn told(table: &Table) -> Vec<FrameworkResult> {
    let mut found: Vec<FrameworkResult> = Vec::new();
    for row in &table.runs {
        let Some(name) = name_of(table.study, row) else {
            continue;
        };
        let new = || FrameworkResult {
            name: name.clone(),
            versions: Vec::new(),
            runs: StatusCounts::default(),
            checks: Vec::new(),
            metrics: BTreeMap::new(),
            before_training_seconds: None,
        };
        let framework = entry(&mut found, |f| f.name == name, new);
        framework.runs.add(row.status());
        let record = row.record.framework.as_ref();
        if let Some(version) = record.and_then(|r| r.version.clone()) {
            push_new(&mut framework.versions, version);
        }
        // A run that failed before it could tell says nothing of what it would have computed.
        if row.is_ok() || record.is_some() {
            let verified = record.and_then(|r| r.verified.as_ref());
            let network = network_of(table.study, row);
            add_check(framework, network, verified, cannot(row));
        }
    }
    let order = |f: &FrameworkResult| {
        let levels = table.study.factor(FACTOR).map(|f| f.levels.as_slice());
        let mut levels = levels.unwrap_or_default().iter();
        levels
            .position(|l| l.to_string() == f.name)
            .unwrap_or(usize::MAX)
    };
    found.sort_by_key(order);
    found
}

pub(crate) fn name_of(study: &Study, row: &Row) -> Option<String> {
    let told = || row.record.framework.as_ref().map(|r| r.name.clone());
    let level = row.record.scenario.level(FACTOR).map(|l| l.to_string());
    let fixed = || {
        study
            .workload
            .as_train()
            .map(|train| train.framework.clone())
    };
    level.or_else(told).or_else(fixed)
}

fn network_of(study: &Study, row: &Row) -> Option<String> {
    let level = row.record.scenario.level("network").map(|l| l.to_string());
    level.or_else(|| study.workload.as_train().map(|train| train.network.clone()))
}

/// Why what it computed cannot be checked, where a run says so.
fn cannot(row: &Row<'_>) -> Option<String> {
    if matches!(row.record.origin, Origin::Imported { .. }) {
        return Some(word!("framework-elsewhere").to_owned());
    }
    row.record
        .warnings
        .iter()
        .find_map(|warning| match warning {
            Warning::NotVerified { cannot, .. } => cannot.clone(),
            _ => None,
        })
}

fn add_check(
    framework: &mut FrameworkResult,
    network: Option<String>,
    verified: Option<&Verified>,
    cannot: Option<String>,
) {
    let engine = is_engine(&framework.name);
    let new = || FrameworkCheck {
        network: network.clone(),
        state: match engine {
            true => CheckState::Reference,
            false => CheckState::Agrees,
        },
        runs: 0,
        unchecked: 0,
        cannot: None,
        verified: None,
    };
    let check = entry(&mut framework.checks, |c| c.network == network, new);
    check.runs += 1;
    let Some(verified) = verified else {
        // A reason that applies to only some of the runs does not explain the others.
        let is_first = check.unchecked == 0;
        check.cannot = match is_first {
            true => cannot,
            false => check.cannot.take().and(cannot),
        };
        check.unchecked += usize::from(!engine);
        if check.state == CheckState::Agrees {
            check.state = CheckState::NotVerified;
        }
        return;
    };
    if verified.differs_at.is_some() {
        check.state = CheckState::Differs;
    }
    // What differs is what must be said, whenever it was found.
    let rank = |v: &Verified| (v.differs_at.is_some(), v.when);
    if check
        .verified
        .as_ref()
        .is_none_or(|known| rank(known) < rank(verified))
    {
        check.verified = Some(verified.clone());
    }
}

fn cautions(framework: &FrameworkResult, several: bool) -> Vec<String> {
    let name = &framework.name;
    let mut cautions = Vec::new();
    let unchecked: Vec<&FrameworkCheck> = framework
        .checks
        .iter()
        .filter(|c| c.state == CheckState::NotVerified)
        .collect();
    let networks: Vec<String> = unchecked.iter().filter_map(|c| c.network.clone()).collect();
    if let Some(first) = unchecked.first() {
        let whole = unchecked.iter().all(|c| c.unchecked == c.runs);
        let of: usize = unchecked.iter().map(|c| c.runs).sum();
        let runs: usize = unchecked.iter().map(|c| c.unchecked).sum();
        let part = match whole {
            true => String::new(),
            false => message!("framework-in-some", runs, all = of),
        };
        let what = match networks.is_empty() {
            true => word!("framework-what").to_owned(),
            false => format::listed(&networks, 4),
        };
        let all_have_reasons = unchecked.iter().all(|c| c.cannot.is_some());
        let why = first.cannot.as_ref().filter(|_| all_have_reasons);
        let how = match (why, &first.network) {
            (Some(why), _) => message!("framework-why", why),
            (None, Some(_)) => word!("framework-how").to_owned(),
            (None, None) => String::new(),
        };
        cautions.push(message!(
            "framework-unverified",
            name,
            what,
            part,
            several,
            how
        ));
    }
    for check in &framework.checks {
        let verified = check.verified.as_ref();
        if let Some((verified, layer)) = verified.and_then(|v| Some((v, v.differs_at.as_ref()?))) {
            let network = check.network.as_deref();
            let network = network.unwrap_or(word!("framework-network"));
            let difference = format::difference(verified.first_loss_difference);
            cautions.push(message!(
                "framework-differs",
                name,
                network,
                layer,
                difference
            ));
        }
    }
    cautions
}

/// Runs of one scenario by different versions are no repetitions of each other.
pub(crate) fn notes(table: &Table) -> Vec<String> {
    let mut mixed: BTreeMap<(String, Vec<&str>), Vec<String>> = BTreeMap::new();
    for rows in table
        .runs
        .chunk_by(|a, b| a.record.run.scenario == b.record.run.scenario)
    {
        let mut versions: Vec<&str> = rows
            .iter()
            .filter_map(|row| row.record.framework.as_ref()?.version.as_deref())
            .collect();
        versions.sort_unstable();
        versions.dedup();
        if versions.len() > 1
            && let Some(name) = name_of(table.study, &rows[0])
        {
            let label = rows[0].record.scenario.label();
            mixed.entry((name, versions)).or_default().push(label);
        }
    }
    let note = |((name, versions), scenarios): ((String, Vec<&str>), Vec<String>)| {
        let versions: Vec<String> = versions.into_iter().map(str::to_owned).collect();
        message!(
            "note-versions",
            scenarios = format::listed(&scenarios, 4),
            name,
            versions = format::listed(&versions, 4),
            first = versions[0]
        )
    };
    mixed.into_iter().map(note).collect()
}
