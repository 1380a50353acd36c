//! What measured time would cost at different prices. The same time is assumed everywhere: this
//! compares prices, not the speed of machines.

use std::collections::BTreeMap;

use model::money::{AroundRun, RentalScope};
use model::{BillingRule, Money, PaidPhases, Price, RunRecord, Status};
use rust_decimal::Decimal;

use crate::paid_time::own_seconds;
use crate::{AMOUNT_PLACES, BillRequest, rental};

/// Runs of several scenarios at several prices.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub scenarios: Vec<ScenarioPaid>,
    /// In the order of the prices.
    pub machines: Vec<Repriced>,
    /// Runs that ended ok and are counted.
    pub runs: usize,
    /// Runs that ended otherwise, or without the limits that were requested.
    pub other_runs: usize,
    /// Of the runs that count, those that paid for the time of requests only.
    pub by_request: usize,
    /// Machines of the other runs: the time of each is rounded up once.
    pub rentals: usize,
    /// The sum of the runs' own bills; `None` if one has no bill, or another currency.
    pub measured_total: Option<Money>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ScenarioPaid {
    pub number: u32,
    pub runs: usize,
    /// Mean of the time that is paid, before any rounding up.
    pub paid_seconds: Decimal,
    /// Mean of the runs' own bills.
    pub measured: Option<Money>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Repriced {
    pub price: Price,
    /// Mean of a run, by scenario.
    pub per_run: Vec<Money>,
    /// All runs together.
    pub total: Money,
}

/// Each run is billed anew, with the phases that its own price pays, sharing a machine with the runs
/// that it shared one with, and with the steps and the minimum of the other price. The bills of
/// `records` must be settled.
///
/// `superseded` are attempts that were repeated: with the runs that did not end ok they bear their
/// part of a machine, and count no further.
pub fn compare(records: &[RunRecord], superseded: &[RunRecord], prices: &[Price]) -> Comparison {
    let mut scenarios: BTreeMap<u32, Vec<&RunRecord>> = BTreeMap::new();
    for record in records.iter().filter(|record| counts(record)) {
        scenarios
            .entry(record.run.scenario)
            .or_default()
            .push(record);
    }
    let runs: usize = scenarios.values().map(Vec::len).sum();
    let all = || scenarios.values().flatten().copied();
    let counted = records.iter().map(|run| Part {
        run,
        counts: counts(run),
    });
    let repeated = superseded.iter().map(|run| Part { run, counts: false });
    let rentals = rentals(counted.chain(repeated));
    Comparison {
        runs,
        other_runs: records.len() - runs,
        by_request: all()
            .filter(|run| rule_of(run).paid == PaidPhases::Requests)
            .count(),
        rentals: rentals.iter().map(|rental| machines(rental)).sum(),
        measured_total: sum(all().map(own_bill)),
        scenarios: scenarios
            .iter()
            .map(|(number, runs)| paid(*number, runs))
            .collect(),
        machines: prices
            .iter()
            .map(|price| reprice(price, &scenarios, &rentals))
            .collect(),
    }
}

/// How many times the first is of the second; `None` for nothing, or two currencies.
pub fn times(one: Money, other: Money) -> Option<Decimal> {
    let comparable = one.currency == other.currency;
    let ratio = comparable.then(|| one.amount.checked_div(other.amount))?;
    ratio.map(|ratio| ratio.round_dp(4))
}

fn paid(number: u32, runs: &[&RunRecord]) -> ScenarioPaid {
    let seconds = runs.iter().map(|run| paid_seconds(run)).sum::<Decimal>();
    ScenarioPaid {
        number,
        runs: runs.len(),
        paid_seconds: mean(seconds, runs.len()),
        measured: sum(runs.iter().map(|run| own_bill(run)))
            .map(|total| Money::new(mean(total.amount, runs.len()), total.currency)),
    }
}

/// Whether a run says what its scenario costs.
fn counts(run: &RunRecord) -> bool {
    run.outcome.status == Status::Ok && run.unmet_limits().is_empty()
}

/// A run that used a machine.
struct Part<'r> {
    run: &'r RunRecord,
    counts: bool,
}

fn reprice(
    price: &Price,
    scenarios: &BTreeMap<u32, Vec<&RunRecord>>,
    rentals: &[Vec<Part<'_>>],
) -> Repriced {
    let currency = price.per_hour.currency;
    let mut amounts: BTreeMap<u32, Decimal> = BTreeMap::new();
    let mut total = Decimal::ZERO;
    for rental in rentals {
        let price = elsewhere(rental[0].run, price);
        let requests: Vec<BillRequest> = rental
            .iter()
            .map(|part| BillRequest::of(part.run, &price, currency, &[]))
            .collect();
        let bills = rental::bills(&requests, idle_seconds(rental));
        for (part, bill) in rental.iter().zip(bills).filter(|(part, _)| part.counts) {
            let amount = bill.total.amount;
            total = total.saturating_add(amount);
            let sum = amounts.entry(part.run.run.scenario).or_default();
            *sum = sum.saturating_add(amount);
        }
    }
    let mean_of = |(number, runs): (&u32, &Vec<&RunRecord>)| {
        let sum = amounts.get(number).copied().unwrap_or_default();
        Money::new(mean(sum, runs.len()), currency)
    };
    Repriced {
        price: price.clone(),
        per_run: scenarios.iter().map(mean_of).collect(),
        total: Money::new(total.normalize(), currency),
    }
}

/// Runs that shared a machine, and are paid in the same way; those of which none counts are left
/// out.
fn rentals<'r>(parts: impl Iterator<Item = Part<'r>>) -> Vec<Vec<Part<'r>>> {
    let is_same = |one: &RunRecord, other: &RunRecord| {
        rental::is_same_stay(one, other) && rule_of(one) == rule_of(other)
    };
    let mut rentals: Vec<Vec<Part<'r>>> = Vec::new();
    for part in parts {
        let known = rentals.iter_mut();
        let mut known = known.filter(|rental| is_same(rental[0].run, part.run));
        match known.next() {
            Some(rental) => rental.push(part),
            None => rentals.push(vec![part]),
        }
    }
    rentals.retain(|rental| rental.iter().any(|part| part.counts));
    rentals
}

fn machines(rental: &[Part<'_>]) -> usize {
    let rule = rule_of(rental[0].run);
    match (rule.paid, rule.rental) {
        (PaidPhases::Requests, _) => 0,
        (_, RentalScope::Study) => 1,
        (_, RentalScope::Run) => rental.iter().filter(|part| part.counts).count(),
    }
}

fn idle_seconds(rental: &[Part<'_>]) -> f64 {
    let parts = rental.iter().filter_map(|part| part.run.rental.as_ref());
    parts.map(|part| part.idle_seconds).sum()
}

/// Another price, for what the run's own one pays: its phases, for as long as its machine is kept,
/// with the machine's start and end.
fn elsewhere(run: &RunRecord, price: &Price) -> Price {
    let own = rule_of(run);
    Price {
        billing: BillingRule {
            paid: own.paid,
            rental: own.rental,
            around: own.around,
            ..price.billing.clone()
        },
        ..price.clone()
    }
}

/// What of a run's own rule holds on any machine.
#[derive(PartialEq)]
struct OwnRule {
    paid: PaidPhases,
    rental: RentalScope,
    around: AroundRun,
}

fn rule_of(run: &RunRecord) -> OwnRule {
    let rule = run
        .price
        .as_ref()
        .map_or_else(BillingRule::default, |price| price.billing.clone());
    OwnRule {
        paid: rule.paid,
        rental: rule.rental,
        around: rule.around,
    }
}

/// As a bill without rounding would count it.
fn paid_seconds(run: &RunRecord) -> Decimal {
    let mut exact = Price::typed_in(Money::zero(model::Currency::USD));
    exact.billing.paid = rule_of(run).paid;
    own_seconds(&BillRequest::of(run, &exact, model::Currency::USD, &[]))
}

fn own_bill(run: &RunRecord) -> Option<Money> {
    run.bill.as_ref().map(|bill| bill.total)
}

/// `None` if one is missing, or in another currency.
fn sum(amounts: impl Iterator<Item = Option<Money>>) -> Option<Money> {
    let mut total: Option<Money> = None;
    for money in amounts {
        let money = money?;
        let so_far = total.unwrap_or(Money::zero(money.currency));
        if so_far.currency != money.currency {
            return None;
        }
        let amount = so_far.amount.saturating_add(money.amount);
        total = Some(Money::new(amount.normalize(), money.currency));
    }
    total
}

fn mean(sum: Decimal, count: usize) -> Decimal {
    let mean = sum.checked_div(Decimal::from(count));
    mean.unwrap_or_default().round_dp(AMOUNT_PLACES).normalize()
}
