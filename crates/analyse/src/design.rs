//! The runs of a metric as a statistician's design: factors, the levels that occur, observations.

use std::collections::{BTreeMap, BTreeSet};

use model::study::FactorLevel;
use model::{Level, Role, RunSequence, Study};
use stats::{Blocks, Observation};

use crate::sequence::is_imported;
use crate::table::{Row, Table};
use crate::words::names::level_phrase;

/// A factor as far as the runs have it: only levels that occur.
pub(crate) struct PresentFactor {
    pub(crate) name: String,
    pub(crate) levels: Vec<PresentLevel>,
}

pub(crate) struct PresentLevel {
    pub(crate) text: String,
    pub(crate) phrase: String,
}

pub(crate) fn varied_factors(study: &Study, rows: &[&Row]) -> Vec<PresentFactor> {
    let scenarios = by_scenario(rows);
    let ordered = |factor: &model::Factor| {
        let mut seen: BTreeMap<String, &Level> = BTreeMap::new();
        for group in &scenarios {
            if let Some(level) = group[0].record.scenario.level(&factor.name) {
                seen.entry(level.to_string()).or_insert(level);
            }
        }
        let named = factor.levels.iter();
        let named: Vec<(String, &Level)> = named
            .filter_map(|level| seen.remove_entry(&level.to_string()))
            .collect();
        // Levels of older runs that the study no longer names come last.
        let levels = named.into_iter().chain(seen);
        PresentFactor {
            name: factor.name.clone(),
            levels: levels
                .map(|(text, level)| PresentLevel {
                    phrase: level_phrase(study, &factor.name, level),
                    text,
                })
                .collect(),
        }
    };
    study
        .factors
        .iter()
        .filter(|factor| study.role(&factor.name) != Role::Block)
        .map(ordered)
        .filter(|f| f.levels.len() > 1)
        .collect()
}

/// What was measured together: days or hosts, where there are several, or otherwise the repetitions, where these were
/// measured one after the other.
pub(crate) struct RowBlocks {
    /// Of each row.
    pub(crate) of: Vec<usize>,
    pub(crate) is_declared: bool,
}

impl RowBlocks {
    /// `None` where there are no blocks.
    pub(crate) fn new(study: &Study, rows: &[&Row]) -> Option<RowBlocks> {
        let factors = block_factors(study);
        let declared = numbered(rows.iter().map(|row| {
            let level = |name: &&str| row.record.scenario.level(name).map(ToString::to_string);
            factors.iter().map(level).collect::<Vec<Option<String>>>()
        }));
        if declared.iter().any(|block| *block > 0) {
            return Some(RowBlocks {
                of: declared,
                is_declared: true,
            });
        }
        // Repetitions of measurements made elsewhere are numbers of rows, not times.
        let is_measured = !rows.iter().any(|row| is_imported(row));
        (study.order == RunSequence::Blocks && is_measured).then(|| RowBlocks {
            of: numbered(rows.iter().map(|row| row.record.run.repetition)),
            is_declared: false,
        })
    }

    pub(crate) fn numbers(&self) -> Blocks<'_> {
        Blocks {
            of: &self.of,
            is_declared: self.is_declared,
        }
    }
}

/// Equal ones have the same number.
fn numbered<K: Ord>(keys: impl Iterator<Item = K>) -> Vec<usize> {
    let mut numbers = BTreeMap::new();
    let number = |key| {
        let next = numbers.len();
        *numbers.entry(key).or_insert(next)
    };
    keys.map(number).collect()
}

/// What the tests of effects count: each run, or with declared blocks each block's mean of a combination. What a day does
/// to a combination is in all its runs, however many there are.
pub(crate) struct Counted {
    /// Places of rows.
    pub(crate) rows: Vec<Vec<usize>>,
    pub(crate) blocks: Option<RowBlocks>,
}

impl Counted {
    /// Of rows with these levels.
    pub(crate) fn new(study: &Study, rows: &[&Row], levels: &[Observation]) -> Counted {
        let blocks = RowBlocks::new(study, rows);
        let mut of_levels: BTreeMap<&[usize], BTreeSet<usize>> = BTreeMap::new();
        for (one, block) in levels
            .iter()
            .zip(blocks.iter().flat_map(|blocks| &blocks.of))
        {
            of_levels.entry(&one.levels).or_default().insert(*block);
        }
        // Where each was measured on one day, what is said holds for that day, and of no two days.
        let is_repeated = of_levels.values().any(|blocks| blocks.len() > 1);
        let declared = blocks.as_ref().filter(|blocks| blocks.is_declared);
        let Some(declared) = declared.filter(|_| is_repeated) else {
            return Counted {
                rows: (0..rows.len()).map(|place| vec![place]).collect(),
                blocks,
            };
        };
        let keys = levels.iter().zip(&declared.of);
        let keys = numbered(keys.map(|(one, block)| (one.levels.clone(), *block)));
        let mut together: Vec<Vec<usize>> = Vec::new();
        for (place, key) in keys.into_iter().enumerate() {
            match together.get_mut(key) {
                Some(rows) => rows.push(place),
                None => together.push(vec![place]),
            }
        }
        let block = |rows: &Vec<usize>| declared.of[rows[0]];
        let blocks = RowBlocks {
            of: together.iter().map(block).collect(),
            is_declared: true,
        };
        Counted {
            rows: together,
            blocks: Some(blocks),
        }
    }

    pub(crate) fn means(&self, values: &[f64]) -> Vec<f64> {
        let mean = |places: &Vec<usize>| {
            let values: Vec<f64> = places.iter().map(|place| values[*place]).collect();
            stats::precise::mean(&values)
        };
        self.rows.iter().map(mean).collect()
    }

    pub(crate) fn observations(&self, all: &[Observation]) -> Vec<Observation> {
        let values: Vec<f64> = all.iter().map(|one| one.value).collect();
        let each = self.rows.iter().zip(self.means(&values));
        let each = each.map(|(places, value)| Observation {
            levels: all[places[0]].levels.clone(),
            value,
        });
        each.collect()
    }
}

/// Blocks, and the choices that were measured in them.
type Linked = (BTreeSet<Vec<String>>, BTreeSet<Vec<String>>);

/// Whether scenarios can be compared: a choice that was measured on days of its own is that day as much as that choice.
pub(crate) fn are_linked(table: &Table, scenarios: &[u32]) -> bool {
    let names = block_factors(table.study);
    if names.is_empty() {
        return true;
    }
    let is_own = |row: &&Row| row.is_ok() && scenarios.contains(&row.record.run.scenario);
    let key = |levels: &[&FactorLevel]| -> Vec<String> {
        let levels = levels.iter();
        levels.map(|level| level.level.to_string()).collect()
    };
    let mut parts: Vec<Linked> = Vec::new();
    for row in table.runs.iter().filter(is_own) {
        let levels = row.record.scenario.levels.iter();
        let (block, choice): (Vec<_>, Vec<_>) =
            levels.partition(|level| names.contains(&level.factor.as_str()));
        let mut own = (
            BTreeSet::from([key(&block)]),
            BTreeSet::from([key(&choice)]),
        );
        let (joined, apart) = parts.into_iter().partition(|(blocks, choices)| {
            !(blocks.is_disjoint(&own.0) && choices.is_disjoint(&own.1))
        });
        parts = apart;
        let joined: Vec<Linked> = joined;
        for (blocks, choices) in joined {
            own.0.extend(blocks);
            own.1.extend(choices);
        }
        parts.push(own);
    }
    parts.len() < 2
}

pub(crate) fn block_factors(study: &Study) -> Vec<&str> {
    let factors = study.factors.iter().map(|factor| factor.name.as_str());
    factors
        .filter(|name| study.role(name) == Role::Block)
        .collect()
}

/// Whether the run says its level of every factor; one that does not cannot be compared.
pub(crate) fn is_complete(row: &Row, factors: &[PresentFactor]) -> bool {
    factors
        .iter()
        .all(|f| row.record.scenario.level(&f.name).is_some())
}

/// One a row, in their order.
pub(crate) fn observations(
    rows: &[&Row],
    column: usize,
    factors: &[PresentFactor],
) -> Vec<Observation> {
    let mut observations = Vec::with_capacity(rows.len());
    for group in by_scenario(rows) {
        let scenario = &group[0].record.scenario;
        let place = |f: &PresentFactor| {
            let level = scenario.level(&f.name)?.to_string();
            f.levels.iter().position(|l| l.text == level)
        };
        let Some(levels) = factors.iter().map(place).collect::<Option<Vec<usize>>>() else {
            continue;
        };
        observations.extend(group.iter().filter_map(|row| {
            Some(Observation {
                levels: levels.clone(),
                value: row.values[column]?,
            })
        }));
    }
    observations
}

/// Rows are sorted by run, so those of a scenario stand together; no group is empty.
pub(crate) fn by_scenario<'r, 'a>(rows: &'r [&'a Row<'a>]) -> Vec<&'r [&'a Row<'a>]> {
    rows.chunk_by(|a, b| a.record.run.scenario == b.record.run.scenario)
        .collect()
}
