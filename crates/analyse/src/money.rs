//! Results about money other than the cost of a scenario.

use model::RunRecord;
use serde::Serialize;

use crate::analysis::ScenarioResult;
use crate::breakeven::{self, BreakEvens};
use crate::levels::Levels;
use crate::provisioning::{self, Fit, Provisioning};
use crate::table::Table;
use crate::target::{self, Target};
use crate::unused::{self, Unused};

#[derive(Debug, Clone, Serialize)]
pub struct MoneyResult {
    /// Of a study that asks for an accuracy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    pub break_even: BreakEvens,
    /// Wasted spend, one an environment that has bills.
    pub unused: Vec<Unused>,
    /// Of environments whose use says something about their size.
    pub provisioning: Vec<Provisioning>,
    /// In words, the most important first.
    pub sentences: Vec<String>,
}

/// In a summary; their own section has them all.
const MOST_BREAK_EVENS: usize = 3;

pub(crate) fn money(
    table: &Table,
    scenarios: &[ScenarioResult],
    superseded: &[RunRecord],
    levels: &Levels,
) -> MoneyResult {
    let target = target::target(table, scenarios);
    let break_even = breakeven::break_evens(table, scenarios, levels.pairs);
    let unused = unused::unused(table, superseded);
    let provisioning = provisioning::provisioning(table, scenarios);
    let mut sentences = Vec::new();
    sentences.extend(target.iter().flat_map(|target| target.sentences.clone()));
    let compared = break_even.sentences.iter().take(MOST_BREAK_EVENS);
    sentences.extend(compared.cloned());
    sentences.extend(unused.iter().flat_map(|unused| unused.sentences.clone()));
    // Which scenarios do not fit in memory is said elsewhere.
    let is_news = |p: &&Provisioning| p.verdict != Fit::Fits && p.out_of_memory == 0;
    let not_fitting = provisioning.iter().filter(is_news);
    sentences.extend(not_fitting.map(|p| p.sentence.clone()));
    MoneyResult {
        target,
        break_even,
        unused,
        provisioning,
        sentences,
    }
}
