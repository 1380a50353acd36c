//! How often each scenario was repeated, and why no more.

use analyse::{Analysis, StoppingFacts};
use messages::word;

use super::{Table, TableCell};

pub(crate) fn stopping_table(analysis: &Analysis, found: &StoppingFacts) -> Table {
    let mut table = Table::default();
    table.text(word!("head-scenario"));
    table.number(word!("field-repetitions"));
    table.text(word!("stopped-because"));
    for one in &found.scenarios {
        let mut scenarios = analysis.scenarios.iter();
        let known = scenarios.find(|scenario| scenario.number == one.scenario);
        let label = known.map_or_else(|| format!("C{}", one.scenario), |known| known.label.clone());
        table.rows.push(vec![
            TableCell::new(label),
            TableCell::new(one.repetitions.to_string()),
            TableCell::new(one.why.unwrap_or(word!("stopped-not"))),
        ]);
    }
    table.cut()
}
