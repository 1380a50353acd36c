//! The study's side: its runs by machine, with what they were estimated to cost.

use std::collections::{BTreeMap, BTreeSet};

use model::money::{AroundRun, LineKind};
use model::{Bill, Currency, ExchangeRate, Money, PaidPhases, Price, RunRecord};
use rust_decimal::Decimal;

use crate::categories::{CategoryId, rules};
use crate::charge::{Interval, Tag};
use crate::names::{Machines, Sought};
use crate::timeline::Timeline;

/// What a bill is held against.
#[derive(Debug, Clone)]
pub struct Question<'q> {
    pub study: &'q str,
    /// All that was paid for: attempts that later ones took the place of, too.
    pub runs: Vec<&'q RunRecord>,
    /// The currency the study speaks.
    pub currency: Currency,
    pub rates: &'q [ExchangeRate],
    /// None looks for `bancada=STUDY`, and goes by machine and time where no row has it.
    pub tag: Option<Tag>,
}

/// Key of the tag that is looked for unless another is named.
pub const DEFAULT_TAG: &str = "bancada";

impl Question<'_> {
    pub(crate) fn wanted_tag(&self) -> Tag {
        self.tag.clone().unwrap_or_else(|| Tag {
            key: DEFAULT_TAG.to_owned(),
            value: self.study.to_owned(),
        })
    }
}

/// The name of a price that is an amount typed into the study.
const TYPED: &str = "own";

/// Runs that are looked for on a bill by the same, priced in one currency.
#[derive(Debug)]
pub(crate) struct Group {
    /// As it is called where it is told of.
    pub(crate) title: String,
    pub(crate) sought: Sought,
    /// Then no hours of a machine are on the bill, but what functions cost.
    pub(crate) paid_by_requests: bool,
    /// Its runs answer requests; otherwise they train.
    pub(crate) serves: bool,
    /// Of one machine, and of the latest run: earlier ones may have had another.
    pub(crate) price: Price,
    pub(crate) environments: BTreeSet<String>,
    pub(crate) runs: Vec<EstimatedRun>,
    pub(crate) timeline: Timeline,
}

#[derive(Debug)]
pub(crate) struct EstimatedRun {
    pub(crate) time: Interval,
    /// That were at work; times below are of all of them.
    pub(crate) machines: u16,
    pub(crate) bill: Bill,
    pub(crate) parts: Parts,
    paid_by_requests: bool,
    /// Of its phases, as far as the estimate pays them.
    pub(crate) paid_seconds: Decimal,
    /// What rounding up and minimum add.
    pub(crate) rounding_seconds: Decimal,
    /// Of attempts that are expected to be lost.
    pub(crate) lost_seconds: Decimal,
}

/// What of an estimate is held against what: the rest is the machine's time.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Parts {
    /// What is taken off the price of time.
    pub(crate) discounts: Decimal,
    pub(crate) beside: BTreeMap<CategoryId, Decimal>,
}

/// An estimate in the currency that is requested.
pub(crate) struct Converted {
    pub(crate) whole: Decimal,
    pub(crate) parts: Parts,
}

impl Converted {
    /// Of the machine's time, less discounts.
    pub(crate) fn time(&self) -> Decimal {
        self.whole - self.parts.beside.values().sum::<Decimal>()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Estimate {
    pub(crate) groups: Vec<Group>,
    pub(crate) unpriced_runs: u64,
}

impl Estimate {
    pub(crate) fn of(runs: &[&RunRecord]) -> Estimate {
        let mut estimate = Estimate::default();
        let mut ordered = runs.to_vec();
        ordered.sort_by_key(|run| run.started);
        for run in ordered {
            match (&run.price, &run.bill) {
                (Some(price), Some(bill)) => estimate.add(run, price, bill),
                _ => estimate.unpriced_runs += 1,
            }
        }
        for group in &mut estimate.groups {
            let runs = group.runs.iter();
            group.timeline = Timeline::new(runs.map(|run| (run.time, run.machines)));
        }
        estimate
    }

    fn add(&mut self, run: &RunRecord, price: &Price, bill: &Bill) {
        let sought = Sought::of(price);
        let paid_by_requests =
            !matches!(sought, Sought::Machine(_)) && price.billing.paid == PaidPhases::Requests;
        let title = title(&sought, price, &run.environment.name);
        let same = |group: &Group| {
            group.sought == sought
                && (sought != Sought::Nothing || group.title == title)
                && group.paid_by_requests == paid_by_requests
                && group.price.per_hour.currency == price.per_hour.currency
        };
        let machines = Machines::parse(&price.machine).count;
        let of_one = of_one_machine(price, machines);
        let place = match self.groups.iter().position(same) {
            Some(place) => place,
            None => {
                self.groups.push(Group {
                    title,
                    sought,
                    paid_by_requests,
                    serves: run.serving.is_some(),
                    price: of_one.clone(),
                    environments: BTreeSet::new(),
                    runs: Vec::new(),
                    timeline: Timeline::default(),
                });
                self.groups.len() - 1
            }
        };
        let group = &mut self.groups[place];
        group.price = of_one;
        group.environments.insert(run.environment.name.clone());
        let estimated = EstimatedRun::of(run, bill, machines, paid_by_requests);
        group.runs.push(estimated);
    }
}

fn title(sought: &Sought, price: &Price, environment: &str) -> String {
    let name = Machines::parse(&price.machine).name;
    match sought {
        // Workers of every size are on the same rows.
        Sought::Service(service) if !service.tells_memory() => service.service.name.clone(),
        Sought::Nothing if name == TYPED => format!("{TYPED} ({environment})"),
        _ => name.to_owned(),
    }
}

fn of_one_machine(price: &Price, machines: u16) -> Price {
    let per_hour = price.per_hour.amount.checked_div(Decimal::from(machines));
    Price {
        machine: Machines::parse(&price.machine).name.to_owned(),
        per_hour: Money::new(
            per_hour.unwrap_or_default().normalize(),
            price.per_hour.currency,
        ),
        ..price.clone()
    }
}

impl EstimatedRun {
    fn of(run: &RunRecord, bill: &Bill, machines: u16, paid_by_requests: bool) -> EstimatedRun {
        // The machine's life around the run is on the provider's bill as it is on ours.
        let around = run.price.as_ref().map(|price| price.billing.around);
        let AroundRun {
            startup_seconds,
            install_seconds,
            shutdown_seconds,
        } = around.unwrap_or_default();
        let before_ms = 1000 * (i64::from(startup_seconds) + i64::from(install_seconds));
        let after_ms = 1000 * i64::from(shutdown_seconds);
        let began_ms = run.started.as_millisecond();
        let seconds = |is_kind: fn(LineKind) -> bool| -> Decimal {
            let lines = bill.lines.iter().filter(|line| is_kind(line.kind));
            let one: Decimal = lines.map(|line| line.seconds).sum();
            one * Decimal::from(machines)
        };
        EstimatedRun {
            time: Interval {
                start_ms: began_ms.saturating_sub(before_ms),
                end_ms: began_ms
                    .saturating_add(milliseconds(run.seconds))
                    .saturating_add(after_ms),
            },
            machines,
            parts: Parts::of(bill),
            paid_by_requests,
            bill: bill.clone(),
            paid_seconds: seconds(|kind| matches!(kind, LineKind::Time | LineKind::Idle)),
            rounding_seconds: seconds(|kind| {
                matches!(kind, LineKind::Rounding | LineKind::Minimum)
            }),
            lost_seconds: seconds(LineKind::is_lost),
        }
    }

    /// `None` if there is no rate.
    pub(crate) fn amount(&self, to: Currency, rates: &[ExchangeRate]) -> Option<Decimal> {
        if let Some(converted) = &self.bill.converted
            && converted.total.currency == to
        {
            return Some(converted.total.amount);
        }
        in_currency(self.bill.total, to, rates)
    }

    /// `None` if there is no rate.
    pub(crate) fn converted(&self, to: Currency, rates: &[ExchangeRate]) -> Option<Converted> {
        let whole = self.amount(to, rates)?;
        // What was converted when it was billed stays at the rate of then.
        let frozen = self.bill.converted.as_ref();
        let rates = match frozen.filter(|converted| converted.total.currency == to) {
            Some(converted) => std::slice::from_ref(&converted.rate),
            None => rates,
        };
        let from = self.bill.total.currency;
        let convert = |amount: Decimal| in_currency(Money::new(amount, from), to, rates);
        let mut parts = Parts {
            discounts: convert(self.parts.discounts)?,
            beside: BTreeMap::new(),
        };
        for (category, amount) in &self.parts.beside {
            parts.beside.insert(*category, convert(*amount)?);
        }
        let mut converted = Converted { whole, parts };
        if self.paid_by_requests {
            // On the bill they are what functions cost, less what is free of it.
            let time = converted.time();
            let beside = &mut converted.parts.beside;
            *beside.entry(rules().id("serverless")).or_default() += time;
            converted.parts.discounts = Decimal::ZERO;
        }
        Some(converted)
    }

    /// Of the machine's time less discounts, in the currency of the price.
    pub(crate) fn priced_time(&self) -> Decimal {
        self.bill.total.amount - self.parts.beside.values().sum::<Decimal>()
    }
}

impl Parts {
    fn of(bill: &Bill) -> Parts {
        let mut parts = Parts::default();
        // What is free of a charge stands behind it; what is free of the time, before all charges.
        let mut charge: Option<CategoryId> = None;
        for line in &bill.lines {
            if !is_of_time(line.kind) {
                charge = Some(rules().of_line(line));
            }
            let is_taken_off = matches!(line.kind, LineKind::Discount | LineKind::FreeTier);
            let amount = line.amount.amount;
            match charge {
                Some(category) => *parts.beside.entry(category).or_default() += amount,
                None if is_taken_off => parts.discounts += amount,
                None => {}
            }
        }
        parts
    }
}

/// What `cost` computes by the price of time.
fn is_of_time(kind: LineKind) -> bool {
    match kind {
        LineKind::Time
        | LineKind::Idle
        | LineKind::Rounding
        | LineKind::Minimum
        | LineKind::Lost
        | LineKind::LostCapped
        | LineKind::Discount
        | LineKind::FreeTier => true,
        LineKind::Requests
        | LineKind::Disk
        | LineKind::Storage
        | LineKind::Traffic
        | LineKind::Address
        | LineKind::Fee
        | LineKind::Tax => false,
    }
}

pub(crate) fn in_currency(money: Money, to: Currency, rates: &[ExchangeRate]) -> Option<Decimal> {
    cost::convert(money, to, rates).map(|m| m.amount)
}

/// Times that are no times count nothing; none is longer than 30 years.
fn milliseconds(seconds: f64) -> i64 {
    const LONGEST: f64 = 1e9;
    let sane = if seconds.is_nan() {
        0.0
    } else {
        seconds.clamp(0.0, LONGEST)
    };
    (sane * 1000.0).round() as i64
}
