//! Wasted spend: rounding, attempts without a result; and, separately, what is
//! overhead and what is expected to be lost.

use messages::message;
use model::money::LineKind;
use model::run::{Origin, phase};
use model::{Bill, BillLine, BillingRule, Money, Price, RunRecord, Shared};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use serde::Serialize;

use crate::lists::entry;
use crate::scenarios::phase_place;
use crate::table::Table;
use crate::words::format;
use crate::words::names::phase_words;

/// Of one environment, in the study's currency.
#[derive(Debug, Clone, Serialize)]
pub struct Unused {
    pub environment: String,
    pub runs: usize,
    /// All bills, those of attempts done again too.
    pub paid: Money,
    /// Between the runs of a rental.
    pub idle: Money,
    /// Up to whole steps.
    pub rounding: Money,
    /// Up to what is paid at least.
    pub minimum: Money,
    /// Of attempts that were re-run.
    pub done_again: Money,
    /// Of runs that failed or were interrupted.
    pub no_result: Money,
    /// The five of them.
    pub unused: Money,
    /// Of what was paid, as a fraction.
    pub unused_share: f64,
    /// Phases of a run's life that it is not there for, in their order.
    pub not_work: Vec<PhaseCost>,
    pub not_work_share: f64,
    /// Attempts that a provider is expected to take away: on the bill, but not paid yet.
    pub expected_lost: Money,
    pub expected_lost_share: f64,
    pub sentences: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct PhaseCost {
    pub phase: String,
    pub cost: Money,
    /// Of what was paid, as a fraction.
    pub share: f64,
}

/// The same of one run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RunUnused {
    /// Idle time between runs, rounding up and the minimum.
    pub unused: Money,
    pub not_work: Money,
    pub expected_lost: Money,
}

/// Worth a sentence.
const LEAST_UNUSED: f64 = 0.05;
/// Something must come before the work: only much of it is worth a sentence.
const LEAST_NOT_WORK: f64 = 0.25;

pub(crate) fn unused(table: &Table, superseded: &[RunRecord]) -> Vec<Unused> {
    let mut found: Vec<Gathered> = Vec::new();
    for row in &table.runs {
        let (Some(bill), Some(cost)) = (&row.record.bill, row.cost) else {
            continue;
        };
        let gathered = gathered(&mut found, row.record);
        gathered.runs += 1;
        gathered.paid += cost.amount;
        match row.record.outcome.status.is_result() {
            true => gathered.parts.add(bill, cost),
            false => gathered.no_result += cost.amount,
        }
    }
    for record in superseded {
        let bill = record.bill.as_deref().map(Bill::total_in_study_currency);
        let is_own = !matches!(record.origin, Origin::Imported { .. });
        let paid = bill.filter(|money| is_own && money.currency == table.currency);
        if let Some(paid) = paid {
            let gathered = gathered(&mut found, record);
            gathered.paid += paid.amount;
            gathered.done_again += paid.amount;
        }
    }
    let money = |amount: Decimal| Money::new(amount.normalize(), table.currency);
    let paid = |gathered: &Gathered| gathered.paid > Decimal::ZERO;
    let found = found.into_iter().filter(paid);
    found.map(|gathered| gathered.into_unused(money)).collect()
}

pub(crate) fn of_run(record: &RunRecord, cost: Option<Money>) -> Option<RunUnused> {
    let cost = cost?;
    let mut parts = Parts::default();
    parts.add(record.bill.as_ref()?, cost);
    let money = |amount: Decimal| Money {
        amount: amount.normalize(),
        ..cost
    };
    let not_work = parts.not_work.iter().map(|(_, amount)| *amount).sum();
    Some(RunUnused {
        unused: money(parts.idle + parts.rounding + parts.minimum),
        not_work: money(not_work),
        expected_lost: money(parts.lost),
    })
}

/// Sums of the lines of bills that are not for work, in the study's currency.
#[derive(Default)]
struct Parts {
    idle: Decimal,
    rounding: Decimal,
    minimum: Decimal,
    lost: Decimal,
    not_work: Vec<(&'static str, Decimal)>,
}

impl Parts {
    fn add(&mut self, bill: &Bill, cost: Money) {
        let Some(factor) = factor(bill, cost) else {
            return;
        };
        for line in &bill.lines {
            let amount = line.amount.amount.saturating_mul(factor);
            let amount = amount.round_dp(cost::AMOUNT_PLACES);
            match line.kind {
                LineKind::Idle => self.idle += amount,
                LineKind::Rounding => self.rounding += amount,
                LineKind::Minimum => self.minimum += amount,
                LineKind::Lost | LineKind::LostCapped => self.lost += amount,
                LineKind::Time => {
                    if let Some(name) = not_work_of(line) {
                        let new = || (name, Decimal::ZERO);
                        entry(&mut self.not_work, |(known, _)| *known == name, new).1 += amount;
                    }
                }
                _ => {}
            }
        }
    }
}

/// What a unit of time on the bill came to: each carries its part of what is taken off time
/// and of the tax, in the currency that is spoken.
fn factor(bill: &Bill, cost: Money) -> Option<Decimal> {
    let lines = || bill.lines.iter();
    let sum = |lines: &mut dyn Iterator<Item = &BillLine>| -> Decimal {
        lines.map(|line| line.amount.amount).sum()
    };
    let time = sum(&mut lines().filter(|line| is_time(line.kind)));
    // What is counted beside the time comes after its discounts, and has its own free parts.
    let before = lines().take_while(|line| line.counted.is_none());
    let is_off = |kind| matches!(kind, LineKind::Discount | LineKind::FreeTier);
    let off = sum(&mut before.filter(|line| is_off(line.kind)));
    let tax = sum(&mut lines().filter(|line| line.kind == LineKind::Tax));
    let of_time = (time + off).checked_div(time)?;
    let of_net = cost.amount.checked_div(bill.total.amount - tax)?;
    of_time.checked_mul(of_net)
}

fn is_time(kind: LineKind) -> bool {
    kind == LineKind::Time || kind.is_lost() || kind.is_unused_time()
}

/// The phase of a line, where a run is not there for it. Phases of the user's own are work.
fn not_work_of(line: &BillLine) -> Option<&'static str> {
    let name = line.phase.as_deref()?;
    let known = phase::ORDER.into_iter().find(|known| *known == name);
    known.filter(|name| !phase::is_work(name))
}

/// Of one environment.
#[derive(Default)]
struct Gathered {
    environment: String,
    price: Option<Shared<Price>>,
    runs: usize,
    paid: Decimal,
    parts: Parts,
    done_again: Decimal,
    no_result: Decimal,
}

fn gathered<'g>(found: &'g mut Vec<Gathered>, record: &RunRecord) -> &'g mut Gathered {
    let environment = &record.environment.name;
    let new = || Gathered {
        environment: environment.clone(),
        price: record.price.clone(),
        ..Gathered::default()
    };
    entry(found, |known| known.environment == *environment, new)
}

impl Gathered {
    fn into_unused(mut self, money: impl Fn(Decimal) -> Money) -> Unused {
        let share = |amount: Decimal| {
            let share = amount.checked_div(self.paid).unwrap_or_default();
            share.to_f64().unwrap_or(0.0)
        };
        let parts = &mut self.parts;
        let rounded = parts.rounding + parts.minimum;
        let in_vain = self.done_again + self.no_result;
        let unused = parts.idle + rounded + in_vain;
        parts.not_work.sort_by_key(|(name, _)| phase_place(name));
        let not_work = parts.not_work.iter().map(|(name, amount)| PhaseCost {
            phase: (*name).to_owned(),
            cost: money(*amount),
            share: share(*amount),
        });
        let not_work: Vec<PhaseCost> = not_work.collect();
        let rule = self.price.as_ref().map(|price| &price.billing);
        let mut result = Unused {
            environment: self.environment.clone(),
            runs: self.runs,
            paid: money(self.paid),
            idle: money(parts.idle),
            rounding: money(parts.rounding),
            minimum: money(parts.minimum),
            done_again: money(self.done_again),
            no_result: money(self.no_result),
            unused: money(unused),
            unused_share: share(unused),
            not_work_share: not_work.iter().map(|phase| phase.share).sum(),
            not_work,
            expected_lost: money(parts.lost),
            expected_lost_share: share(parts.lost),
            sentences: Vec::new(),
        };
        let shares = Shares {
            idle: share(parts.idle),
            rounded: share(rounded),
            in_vain: share(in_vain),
        };
        result.sentences = sentences(&result, rule, &shares);
        result
    }
}

/// Of what was paid, as fractions.
struct Shares {
    idle: f64,
    rounded: f64,
    in_vain: f64,
}

fn sentences(unused: &Unused, rule: Option<&BillingRule>, shares: &Shares) -> Vec<String> {
    let mut said = Vec::new();
    let mut say = |share: f64, least: f64, what: &dyn Fn() -> String| {
        if share >= least {
            let (share, what) = (format::percent(share), what());
            let environment = &unused.environment;
            said.push(message!("unused-share", share, environment, what));
        }
    };
    if let Some(rule) = rule {
        say(shares.rounded, LEAST_UNUSED, &|| {
            rounding_words(unused, rule)
        });
    }
    say(shares.idle, LEAST_UNUSED, &|| message!("unused-idle"));
    say(shares.in_vain, LEAST_UNUSED, &|| message!("unused-in-vain"));
    say(unused.not_work_share, LEAST_NOT_WORK, &|| {
        let mut largest: Vec<&PhaseCost> = unused.not_work.iter().collect();
        largest.sort_by(|a, b| b.share.total_cmp(&a.share));
        let named = largest.iter().filter(|phase| phase.share >= LEAST_UNUSED);
        let named: Vec<String> = named
            .map(|part| {
                format!(
                    "{} {}",
                    phase_words(&part.phase),
                    format::percent(part.share)
                )
            })
            .collect();
        let named = match named.is_empty() {
            true => String::new(),
            false => format!(" ({})", format::listed(&named, 3)),
        };
        message!("unused-not-work", named)
    });
    said
}

fn rounding_words(unused: &Unused, rule: &BillingRule) -> String {
    let seconds = |seconds: u32| match seconds {
        // As bills say it.
        0..=120 => format!("{seconds} {}", format::Unit::new("s", 1.0).name),
        _ => format::duration(f64::from(seconds)),
    };
    let mut parts = Vec::new();
    if !unused.rounding.amount.is_zero() {
        parts.push(message!(
            "unused-rounding",
            step = seconds(rule.step_seconds)
        ));
    }
    if !unused.minimum.amount.is_zero() {
        let minimum = seconds(rule.minimum_seconds);
        parts.push(message!("unused-minimum", minimum));
    }
    let parts = format::listed(&parts, 2);
    match (
        rule.is_shared(),
        rule.step_seconds.max(rule.minimum_seconds),
    ) {
        (true, _) => message!("unused-rental-is-short", parts),
        (false, 0..=1) => message!("unused-runs-are-short", parts),
        (false, _) => message!("unused-share-machine", parts),
    }
}
