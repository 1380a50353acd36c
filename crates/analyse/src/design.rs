//! The runs of a metric as a statistician's design: factors, the levels that occur, observations.

use std::collections::BTreeMap;

use model::{Level, Study};
use stats::Observation;

use crate::table::Row;
use crate::words::names::level_phrase;

/// A factor as far as the runs have it: only levels that occur.
pub(crate) struct PresentFactor {
    pub(crate) name: String,
    pub(crate) levels: Vec<PresentLevel>,
    place: BTreeMap<String, usize>,
}

pub(crate) struct PresentLevel {
    pub(crate) text: String,
    pub(crate) phrase: String,
}

pub(crate) fn varied_factors(study: &Study, rows: &[&Row]) -> Vec<PresentFactor> {
    let scenarios = by_scenario(rows);
    let present = |name: &str| {
        let mut seen: BTreeMap<String, &Level> = BTreeMap::new();
        for level in scenarios
            .iter()
            .filter_map(|group| group[0].record.scenario.level(name))
        {
            seen.entry(level.to_string()).or_insert(level);
        }
        seen
    };
    let ordered = |factor: &model::Factor| {
        let mut seen = present(&factor.name);
        let mut levels: Vec<PresentLevel> = Vec::new();
        let mut add = |text: String, level: &Level| {
            levels.push(PresentLevel {
                phrase: level_phrase(study, &factor.name, level),
                text,
            });
        };
        for level in &factor.levels {
            if let Some(level) = seen.remove(&level.to_string()) {
                add(level.to_string(), level);
            }
        }
        // Levels of older runs that the study no longer names.
        seen.into_iter().for_each(|(text, level)| add(text, level));
        let place = levels
            .iter()
            .enumerate()
            .map(|(place, l)| (l.text.clone(), place))
            .collect();
        PresentFactor {
            name: factor.name.clone(),
            levels,
            place,
        }
    };
    study
        .factors
        .iter()
        .map(ordered)
        .filter(|f| f.levels.len() > 1)
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
        let place = |f: &PresentFactor| f.place.get(&scenario.level(&f.name)?.to_string()).copied();
        let Some(levels) = factors.iter().map(place).collect::<Option<Vec<usize>>>() else {
            continue;
        };
        observations.extend(group.iter().filter_map(|row| {
            let block = Some(row.record.run.repetition as usize);
            Some(Observation {
                levels: levels.clone(),
                value: row.values[column]?,
                block,
            })
        }));
    }
    observations
}

/// Rows are sorted by run, so those of a scenario stand together; no group is empty.
fn by_scenario<'r, 'a>(rows: &'r [&'a Row<'a>]) -> Vec<&'r [&'a Row<'a>]> {
    rows.chunk_by(|a, b| a.record.run.scenario == b.record.run.scenario)
        .collect()
}
