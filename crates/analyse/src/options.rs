//! What `bancada run` was asked beside the study's file, as far as its results show it.

use std::collections::BTreeSet;

use model::{Plan, Study};

use crate::lists::push_new;
use crate::table::Table;

/// In the order in which they are typed; values are quoted for a shell.
pub(crate) fn run_options(table: &Table, plan: &Plan) -> Vec<String> {
    let study = table.study;
    let mut options = Vec::new();
    if let Some(scale) = &study.scale {
        options.push(format!("--scale {}", quoted(&scale.name)));
    }
    if let Some(until) = &study.until {
        options.push(format!("--until {}", quoted(&until.to_string())));
    }
    if let Some(goal) = &study.goal {
        options.push(format!("--goal {}", quoted(&goal.text)));
    }
    if table
        .runs
        .iter()
        .any(|row| row.record.prediction().is_some())
    {
        options.push("--predict".to_owned());
    }
    // A search leaves out scenarios by itself.
    if study.goal.is_none() {
        options.extend(only(study, table, plan));
    }
    options
}

/// The levels that have runs, where exactly all scenarios of those levels have some.
fn only(study: &Study, table: &Table, plan: &Plan) -> Vec<String> {
    let begun: BTreeSet<u32> = table
        .runs
        .iter()
        .map(|row| row.record.run.scenario)
        .collect();
    if begun.is_empty() || plan.scenarios.iter().all(|s| begun.contains(&s.number)) {
        return Vec::new();
    }
    let mut kept: Vec<(&str, Vec<String>)> = Vec::new();
    for factor in &study.factors {
        let mut levels = Vec::new();
        let mut all = Vec::new();
        for scenario in &plan.scenarios {
            let Some(level) = scenario.level(&factor.name).map(ToString::to_string) else {
                continue;
            };
            if begun.contains(&scenario.number) {
                push_new(&mut levels, level.clone());
            }
            push_new(&mut all, level);
        }
        if levels.len() < all.len() {
            kept.push((&factor.name, levels));
        }
    }
    let is_kept = |scenario: &&model::Scenario| {
        kept.iter().all(|(factor, levels)| {
            let level = scenario.level(factor).map(ToString::to_string);
            level.is_some_and(|level| levels.contains(&level))
        })
    };
    let chosen = plan.scenarios.iter().filter(is_kept);
    if !chosen.map(|s| s.number).eq(begun) {
        return Vec::new();
    }
    let option = |(factor, levels): (&str, Vec<String>)| {
        format!(
            "--only {}",
            quoted(&format!("{factor}={}", levels.join(",")))
        )
    };
    kept.into_iter().map(option).collect()
}

fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,=/:%+".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
