//! What the results say about money, beside what a scenario costs.

use serde::Serialize;

use crate::analysis::ScenarioResult;
use crate::table::Table;
use crate::target::{self, Target};

#[derive(Debug, Clone, Serialize)]
pub struct MoneyResult {
    /// Of a study that asks for an accuracy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// In words, the most important first.
    pub sentences: Vec<String>,
}

pub(crate) fn money(table: &Table, scenarios: &[ScenarioResult]) -> MoneyResult {
    let target = target::target(table, scenarios);
    let mut sentences = Vec::new();
    sentences.extend(target.iter().flat_map(|target| target.sentences.clone()));
    MoneyResult { target, sentences }
}
