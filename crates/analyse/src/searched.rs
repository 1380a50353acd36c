//! A study whose runs were chosen for a goal: what was tried and why, what never was, and what that means.

use std::collections::BTreeSet;

use messages::message;
use model::goal::{Searched, SearchedTask};

use crate::Input;
use crate::table::Table;
use crate::words::format;

/// From here on a choice is called settled; see `predict::search`.
const SURE: f64 = predict::search::SURE;

pub(crate) fn sentences(table: &Table, input: &Input) -> Vec<String> {
    let (Some(_), Some(found)) = (&table.study.goal, input.searched) else {
        return Vec::new();
    };
    let run: BTreeSet<u32> = table
        .runs
        .iter()
        .map(|row| row.record.run.scenario)
        .collect();
    let never = found.scenarios.saturating_sub(run.len());
    let mut sentences = vec![message!(
        "search-counts",
        goal = found.goal.to_string(),
        made = table.runs.len(),
        planned = input.plan.runs.len(),
        run = run.len(),
        scenarios = found.scenarios
    )];
    sentences.extend(
        found
            .tasks
            .iter()
            .map(|task| of_task(task, found.is_settled)),
    );
    sentences.push(why(found));
    if never > 0 {
        sentences.push(message!("search-never", scenarios = never));
    }
    sentences
}

fn of_task(task: &SearchedTask, is_over: bool) -> String {
    let about = match task.task.as_str() {
        "" => String::new(),
        task => format!("{task}: "),
    };
    let Some(chosen) = task.chosen else {
        return message!("search-no-choice", about);
    };
    let probability = format::percent(task.probability);
    let chosen = format!("C{chosen}");
    match task.probability >= SURE {
        true => message!("search-settled", about, chosen, probability),
        false => message!("search-so-far", about, chosen, probability, over = is_over),
    }
}

fn why(found: &Searched) -> String {
    let starting = |word: &str| {
        found
            .tried
            .iter()
            .filter(|one| one.why.starts_with(word))
            .count()
    };
    message!(
        "search-why",
        levels = starting("to see"),
        best = starting("best with"),
        learn = starting("to learn")
    )
}
