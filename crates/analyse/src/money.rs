//! What the results say about money, beside what a scenario costs.

use model::RunRecord;
use serde::Serialize;

use crate::analysis::ScenarioResult;
use crate::table::Table;
use crate::target::{self, Target};
use crate::unused::{self, Unused};

#[derive(Debug, Clone, Serialize)]
pub struct MoneyResult {
    /// Of a study that asks for an accuracy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// Paid and not used, one an environment that has bills.
    pub unused: Vec<Unused>,
    /// In words, the most important first.
    pub sentences: Vec<String>,
}

pub(crate) fn money(
    table: &Table,
    scenarios: &[ScenarioResult],
    superseded: &[RunRecord],
) -> MoneyResult {
    let target = target::target(table, scenarios);
    let unused = unused::unused(table, superseded);
    let mut sentences = Vec::new();
    sentences.extend(target.iter().flat_map(|target| target.sentences.clone()));
    sentences.extend(unused.iter().flat_map(|unused| unused.sentences.clone()));
    MoneyResult {
        target,
        unused,
        sentences,
    }
}
