//! What may be chosen: scenarios that differ only in when or where they were measured are one candidate, and what a
//! day or a repetition has in common is taken out before candidates are compared.

use std::collections::{BTreeMap, BTreeSet};

use model::Role;
use rust_decimal::Decimal;
use serde::Serialize;
use stats::{InBlock, Samples, Summary};

use crate::analysis::{Analysis, CostResult, LevelFacts, ScenarioResult, StatusCounts};
use crate::design::RowBlocks;
use crate::scenarios::{decimal_mean, ok_rows};
use crate::table::{Row, Table};

/// Scenarios that rankings take as one.
#[derive(Debug, Clone, Serialize)]
pub struct Candidate {
    /// The first of them: its number stands for all in rankings.
    pub scenario: u32,
    pub members: Vec<u32>,
    /// Over the runs of all, named by the levels that one may choose.
    #[serde(skip)]
    pub result: ScenarioResult,
    /// By metric: its mean in each block of its task, where there are several.
    #[serde(skip)]
    pub(crate) in_blocks: BTreeMap<String, Vec<f64>>,
}

/// Each scenario by itself where no block factor tells scenarios apart.
pub(crate) fn candidates(table: &Table, scenarios: &[ScenarioResult]) -> Vec<Candidate> {
    let is_block = |level: &&LevelFacts| table.study.role(&level.factor) == Role::Block;
    let mut groups: Vec<(Vec<&str>, Vec<&ScenarioResult>)> = Vec::new();
    let mut places: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
    for scenario in scenarios {
        let own = scenario.levels.iter().filter(|level| !is_block(level));
        let key: Vec<&str> = own.map(|level| level.level.as_str()).collect();
        let next = groups.len();
        let place = *places.entry(key.clone()).or_insert(next);
        if place == next {
            groups.push((key, Vec::new()));
        }
        groups[place].1.push(scenario);
    }
    let groups: Vec<Vec<&ScenarioResult>> = groups.into_iter().map(|(_, group)| group).collect();
    let in_blocks = in_blocks(table, &groups);
    let made = groups.iter().zip(in_blocks);
    let made = made.filter_map(|(members, in_blocks)| {
        let result = match members.as_slice() {
            [only] => (*only).clone(),
            several => merged(table, several, &in_blocks)?,
        };
        Some(Candidate {
            scenario: result.number,
            members: members.iter().map(|member| member.number).collect(),
            result,
            in_blocks,
        })
    });
    made.collect()
}

/// Of each group, the means of all metrics in the blocks of its task.
fn in_blocks(table: &Table, groups: &[Vec<&ScenarioResult>]) -> Vec<BTreeMap<String, Vec<f64>>> {
    let of_role = |scenario: &ScenarioResult, role: Role| -> Vec<String> {
        let levels = scenario.levels.iter();
        let own = levels.filter(|level| table.study.role(&level.factor) == role);
        own.map(|level| level.level.clone()).collect()
    };
    let mut tasks: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
    for (place, group) in groups.iter().enumerate() {
        tasks
            .entry(of_role(group[0], Role::Task))
            .or_default()
            .push(place);
    }
    let mut found = vec![BTreeMap::new(); groups.len()];
    for places in tasks.values() {
        for column in &table.columns {
            let known = places.iter().map(|place| {
                let means = groups[*place].iter().filter_map(|one| {
                    let mean = one.mean(&column.name)?.value;
                    Some((of_role(one, Role::Block), mean))
                });
                means.collect()
            });
            let completed = completed(&known.collect::<Vec<_>>());
            for (place, means) in places.iter().zip(completed) {
                found[*place].insert(column.name.clone(), means);
            }
        }
    }
    found
}

/// Lists with a value of every block. One that was not measured is what the block does to others and the list is in other
/// blocks, by shares where all values are above zero: the least-squares values of missing plots (Yates 1933). A list that
/// no block links with the others is left as it is.
fn completed(known: &[BTreeMap<Vec<String>, f64>]) -> Vec<Vec<f64>> {
    const MOST_TURNS: usize = 1000;
    let blocks: BTreeSet<&Vec<String>> = known.iter().flat_map(BTreeMap::keys).collect();
    let as_measured = || known.iter().map(|list| list.values().copied().collect());
    if known.iter().all(|list| list.len() == blocks.len()) || !are_joined(known) {
        return as_measured().collect();
    }
    let is_by_share = known
        .iter()
        .flat_map(BTreeMap::values)
        .all(|value| *value > 0.0);
    let scaled = |value: &f64| if is_by_share { value.ln() } else { *value };
    let row = |list: &BTreeMap<Vec<String>, f64>| {
        let own: Vec<Option<f64>> = blocks.iter().map(|b| list.get(*b).map(scaled)).collect();
        own
    };
    let measured: Vec<Vec<Option<f64>>> = known.iter().map(row).collect();
    let start = |row: &Vec<Option<f64>>| {
        let mean = mean_of(row.iter().flatten().copied());
        row.iter().map(|value| value.unwrap_or(mean)).collect()
    };
    let mut all: Vec<Vec<f64>> = measured.iter().map(start).collect();
    for _ in 0..MOST_TURNS {
        let rows: Vec<f64> = all.iter().map(|row| mean_of(row.iter().copied())).collect();
        let column = |block: usize| mean_of(all.iter().map(|row| row[block]));
        let columns: Vec<f64> = (0..blocks.len()).map(column).collect();
        let grand = mean_of(rows.iter().copied());
        let mut change = 0.0_f64;
        for ((row, given), own) in all.iter_mut().zip(&measured).zip(&rows) {
            let cells = row.iter_mut().zip(given).zip(&columns);
            for ((value, _), column) in cells.filter(|((_, given), _)| given.is_none()) {
                let next = own + column - grand;
                change = change.max((next - *value).abs());
                *value = next;
            }
        }
        if change <= 1e-12 * grand.abs().max(1.0) {
            break;
        }
    }
    let back = |value: f64| if is_by_share { value.exp() } else { value };
    let lists = all.into_iter().zip(known);
    let lists = lists.map(|(row, list)| match list.is_empty() {
        true => Vec::new(),
        false => row.into_iter().map(back).collect(),
    });
    lists.collect()
}

fn mean_of(values: impl Iterator<Item = f64>) -> f64 {
    stats::precise::mean(&values.collect::<Vec<_>>())
}

/// Whether blocks link every list that has values with every other, directly or over others.
fn are_joined(lists: &[BTreeMap<Vec<String>, f64>]) -> bool {
    let lists: Vec<_> = lists.iter().filter(|list| !list.is_empty()).collect();
    let mut reached: BTreeSet<&Vec<String>> = lists.iter().take(1).flat_map(|l| l.keys()).collect();
    let is_near = |list: &BTreeMap<Vec<String>, f64>, reached: &BTreeSet<&Vec<String>>| {
        list.keys().any(|block| reached.contains(block))
    };
    for _ in &lists {
        for list in &lists {
            if is_near(list, &reached) {
                reached.extend(list.keys());
            }
        }
    }
    lists.iter().all(|list| is_near(list, &reached))
}

/// Each block counts once: runs of one day are not independent of each other.
fn merged(
    table: &Table,
    members: &[&ScenarioResult],
    in_blocks: &BTreeMap<String, Vec<f64>>,
) -> Option<ScenarioResult> {
    let first = *members.first()?;
    let role = |level: &&LevelFacts| table.study.role(&level.factor);
    let levels = first.levels.iter().filter(|l| role(l) != Role::Block);
    let levels: Vec<LevelFacts> = levels.cloned().collect();
    let choices = levels.iter().filter(|level| role(level) == Role::Choice);
    let label = match LevelFacts::phrase_of(choices) {
        none if none.is_empty() => LevelFacts::phrase_of(&levels),
        choices => choices,
    };
    let mut runs = StatusCounts::default();
    let rows = table.runs.iter();
    let is_own = |row: &&Row| members.iter().any(|m| m.number == row.record.run.scenario);
    rows.filter(is_own).for_each(|row| runs.add(row.status()));
    let metrics = in_blocks.iter().filter_map(|(name, means)| {
        let mut summary = stats::summary(means, table.confidence())?;
        let measured = members.iter().filter(|m| m.mean(name).is_some()).count();
        summary.mean.method = match means.len() - measured.min(means.len()) {
            0 => format!("mean of {measured} blocks"),
            missing => format!(
                "mean of {} blocks, {missing} of them from what they do to others",
                means.len()
            ),
        };
        Some((name.clone(), summary))
    });
    let metrics: BTreeMap<String, Summary> = metrics.collect();
    let cost = metrics.get(model::run::metric::COST);
    let cost = cost.and_then(|summary| cost_of(members, summary));
    Some(ScenarioResult {
        label,
        levels,
        planned: members.iter().map(|member| member.planned).sum(),
        warned_runs: members.iter().map(|member| member.warned_runs).sum(),
        runs,
        metrics,
        cost,
        repetitions_for_five_percent: None,
        ..first.clone()
    })
}

fn cost_of(members: &[&ScenarioResult], found: &Summary) -> Option<CostResult> {
    let costs = members.iter().filter_map(|member| member.cost.as_ref());
    let costs: Vec<&CostResult> = costs.collect();
    let mut total = costs.first()?.total;
    total.amount = costs.iter().map(|cost| cost.total.amount).sum();
    let means: Vec<_> = costs.iter().map(|cost| cost.mean.amount).collect();
    let mut mean = costs.first()?.mean;
    mean.amount = match found.count == means.len() {
        true => decimal_mean(&means)?,
        false => Decimal::from_f64_retain(found.mean.value)?.round_dp(cost::AMOUNT_PLACES),
    };
    Some(CostResult {
        mean,
        total,
        per_epoch: None,
        per_thousand_images: None,
        per_thousand_steps: None,
        estimate: found.mean.clone(),
    })
}

/// Values of candidates with the blocks that they were measured in.
pub(crate) struct Measured<'t, 'a> {
    table: &'t Table<'a>,
    candidates: &'t [Candidate],
    /// Of each run, in the order of the table.
    blocks: Option<RowBlocks>,
}

impl<'t, 'a> Measured<'t, 'a> {
    pub(crate) fn new(table: &'t Table<'a>, candidates: &'t [Candidate]) -> Self {
        Measured {
            table,
            candidates,
            blocks: block_of_each(table),
        }
    }

    pub(crate) fn list(&self, candidate: &Candidate, column: usize) -> Vec<InBlock> {
        let number = |row: &Row| {
            let runs = &self.table.runs;
            let place = runs.binary_search_by_key(&row.record.run, |row| row.record.run);
            let place = place.unwrap_or_default();
            self.blocks
                .as_ref()
                .map_or(place, |blocks| blocks.of[place])
        };
        let rows = candidate.members.iter();
        let rows = rows.flat_map(|member| ok_rows(self.table, *member));
        let values = rows.filter_map(|row| {
            Some(InBlock {
                block: number(row),
                value: row.values[column]?,
                step: row.steps[column],
            })
        });
        values.collect()
    }

    /// Those that have the column, with their values.
    pub(crate) fn samples<'c>(
        &self,
        candidates: &[&'c Candidate],
        column: usize,
        is_paired: bool,
    ) -> (Vec<&'c Candidate>, Samples) {
        let all = candidates.iter();
        let all = all.map(|one| (*one, self.list(one, column)));
        let (known, mut lists): (_, Vec<_>) = all.filter(|(_, list)| !list.is_empty()).unzip();
        let first = lists.first().and_then(|list| list.first());
        let first = first.map(|one: &InBlock| one.block);
        let mut all = lists.iter().flatten();
        // What was measured on one day only holds for that day.
        let is_declared = self.is_declared() && !all.all(|one| Some(one.block) == first);
        if is_declared {
            let lists = lists.iter_mut();
            lists.for_each(|list| *list = each_block(std::mem::take(list)));
        }
        let samples = Samples {
            lists,
            is_paired: is_paired && (is_declared || !self.is_declared()),
            is_declared,
        };
        (known, samples)
    }

    /// Whether the study says what the blocks are.
    pub(crate) fn is_declared(&self) -> bool {
        self.blocks
            .as_ref()
            .is_some_and(|blocks| blocks.is_declared)
    }

    /// Whether blocks differ as a whole in this column, over everything that was measured; declared ones are taken to.
    pub(crate) fn is_blocked(&self, column: usize) -> bool {
        if self.is_declared() {
            return true;
        }
        let lists = self.candidates.iter().map(|one| self.list(one, column));
        self.blocks.is_some() && differ(lists.collect())
    }
}

pub(crate) fn block_of_each(table: &Table) -> Option<RowBlocks> {
    RowBlocks::new(table.study, &table.runs.iter().collect::<Vec<_>>())
}

/// The mean of each block: what a day does to a choice is in all its runs of that day.
fn each_block(values: Vec<InBlock>) -> Vec<InBlock> {
    let mut blocks: BTreeMap<usize, Vec<InBlock>> = BTreeMap::new();
    for one in values {
        blocks.entry(one.block).or_default().push(one);
    }
    let mean = |values: Vec<f64>| stats::precise::mean(&values);
    let each = blocks.into_iter().map(|(block, all)| InBlock {
        block,
        value: mean(all.iter().map(|one| one.value).collect()),
        step: mean(all.iter().map(|one| one.step).collect()),
    });
    each.collect()
}

/// Of logarithms where there are any: a slow day is slow by a share of everything.
fn differ(mut lists: Vec<Vec<InBlock>>) -> bool {
    let is_positive = lists.iter().flatten().all(|one| one.value > 0.0);
    if is_positive {
        let all = lists.iter_mut().flatten();
        all.for_each(|one| one.value = one.value.ln());
    }
    stats::blocks_differ(&lists)
}

impl Analysis {
    /// What one may choose between: scenarios, those of several days or hosts as one.
    pub fn choices(&self) -> impl Iterator<Item = &ScenarioResult> {
        let merged = self.best.candidates.iter().map(|one| &one.result);
        let each = self.scenarios.iter();
        merged.chain(each.filter(|_| self.best.candidates.is_empty()))
    }

    /// By the number that rankings have.
    pub fn choice(&self, number: u32) -> Option<&ScenarioResult> {
        match self.best.candidates.is_empty() {
            true => self.scenario(number),
            false => self.choices().find(|choice| choice.number == number),
        }
    }

    /// Values of these groups of scenarios, to be compared with each other.
    pub(crate) fn samples(&self, groups: &[Vec<u32>], metric: &str) -> Option<Samples> {
        let column = self.metrics.iter().position(|m| m.name == metric)?;
        let list = |group: &[u32]| -> Vec<InBlock> {
            let runs = self.runs.iter().enumerate();
            let values = runs.filter_map(|(place, run)| {
                let is_own = group.contains(&run.scenario) && run.is_ok();
                Some(InBlock {
                    block: run.block.unwrap_or(place),
                    value: run
                        .values
                        .get(column)
                        .copied()
                        .flatten()
                        .filter(|_| is_own)?,
                    step: run.steps.get(column).copied().unwrap_or(0.0),
                })
            });
            values.collect()
        };
        let has_blocks = self.runs.iter().any(|run| run.block.is_some());
        let all = || {
            self.choices()
                .map(|choice| list(&self.best.members(choice.number)))
        };
        // Several scenarios are one candidate only where they differ in declared blocks.
        let is_declared = groups.iter().any(|group| group.len() > 1);
        let counted = |group: &Vec<u32>| match is_declared {
            true => each_block(list(group)),
            false => list(group),
        };
        Some(Samples {
            lists: groups.iter().map(counted).collect(),
            is_paired: is_declared || (has_blocks && differ(all().collect())),
            is_declared,
        })
    }
}
