//! What to choose under a deadline, a limit of cost, or both.

use messages::message;
use model::Money;
use model::run::metric;
use rust_decimal::prelude::ToPrimitive;
use stats::Estimate;

use crate::analysis::{Analysis, LevelFacts, ScenarioResult};
use crate::lists::unique;
use crate::ranking::TaskBest;
use crate::words::format;
use crate::words::names::metric_value;

/// What a run may take and cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wishes {
    pub deadline_seconds: Option<f64>,
    pub most_cost: Option<Money>,
    pub most_joules: Option<f64>,
}

impl Wishes {
    pub fn is_empty(&self) -> bool {
        let Wishes {
            deadline_seconds,
            most_cost,
            most_joules,
        } = self;
        deadline_seconds.is_none() && most_cost.is_none() && most_joules.is_none()
    }
}

/// A recommendation for each task, as sentences. The error is a sentence, too.
pub fn recommend(analysis: &Analysis, wishes: &Wishes) -> Result<Vec<String>, String> {
    if let Some(most) = wishes.most_cost
        && most.currency.code() != analysis.study.currency
    {
        let (costs, limit) = (&analysis.study.currency, most.currency.code());
        return Err(message!("recommend-currency", costs, limit));
    }
    if wishes.most_joules.is_some() {
        check_energy(analysis)?;
    }
    let is_known = |task: &&TaskBest| {
        let mut unranked = task.unranked.iter();
        !(task.ranked.is_empty() && unranked.any(|one| one.is_of_blocks))
    };
    let tasks = analysis.best.tasks.iter().filter(is_known);
    let said: Vec<String> = tasks.map(|task| of_task(analysis, wishes, task)).collect();
    match said.is_empty() {
        true => Err(message!("recommend-no-scenarios")),
        false => Ok(said),
    }
}

fn check_energy(analysis: &Analysis) -> Result<(), String> {
    let sources = unique(analysis.runs.iter().filter_map(|run| run.energy_source));
    match sources.len() {
        0 => Err(message!("recommend-no-energy")),
        1 => Ok(()),
        _ => Err(message!("recommend-energy-sources")),
    }
}

/// How often a single run is to keep a limit, as far as is known.
const OFTEN: f64 = 0.95;

/// Whether a run keeps a limit 19 times in 20.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Keeps {
    Surely,
    Perhaps,
    Not,
}

impl Keeps {
    /// That the mean keeps it says little of a run: a next one must, and few of those that were seen may not.
    fn of(runs: Option<Runs>, limit: Option<f64>) -> Self {
        let (Some(runs), Some(limit)) = (runs, limit) else {
            return match limit {
                None => Keeps::Surely,
                Some(_) => Keeps::Not,
            };
        };
        let over = |values: &[f64]| values.iter().filter(|value| **value > limit).count();
        let counted = runs.counted();
        let share = stats::proportion(over(counted), counted.len(), crate::CONFIDENCE);
        let too_many = |share: &Estimate| share.interval.is_some_and(|i| i.low > 1.0 - OFTEN);
        let is_over_on_average = match runs.mean.interval {
            Some(interval) => interval.low > limit,
            None => runs.mean.value > limit,
        };
        let few = over(&runs.values) as f64 <= (1.0 - OFTEN) * runs.values.len() as f64;
        match runs.bound() {
            _ if is_over_on_average || share.as_ref().is_some_and(too_many) => Keeps::Not,
            Some(bound) if bound <= limit && few => Keeps::Surely,
            _ => Keeps::Perhaps,
        }
    }
}

/// What is known of one metric of a scenario.
struct Runs<'a> {
    values: Vec<f64>,
    /// The same by the blocks that they were made in.
    blocks: Vec<Vec<f64>>,
    /// Means in all blocks of the task.
    in_blocks: &'a [f64],
    mean: &'a Estimate,
}

impl<'a> Runs<'a> {
    fn of(analysis: &'a Analysis, scenario: &'a ScenarioResult, metric: &str) -> Option<Self> {
        let members = analysis.best.members(scenario.number);
        // Members differ in their blocks.
        let each: Vec<Vec<u32>> = members.iter().map(|member| vec![*member]).collect();
        let lists = analysis.samples(&each, metric)?;
        let lists = (0..each.len()).map(|place| lists.values(place));
        let blocks: Vec<Vec<f64>> = lists.filter(|list| !list.is_empty()).collect();
        let mut candidates = analysis.best.candidates.iter();
        let own = candidates.find(|one| one.scenario == scenario.number);
        let in_blocks = own.and_then(|own| own.in_blocks.get(metric));
        Some(Runs {
            values: blocks.concat(),
            blocks,
            in_blocks: in_blocks.map_or(&[], Vec::as_slice),
            mean: scenario.mean(metric)?,
        })
    }

    /// Runs of one day are fast or slow together.
    fn counted(&self) -> &[f64] {
        match self.in_blocks.len() > 1 {
            true => self.in_blocks,
            false => &self.values,
        }
    }

    /// What 19 of 20 runs keep, on whatever day; not below the mean's interval, which knows the steps of bills.
    fn bound(&self) -> Option<f64> {
        let high = self.mean.interval?.high;
        let next = match self.in_blocks.len() > 1 {
            true => stats::next_in_block_at_most(self.in_blocks, &self.blocks, OFTEN),
            false => stats::next_at_most(&self.values, OFTEN),
        };
        next.map(|next| next.max(high))
    }
}

fn of_task(analysis: &Analysis, wishes: &Wishes, task: &TaskBest) -> String {
    let limit = wishes.most_cost.and_then(|most| most.amount.to_f64());
    let ranked = analysis.choices();
    let ranked = ranked.filter(|scenario| task.ranked.contains(&scenario.number));
    let judged = ranked.map(|scenario| {
        let runs = |metric: &str| Runs::of(analysis, scenario, metric);
        let time = analysis.time_metric.as_deref().and_then(runs);
        let time = Keeps::of(time, wishes.deadline_seconds);
        let cost = Keeps::of(runs(metric::COST), limit);
        let energy = Keeps::of(runs(metric::ENERGY_JOULES), wishes.most_joules);
        (time.max(cost).max(energy), scenario)
    });
    let judged: Vec<(Keeps, &ScenarioResult)> = judged.collect();
    let of = |keeps: Keeps| -> Vec<&ScenarioResult> {
        let kept = judged.iter().filter(|(found, _)| *found == keeps);
        kept.map(|(_, scenario)| *scenario).collect()
    };
    let (surely, perhaps) = (of(Keeps::Surely), of(Keeps::Perhaps));
    let about = match task.task.is_empty() {
        true => String::new(),
        false => format!("{}: ", LevelFacts::phrase_of(&task.task)),
    };
    let within = within(analysis, wishes);
    let names = |scenarios: &[&ScenarioResult]| {
        let names: Vec<String> = scenarios.iter().map(|s| s.label.clone()).collect();
        format::listed(&names, 5)
    };
    let open = match perhaps.is_empty() {
        true => String::new(),
        false => format!(" {}", message!("recommend-open", names = names(&perhaps))),
    };
    let is_alone = about.is_empty();
    let said = match best(analysis, wishes, &surely) {
        Some(best) => message!("recommend-best", about, within, best, open),
        None => message!("recommend-none", about, within, open),
    };
    // A name of a task stays as it is.
    match is_alone {
        true => format::capitalised(&said),
        false => said,
    }
}

/// `within 2 h and US$ 5.00`.
fn within(analysis: &Analysis, wishes: &Wishes) -> String {
    let time = wishes.deadline_seconds.map(format::duration);
    let cost = wishes.most_cost.map(|most| format::money(&most));
    let info = analysis.metric(metric::ENERGY_JOULES);
    let energy = wishes.most_joules.zip(info);
    let energy = energy.map(|(most, info)| {
        let energy = metric_value(info, most);
        message!("recommend-energy", energy, label = info.label)
    });
    let parts: Vec<String> = time.into_iter().chain(cost).chain(energy).collect();
    message!("recommend-within", limits = format::listed(&parts, 3))
}

/// The cheapest under a deadline, the fastest under a limit of cost alone or without prices.
fn best(analysis: &Analysis, wishes: &Wishes, among: &[&ScenarioResult]) -> Option<String> {
    let by_cost = wishes.deadline_seconds.is_some() && among.iter().all(|s| s.cost.is_some());
    let time = analysis.time_metric.as_deref()?;
    let name = match by_cost {
        true => metric::COST,
        false => time,
    };
    let mean = |scenario: &ScenarioResult| scenario.mean(name).map(|mean| mean.value);
    let mut among: Vec<&ScenarioResult> = among
        .iter()
        .copied()
        .filter(|s| mean(s).is_some())
        .collect();
    among.sort_by(|a, b| {
        mean(a)
            .unwrap_or(f64::NAN)
            .total_cmp(&mean(b).unwrap_or(f64::NAN))
    });
    let first = among.first()?;
    let groups = among.iter().map(|s| analysis.best.members(s.number));
    let samples = analysis.samples(&groups.collect::<Vec<_>>(), name);
    let seed = analysis.study.seed;
    let stability = samples.and_then(|samples| stats::chance_of_lowest_of(&samples, seed));
    let levels = Some(first.phrase()).filter(|levels| !levels.is_empty());
    let mut facts: Vec<String> = levels.into_iter().collect();
    facts.extend(first.mean(time).map(|mean| format::duration(mean.value)));
    let bound = Runs::of(analysis, first, time).and_then(|runs| runs.bound());
    let bound = bound.filter(|_| wishes.deadline_seconds.is_some());
    facts.extend(bound.map(|most| message!("recommend-bound", most = format::duration(most))));
    facts.extend(first.cost.as_ref().map(|cost| format::money(&cost.mean)));
    let energy = analysis.metric(metric::ENERGY_JOULES);
    let energy = energy.filter(|_| wishes.most_joules.is_some());
    let mean = energy.and_then(|info| Some((info, first.mean(&info.name)?.value)));
    facts.extend(mean.map(|(info, value)| metric_value(info, value)));
    facts.push(match (among.len(), stability) {
        (1, _) => message!("recommend-only"),
        (_, Some(share)) => {
            let share = format::percent(share);
            message!("recommend-often", cost = by_cost, share)
        }
        (_, None) => message!("recommend-by-means", cost = by_cost),
    });
    Some(format!("{} ({})", first.label, facts.join(", ")))
}
