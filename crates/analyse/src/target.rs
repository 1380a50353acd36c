//! What it takes to train up to an accuracy: time and money from a run's start to the end of the
//! first epoch that is good enough.

use cost::{AMOUNT_PLACES, BillRequest};
use model::Status;
use model::run::{metric, phase};
use model::{Bill, ExchangeRate, Money, Phase, RunRecord, Study};
use predict::curve::{Median, NotContinued, Observed, to_target};
use rust_decimal::Decimal;
use serde::Serialize;
use stats::Estimate;

use crate::analysis::ScenarioResult;
use crate::continued::{self, PredictedTarget, Unfinished};
use crate::scenarios::{decimal_mean, rows_of};
use crate::table::{Row, Table};
use crate::words::target::{accuracy, sentences};

/// The accuracy that a study asks for, and who gets there.
#[derive(Debug, Clone, Serialize)]
pub struct Target {
    pub accuracy_percent: f64,
    /// Those with successful runs and told an accuracy.
    pub scenarios: Vec<TargetResult>,
    /// Of those where every run gets there, or of all where no scenario does so.
    pub cheapest: Option<u32>,
    pub fastest: Option<u32>,
    pub sentences: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct TargetResult {
    pub scenario: u32,
    pub label: String,
    pub phrase: String,
    /// That told an accuracy: successful ones, and those that their time limit ended.
    pub runs: usize,
    pub reached: usize,
    /// `reached` over `runs`, with Wilson's interval.
    pub share: Option<Estimate>,
    /// Median time over all runs, those that did not get there counted as longer than they lasted (Kaplan–Meier);
    /// `None` where half of them or more did not.
    pub median: Option<Median>,
    /// Where some did not get there, and all of these allow a prediction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<PredictedTarget>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_predicted: Option<NotContinued>,
    /// Over the runs that got there.
    pub seconds: Option<Estimate>,
    /// The same, in the study's currency.
    pub cost: Option<Estimate>,
    /// Its exact mean.
    pub mean_cost: Option<Money>,
    /// Mean final accuracy, of all runs.
    pub accuracy_percent: Option<f64>,
}

impl Target {
    /// `98 %`.
    pub fn name(&self) -> String {
        accuracy(self.accuracy_percent)
    }
}

impl TargetResult {
    pub(crate) fn is_sure(&self) -> bool {
        self.reached == self.runs
    }
}

/// What became of a run on its way to the accuracy.
pub(crate) enum Course {
    /// No accuracy was requested, or none was reported.
    Untold,
    NotReached,
    Reached(Arrival),
}

pub(crate) struct Arrival {
    /// Since the start of the run.
    pub(crate) seconds: f64,
}

impl Arrival {
    /// The bill of the run, had it ended there; at the exchange rate it was frozen with. What a
    /// shared machine adds stays in proportion to the run's own time.
    pub(crate) fn cost(&self, record: &RunRecord) -> Option<Money> {
        let (price, bill) = (record.price.as_ref()?, record.bill.as_ref()?);
        let until_there = |phase: &Phase| Phase {
            seconds: phase.seconds.min(self.seconds - phase.begin_seconds),
            ..phase.clone()
        };
        let begun = record.phases.iter();
        let begun = begun.filter(|phase| phase.begin_seconds < self.seconds);
        let phases: Vec<Phase> = begun.map(until_there).collect();
        let frozen = bill.converted.iter();
        let rates: Vec<ExchangeRate> = frozen.map(|converted| converted.rate.clone()).collect();
        let spoken = bill.total_in_study_currency().currency;
        let whole = BillRequest::of(record, price, spoken, &rates);
        let request = BillRequest {
            phases: &phases,
            total_seconds: self.seconds,
            ..whole
        };
        let total = cost::bill(&request).bill.total_in_study_currency();
        let total = match price.billing.is_shared() {
            true => in_proportion(
                total,
                cost::bill(&whole).bill.total_in_study_currency(),
                bill,
            )?,
            false => total,
        };
        (total.currency == spoken).then_some(total)
    }
}

/// A part of a run's own time, with as much of what its rental adds as the whole run bears.
fn in_proportion(part: Money, own: Money, settled: &Bill) -> Option<Money> {
    let share = part.amount.checked_div(own.amount)?;
    let settled = settled.total_in_study_currency();
    let amount = settled.amount.checked_mul(share)?.round_dp(AMOUNT_PLACES);
    Some(Money::new(amount.normalize(), settled.currency))
}

/// A sum of binary fractions may miss a whole percent by its last digit.
const ROUNDING: f64 = 1e-9;

pub(crate) fn course(study: &Study, record: &RunRecord) -> Course {
    let Some(wanted) = study.target_accuracy_percent else {
        return Course::Untold;
    };
    let told = accuracies(record);
    if told.iter().all(Option::is_none) {
        return Course::Untold;
    }
    let is_enough = |percent: &Option<f64>| percent.is_some_and(|p| p >= wanted - ROUNDING);
    let Some(place) = told.iter().position(is_enough) else {
        return Course::NotReached;
    };
    let whole = whole_seconds(record);
    let seconds = match record.epochs.is_empty() {
        true => end_of_training(record).or(whole),
        false => end_of_epoch(record, place).or(whole),
    };
    match seconds.zip(whole) {
        Some((seconds, whole)) => Course::Reached(Arrival {
            seconds: seconds.min(whole),
        }),
        None => Course::Untold,
    }
}

/// In percent, one an epoch. What is only told at the end is the last epoch's; who tells of no
/// epochs has one.
fn accuracies(record: &RunRecord) -> Vec<Option<f64>> {
    let mut told: Vec<Option<f64>> = record
        .epochs
        .iter()
        .map(|epoch| epoch.accuracy.map(|fraction| 100.0 * fraction))
        .collect();
    let at_the_end = record.metrics.get(metric::ACCURACY).map(|m| m.value);
    match told.last_mut() {
        Some(last) => *last = last.or(at_the_end),
        None => told.push(at_the_end),
    }
    told
}

fn whole_seconds(record: &RunRecord) -> Option<f64> {
    let told = record.metrics.get(metric::TOTAL_SECONDS).map(|m| m.value);
    let known = [Some(record.seconds), told].into_iter().flatten();
    known
        .into_iter()
        .find(|seconds| seconds.is_finite() && *seconds > 0.0)
}

fn training(record: &RunRecord) -> Vec<&Phase> {
    let phases = record.phases.iter();
    phases.filter(|p| p.name == phase::TRAIN).collect()
}

fn end(phase: &Phase) -> f64 {
    phase.begin_seconds + phase.seconds
}

fn end_of_training(record: &RunRecord) -> Option<f64> {
    training(record).last().map(|phase| end(phase))
}

/// Epochs follow one another in the phase `train`, which may be reported in parts, as where each epoch
/// is followed by its check.
fn end_of_epoch(record: &RunRecord, place: usize) -> Option<f64> {
    let parts = training(record);
    if parts.len() == record.epochs.len() {
        return parts.get(place).map(|part| end(part));
    }
    let mut left = trained_until(record, place)?;
    for part in &parts {
        if left <= part.seconds {
            return Some(part.begin_seconds + left);
        }
        left -= part.seconds;
    }
    // Without such a phase the run does nothing else.
    end_of_training(record).or(Some(left))
}

/// Seconds of training up to the end of an epoch; where epochs tell no times, all are alike.
fn trained_until(record: &RunRecord, place: usize) -> Option<f64> {
    let told: Option<f64> = record.epochs[..=place].iter().map(|e| e.seconds).sum();
    let alike = || {
        let trained: f64 = training(record).iter().map(|part| part.seconds).sum();
        let share = (place + 1) as f64 / record.epochs.len() as f64;
        (trained > 0.0).then_some(trained * share)
    };
    told.filter(|seconds| seconds.is_finite()).or_else(alike)
}

pub(crate) fn target(table: &Table, scenarios: &[ScenarioResult]) -> Option<Target> {
    let accuracy_percent = table.study.target_accuracy_percent?;
    let results = scenarios.iter().filter_map(|s| result(table, s));
    let mut target = Target {
        accuracy_percent,
        scenarios: results.collect(),
        cheapest: None,
        fastest: None,
        sentences: Vec::new(),
    };
    let all_sure = target.scenarios.iter().any(TargetResult::is_sure);
    let rivals = || target.scenarios.iter().filter(|r| r.is_sure() || !all_sure);
    let least = |value: fn(&TargetResult) -> Option<f64>| {
        let known = rivals().filter_map(|r| Some((r.scenario, value(r)?)));
        known
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(scenario, _)| scenario)
    };
    let cheapest = least(|r| r.cost.as_ref().map(|e| e.value));
    let fastest = least(|r| r.seconds.as_ref().map(|e| e.value));
    (target.cheapest, target.fastest) = (cheapest, fastest);
    target.sentences = sentences(&target, table.currency);
    Some(target)
}

fn result(table: &Table, scenario: &ScenarioResult) -> Option<TargetResult> {
    let mut amounts: Vec<Decimal> = Vec::new();
    let mut observed: Vec<Observed> = Vec::new();
    let mut unfinished: Vec<Unfinished> = Vec::new();
    let mut paid_for = 0;
    let ended = |row: &&Row| matches!(row.status(), Some(Status::Ok | Status::TimedOut));
    for row in rows_of(table, scenario.number).iter().filter(ended) {
        let whole = whole_seconds(row.record);
        match course(table.study, row.record) {
            Course::Untold => continue,
            Course::NotReached => {
                observed.extend(whole.map(|seconds| Observed {
                    seconds,
                    reached: false,
                }));
                unfinished.push(on_its_way(row));
            }
            Course::Reached(arrival) => {
                observed.push(Observed {
                    seconds: arrival.seconds,
                    reached: true,
                });
                let paid = row.cost.filter(|_| row.is_ok());
                let paid = paid.and_then(|_| arrival.cost(row.record));
                paid_for += usize::from(row.is_ok());
                amounts.extend(paid.map(|money| money.amount));
            }
        }
    }
    // A mean of some of them would be of others than the time.
    let all_paid = amounts.len() == paid_for;
    let mean = |name: &str| scenario.mean(name).cloned();
    let found = to_target(&observed, table.confidence());
    let wanted = table.study.target_accuracy_percent?;
    let predicted = (!unfinished.is_empty()).then(|| continued::predicted(&unfinished, wanted));
    let runs = observed.len();
    (runs > 0).then(|| TargetResult {
        scenario: scenario.number,
        label: scenario.label.clone(),
        phrase: scenario.phrase(),
        runs,
        reached: observed.iter().filter(|run| run.reached).count(),
        share: found.as_ref().map(|found| found.share.clone()),
        median: found.and_then(|found| found.median),
        not_predicted: predicted.as_ref().and_then(|p| p.as_ref().err().copied()),
        predicted: predicted.and_then(Result::ok),
        seconds: mean(metric::TO_TARGET_SECONDS),
        cost: mean(metric::COST_TO_TARGET).filter(|_| all_paid),
        mean_cost: decimal_mean(&amounts)
            .filter(|_| all_paid)
            .map(|amount| Money::new(amount, table.currency)),
        accuracy_percent: scenario.mean(metric::ACCURACY).map(|e| e.value),
    })
}

fn on_its_way<'r>(row: &Row<'r>) -> Unfinished<'r> {
    let record = row.record;
    let end = |place: usize| match record.epochs.is_empty() {
        true => end_of_training(record),
        false => end_of_epoch(record, place),
    };
    let last = record.epochs.len().saturating_sub(1);
    Unfinished {
        record,
        paid: row.cost,
        accuracies: accuracies(record),
        first_epoch_seconds: end(0).unwrap_or(0.0),
        last_epoch_seconds: end(last).unwrap_or(record.seconds),
    }
}
