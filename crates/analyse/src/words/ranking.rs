//! What to choose, in sentences.

use std::collections::BTreeMap;

use messages::{message, word};
use model::{Factor, Money, Role, Study};
use rust_decimal::Decimal;

use crate::analysis::{LevelFacts, ScenarioResult};
use crate::candidates::Candidate;
use crate::decides::Verdict;
use crate::findings::MOST_REPETITIONS;
use crate::lists::unique;
use crate::ranking::{Behind, Ranking, TaskBest};
use crate::table::Table;
use crate::words::names::{MetricInfo, metric_value};
use crate::words::verbs::{Said, Way};
use crate::words::{answer, format};

/// More tasks than this are summed up; the report has each.
const MOST_TASKS: usize = 6;

/// All of it: what holds for all tasks, then each.
pub(crate) fn sentences(
    tasks: &[TaskBest],
    measured_tasks: usize,
    candidates: &[Candidate],
    table: &Table,
) -> Vec<String> {
    if tasks.is_empty() {
        return nothing_to_choose(candidates, table.study);
    }
    let mut said = Vec::new();
    let mut is_enough = false;
    if tasks.len() > 1 {
        let summary = Summary {
            tasks,
            measured_tasks,
            candidates,
        };
        let time = summary.of(|task| task.time.as_ref());
        let cost = summary.of(|task| task.cost.as_ref());
        is_enough = [&time, &cost]
            .into_iter()
            .flatten()
            .all(|found| found.is_of_all);
        match (time, cost) {
            (Some(time), Some(cost)) if time.rest == cost.rest => {
                said.push(time.rest.said(BOTH));
            }
            (time, cost) => {
                said.extend(time.map(|found| found.rest.said(TIME)));
                said.extend(cost.map(|found| found.rest.said(COST)));
            }
        }
    }
    let each = || tasks.iter().flat_map(|task| task.sentences.iter().cloned());
    // What holds for all tasks needs no list of them, unless something was not ranked.
    let has_more = tasks.iter().any(|task| !task.unranked.is_empty());
    if said.is_empty() || (tasks.len() <= MOST_TASKS && (!is_enough || has_more)) {
        said.extend(each());
    } else {
        said.extend(unranked(tasks));
    }
    said
}

fn nothing_to_choose(candidates: &[Candidate], study: &Study) -> Vec<String> {
    let measured = candidates.iter().filter(|c| c.result.runs.total() > 0);
    let measured = measured.count();
    let is_varied = |f: &&Factor| f.levels.len() > 1 && study.role(&f.name) != Role::Block;
    let varied = || study.factors.iter().filter(is_varied);
    let all_tasks = varied().all(|f| study.role(&f.name) == Role::Task);
    match measured > 1 && all_tasks && varied().count() > 0 {
        true => vec![message!("choose-nothing", factors = varied().count())],
        false => Vec::new(),
    }
}

/// Which question an answer is to, as messages know it.
const BOTH: &str = "both";
const TIME: &str = "time";
const COST: &str = "cost";

/// What may be said of all tasks, whichever the question.
struct Found {
    rest: Rest,
    /// The same holds for every task.
    is_of_all: bool,
}

/// Tasks that have a ranking, of all that were measured.
#[derive(PartialEq, Clone, Copy)]
struct Share {
    tasks: usize,
    all: usize,
}

#[derive(PartialEq)]
enum Rest {
    /// One choice is best for all of so many tasks.
    OneForAll(Share, String),
    /// Or not distinguishable from the best.
    OneForAllOrAlike(Share, String),
    Alike(Share, String),
    ByChoice(String),
}

impl Share {
    fn words(self) -> (usize, usize, bool) {
        (self.tasks, self.all, self.tasks == self.all)
    }
}

impl Rest {
    fn said(&self, what: &str) -> String {
        let word = message!("best-word", what);
        match self {
            Rest::OneForAll(share, choice) => {
                let (tasks, all, each) = share.words();
                message!("best-for-all", word, each, tasks, all, choice)
            }
            Rest::OneForAllOrAlike(share, choice) => {
                let (tasks, all, each) = share.words();
                message!("best-for-all-or-alike", word, each, tasks, all, choice)
            }
            Rest::Alike(share, choices) => {
                let (tasks, all, each) = share.words();
                message!("best-alike", word, each, tasks, all, choices)
            }
            Rest::ByChoice(said) => message!("best-by-choice", word, said),
        }
    }
}

/// Which choice is best for which task.
struct Summary<'a> {
    tasks: &'a [TaskBest],
    measured_tasks: usize,
    candidates: &'a [Candidate],
}

impl Summary<'_> {
    fn of<'s>(&'s self, ranking: impl Fn(&'s TaskBest) -> Option<&'s Ranking>) -> Option<Found> {
        let ranked: Vec<(&TaskBest, &Ranking)> = self
            .tasks
            .iter()
            .filter_map(|task| Some((task, ranking(task)?)))
            .collect();
        let is_estimable = |r: &Ranking| r.verdict != Verdict::NotEstimable;
        if ranked.len() < 2 || !ranked.iter().all(|(_, r)| is_estimable(r)) {
            return None;
        }
        let choices = |task: &TaskBest, r: &Ranking| -> Vec<String> {
            r.first
                .iter()
                .filter_map(|n| self.choice(task, *n))
                .collect()
        };
        let sets: Vec<Vec<String>> = ranked.iter().map(|(t, r)| choices(t, r)).collect();
        let in_all = |choice: &&String| sets.iter().all(|set| set.contains(choice));
        let common: Vec<String> = sets.first()?.iter().filter(in_all).cloned().collect();
        let tasks = Share {
            tasks: ranked.len(),
            all: self.measured_tasks,
        };
        let is_all = common.len() == 1 && sets.iter().all(|set| set.len() == 1);
        let rest = match common.as_slice() {
            [] => self.by_choice(&ranked, &sets),
            [only] if is_all => Rest::OneForAll(tasks, only.clone()),
            [only] => Rest::OneForAllOrAlike(tasks, only.clone()),
            several => Rest::Alike(tasks, format::listed(several, 5)),
        };
        Some(Found {
            rest,
            is_of_all: !common.is_empty(),
        })
    }

    /// `Cheapest: 2 GB for VGG19; 1 GB for MobileNet.`
    fn by_choice(&self, ranked: &[(&TaskBest, &Ranking)], sets: &[Vec<String>]) -> Rest {
        let mut by_choice: Vec<(String, Vec<String>)> = Vec::new();
        let mut open = Vec::new();
        for ((task, _), set) in ranked.iter().zip(sets) {
            let name = LevelFacts::phrase_of(&task.task);
            match set.as_slice() {
                [only] => match by_choice.iter_mut().find(|(choice, _)| choice == only) {
                    Some((_, tasks)) => tasks.push(name),
                    None => by_choice.push((only.clone(), vec![name])),
                },
                _ => open.push(name),
            }
        }
        let said = by_choice.iter().map(|(choice, tasks)| {
            let tasks = format::listed(tasks, 4);
            message!("best-choice-for", choice, tasks)
        });
        let mut said: Vec<String> = said.collect();
        if !open.is_empty() {
            said.push(message!("best-open-for", tasks = format::listed(&open, 4)));
        }
        Rest::ByChoice(said.join("; "))
    }

    /// Levels of a scenario that its task does not say.
    fn choice(&self, task: &TaskBest, number: u32) -> Option<String> {
        let own = self.candidates.iter().find(|c| c.scenario == number)?;
        Some(choice_of(task, &own.result))
    }
}

fn choice_of(task: &TaskBest, scenario: &ScenarioResult) -> String {
    let is_said = |level: &&LevelFacts| task.task.iter().any(|t| t.factor == level.factor);
    LevelFacts::phrase_of(scenario.levels.iter().filter(|level| !is_said(level)))
}

/// Of one task.
pub(crate) fn of_task(
    task: &TaskBest,
    candidates: &[&Candidate],
    (time, cost): (&MetricInfo, Option<&MetricInfo>),
    has_line: bool,
) -> Vec<String> {
    let by_number = candidates.iter().map(|c| (c.scenario, &c.result)).collect();
    let words = Words {
        task,
        by_number,
        time,
        cost,
        has_line,
    };
    words.sentences()
}

/// A scenario is never ranked by the runs that survived.
pub(crate) fn unranked(tasks: &[TaskBest]) -> Option<String> {
    let each = tasks.iter().flat_map(|task| &task.unranked);
    let named: Vec<String> = each
        .map(|one| format!("{} ({})", one.label, one.why))
        .collect();
    let is_any = !named.is_empty();
    is_any.then(|| message!("best-unranked", named = format::listed(&named, 4)))
}

struct Words<'a> {
    task: &'a TaskBest,
    by_number: BTreeMap<u32, &'a ScenarioResult>,
    time: &'a MetricInfo,
    cost: Option<&'a MetricInfo>,
    /// The Pareto set is over time and cost; any other has a sentence of its own.
    has_line: bool,
}

impl Words<'_> {
    fn sentences(&self) -> Vec<String> {
        let mut said = Vec::new();
        match (&self.task.time, &self.task.cost) {
            (Some(time), Some(cost)) if time.first == cost.first => {
                let rest = self.on_the_line(&time.first);
                let is_all = self.task.task.is_empty() && self.task.unranked.is_empty();
                let is_only = self.has_line && is_all && rest.is_empty();
                let mut best = self.ranked(BOTH, time, self.time);
                if time.verdict == Verdict::Different && is_only {
                    best = format!("{best} {}", word!("best-nothing-else"));
                }
                said.push(best);
            }
            (Some(time), Some(cost)) => {
                said.push(self.ranked(TIME, time, self.time));
                said.push(self.ranked(COST, cost, self.cost.unwrap_or(self.time)));
                let known = unique([time.first.as_slice(), &cost.first].concat());
                let rest = self.on_the_line(&known);
                if self.has_line && !rest.is_empty() {
                    said.push(message!("best-between", names = format::listed(&rest, 8)));
                }
            }
            (Some(time), None) => said.push(self.ranked(TIME, time, self.time)),
            (None, _) => {}
        }
        if let Some(first) = said.first_mut()
            && !self.task.task.is_empty()
        {
            let name = LevelFacts::phrase_of(&self.task.task);
            *first = format!("{name}: {}", format::uncapitalised(first));
        }
        said.extend(unranked(std::slice::from_ref(self.task)));
        said
    }

    fn ranked(&self, what: &str, ranking: &Ranking, info: &MetricInfo) -> String {
        let once = self.better_once(ranking);
        if once.is_empty() {
            return self.said(message!("best-word", what), ranking, info);
        }
        let said = self.said(message!("best-word-repeated", what), ranking, info);
        let (names, count) = (format::listed(&once, 4), once.len());
        format!("{said} {}", message!("best-once", names, count, what))
    }

    /// Scenarios that were better in their only run than the best of those that were repeated.
    fn better_once(&self, ranking: &Ranking) -> Vec<String> {
        let mean = |number: u32| {
            let known = self.by_number.get(&number)?.mean(&ranking.metric);
            known.map(|mean| mean.value)
        };
        let best = ranking.first.first().and_then(|best| mean(*best));
        let single = self.task.unranked.iter().filter(|one| one.is_single);
        let better = single.filter(|one| best.zip(mean(one.scenario)).is_some_and(|(b, o)| o < b));
        better.map(|one| one.label.clone()).collect()
    }

    fn said(&self, word: String, ranking: &Ranking, info: &MetricInfo) -> String {
        let names: Vec<String> = ranking.first.iter().map(|n| self.label(*n)).collect();
        match (ranking.verdict, ranking.first.as_slice()) {
            (Verdict::NotEstimable, [first, ..]) => {
                let all = self.by_number.values();
                let mut all = all.filter_map(|one| one.metrics.get(&ranking.metric));
                let each = all.all(|known| known.count < 2);
                message!("best-single", word, each, named = self.named(*first))
            }
            (Verdict::Different, [only]) => {
                let named = self.named(*only);
                match ranking.behind.first() {
                    Some(next) => {
                        let next = self.behind(next, info);
                        message!("best-is-and-next", word, named, next)
                    }
                    None => message!("best-is", word, named),
                }
            }
            (Verdict::PracticallyEqual, _) => {
                message!("best-equal", word, names = format::listed(&names, 6))
            }
            _ => {
                let repetitions = ranking.repetitions.filter(|n| *n <= MOST_REPETITIONS);
                let needed = repetitions.map_or_else(String::new, |repetitions| {
                    message!("repetitions-would-decide", repetitions)
                });
                let stability = self.stability(ranking);
                message!("best-open", word, names = either(&names), stability, needed)
            }
        }
    }

    fn stability(&self, ranking: &Ranking) -> String {
        match (ranking.stability, ranking.first.first()) {
            (Some(share), Some(best)) => message!(
                "best-stability",
                label = self.label(*best),
                often = answer::often(share, 1)
            ),
            _ => String::new(),
        }
    }

    /// `the next, C3, takes 12 % longer [5 %, 20 %]`.
    fn behind(&self, next: &Behind, info: &MetricInfo) -> String {
        let percent = |part: f64| format::percent(part.max(0.0));
        let (amount, way) = (&percent(next.by), Way::More);
        let said = Said { info, amount, way }.alone();
        let bounds = format::interval(next.low, next.high, percent);
        message!("best-next", label = self.label(next.scenario), said, bounds)
    }

    fn on_the_line(&self, known: &[u32]) -> Vec<String> {
        let others = self.task.pareto.iter().filter(|n| !known.contains(n));
        others.map(|n| self.label(*n)).collect()
    }

    fn label(&self, number: u32) -> String {
        let own = self.by_number.get(&number);
        own.map_or_else(|| format!("C{number}"), |own| own.label.clone())
    }

    /// `C1 (1.92 s, US$ 0.00009)`.
    fn named(&self, number: u32) -> String {
        let Some(scenario) = self.by_number.get(&number) else {
            return self.label(number);
        };
        let mut figures = Vec::new();
        figures.extend(
            scenario
                .mean(&self.time.name)
                .map(|e| metric_value(self.time, e.value)),
        );
        let cost = scenario.cost.as_ref().map(|cost| cost.mean);
        let each = self
            .cost
            .filter(|info| info.name == model::run::metric::COST_PER_INFERENCE);
        match (cost, each.and_then(|info| scenario.mean(&info.name))) {
            (Some(cost), Some(each)) => {
                let million = Decimal::from_f64_retain(each.value * 1e6).unwrap_or_default();
                let million = Money::new(million, cost.currency);
                let money = format::money(&million);
                figures.push(message!("per-million-responses", money));
            }
            (Some(cost), None) => figures.push(format::money(&cost)),
            (None, _) => {}
        }
        format!("{} ({})", scenario.label, figures.join(", "))
    }
}

/// `C1, C2 or C5`.
fn either(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] if names.len() <= 6 => {
            message!("list-or", rest = first.join(", "), last)
        }
        _ => {
            let named = names[..5].join(", ");
            message!("list-or-more", named, more = names.len() - 5)
        }
    }
}
