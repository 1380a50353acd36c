//! A study whose runs were chosen for a goal: what was tried and why, what never was, and what that means.

use std::collections::BTreeSet;

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
    let short = found.tried.iter().filter(|one| one.is_short);
    let short: BTreeSet<u32> = short.map(|one| one.run.scenario).collect();
    let short_only = short.difference(&run).count();
    let never = found.scenarios.saturating_sub(run.union(&short).count());
    let mut sentences = vec![format!(
        "Searched for `{}`: {} of {} runs were made, in {} of {} scenarios.",
        found.goal,
        format::count(table.runs.len()),
        format::count(input.plan.runs.len()),
        format::count(run.len()),
        format::count(found.scenarios),
    )];
    sentences.extend(
        found
            .tasks
            .iter()
            .map(|task| of_task(task, found.is_settled, &run)),
    );
    if !short.is_empty() {
        sentences.push(format!(
            "{} tried short first: by the beginning of a run, from which the whole is predicted. {} of them {} then run whole; of {} all that is known is predicted, and is not part of the tables.",
            format::counted(short.len(), "scenario was", "scenarios were"),
            format::count(short.len() - short_only),
            if short.len() - short_only == 1 { "was" } else { "were" },
            match short_only {
                0 => "none".to_owned(),
                others => format!("the other {}", format::count(others)),
            },
        ));
    }
    sentences.push(why(found));
    if never > 0 {
        sentences.push(format!(
            "{} never run: that they are no better is predicted from the others, not measured. Everything else in this report holds for the scenarios that were run.",
            format::counted(never, "scenario was", "scenarios were")
        ));
    }
    sentences
}

fn of_task(task: &SearchedTask, is_over: bool, run: &BTreeSet<u32>) -> String {
    let about = match task.task.as_str() {
        "" => String::new(),
        task => format!("{task}: "),
    };
    let Some(chosen) = task.chosen else {
        return format!("{about}no scenario was found that keeps the limits.");
    };
    if !run.contains(&chosen) {
        return format!(
            "{about}C{chosen} is the best so far by the beginning of a run alone: no whole run confirms it yet; `bancada run` with the same goal goes on."
        );
    }
    let probability = format::percent(task.probability);
    match task.probability >= SURE {
        true => format!(
            "{about}C{chosen} is the one to choose: it is within 5 % of the best with a probability of {probability}, as the model of the search sees it."
        ),
        false => {
            let more = match is_over {
                true => "every run that the study allows was made",
                false => "`bancada run` with the same goal goes on",
            };
            format!(
                "{about}C{chosen} is the best so far, not settled: within 5 % of the best with a probability of {probability}; {more}."
            )
        }
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
    format!(
        "{} chosen to see every level early, {} because the scenario could be the best, {} to learn where least was known; search.json has the reason of each.",
        format::counted(starting("to see"), "run was", "runs were"),
        format::count(starting("best with")),
        format::count(starting("to learn"))
    )
}
