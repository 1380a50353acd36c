//! What is recommended, in sentences.

use messages::message;

use crate::analysis::{Analysis, LevelFacts};
use crate::answer::{Against, Pick, Saving, TaskAnswer};
use crate::decides::Verdict;
use crate::findings::MOST_REPETITIONS;
use crate::words::format;
use crate::words::names::MetricInfo;
use crate::words::verbs::{Said, Way};

/// More tasks are counted, not named.
const MOST_NAMED: usize = 3;

/// Why no task has an answer.
pub(crate) fn nothing(analysis: &Analysis, tasks: &[TaskAnswer]) -> Option<String> {
    let runs = &analysis.totals.runs;
    let picks = || tasks.iter().flat_map(|task| &task.picks);
    let said = if runs.total() == 0 {
        message!("answer-no-run")
    } else if runs.ok == 0 {
        message!("answer-no-success")
    } else if tasks.is_empty() {
        let reason = analysis.best.sentences.first().cloned();
        return reason.or_else(|| {
            let measured = analysis.scenarios.iter().filter(|s| s.runs.total() > 0);
            Some(match measured.count() {
                1 => message!("answer-one-scenario"),
                _ => message!("answer-one-each"),
            })
        });
    } else if picks().next().is_none() {
        let of_tasks = analysis.best.tasks.iter();
        let mut unranked = of_tasks.flat_map(|task| &task.unranked);
        match unranked.any(|one| one.is_of_blocks) {
            true => return analysis.best.sentences.first().cloned(),
            false => message!("answer-no-two"),
        }
    } else if picks().all(|pick| pick.verdict == Verdict::NotEstimable) {
        message!("answer-unrepeated")
    } else {
        return None;
    };
    Some(said)
}

/// `cheapest and fastest for all 8 tasks`.
pub(crate) fn what(pick: &Pick, places: &[usize], tasks: &[TaskAnswer], all: usize) -> String {
    let name = |place: &usize| LevelFacts::phrase_of(&tasks[*place].task);
    let some = places.len();
    let of = match (all, some) {
        (1, _) => String::new(),
        _ if some == all => message!("answer-for-all", all),
        _ if some <= MOST_NAMED => {
            let names: Vec<String> = places.iter().map(name).collect();
            message!("answer-for-named", names = names.join("; "))
        }
        _ => message!("answer-for-some", some, all),
    };
    let candidates = pick.verdict == Verdict::Inconclusive;
    message!("answer-what", candidates, goal = pick.goal.words(), of)
}

/// Of picks with one verdict.
pub(crate) fn how_sure(picks: &[&Pick], within: f64) -> String {
    let verdict = picks.first().map_or(Verdict::NotEstimable, |p| p.verdict);
    let chances = picks.iter().filter_map(|pick| pick.chance);
    let least = chances.reduce(f64::min);
    let least = least.map(|least| often(least, picks.len()));
    match verdict {
        Verdict::Different => {
            let ranked = picks.iter().any(|pick| pick.has_unranked);
            match least {
                Some(often) => message!("answer-settled-often", often, ranked),
                None => message!("answer-settled", ranked),
            }
        }
        Verdict::PracticallyEqual => message!("answer-equal", within = format::percent(within)),
        Verdict::NotEstimable => message!("answer-not-known"),
        _ => {
            let needed = picks.iter().filter_map(|pick| pick.repetitions).max();
            let needed = needed.filter(|needed| *needed <= MOST_REPETITIONS);
            let more = needed.map_or(String::new(), |repetitions| {
                message!("answer-would-decide", repetitions)
            });
            let first = least.map(|often| message!("answer-first-often", often));
            message!("answer-open", first = first.unwrap_or_default(), more)
        }
    }
}

/// `in 97 % of resamplings`, `in all resamplings`; the lowest of several.
pub(crate) fn often(least: f64, of: usize) -> String {
    let text = format::percent(least);
    let part = match text.as_str() {
        "100 %" if least < 1.0 => "nearly-all",
        "100 %" => "all",
        _ if of > 1 => "at-least",
        _ => "exactly",
    };
    message!("answer-often", part, text)
}

/// What the best saves, where that is shown; picks of one verdict, with the usual choice of each.
pub(crate) fn saves(analysis: &Analysis, picks: &[&Pick], usuals: &[Option<u32>]) -> Vec<String> {
    let mut said = Vec::new();
    // One of several candidates is no recommendation.
    let is_only = |pick: &Pick, number: u32| pick.scenarios == [number];
    let both = || picks.iter().zip(usuals);
    if both().all(|(pick, usual)| usual.is_some_and(|u| is_only(pick, u))) {
        said.push(message!("answer-is-usual"));
    } else if both().all(|(pick, usual)| usual.is_some_and(|u| pick.scenarios.contains(&u))) {
        said.push(message!("answer-usual-is-one"));
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
            true => ("usual-and-worst", &[][..]),
            false => ("usual", worst.as_slice()),
        };
        let label = |number: u32| {
            let choice = analysis.choice(number);
            choice.map_or_else(String::new, |choice| choice.label.clone())
        };
        said.extend(saving(info, picks, (&usual, from), label));
        said.extend(saving(info, picks, (others, "worst"), label));
    }
    said
}

/// `Costs 62 % less than the usual choice (C1) [60 %, 64 %]: US$ 0.0012 per run.`
fn saving(
    info: &MetricInfo,
    picks: &[&Pick],
    (of, than): (&[&Saving], &str),
    label: impl Fn(u32) -> String,
) -> Option<String> {
    let first = of.first()?;
    let part = |value: f64| format::percent(value.max(0.0));
    let less = |amount: &str| {
        let way = Way::Less;
        Said { info, amount, way }.alone()
    };
    let text = match of {
        [only] if picks.len() == 1 => {
            let ends = format::interval(only.low, only.high, part);
            let amount = amount(info, only).map_or(String::new(), |text| format!(": {text}"));
            let (less, scenario) = (less(&part(only.part)), label(only.scenario));
            message!("answer-saves", less, than, scenario, ends, amount)
        }
        several => {
            let low = several.iter().map(|s| s.low).fold(first.low, f64::min);
            let high = several.iter().map(|s| s.high).fold(first.high, f64::max);
            let (low, high) = (part(low), part(high));
            let less = less(&message!("answer-range", low, high));
            let (some, tasks) = (several.len(), picks.len());
            let part = if some < tasks { "some" } else { "all" };
            message!("answer-saves-by-task", less, than, part, some, tasks)
        }
    };
    let is_open = picks.iter().any(|pick| pick.scenarios.len() > 1);
    Some(match is_open {
        true => message!("answer-as-measured", text),
        false => format!("{}.", format::capitalised(&text)),
    })
}

fn amount(info: &MetricInfo, saving: &Saving) -> Option<String> {
    let is_of_million = info.name == model::run::metric::COST_PER_INFERENCE;
    let money = saving.money.map(|money| format::money(&money));
    match (money, saving.seconds) {
        (Some(money), _) if is_of_million => Some(message!("per-million-responses", money)),
        (Some(money), _) => Some(message!("per-one-run", money)),
        (None, Some(seconds)) => Some(format::duration(seconds)),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::often;

    #[test]
    fn nearly_always_is_not_always() {
        assert_eq!(often(0.9996, 1), "in more than 99 % of resamplings");
        assert_eq!(often(1.0, 1), "in all resamplings");
        assert_eq!(often(0.62, 1), "in 62 % of resamplings");
    }
}
