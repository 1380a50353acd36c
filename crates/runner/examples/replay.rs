//! A search replayed on a study of which every run was made: how good is its choice, from how much of
//! the machine time.
//!
//! `cargo run --release -p runner --example replay -- RESULTS "min cost" [TRIALS]`
//!
//! `RESULTS` is the folder of a full study. If it has predicted runs too (`run --predict`), the search
//! makes short runs first, and gets these.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for developers"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use model::run::metric;
use model::{Plan, Role, RunId, RunRecord, Status, Study};
use runner::{Known, Next, Schedule, SearchGoal};
use store::Store;

/// What `run --predict` calls its folder.
const PREDICTED: &str = "predicted";

#[derive(serde::Deserialize)]
struct Question {
    study: Study,
    plan: Plan,
}

struct Recorded {
    study: Study,
    plan: Plan,
    runs: Vec<RunRecord>,
    beginnings: Vec<RunRecord>,
}

struct Replayed {
    /// Of the best objective, worst task.
    of_best: f64,
    /// Of the time of all runs.
    time_share: f64,
    whole: usize,
    short: usize,
    is_settled: bool,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, goal, rest @ ..] = arguments.as_slice() else {
        println!("usage: replay RESULTS GOAL [TRIALS]");
        return;
    };
    let trials: u64 = rest.first().map_or(20, |text| text.parse().unwrap());
    let recorded = Recorded::read(Path::new(folder));
    let found: Vec<Replayed> = (0..trials)
        .map(|trial| recorded.replay(goal, trial))
        .collect();
    let all: f64 = recorded.runs.iter().map(|run| run.seconds).sum();
    println!(
        "{} scenarios, {} runs, {all:.0} s; {} recorded beginnings; `{goal}`, {trials} searches",
        recorded.plan.scenarios.len(),
        recorded.runs.len(),
        recorded.beginnings.len(),
    );
    let at = |of: &dyn Fn(&Replayed) -> f64, quantile: f64| {
        let mut values: Vec<f64> = found.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        100.0 * stats::quantile(&values, quantile).unwrap()
    };
    let best = |one: &Replayed| one.of_best;
    let time = |one: &Replayed| one.time_share;
    let close = found.iter().filter(|one| one.of_best >= 0.95).count();
    println!(
        "share of the best objective: median {:.1} %, 5th percentile {:.1} %; at least 95 % in {close} of {trials}",
        at(&best, 0.5),
        at(&best, 0.05),
    );
    println!(
        "share of the machine time: median {:.1} %, 95th percentile {:.1} %",
        at(&time, 0.5),
        at(&time, 0.95),
    );
    let mean = |of: &dyn Fn(&Replayed) -> usize| {
        found.iter().map(of).sum::<usize>() as f64 / found.len() as f64
    };
    println!(
        "runs: {:.1} whole and {:.1} short on average; settled in {} of {trials}",
        mean(&|one| one.whole),
        mean(&|one| one.short),
        found.iter().filter(|one| one.is_settled).count(),
    );
}

impl Recorded {
    fn read(folder: &Path) -> Self {
        let store = Store::open(folder).unwrap();
        let text = store.read_file("plan.json").unwrap().unwrap();
        let Question { study, plan } = serde_json::from_slice(&text).unwrap();
        let predicted = folder.join(PREDICTED);
        let beginnings = match predicted.is_dir() {
            true => Store::open(&predicted).unwrap().records().unwrap(),
            false => Vec::new(),
        };
        let mut runs = store.records().unwrap();
        runs.retain(|run| run.outcome.status != Status::Interrupted);
        Recorded {
            study,
            plan,
            runs,
            beginnings,
        }
    }

    /// As with a seed of its own.
    fn replay(&self, goal: &str, trial: u64) -> Replayed {
        let study = Study {
            seed: self.study.seed.wrapping_add(trial),
            ..self.study.clone()
        };
        let goal = plan::read_goal(goal, &study).unwrap();
        let due: Vec<RunId> = self.runs.iter().map(|run| run.run).collect();
        let none = BTreeMap::new();
        let search = SearchGoal::new(&study, &self.plan, &goal, due, &[], &none);
        let mut search = search.with_short_runs(self.short_share());
        let (mut records, mut beginnings) = (Vec::new(), Vec::new());
        let in_progress = BTreeSet::new();
        let mut seconds = 0.0;
        loop {
            let known = Known {
                records: &records,
                beginnings: &beginnings,
                in_progress: &in_progress,
                goes_on: false,
            };
            match search.next(known, &|_| true) {
                Next::Run(run) => {
                    let record = of(&self.runs, run);
                    seconds += record.seconds;
                    records.push(in_turn(record, records.len() + beginnings.len()));
                }
                Next::Beginning(run) => {
                    let record = of(&self.beginnings, run);
                    let seen = record.prediction().map(|made| made.seen_seconds);
                    seconds += seen.unwrap_or(record.seconds);
                    beginnings.push(in_turn(record, records.len() + beginnings.len()));
                }
                Next::Wait | Next::Done => break,
            }
        }
        let found = search.searched(&records, &beginnings, None);
        let all: f64 = self.runs.iter().map(|run| run.seconds).sum();
        let tasks = found.tasks.iter();
        let shares = tasks.map(|task| self.share_of_best(&goal, task.chosen));
        Replayed {
            of_best: shares.fold(1.0, f64::min),
            time_share: seconds / all,
            whole: records.len(),
            short: beginnings.len(),
            is_settled: found.is_settled,
        }
    }

    /// Of the time of whole runs; none without a beginning of every run.
    fn short_share(&self) -> Option<f64> {
        let mut shares = Vec::new();
        for run in &self.runs {
            let beginning = self.beginnings.iter().find(|other| other.run == run.run)?;
            shares.push(beginning.prediction()?.seen_seconds / run.seconds);
        }
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    }

    /// The objective of the best scenario of the task that keeps the limits, over that of the chosen
    /// one, by the means of all recorded runs. 0 where none was chosen or it keeps them not.
    fn share_of_best(&self, goal: &model::Goal, chosen: Option<u32>) -> f64 {
        let Some(chosen) = chosen else {
            return 0.0;
        };
        let task = self.task(chosen);
        let all = self.plan.scenarios.iter().map(|scenario| scenario.number);
        let own = all.filter(|number| self.task(*number) == task);
        let keeps = |number: &u32| {
            goal.limits.iter().all(|limit| {
                let value = self.mean(*number, &limit.metric);
                value.is_some_and(|value| (value <= limit.value) == limit.is_upper)
            })
        };
        let value = |number: u32| {
            let value = self.mean(number, &goal.metric)?;
            Some(if goal.is_max { 1.0 / value } else { value })
        };
        let best = own.filter(keeps).filter_map(value);
        let best = best.fold(f64::INFINITY, f64::min);
        match value(chosen).filter(|_| keeps(&chosen)) {
            Some(value) => best / value,
            None => 0.0,
        }
    }

    fn task(&self, number: u32) -> Vec<String> {
        let levels = self.plan.scenario(number).unwrap().levels.iter();
        let own = levels.filter(|level| self.study.role(&level.factor) == Role::Task);
        own.map(|level| format!("{} {}", level.factor, level.level))
            .collect()
    }

    fn mean(&self, scenario: u32, name: &str) -> Option<f64> {
        let name = match name {
            "time" if self.has(metric::TRAIN_SECONDS) => metric::TRAIN_SECONDS,
            "time" => metric::TOTAL_SECONDS,
            other => other,
        };
        let own = self.runs.iter().filter(|run| run.run.scenario == scenario);
        let values: Option<Vec<f64>> = own.map(|run| Some(run.metrics.get(name)?.value)).collect();
        let values = values.filter(|values| !values.is_empty())?;
        Some(values.iter().sum::<f64>() / values.len() as f64)
    }

    fn has(&self, name: &str) -> bool {
        self.runs.iter().any(|run| run.metrics.contains_key(name))
    }
}

fn of(records: &[RunRecord], run: RunId) -> &RunRecord {
    records.iter().find(|record| record.run == run).unwrap()
}

/// As if it had been made at this place of the search: the order of runs is part of what it knows.
fn in_turn(record: &RunRecord, place: usize) -> RunRecord {
    let seconds = i64::try_from(place).unwrap();
    RunRecord {
        started: model::Timestamp::from_second(seconds).unwrap(),
        ..record.clone()
    }
}
