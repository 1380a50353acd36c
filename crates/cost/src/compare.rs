//! What measured time would cost at other prices. The same time is assumed everywhere: this
//! compares prices, not the speed of machines.

use std::collections::BTreeMap;

use model::{BillingRule, Money, PaidPhases, Price, RunRecord, Status};
use rust_decimal::Decimal;

use crate::{AMOUNT_PLACES, BillRequest, bill};

/// Runs of several scenarios at several prices.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub scenarios: Vec<ScenarioPaid>,
    /// In the order of the prices.
    pub machines: Vec<Repriced>,
    /// Runs that ended ok and are counted.
    pub runs: usize,
    /// Runs that ended otherwise.
    pub other_runs: usize,
    /// Of the runs that count, those that paid for the time of requests only.
    pub by_request: usize,
    /// The sum of the runs' own bills; none where one has no bill, or another currency.
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

/// Each run is billed anew, with the phases that its own price pays and the steps and minimum of
/// the other.
pub fn compare(records: &[RunRecord], prices: &[Price]) -> Comparison {
    let ok = |record: &&RunRecord| record.outcome.status == Status::Ok;
    let mut scenarios: BTreeMap<u32, Vec<&RunRecord>> = BTreeMap::new();
    for record in records.iter().filter(ok) {
        scenarios
            .entry(record.run.scenario)
            .or_default()
            .push(record);
    }
    let runs: usize = scenarios.values().map(Vec::len).sum();
    let all = || scenarios.values().flatten().copied();
    Comparison {
        runs,
        other_runs: records.len() - runs,
        by_request: all()
            .filter(|run| paid_phases(run) == PaidPhases::Requests)
            .count(),
        measured_total: sum(all().map(own_bill)),
        scenarios: scenarios
            .iter()
            .map(|(number, runs)| paid(*number, runs))
            .collect(),
        machines: prices
            .iter()
            .map(|price| reprice(price, &scenarios))
            .collect(),
    }
}

/// How many times the first is of the second; none for nothing, or two currencies.
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

fn reprice(price: &Price, scenarios: &BTreeMap<u32, Vec<&RunRecord>>) -> Repriced {
    let currency = price.per_hour.currency;
    let mut total = Decimal::ZERO;
    let mut per_run = Vec::new();
    for runs in scenarios.values() {
        let amounts = runs.iter().map(|run| billed(run, price).amount);
        let sum = amounts.fold(Decimal::ZERO, Decimal::saturating_add);
        total = total.saturating_add(sum);
        per_run.push(Money::new(mean(sum, runs.len()), currency));
    }
    Repriced {
        price: price.clone(),
        per_run,
        total: Money::new(total.normalize(), currency),
    }
}

fn billed(run: &RunRecord, price: &Price) -> Money {
    let price = Price {
        billing: BillingRule {
            paid: paid_phases(run),
            ..price.billing.clone()
        },
        ..price.clone()
    };
    let request = BillRequest::of(run, &price, price.per_hour.currency, &[]);
    bill(&request).bill.total
}

fn paid_phases(run: &RunRecord) -> PaidPhases {
    let price = run.price.as_ref();
    price.map_or(PaidPhases::All, |price| price.billing.paid.clone())
}

/// As a bill without rounding would count it.
fn paid_seconds(run: &RunRecord) -> Decimal {
    let exact = Price {
        machine: String::new(),
        per_hour: Money::zero(model::Currency::USD),
        source: String::new(),
        date: String::new(),
        billing: BillingRule {
            step_seconds: 0,
            paid: paid_phases(run),
            ..BillingRule::default()
        },
        changes: Vec::new(),
        own: None,
        shape: model::money::PricedShape::default(),
        sizes: Vec::new(),
    };
    let request = BillRequest::of(run, &exact, model::Currency::USD, &[]);
    let lines = bill(&request).bill.lines;
    lines.iter().map(|line| line.seconds).sum()
}

fn own_bill(run: &RunRecord) -> Option<Money> {
    run.bill.as_ref().map(|bill| bill.total)
}

/// None where one is missing, or in another currency.
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
