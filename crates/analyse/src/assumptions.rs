//! What an analysis of variance takes for granted, in sentences.

use messages::{message, word};
use model::Study;
use model::design::{AliasTable, Effect};
use stats::ResidualSource;

use crate::design::{block_factors, by_scenario};
use crate::lists::unique;
use crate::sequence::is_imported;
use crate::table::{Row, Table};
use crate::variation::{MOST_ORDER, Model};
use crate::words::format;

/// Missing combinations, unequal numbers, blocks, runs that did not succeed.
pub(crate) fn assumptions(model: &Model, rows: &[&Row], table: &Table) -> Vec<String> {
    let mut said = Vec::new();
    let cells = unique(model.data.iter().map(|one| one.levels.as_slice())).len();
    let levels = model.factors.iter().map(|f| f.levels.len());
    let full: usize = levels.fold(1, usize::saturating_mul);
    if cells < full {
        // An import lists what its files do not have as excluded; nobody decided that.
        let excluded = !table.study.exclude.is_empty() && !rows.iter().all(|r| is_imported(r));
        said.push(message!(
            "assume-missing",
            missing = full - cells,
            all = full,
            excluded
        ));
    } else if !model.anova.balanced {
        said.push(message!("assume-unbalanced"));
    }
    if model.order < MOST_ORDER && model.factors.len() > 1 {
        let names = format::listed(&mixed_with(&model.aliases), 4);
        let mixed = !names.is_empty();
        said.push(message!("assume-no-interactions", mixed, names));
        if is_one_at_a_time(model) {
            said.push(message!("assume-one-at-a-time"));
        }
    }
    if model.means.unrepeated > 0 {
        said.push(message!(
            "assume-unrepeated",
            scenarios = model.means.unrepeated
        ));
    }
    if model.anova.residual.source == ResidualSource::HigherOrder {
        said.push(message!("assume-noise-has-interactions"));
    }
    if model.means.without_blocks {
        let names = block_factors(table.study);
        said.push(match names.is_empty() {
            true => message!("assume-blocks"),
            false => message!("assume-blocks-of", names = names.join(", ")),
        });
        if model.means.is_adjusted() {
            said.push(message!("assume-blocks-adjusted"));
        }
    }
    let all: Vec<&Row> = table.runs.iter().collect();
    let has_failed = |group: &&&[&Row]| group.iter().any(|row| crate::ranking::has_failed(row));
    let failing = by_scenario(&all).iter().filter(has_failed).count();
    if failing > 0 {
        said.push(message!("assume-successful", scenarios = failing));
    }
    said
}

/// Whether all combinations differ from one of them in one factor only.
fn is_one_at_a_time(model: &Model) -> bool {
    let combinations = unique(model.data.iter().map(|one| one.levels.as_slice()));
    let differ = |a: &[usize], b: &[usize]| a.iter().zip(b).filter(|(a, b)| a != b).count();
    let is_base = |base: &&&[usize]| combinations.iter().all(|other| differ(base, other) <= 1);
    combinations.iter().any(|base| is_base(&base))
}

/// `framework with batch × image`: main effects and what they cannot be distinguished from.
fn mixed_with(aliases: &Option<AliasTable>) -> Vec<String> {
    let rows = aliases.iter().flat_map(|table| &table.effects);
    let mains = rows.filter(|row| row.effect.is_main());
    mains
        .filter_map(|row| {
            let mixed: Vec<String> = row.inseparable().map(ToString::to_string).collect();
            let effect = row.effect.to_string();
            let others = format::listed(&mixed, 2);
            (!mixed.is_empty()).then(|| message!("assume-mixed-with", effect, others))
        })
        .collect()
}

/// Why a term cannot be estimated.
pub(crate) fn confounded(factors: &[String], model: &Model, study: &Study) -> String {
    if model.means.is_parted() {
        let others = block_factors(study).join(" × ");
        return message!("effect-confounded-with", others);
    }
    let row = model
        .aliases
        .as_ref()
        .and_then(|table| table.of(&Effect(factors.to_vec())));
    let mixed: Vec<String> = row
        .iter()
        .flat_map(|row| row.inseparable())
        .map(ToString::to_string)
        .collect();
    match mixed.is_empty() {
        true => word!("effect-confounded").to_owned(),
        false => message!("effect-confounded-with", others = format::listed(&mixed, 3)),
    }
}
