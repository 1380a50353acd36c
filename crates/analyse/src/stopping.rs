//! A study that stopped repeating when enough was known: how often each scenario ran, why no more, and what that means
//! for its intervals.

use std::collections::BTreeMap;

use messages::{message, word};
use model::{Plan, Role, RunId, Until, UntilRule};
use predict::sequential::{Repetition, State, Stopping, Why};
use serde::Serialize;

use crate::table::{Row, Table};
use crate::words::format;

#[derive(Debug, Clone, Serialize)]
pub struct StoppingFacts {
    /// As the study says it: `5%`, `cost decided`.
    pub until: String,
    pub minimum: u32,
    pub maximum: u32,
    /// How many times it could be decided that a scenario is repeated no more.
    pub looks: usize,
    pub scenarios: Vec<StoppedScenario>,
    /// Runs that are wanted now.
    #[serde(skip)]
    pub(crate) wanted: Vec<RunId>,
    pub sentences: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct StoppedScenario {
    pub scenario: u32,
    pub repetitions: usize,
    /// `precise enough`; none while it is open.
    pub why: Option<&'static str>,
}

pub(crate) fn stopping(table: &Table, plan: &Plan, time: Option<usize>) -> Option<StoppingFacts> {
    let until = table.study.until.as_ref()?;
    let column = match until.metric.as_deref() {
        None | Some("time") => time,
        Some(word) => table.named(word),
    };
    let rows: BTreeMap<RunId, &Row> = table.runs.iter().map(|row| (row.record.run, row)).collect();
    let maximum = table.study.repetitions;
    let repetition = |run: RunId| match rows.get(&run) {
        None => Repetition::Missing,
        Some(row) if row.record.outcome.status == model::Status::Interrupted => Repetition::Missing,
        Some(row) if !row.is_ok() => Repetition::Failed,
        Some(row) => {
            let value = column.and_then(|column| row.values[column]);
            value.map_or(Repetition::NoValue, Repetition::Value)
        }
    };
    let mut tasks: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for scenario in &plan.scenarios {
        let levels = scenario.levels.iter();
        let levels = levels.filter(|level| table.study.role(&level.factor) == Role::Task);
        let task: String = levels.map(|level| format!("{}\n", level.level)).collect();
        tasks.entry(task).or_default().push(scenario.number);
    }
    let rule = Stopping {
        until,
        maximum,
        tasks: tasks.len(),
        equal_within: table.study.equal_within() / 100.0,
    };
    let mut facts = StoppingFacts {
        until: until.to_string(),
        minimum: Until::MINIMUM.min(maximum),
        maximum,
        looks: table.study.looks(),
        scenarios: Vec::new(),
        wanted: Vec::new(),
        sentences: Vec::new(),
    };
    for task in tasks.values() {
        let run = |scenario: u32, repetition: u32| RunId {
            scenario,
            repetition,
        };
        let all = task.iter().map(|scenario| {
            let repetitions = 1..=maximum;
            repetitions.map(|r| repetition(run(*scenario, r))).collect()
        });
        let all: Vec<Vec<Repetition>> = all.collect();
        for ((scenario, state), runs) in task.iter().zip(rule.states(&all)).zip(&all) {
            let done = runs.iter().filter(|run| **run != Repetition::Missing);
            facts.scenarios.push(StoppedScenario {
                scenario: *scenario,
                repetitions: done.count(),
                why: match state {
                    State::Open { .. } => None,
                    State::Stopped(why) => Some(why_words(why)),
                },
            });
            if let State::Open { repetitions } = state {
                let wanted = (1..=repetitions).map(|r| run(*scenario, r));
                let is_missing = |run: &RunId| repetition(*run) == Repetition::Missing;
                facts.wanted.extend(wanted.filter(is_missing));
            }
        }
    }
    facts.scenarios.sort_by_key(|one| one.scenario);
    facts.sentences = sentences(&facts, until, table);
    Some(facts)
}

fn why_words(why: Why) -> &'static str {
    match why {
        Why::Precise { .. } => word!("stopped-precise"),
        Why::Behind => word!("stopped-behind"),
        Why::Settled => word!("stopped-settled"),
        Why::Failed => word!("stopped-failed"),
        Why::NoValue => word!("stopped-no-value"),
        Why::Maximum => word!("stopped-maximum"),
    }
}

fn sentences(facts: &StoppingFacts, until: &Until, table: &Table) -> Vec<String> {
    let StoppingFacts {
        minimum,
        maximum,
        looks,
        ..
    } = facts;
    let rule = match until.rule {
        UntilRule::Within { percent } => {
            let metric = match until.metric.as_deref() {
                None | Some("time") => word!("noun-time"),
                Some(metric) => metric,
            };
            let percent = messages::number(&percent.to_string());
            message!("stopping-within", metric, percent)
        }
        UntilRule::Decided => {
            let cost = until.metric.as_deref() == Some(model::run::metric::COST);
            message!("stopping-decided", cost)
        }
    };
    let counts = facts.scenarios.iter().map(|one| one.repetitions);
    let runs: usize = counts.clone().sum();
    let planned = facts.scenarios.len() * *maximum as usize;
    let few = counts.clone().min().unwrap_or(0);
    let many = counts.max().unwrap_or(0);
    let repetitions = match few == many {
        true => few.to_string(),
        false => message!("stopping-from-to", few, many),
    };
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in &facts.scenarios {
        let why = one.why.unwrap_or(word!("stopped-not"));
        reasons
            .entry(why)
            .or_default()
            .push(format!("C{}", one.scenario));
    }
    let reasons = reasons.iter().map(|(why, scenarios)| {
        let names = format::listed(scenarios, 5);
        message!("stopping-scenarios", count = scenarios.len(), why, names)
    });
    let reasons: Vec<String> = reasons.collect();
    let each = 100.0 * (1.0 - table.confidence());
    vec![
        message!(
            "stopping-rule",
            rule,
            minimum,
            maximum,
            repetitions,
            runs,
            planned,
            reasons = reasons.join("; ")
        ),
        message!(
            "stopping-corrected",
            looks,
            confidence = format::significant(100.0 - each, 4)
        ),
    ]
}
