//! Time by kind of operator, and the operators that took most of it.

use analyse::{Analysis, OPERATOR_KINDS, ProfileResult, ScenarioResult, format};
use messages::word;

use super::{Table, TableCell};

/// Scenarios with their profiles.
pub(crate) fn profiled(analysis: &Analysis) -> Vec<(&ScenarioResult, &ProfileResult)> {
    let scenarios = analysis.scenarios.iter();
    scenarios
        .filter_map(|s| Some((s, s.profile.as_ref()?)))
        .collect()
}

/// Kinds that occur, in their order.
pub(crate) fn kinds_of(profiled: &[(&ScenarioResult, &ProfileResult)]) -> Vec<&'static str> {
    let occurs = |kind: &&str| {
        let mut kinds = profiled.iter().flat_map(|(_, p)| &p.kinds);
        kinds.any(|k| k.kind == **kind)
    };
    OPERATOR_KINDS.into_iter().filter(|k| occurs(k)).collect()
}

pub(crate) fn kind_words(kind: &str) -> &str {
    messages::named("operator-kind", kind).unwrap_or(kind)
}

pub(crate) fn kinds_table(analysis: &Analysis) -> Option<Table> {
    let profiled = profiled(analysis);
    let kinds = kinds_of(&profiled);
    if kinds.is_empty() {
        return None;
    }
    let mut table = Table::new(&[word!("head-scenario"), word!("head-levels")], &[]);
    for kind in &kinds {
        table.number(kind_words(kind));
    }
    table.number(word!("profile-time"));
    for (scenario, profile) in profiled {
        let mut row = vec![
            TableCell::new(&scenario.label),
            TableCell::new(scenario.phrase()),
        ];
        row.extend(kinds.iter().map(|kind| {
            let found = profile.kinds.iter().find(|k| k.kind == *kind);
            TableCell::or_none(found.map(|k| format::percent(k.share)))
        }));
        row.push(TableCell::new(format::duration(profile.seconds)));
        table.rows.push(row);
    }
    Some(table.cut())
}

pub(crate) fn operators_table(profile: &ProfileResult) -> Table {
    let mut table = Table::new(
        &[word!("profile-operator"), word!("profile-kind")],
        &[
            word!("profile-calls"),
            word!("head-time"),
            word!("profile-share"),
        ],
    );
    for operator in &profile.operators {
        table.rows.push(vec![
            TableCell::new(&operator.name),
            TableCell::new(kind_words(&operator.kind)),
            TableCell::new(match operator.calls.fract() == 0.0 {
                true => format::count(operator.calls as usize),
                false => format::significant(operator.calls, 3),
            }),
            TableCell::new(format::duration(operator.seconds)),
            TableCell::new(format::percent(operator.share)),
        ]);
    }
    table
}
