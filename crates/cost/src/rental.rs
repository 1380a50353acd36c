//! A machine that several runs share: its start, its idle time, its rounding and its minimum are billed
//! once, and every run pays its share in proportion to the time it used.

use model::money::{AroundRun, Charge, LineKind};
use model::{Bill, BillingRule, ExchangeRate, MachineLife, Money, PaidPhases, Price, RunRecord};
use rust_decimal::{Decimal, RoundingStrategy};

use crate::bill::bill_with;
use crate::paid_time::{Axis, decimal_seconds, last_price, own_seconds, round_up_to};
use crate::{BillRequest, bill};

/// Decimal places of a second in a run's part of the rental's time.
const SHARE_PLACES: u32 = 6;

/// Time that is paid and that no run used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AddedTime {
    pub(crate) what: String,
    pub(crate) kind: LineKind,
    /// Of the machine's life.
    pub(crate) phase: Option<&'static str>,
    pub(crate) seconds: Decimal,
}

/// What a machine adds to the time that was used on it: idle time, its start and end, the rest of
/// the last step, and what its minimum adds to that. Nothing where no time is paid at all.
pub(crate) fn added_time(rule: &BillingRule, used: Decimal, idle: Decimal) -> Vec<AddedTime> {
    if used.is_zero() && rule.around.is_nothing() {
        return Vec::new();
    }
    let mut life = Life {
        end: used,
        added: Vec::new(),
    };
    life.add("idle between runs".to_owned(), LineKind::Idle, None, idle);
    for (phase, seconds) in rule.around.parts() {
        let what = format!("{phase} of the machine");
        life.add(what, LineKind::Time, Some(phase), Decimal::from(seconds));
    }
    let step = Decimal::from(rule.step_seconds);
    let rest = round_up_to(life.end, step) - life.end;
    let what = format!("rounding up to {step} s");
    life.add(what, LineKind::Rounding, None, rest);
    let minimum = Decimal::from(rule.minimum_seconds);
    let rest = minimum - life.end;
    let what = format!("minimum of {minimum} s");
    life.add(what, LineKind::Minimum, None, rest);
    life.added
}

/// Of a machine.
struct Life {
    end: Decimal,
    added: Vec<AddedTime>,
}

impl Life {
    fn add(&mut self, what: String, kind: LineKind, phase: Option<&'static str>, seconds: Decimal) {
        if seconds > Decimal::ZERO {
            self.end += seconds;
            self.added.push(AddedTime {
                what,
                kind,
                phase,
                seconds,
            });
        }
    }
}

/// Runs that share a machine, added up: what they come to together. Where every run has its own
/// machine, the sum of their bills.
#[derive(Debug, Clone)]
pub struct Rental {
    price: Price,
    axis: Axis,
    /// An hour, when the last run ended: what the machine adds is paid at it.
    last_per_hour: Decimal,
    used: Decimal,
    idle: Decimal,
    own: Decimal,
    life: Option<MachineLife>,
}

impl Rental {
    pub fn new(price: &Price) -> Self {
        Rental {
            price: price.clone(),
            axis: Axis::new(price.per_hour.currency),
            last_per_hour: price.per_hour.amount,
            used: Decimal::ZERO,
            idle: Decimal::ZERO,
            own: Decimal::ZERO,
            life: None,
        }
    }

    /// The life so far of a machine that is on: all of it is paid, whatever the price says of start
    /// and end, and what no run used of it is idle time.
    pub fn set_life(&mut self, life: MachineLife) {
        self.life = Some(life);
    }

    pub fn life(&self) -> Option<&MachineLife> {
        self.life.as_ref()
    }

    pub fn add(&mut self, request: &BillRequest, idle_seconds: f64) {
        self.used += own_seconds(request);
        self.idle += decimal_seconds(idle_seconds);
        self.last_per_hour = last_price(request);
        let bill = match self.price.billing.is_shared() {
            true => bill_with(request, &[], &mut self.axis).bill,
            false => bill(request).bill,
        };
        self.own = self.own.saturating_add(bill.total.amount);
    }

    /// In the currency of the price.
    pub fn total(&self) -> Money {
        let currency = self.price.per_hour.currency;
        if !self.price.billing.is_shared() {
            return Money::new(self.own, currency);
        }
        let mut rule = self.price.billing.clone();
        let mut idle = self.idle;
        if let Some(life) = &self.life {
            rule.around = around(life);
            let around: u32 = rule.around.parts().map(|(_, seconds)| seconds).sum();
            let unused = decimal_seconds(life.total_seconds) - self.used - Decimal::from(around);
            idle = unused.max(Decimal::ZERO);
        }
        let added = added_time(&rule, self.used, paid_idle(&rule, idle));
        // What is paid by the run or by what it sends was paid with the runs.
        let goes_with_time = |charge: &&Charge| charge.unit.is_time();
        let charges = self.price.billing.charges.iter().filter(goes_with_time);
        let price = Price {
            billing: BillingRule {
                charges: charges.cloned().collect(),
                ..self.price.billing.clone()
            },
            per_hour: Money::new(self.last_per_hour, currency),
            changes: Vec::new(),
            ..self.price.clone()
        };
        let nothing_used = BillRequest {
            phases: &[],
            total_seconds: 0.0,
            started: None,
            requests: None,
            price: &price,
            study_currency: currency,
            rates: &[],
        };
        let added = bill_with(&nothing_used, &added, &mut self.axis.clone());
        let added = added.bill.total.amount;
        Money::new(self.own.saturating_add(added).normalize(), currency)
    }
}

/// Who pays for some phases only does not pay for the time between runs.
fn paid_idle(rule: &BillingRule, idle: Decimal) -> Decimal {
    match rule.paid {
        PaidPhases::All => idle,
        _ => Decimal::ZERO,
    }
}

/// Bills of runs on one machine of one price, or, where the rule rents one for each run, on as many.
pub(crate) fn bills(requests: &[BillRequest], idle_seconds: f64) -> Vec<Bill> {
    match requests.first() {
        Some(first) if first.price.billing.is_shared() => bill_together(requests, idle_seconds),
        _ => requests.iter().map(|request| bill(request).bill).collect(),
    }
}

/// Each with its part of what the machine adds. The parts go by used time and sum to the whole.
fn bill_together(requests: &[BillRequest], idle_seconds: f64) -> Vec<Bill> {
    let Some(price) = requests.first().map(|first| first.price) else {
        return Vec::new();
    };
    let rule = &price.billing;
    let used: Vec<Decimal> = requests.iter().map(own_seconds).collect();
    let idle = paid_idle(rule, decimal_seconds(idle_seconds));
    let all: Decimal = used.iter().sum();
    let mut left = added_time(rule, all, idle);
    let whole = left.clone();
    let mut bills = Vec::new();
    let mut axis = Axis::new(price.per_hour.currency);
    let mut used_left = all;
    for (request, used) in requests.iter().zip(used) {
        used_left -= used;
        let is_last = used_left.is_zero();
        let parts = whole.iter().zip(&mut left).map(|(whole, left)| {
            let part = whole.seconds.saturating_mul(used).checked_div(all);
            let part = part.unwrap_or_default();
            let part = part.round_dp_with_strategy(SHARE_PLACES, RoundingStrategy::ToZero);
            let seconds = if is_last { left.seconds } else { part };
            left.seconds -= seconds;
            AddedTime {
                what: share_of(whole, requests.len()),
                kind: whole.kind,
                phase: whole.phase,
                seconds,
            }
        });
        let parts: Vec<AddedTime> = parts.collect();
        bills.push(bill_with(request, &parts, &mut axis).bill);
    }
    bills
}

fn share_of(added: &AddedTime, runs: usize) -> String {
    match runs {
        1 => added.what.clone(),
        _ => format!("share of {}", added.what),
    }
}

/// Gives every run that shares its machine its whole bill: its own time and its part of what the
/// rental adds. `records` are all that were paid for, attempts that were repeated too; runs with a
/// machine of their own keep their bills. Bills stay in the currency, and at the exchange rate,
/// that they were made with.
pub fn settle<'r>(records: impl IntoIterator<Item = &'r mut RunRecord>) {
    settle_measured(records, &[]);
}

/// The same where the lives of some machines were measured: those are paid from the first moment to
/// the last, whatever the price says of start and end.
pub fn settle_measured<'r>(
    records: impl IntoIterator<Item = &'r mut RunRecord>,
    lives: &[MachineLife],
) {
    let mut rentals: Vec<Vec<&mut RunRecord>> = Vec::new();
    for record in records {
        let is_shared = |price: &Price| price.billing.is_shared();
        if record.bill.is_none() || !record.price.as_deref().is_some_and(is_shared) {
            continue;
        }
        let known = rentals.iter_mut().find(|rental| {
            let first = rental.first();
            first.is_some_and(|first| is_same_stay(first, record) && first.price == record.price)
        });
        match known {
            Some(rental) => rental.push(record),
            None => rentals.push(vec![record]),
        }
    }
    for mut rental in rentals {
        let bills = bills_of(&rental, lives);
        for (record, bill) in rental.iter_mut().zip(bills) {
            record.bill = Some(bill.into());
        }
    }
}

/// Rented in one session, for one environment.
pub(crate) fn is_same_stay(one: &RunRecord, other: &RunRecord) -> bool {
    let id = |record: &RunRecord| record.rental.as_ref().map(|part| part.id.clone());
    one.environment.name == other.environment.name && id(one) == id(other)
}

fn bills_of(rental: &[&mut RunRecord], lives: &[MachineLife]) -> Vec<Bill> {
    let life = rental.first().and_then(|first| {
        let part = first.rental.as_ref()?;
        let is_theirs = |life: &&MachineLife| {
            life.rental == part.id && life.environment == first.environment.name
        };
        lives.iter().find(is_theirs)
    });
    let price_of_life = |first: &RunRecord, life: &MachineLife| -> Option<Price> {
        let mut price = first.price.as_deref()?.clone();
        price.billing.around = around(life);
        Some(price)
    };
    let measured = rental.first().zip(life);
    let measured = measured.and_then(|(first, life)| price_of_life(first, life));
    let rates: Vec<Vec<ExchangeRate>> = rental
        .iter()
        .map(|record| {
            let converted = record
                .bill
                .as_ref()
                .and_then(|bill| bill.converted.as_ref());
            converted.map(|c| c.rate.clone()).into_iter().collect()
        })
        .collect();
    let requests = rental.iter().zip(&rates).filter_map(|(record, rates)| {
        let (price, bill) = (record.price.as_deref()?, record.bill.as_ref()?);
        let price = measured.as_ref().unwrap_or(price);
        let study_currency = bill.total_in_study_currency().currency;
        Some(BillRequest::of(record, price, study_currency, rates))
    });
    let idle = rental.iter().filter_map(|record| record.rental.as_ref());
    let between: f64 = idle.map(|part| part.idle_seconds).sum();
    let used: f64 = rental.iter().map(|record| record.seconds).sum();
    let idle = life.map_or(between, |life| {
        let around: u32 = around(life).parts().map(|(_, seconds)| seconds).sum();
        (life.total_seconds - used - f64::from(around)).max(0.0)
    });
    bills(&requests.collect::<Vec<_>>(), idle)
}

/// In whole seconds; what that leaves of the life is idle time, so that the sum is the life.
fn around(life: &MachineLife) -> AroundRun {
    let whole = |seconds: f64| seconds.max(0.0) as u32;
    AroundRun {
        startup_seconds: whole(life.startup_seconds),
        install_seconds: whole(life.install_seconds),
        shutdown_seconds: whole(life.shutdown_seconds),
    }
}
