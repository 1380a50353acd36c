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
    sentences.extend(tried_short(&short, &run));
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

/// Scenarios of which beginnings were carried out, and those that were run whole.
fn tried_short(short: &BTreeSet<u32>, run: &BTreeSet<u32>) -> Option<String> {
    let whole = short.intersection(run).count();
    let only = match short.len() - whole {
        0 => String::new(),
        others => format!(
            " Of the other {} only predictions are known, which are not part of the tables.",
            format::count(others)
        ),
    };
    (!short.is_empty()).then(|| {
        format!(
            "{} tried by the beginning of a run, from which the whole is predicted; {} of them also whole.{only}",
            format::counted(short.len(), "scenario was", "scenarios were"),
            format::count(whole),
        )
    })
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

    #[test]
    fn a_choice_without_a_whole_run_is_not_one_to_choose() {
        let text = of_task(&task(), false, &BTreeSet::from([1, 2]));
        assert!(text.contains("no whole run confirms it"), "{text}");
        assert!(!text.contains("the one to choose"), "{text}");
        let text = of_task(&task(), true, &BTreeSet::from([3]));
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
