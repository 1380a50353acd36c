//! What is recommended, in sentences.

use crate::analysis::{Analysis, LevelFacts};
use crate::answer::{Against, Goal, Pick, Saving, TaskAnswer};
use crate::decides::Verdict;
use crate::findings::MOST_REPETITIONS;
use crate::words::names::MetricInfo;
use crate::words::{format, verbs};

/// More tasks are counted, not named.
const MOST_NAMED: usize = 3;

/// Why no task has an answer.
pub(crate) fn nothing(analysis: &Analysis, tasks: &[TaskAnswer]) -> Option<String> {
    let runs = &analysis.totals.runs;
    let picks = || tasks.iter().flat_map(|task| &task.picks);
    let said = if runs.total() == 0 {
        "No run has been measured yet, so nothing can be recommended."
    } else if runs.ok == 0 {
        "No run was successful, so nothing can be recommended."
    } else if tasks.is_empty() {
        let reason = analysis.best.sentences.first();
        return Some(reason.cloned().unwrap_or_else(|| {
            "There is nothing to choose between: one scenario was measured.".to_owned()
        }));
    } else if picks().next().is_none() {
        "Nothing can be recommended: no two scenarios of a task have only successful runs."
    } else if picks().all(|pick| pick.verdict == Verdict::NotEstimable) {
        "Nothing can be recommended yet: there are scenarios with one repetition, whose differences cannot be distinguished from noise. Two or more repetitions of each are needed."
    } else {
        return None;
    };
    Some(said.to_owned())
}

/// `cheapest and fastest for all 8 tasks`.
pub(crate) fn what(pick: &Pick, places: &[usize], tasks: &[TaskAnswer]) -> String {
    let word = match pick.goal {
        Goal::Cheapest => "cheapest",
        Goal::Fastest => "fastest",
        Goal::CheapestAndFastest => "cheapest and fastest",
    };
    let candidates = match pick.verdict {
        Verdict::Inconclusive => "candidates for ",
        _ => "",
    };
    let name = |place: &usize| LevelFacts::phrase_of(&tasks[*place].task);
    let of = match (tasks.len(), places.len()) {
        (1, _) => String::new(),
        (all, some) if some == all => format!(" for all {} tasks", format::count(all)),
        (_, some) if some <= MOST_NAMED => {
            let names: Vec<String> = places.iter().map(name).collect();
            format!(" for {}", names.join("; "))
        }
        (all, some) => format!(
            " for {} of {} tasks",
            format::count(some),
            format::count(all)
        ),
    };
    format!("{candidates}{word}{of}")
}

/// Of picks with one verdict.
pub(crate) fn how_sure(picks: &[&Pick], within: f64) -> String {
    let verdict = picks.first().map_or(Verdict::NotEstimable, |p| p.verdict);
    let chances = picks.iter().filter_map(|pick| pick.chance);
    let least = chances.reduce(f64::min);
    let least = least.map(|least| share(least, picks.len()));
    match verdict {
        Verdict::Different => match least {
            Some(least) => format!(
                "Settled: best in {least} resamplings, and significantly better than every other"
            ),
            None => "Settled: significantly better than every other".to_owned(),
        },
        Verdict::PracticallyEqual => format!(
            "Practically equal, within {}: any of them will do",
            format::percent(within)
        ),
        Verdict::NotEstimable => {
            "Not known: one repetition cannot be distinguished from noise".to_owned()
        }
        _ => {
            let needed = picks.iter().filter_map(|pick| pick.repetitions).max();
            let more = match needed.filter(|needed| *needed <= MOST_REPETITIONS) {
                Some(needed) => {
                    format!("; about {} repetitions would decide", format::count(needed))
                }
                None => String::new(),
            };
            let first = least.map(|least| {
                format!(": the first is the best in {least} resamplings, but not significantly")
            });
            format!("Not settled{}{more}", first.unwrap_or_default())
        }
    }
}

/// `97 % of`, `all`; the lowest of several.
fn share(least: f64, of: usize) -> String {
    match format::percent(least).as_str() {
        "100 %" if least < 1.0 => "more than 99 % of".to_owned(),
        "100 %" => "all".to_owned(),
        text if of > 1 => format!("at least {text} of"),
        text => format!("{text} of"),
    }
}

/// What the best saves, where that is shown; picks of one verdict, with the usual choice of each.
pub(crate) fn saves(analysis: &Analysis, picks: &[&Pick], usuals: &[Option<u32>]) -> Vec<String> {
    let mut said = Vec::new();
    // One of several candidates is no recommendation.
    let is_only = |pick: &Pick, number: u32| pick.scenarios == [number];
    let both = || picks.iter().zip(usuals);
    if both().all(|(pick, usual)| usual.is_some_and(|u| is_only(pick, u))) {
        said.push("It is the usual choice: what the study lists first.".to_owned());
    } else if both().all(|(pick, usual)| usual.is_some_and(|u| pick.scenarios.contains(&u))) {
        said.push(
            "The usual choice, what the study lists first, is one of them: no saving is shown."
                .to_owned(),
        );
    }
    let all = || picks.iter().flat_map(|pick| &pick.savings);
    let metrics = crate::lists::unique(all().map(|saving| saving.metric.as_str()));
    for metric in metrics {
        let Some(info) = analysis.metric(metric) else {
            continue;
        };
        let of = |against: Against| -> Vec<&Saving> {
            let own = all().filter(|s| s.metric == metric && s.against == against);
            own.collect()
        };
        let (usual, worst) = (of(Against::Usual), of(Against::Worst));
        let same = |(a, b): (&&Saving, &&Saving)| a.scenario == b.scenario;
        let is_worst = usual.len() == worst.len() && usual.iter().zip(&worst).all(same);
        let (from, others) = match is_worst {
            true => ("the usual choice, which is the worst", &[][..]),
            false => ("the usual choice", worst.as_slice()),
        };
        said.extend(saving(info, picks, &usual, from));
        said.extend(saving(info, picks, others, "the worst choice"));
    }
    said
}

/// `Costs 62 % less than the usual choice (C1) [60 %, 64 %]: US$ 0.0012 per run.`
fn saving(info: &MetricInfo, picks: &[&Pick], of: &[&Saving], from: &str) -> Option<String> {
    let first = of.first()?;
    let part = |value: f64| format::percent(value.max(0.0));
    let words = verbs::words(info);
    let text = match of {
        [only] if picks.len() == 1 => {
            let less = words.fill(words.less, &part(only.part));
            let ends = format::interval(only.low, only.high, part);
            let amount = amount(info, only).map_or(String::new(), |text| format!(": {text}"));
            format!("{less} {from} (C{}) {ends}{amount}", only.scenario)
        }
        several => {
            let low = several.iter().map(|s| s.low).fold(first.low, f64::min);
            let high = several.iter().map(|s| s.high).fold(first.high, f64::max);
            let range = format!("{} to {}", part(low), part(high));
            let less = words.fill(words.less, &range);
            let tasks = match several.len() < picks.len() {
                true => format!(" in {} of these {} tasks", several.len(), picks.len()),
                false => String::new(),
            };
            format!("{less} {from}{tasks}, depending on the task")
        }
    };
    let is_open = picks.iter().any(|pick| pick.scenarios.len() > 1);
    let subject = match is_open {
        true => format!("The best as measured {text}."),
        false => format!("{}{}.", text[..1].to_uppercase(), &text[1..]),
    };
    Some(subject)
}

fn amount(info: &MetricInfo, saving: &Saving) -> Option<String> {
    let per = match info.name == model::run::metric::COST_PER_INFERENCE {
        true => "per million responses",
        false => "per run",
    };
    match (saving.money, saving.seconds) {
        (Some(money), _) => Some(format!("{money} {per}")),
        (None, Some(seconds)) => Some(format::duration(seconds)),
        (None, None) => None,
    }
}
