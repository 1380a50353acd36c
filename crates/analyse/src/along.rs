//! Scenarios along one factor, all else equal: the basis of curves over a factor,
//! of speed-ups and of frameworks compared.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::{LevelFacts, ScenarioResult};

pub(crate) struct Along<'s> {
    /// Levels that occur: numbers from the smallest up, words in the order of the scenarios.
    pub(crate) levels: Vec<&'s LevelFacts>,
    /// One for each combination of the other factors, in the order of the scenarios.
    pub(crate) lines: Vec<Line<'s>>,
}

pub(crate) struct Line<'s> {
    /// Of the other factors, those that vary.
    pub(crate) others: Vec<&'s LevelFacts>,
    /// In the order of the levels; `None` if the study leaves the combination out.
    pub(crate) cells: Vec<Option<&'s ScenarioResult>>,
}

impl Line<'_> {
    /// `rede2 · 64 px`; empty where nothing else varies.
    pub(crate) fn phrase(&self) -> String {
        LevelFacts::phrase_of(self.others.iter().copied())
    }

    pub(crate) fn owned_levels(&self) -> Vec<LevelFacts> {
        self.others.iter().map(|l| (*l).clone()).collect()
    }
}

impl<'s> Along<'s> {
    pub(crate) fn new(scenarios: &'s [ScenarioResult], factor: &str) -> Self {
        let levels = levels(scenarios, factor);
        let places: BTreeMap<&str, usize> = levels
            .iter()
            .enumerate()
            .map(|(place, level)| (level.level.as_str(), place))
            .collect();
        let varied = varied(scenarios);
        let mut lines: Vec<Line> = Vec::new();
        let mut known: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
        for scenario in scenarios {
            let Some(own) = scenario.level(factor) else {
                continue;
            };
            let others = || scenario.levels.iter().filter(|l| l.factor != factor);
            let key = others().map(|l| l.level.as_str()).collect();
            let place = *known.entry(key).or_insert_with(|| {
                lines.push(Line {
                    others: others()
                        .filter(|l| varied.contains(&l.factor.as_str()))
                        .collect(),
                    cells: vec![None; levels.len()],
                });
                lines.len() - 1
            });
            if let Some(level) = places.get(own.level.as_str()) {
                lines[place].cells[*level] = Some(scenario);
            }
        }
        Along { levels, lines }
    }

    pub(crate) fn is_numeric(&self) -> bool {
        self.levels.iter().all(|l| l.number().is_some())
    }
}

fn levels<'s>(scenarios: &'s [ScenarioResult], factor: &str) -> Vec<&'s LevelFacts> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut levels: Vec<&LevelFacts> = scenarios
        .iter()
        .filter_map(|s| s.level(factor))
        .filter(|l| seen.insert(&l.level))
        .collect();
    if levels.iter().all(|l| l.number().is_some()) {
        sort_by_number(&mut levels);
    }
    levels
}

/// From the smallest up.
pub(crate) fn sort_by_number(levels: &mut [&LevelFacts]) {
    let value = |l: &LevelFacts| l.number().unwrap_or(f64::NAN);
    levels.sort_by(|a, b| value(a).total_cmp(&value(b)));
}

/// Names of the factors that take two levels or more.
fn varied(scenarios: &[ScenarioResult]) -> Vec<&str> {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let mut varied: Vec<&str> = Vec::new();
    for level in scenarios.iter().flat_map(|s| &s.levels) {
        let known = first.entry(&level.factor).or_insert(&level.level);
        if *known != level.level && !varied.contains(&level.factor.as_str()) {
            varied.push(&level.factor);
        }
    }
    varied
}
