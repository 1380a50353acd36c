//! Which scenario of a study a run belongs to: by what was run, not by its number.

use std::collections::HashMap;

use model::{Plan, RunRecord, Scenario, Study};

use crate::digest::scenario_fingerprint;

/// Finds the scenario of a run in a plan. A study that grows gives other numbers to the same
/// scenarios; a bundle that was copied here may be of another study.
pub struct Recognizer<'a> {
    study: &'a Study,
    by_fingerprint: HashMap<String, &'a Scenario>,
}

impl<'a> Recognizer<'a> {
    pub fn new(study: &'a Study, plan: &'a Plan) -> Self {
        let fingerprint =
            |scenario: &'a Scenario| (scenario_fingerprint(study, scenario), scenario);
        Recognizer {
            study,
            by_fingerprint: plan.scenarios.iter().map(fingerprint).collect(),
        }
    }

    /// `None` if the run is of another study, or of a scenario that this plan does not have.
    pub fn scenario_of(&self, record: &RunRecord) -> Option<&'a Scenario> {
        if record.study != self.study.name {
            return None;
        }
        let scenario = self.by_fingerprint.get(record.fingerprint.as_str());
        // A record that contradicts its own fingerprint was edited by hand.
        let scenario = scenario.filter(|scenario| has_levels(record, scenario));
        scenario.copied()
    }

    /// Whether the run is of the scenario whose number it has.
    pub fn is_in_place(&self, record: &RunRecord) -> bool {
        let scenario = self.scenario_of(record);
        scenario.is_some_and(|scenario| scenario.number == record.run.scenario)
    }

    /// The runs of this plan's scenarios, under the numbers that these have now.
    pub fn renumbered(&self, records: Vec<RunRecord>) -> Vec<RunRecord> {
        let renumber = |mut record: RunRecord| {
            let scenario = self.scenario_of(&record)?;
            record.run.scenario = scenario.number;
            record.scenario = scenario.clone();
            Some(record)
        };
        let mut records: Vec<RunRecord> = records.into_iter().filter_map(renumber).collect();
        records.sort_by_key(|record| record.run);
        records
    }
}

/// In whatever order.
fn has_levels(record: &RunRecord, scenario: &Scenario) -> bool {
    let levels = &record.scenario.levels;
    levels.len() == scenario.levels.len() && levels.iter().all(|l| scenario.levels.contains(l))
}
