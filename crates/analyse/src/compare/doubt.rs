//! Two sides of one study may differ by when they were measured, or by their day, as much as by what they are.

use messages::message;
use model::{Role, RunId};

use super::{Matched, Side};
use crate::analysis::{Analysis, LevelFacts, ScenarioResult};
use crate::dependence::is_apart;
use crate::words::format;

/// Why a difference is not stated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Doubt {
    /// They were not measured in turn, and successive runs are alike.
    Time,
    /// Levels of these blocks differ too.
    Blocks(Vec<String>),
}

impl Doubt {
    /// What different studies have in common is not known.
    pub(super) fn of(sides: [&Side; 2], matched: &[&Matched], metric: &str) -> Option<Doubt> {
        let [first, second] = sides;
        if !std::ptr::eq(first.analysis, second.analysis) {
            return None;
        }
        let blocks = matched.iter().find_map(|pair| blocks(first, pair));
        let in_time = || are_apart(first.analysis, matched, metric).then_some(Doubt::Time);
        blocks.map(Doubt::Blocks).or_else(in_time)
    }

    pub(super) fn sentence(&self, first: &str, second: &str) -> String {
        match self {
            Doubt::Time => message!("pair-in-time", level = second, baseline = first),
            Doubt::Blocks(names) => {
                let blocks = format::listed(names, 4);
                message!("compare-confounded", first, second, blocks)
            }
        }
    }
}

/// The blocks in which two scenarios differ that differ in something else, too.
fn blocks(side: &Side, pair: &Matched) -> Option<Vec<String>> {
    let is_other = |level: &&LevelFacts| {
        let other = pair.second.level(&level.factor);
        other.is_none_or(|other| other.level != level.level)
    };
    let role = |factor: &str| {
        let mut factors = side.analysis.study.factors.iter();
        factors.find(|known| known.name == factor).map(|f| f.role)
    };
    let names = pair.first.levels.iter().filter(is_other);
    let (blocks, others): (Vec<_>, Vec<_>) = names
        .map(|level| level.factor.clone())
        .partition(|factor| role(factor) == Some(Role::Block));
    (!blocks.is_empty() && !others.is_empty()).then_some(blocks)
}

/// Each pair as much as another, as they are compared.
fn are_apart(analysis: &Analysis, matched: &[&Matched], metric: &str) -> bool {
    let Some(column) = analysis.metrics.iter().position(|m| m.name == metric) else {
        return false;
    };
    let runs = |scenario: &ScenarioResult| -> Vec<RunId> {
        let own = |run: &&crate::RunRow| {
            run.scenario == scenario.number && run.is_ok() && run.values[column].is_some()
        };
        analysis.runs.iter().filter(own).map(|r| r.run).collect()
    };
    let groups = matched.iter().flat_map(|pair| [pair.first, pair.second]);
    let groups: Vec<Vec<RunId>> = groups.map(runs).collect();
    let weights: Vec<f64> = [-1.0, 1.0].repeat(matched.len());
    let found = analysis.dependences.interleaving_of(&groups, column);
    found.is_some_and(|found| is_apart(&found, &weights))
}
