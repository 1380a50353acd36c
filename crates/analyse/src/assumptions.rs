//! What an analysis of variance takes for granted, in sentences.

use model::design::{AliasTable, Effect};
use stats::ResidualSource;

use crate::design::by_scenario;
use crate::effects;
use crate::table::{Row, Table};
use crate::variation::{MOST_ORDER, Model};
use crate::words::format;

/// Missing combinations, unequal numbers, blocks, runs that did not succeed.
pub(crate) fn assumptions(model: &Model, rows: &[&Row], table: &Table) -> Vec<String> {
    let mut said = Vec::new();
    let cells = by_scenario(rows).len();
    let levels = model.factors.iter().map(|f| f.levels.len());
    let full: usize = levels.fold(1, usize::saturating_mul);
    let type_two = "shares are type II sums of squares, each factor after the others, and need not add up to 100 %; levels are compared with all combinations weighted equally";
    if cells < full {
        said.push(format!(
            "{} of {} combinations of levels have no result{}: {type_two}.",
            format::count(full - cells),
            format::count(full),
            if table.study.exclude.is_empty() {
                ""
            } else {
                " (some are excluded by the study)"
            }
        ));
    } else if !model.anova.balanced {
        said.push(format!(
            "Scenarios have different numbers of results: {type_two}."
        ));
    }
    if model.order < MOST_ORDER && model.factors.len() > 1 {
        let mixed = mixed_with(&model.aliases);
        said.push(format!(
            "The combinations that were measured cannot tell main effects from interactions: interactions are assumed to be zero{}.",
            match mixed.is_empty() {
                true => String::new(),
                false => format!(" ({})", format::listed(&mixed, 4)),
            }
        ));
    }
    if model.means.unrepeated > 0 {
        said.push(format!(
            "{} one result only: the spread of the others is assumed for {}.",
            format::counted(model.means.unrepeated, "scenario has", "scenarios have"),
            if model.means.unrepeated == 1 {
                "it"
            } else {
                "them"
            }
        ));
    }
    if model.anova.residual.source == ResidualSource::HigherOrder {
        said.push(
            "Few scenarios are repeated: the share of noise includes interactions.".to_owned(),
        );
    }
    if model.means.without_blocks {
        said.push("Repetitions are blocks: what they differ by as a whole is not counted as noise in the tests.".to_owned());
    }
    let unsuccessful = |group: &&[&Row]| {
        let all = crate::scenarios::rows_of(table, group[0].record.run.scenario);
        all.iter().any(crate::ranking::has_failed)
    };
    let failing = by_scenario(rows).iter().filter(|g| unsuccessful(g)).count();
    if failing > 0 {
        said.push(format!(
            "{} runs that did not succeed: effects rest on those that did.",
            format::counted(failing, "scenario has", "scenarios have")
        ));
    }
    said
}

/// `framework with batch × image`: main effects and what they cannot be distinguished from.
fn mixed_with(aliases: &Option<AliasTable>) -> Vec<String> {
    let rows = aliases.iter().flat_map(|table| &table.effects);
    let mains = rows.filter(|row| row.effect.is_main());
    mains
        .filter_map(|row| {
            let mixed: Vec<String> = row.inseparable().map(ToString::to_string).collect();
            (!mixed.is_empty())
                .then(|| format!("{} with {}", row.effect, format::listed(&mixed, 2)))
        })
        .collect()
}

/// Why a term cannot be estimated.
pub(crate) fn confounded(factors: &[String], aliases: Option<&AliasTable>) -> String {
    let row = aliases.and_then(|table| table.of(&Effect(factors.to_vec())));
    let mixed: Vec<String> = row
        .iter()
        .flat_map(|row| row.inseparable())
        .map(ToString::to_string)
        .collect();
    match mixed.is_empty() {
        true => effects::CONFOUNDED.to_owned(),
        false => format!("cannot be distinguished from {}", format::listed(&mixed, 3)),
    }
}
