//! What was paid, for what, and at which price.

use std::collections::{BTreeMap, BTreeSet};

use messages::message;
use model::money::PricedShape;
use model::run::Origin;
use model::{Currency, LineKind, Money, Price, RunRecord};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;

use crate::analysis::{BillFacts, Rented, Spent};
use crate::lists::{entry, push_new};
use crate::table::Table;
use crate::words::billing::billing_words;
use crate::words::format;

/// Of all results, imported ones too: what they cost, whoever paid.
pub(crate) fn spent(table: &Table) -> Vec<Spent> {
    let mut spent: BTreeMap<(&str, Currency), Spent> = BTreeMap::new();
    for record in table.runs.iter().map(|row| row.record) {
        let Some(bill) = &record.bill else { continue };
        let money = bill.total_in_study_currency();
        let environment = record.environment.name.as_str();
        let entry = spent
            .entry((environment, money.currency))
            .or_insert_with(|| Spent {
                environment: environment.to_owned(),
                runs: 0,
                seconds: 0.0,
                money: Money::zero(money.currency),
            });
        entry.runs += 1;
        if record.seconds.is_finite() {
            entry.seconds += record.seconds;
        }
        entry.money.amount = entry.money.amount.saturating_add(money.amount);
    }
    spent.into_values().collect()
}

pub(crate) fn sums(spent: &[Spent]) -> Vec<Money> {
    let mut sums: BTreeMap<Currency, Decimal> = BTreeMap::new();
    for entry in spent {
        let sum = sums.entry(entry.money.currency).or_default();
        *sum = sum.saturating_add(entry.money.amount);
    }
    sums.into_iter()
        .map(|(currency, amount)| Money::new(amount.normalize(), currency))
        .collect()
}

pub(crate) struct Counted {
    pub(crate) spent: Option<Money>,
    pub(crate) again: Option<Money>,
}

/// As the budget counts, so that the report and the check before a run never disagree:
/// measurements made elsewhere were paid from another budget, attempts done again from this one. Of
/// predicted runs only a beginning was paid, which no bill here has: then nothing is said.
pub(crate) fn counted(table: &Table, superseded: &[RunRecord]) -> Counted {
    let mut records = table.runs.iter().map(|row| row.record);
    if records.any(|record| record.prediction().is_some()) {
        return Counted {
            spent: None,
            again: None,
        };
    }
    let currency = table.study.currency;
    let sum = |records: &mut dyn Iterator<Item = &RunRecord>| {
        records
            .filter(|r| matches!(r.origin, Origin::Measured { .. }))
            .filter_map(|r| r.bill.as_ref())
            .map(|bill| bill.total_in_study_currency())
            .filter(|money| money.currency == currency)
            .map(|money| money.amount)
            .reduce(Decimal::saturating_add)
    };
    let results = sum(&mut table.runs.iter().map(|row| row.record));
    let again = sum(&mut superseded.iter());
    let spent = [results, again]
        .into_iter()
        .flatten()
        .reduce(Decimal::saturating_add);
    let money = |amount: Decimal| Money::new(amount, currency);
    Counted {
        spent: spent.map(money),
        again: again.filter(|amount| !amount.is_zero()).map(money),
    }
}

pub(crate) fn bills(table: &Table) -> Vec<BillFacts> {
    let mut groups: Vec<Vec<&RunRecord>> = Vec::new();
    let is_same = |one: &RunRecord, other: &RunRecord| {
        one.environment.name == other.environment.name && one.price == other.price
    };
    for record in table.runs.iter().map(|row| row.record) {
        if record.price.is_none() || record.bill.is_none() {
            continue;
        }
        entry(&mut groups, |group| is_same(group[0], record), Vec::new).push(record);
    }
    groups.iter().filter_map(|group| facts_of(group)).collect()
}

fn facts_of(group: &[&RunRecord]) -> Option<BillFacts> {
    let first = group.first()?;
    let price = first.price.clone()?;
    Some(BillFacts {
        environment: first.environment.name.clone(),
        runs: group.len(),
        rented: rented(group, &price),
        example_run: first.run,
        example: first.bill.clone()?,
        price,
    })
}

fn rented(group: &[&RunRecord], price: &Price) -> Rented {
    let bills = || group.iter().filter_map(|record| record.bill.as_ref());
    let seconds = |is_asked: &dyn Fn(LineKind) -> bool| -> Decimal {
        let lines = bills().flat_map(|bill| &bill.lines);
        let asked = lines.filter(|line| is_asked(line.kind));
        asked.map(|line| line.seconds).sum()
    };
    let sessions: BTreeSet<Option<&str>> = group
        .iter()
        .map(|record| record.rental.as_ref().map(|part| part.id.as_str()))
        .collect();
    let amounts = bills().map(|bill| bill.total.amount);
    Rented {
        rentals: match price.billing.is_shared() {
            true => sessions.len(),
            false => group.len(),
        },
        seconds: seconds(&|kind| kind == LineKind::Time || kind.is_unused_time()),
        idle_seconds: seconds(&|kind| kind == LineKind::Idle),
        rounding_seconds: seconds(&|kind| kind == LineKind::Rounding),
        minimum_seconds: seconds(&|kind| kind == LineKind::Minimum),
        total: Money::new(
            amounts.fold(Decimal::ZERO, Decimal::saturating_add),
            price.per_hour.currency,
        ),
    }
}

/// Bills stay as they were made, so a price that changed since must be said where it shows.
pub(crate) fn notes(table: &Table) -> Vec<String> {
    let mut environments: BTreeMap<&str, Vec<Billed>> = BTreeMap::new();
    let study = table.study;
    // By the number of its hosts or its cores a run costs more than another: that is no change of
    // a price.
    let has_several = |name: &str| {
        study.environment(name).is_some_and(|e| {
            let sizes = e.price.as_ref().map_or(0, |price| price.sizes.len());
            e.hosts.is_some() || sizes > 0
        })
    };
    for record in table.runs.iter().map(|row| row.record) {
        let (Some(price), Some(_)) = (&record.price, &record.bill) else {
            continue;
        };
        if has_several(&record.environment.name) {
            continue;
        }
        let groups = environments.entry(&record.environment.name).or_default();
        let new = || Billed {
            price,
            runs: Vec::new(),
        };
        let group = entry(groups, |g| same_bill(g.price, price), new);
        group.runs.push(record.run.to_string());
    }
    environments
        .iter()
        .filter_map(|(name, groups)| {
            // An environment that is gone from the study has no price to differ from.
            let now = table.study.environment(name).map(|e| e.price.as_deref());
            note(name, groups, now)
        })
        .collect()
}

/// Runs that were measured on one machine and are priced as another: their times are the first
/// one's. Cores that a study limits are what it asks for.
pub(crate) fn other_machines(table: &Table) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for record in table.runs.iter().map(|row| row.record) {
        let serving = record.serving.as_ref();
        let place = table.study.environment(&record.environment.name);
        let has_hosts = place.is_some_and(|place| place.hosts.is_some());
        let is_here = !has_hosts && !serving.is_some_and(|serving| serving.is_elsewhere);
        let is_measured = !matches!(record.origin, Origin::Imported { .. });
        let Some(price) = record.price.as_ref().filter(|_| is_here && is_measured) else {
            continue;
        };
        if let Some(difference) = difference(record, &price.shape) {
            push_new(
                &mut told,
                message!(
                    "price-not-measured-there",
                    environment = record.environment.name,
                    machine = price.machine,
                    difference
                ),
            );
        }
    }
    told
}

/// `which has 4 vCPUs, and were measured on 2 cores`.
fn difference(record: &RunRecord, priced: &PricedShape) -> Option<String> {
    let machine = &record.machine;
    let here = cost::Architecture::parse(&machine.architecture).map(|a| a.word())?;
    let there = priced.architecture.as_deref();
    if let Some(there) = there.filter(|there| *there != here) {
        return Some(message!("price-architecture", there, here));
    }
    let vcpus = priced.vcpus?.to_f64()?;
    let had = machine.usable_cores;
    let is_other = record.environment.limits.cores.is_none() && (vcpus - had).abs() > 0.5;
    let plain = |count: f64| messages::number(&count.to_string());
    is_other.then(|| message!("price-cores", vcpus = plain(vcpus), cores = plain(had)))
}

struct Billed<'a> {
    price: &'a Price,
    runs: Vec<String>,
}

/// The same number read on another day bills the same.
fn same_bill(one: &Price, other: &Price) -> bool {
    one.per_hour == other.per_hour && one.billing == other.billing
}

fn note(environment: &str, groups: &[Billed], now: Option<Option<&Price>>) -> Option<String> {
    let changed = now.is_some_and(|now| match now {
        Some(now) => groups.iter().any(|g| !same_bill(g.price, now)),
        None => true,
    });
    if groups.len() < 2 && !changed {
        return None;
    }
    let prices = || groups.iter().map(|g| g.price).chain(now.flatten());
    let rules_differ = prices()
        .zip(prices().skip(1))
        .any(|(a, b)| a.billing != b.billing);
    let say = |price: &Price| {
        let rule = match rules_differ {
            true => format!("; {}", billing_words(&price.billing)),
            false => String::new(),
        };
        let date = messages::date(&price.date);
        message!(
            "price-hourly",
            price = format::exact_money(&price.per_hour),
            date,
            rule
        )
    };
    let billed: Vec<String> = groups
        .iter()
        .map(|g| {
            let runs = format::listed(&g.runs, 3);
            let count = g.runs.len();
            message!("price-billed", runs, count, price = say(g.price))
        })
        .collect();
    let now = match now {
        _ if !changed => String::new(),
        Some(Some(now)) => message!("price-now", price = say(now)),
        _ => message!("price-now-none"),
    };
    let billed = billed.join("; ");
    Some(message!("price-changed", environment, billed, now))
}
