//! A study whose runs were chosen for a goal: what was tried and why, what never was, and what that means.

use std::collections::BTreeSet;

use messages::message;
use model::goal::{Goal, Hopeless, Searched, SearchedTask};

use crate::Input;
use crate::table::Table;
use crate::words::format;

/// From here on a choice is called settled; see `predict::search`.
const SURE: f64 = predict::search::SURE;

pub(crate) fn sentences(table: &Table, input: &Input) -> Vec<String> {
    let (Some(goal), Some(found)) = (&table.study.goal, input.searched) else {
        return Vec::new();
    };
    let run: BTreeSet<u32> = table
        .runs
        .iter()
        .map(|row| row.record.run.scenario)
        .collect();
    let short = found.tried.iter().filter(|one| one.is_short);
    let short: BTreeSet<u32> = short.map(|one| one.run.scenario).collect();
    let never = found.scenarios.saturating_sub(run.union(&short).count());
    let mut sentences = vec![message!(
        "search-counts",
        goal = found.goal.to_string(),
        made = table.runs.len(),
        planned = input.plan.runs.len(),
        run = run.len(),
        scenarios = found.scenarios
    )];
    match &found.hopeless {
        Some(why) => sentences.push(hopeless(why)),
        None => {
            let tasks = found.tasks.iter();
            sentences.extend(tasks.map(|task| of_task(task, goal, found.is_settled, &run)));
        }
    }
    sentences.extend(tried_short(&short, &run));
    sentences.push(why(found));
    if never > 0 {
        sentences.push(message!("search-never", scenarios = never));
    }
    sentences
}

fn hopeless(why: &Hopeless) -> String {
    match why {
        Hopeless::NoValue { metric } => message!("search-no-value", metric),
        Hopeless::NotPositive { metric } => message!("search-not-positive", metric),
        Hopeless::AllFailed => message!("search-all-failed"),
    }
}

fn of_task(task: &SearchedTask, goal: &Goal, is_over: bool, run: &BTreeSet<u32>) -> String {
    let about = match task.task.as_str() {
        "" => String::new(),
        task => format!("{task}: "),
    };
    let Some(chosen) = task.chosen else {
        return match goal.limits.is_empty() {
            true => message!("search-none", about),
            false => message!("search-no-choice", about),
        };
    };
    let is_confirmed = run.contains(&chosen);
    let chosen = format!("C{chosen}");
    if !is_confirmed {
        return message!("search-unconfirmed", about, chosen);
    }
    let probability = format::percent(task.probability);
    match task.probability >= SURE {
        true => message!("search-settled", about, chosen, probability),
        false => message!("search-so-far", about, chosen, probability, over = is_over),
    }
}

/// Scenarios of which beginnings were carried out, and those that were run whole.
fn tried_short(short: &BTreeSet<u32>, run: &BTreeSet<u32>) -> Option<String> {
    let whole = short.intersection(run).count();
    let others = short.len() - whole;
    (!short.is_empty()).then(|| message!("search-short", scenarios = short.len(), whole, others))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> SearchedTask {
        SearchedTask {
            task: String::new(),
            chosen: Some(3),
            probability: 0.99,
        }
    }

    fn goal() -> Goal {
        Goal {
            text: "min time".to_owned(),
            is_max: false,
            metric: "time".to_owned(),
            limits: Vec::new(),
        }
    }

    #[test]
    fn nothing_is_said_of_limits_that_there_are_not() {
        let task = SearchedTask {
            chosen: None,
            ..task()
        };
        let text = of_task(&task, &goal(), false, &BTreeSet::new());
        assert!(!text.contains("limits"), "{text}");
    }

    #[test]
    fn a_choice_without_a_whole_run_is_not_one_to_choose() {
        let text = of_task(&task(), &goal(), false, &BTreeSet::from([1, 2]));
        assert!(text.contains("no whole run confirms it"), "{text}");
        assert!(!text.contains("the one to choose"), "{text}");
        let text = of_task(&task(), &goal(), true, &BTreeSet::from([3]));
        assert!(text.contains("C3 is the one to choose"), "{text}");
    }

    #[test]
    fn what_was_tried_short_is_told_apart_from_what_was_run() {
        let check = |short: &[u32], run: &[u32], expected: Option<&str>| {
            let set = |numbers: &[u32]| numbers.iter().copied().collect::<BTreeSet<u32>>();
            let text = tried_short(&set(short), &set(run));
            assert_eq!(text.as_deref(), expected);
        };
        check(&[], &[1, 2], None);
        check(
            &[1, 2, 3],
            &[3, 4],
            Some(
                "3 scenarios were tried by the beginning of a run, from which the whole is predicted; 1 of them also whole. Of the other 2 only predictions are known, which are not part of the tables.",
            ),
        );
        check(
            &[1],
            &[1],
            Some(
                "1 scenario was tried by the beginning of a run, from which the whole is predicted; 1 of them also whole.",
            ),
        );
    }
}
