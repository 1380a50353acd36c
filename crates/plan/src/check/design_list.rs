//! `list` of a design: scenarios that the user wrote out.

use diagnostics::{Diagnostic, Located, Problems};
use model::{Design, Factor, Level};

use super::design::check_level;
use crate::read::{Draft, DraftExclusion};
use crate::scenarios::same_level;

pub(super) fn check(draft: &Draft, factors: &[Factor], problems: &Problems) -> Option<Design> {
    let rows = &draft.design.list;
    if rows.is_empty() {
        let message = "the design `list` needs `list`";
        let missing = Diagnostic::at(draft.design.kind.span.clone(), message);
        problems.push(missing.label("list = [{ network = \"rede1\", image = 32 }, …]"));
        return None;
    }
    let mut known: Vec<(&DraftExclusion, Vec<Level>)> = Vec::new();
    let mut is_fine = true;
    for row in rows {
        let Some(levels) = scenario(row, factors, problems) else {
            is_fine = false;
            continue;
        };
        match known.iter().find(|(_, other)| *other == levels) {
            Some((first, _)) => {
                let twice = Diagnostic::at(row.span.clone(), "this scenario is listed twice");
                problems.push(
                    twice
                        .other(first.span.clone(), "first here")
                        .note("use `repetitions` to measure a scenario several times"),
                );
                is_fine = false;
            }
            None => known.push((row, levels)),
        }
    }
    is_fine.then(|| Design::List {
        scenarios: known.into_iter().map(|(_, levels)| levels).collect(),
    })
}

/// The levels in the order of the factors, as these spell them.
fn scenario(row: &DraftExclusion, factors: &[Factor], problems: &Problems) -> Option<Vec<Level>> {
    let mut is_fine = true;
    for condition in &row.conditions {
        let name = &condition.factor;
        let factor = factors.iter().find(|f| f.name == name.value);
        is_fine &= match (factor, &condition.levels[..]) {
            (None, _) => {
                let known = factors.iter().map(|f| f.name.as_str());
                problems.push(Diagnostic::unknown(
                    "factor",
                    &name.value,
                    name.span.clone(),
                    known,
                ));
                false
            }
            (Some(factor), [level]) => check_level(factor, level, problems),
            (Some(_), _) => {
                let message = format!("a scenario has one level of `{}`", name.value);
                problems.push(Diagnostic::at(name.span.clone(), message));
                false
            }
        };
    }
    let mut levels = Vec::new();
    for factor in factors {
        let given = row
            .conditions
            .iter()
            .find(|c| c.factor.value == factor.name);
        let given = given.and_then(|c| c.levels.first());
        let spelled = |level: &Located<Level>| {
            let mut all = factor.levels.iter();
            all.find(|l| same_level(l, &level.value)).cloned()
        };
        match (given, &factor.levels[..]) {
            (Some(level), _) => levels.extend(spelled(level)),
            (None, [only]) => levels.push(only.clone()),
            (None, _) => {
                let message = format!("this scenario has no level of `{}`", factor.name);
                problems.push(Diagnostic::at(row.span.clone(), message));
                is_fine = false;
            }
        }
    }
    (is_fine && levels.len() == factors.len()).then_some(levels)
}
