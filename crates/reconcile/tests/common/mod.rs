//! Studies made by hand, for the tests and the bench.

#![allow(dead_code, reason = "each binary uses a part of it")]

use std::collections::BTreeMap;

use model::money::{Charge, LineKind, RentalScope, Unit};
use model::run::{EnvironmentRecord, Origin};
use model::{
    BillingRule, Currency, ExchangeRate, Inventory, Limits, Money, Outcome, PaidPhases, Phase,
    Price, RunId, RunRecord, Scenario,
};
use reconcile::{Question, Reconciliation, reconcile};
use rust_decimal::Decimal;

pub(crate) struct Study {
    pub(crate) name: &'static str,
    pub(crate) currency: Currency,
    pub(crate) rates: Vec<ExchangeRate>,
    pub(crate) billing: BillingRule,
    /// Of the runs that are added from then on.
    pub(crate) environment: &'static str,
    pub(crate) machines: u32,
    pub(crate) requests: Option<cost::Requests>,
    pub(crate) runs: Vec<RunRecord>,
}

impl Study {
    pub(crate) fn in_dollars() -> Study {
        Study {
            name: "training-cost",
            currency: Currency::USD,
            rates: Vec::new(),
            billing: BillingRule::default(),
            environment: "cloud",
            machines: 1,
            requests: None,
            runs: Vec::new(),
        }
    }

    /// Speaks R$ at this many for a dollar.
    pub(crate) fn in_reais(rate: &str) -> Study {
        Study {
            currency: Currency::BRL,
            rates: vec![rate_of("USD", "BRL", rate)],
            ..Study::in_dollars()
        }
    }

    /// Only the phase `train` is paid, and a run is 60 s longer than that.
    pub(crate) fn paying_training_alone(mut self) -> Study {
        self.billing.paid = PaidPhases::Only(vec!["train".to_owned()]);
        self
    }

    /// A run that began at `2024-03-04T08:00:00Z` and trained so long.
    pub(crate) fn run(self, machine: &str, per_hour: &str, started: &str, seconds: f64) -> Study {
        let mut price = self.price(machine, per_hour);
        if self.machines > 1 {
            price.of_machines(self.machines);
        }
        self.priced_run(Some(price), started, seconds)
    }

    pub(crate) fn unpriced_run(self, started: &str, seconds: f64) -> Study {
        self.priced_run(None, started, seconds)
    }

    fn price(&self, machine: &str, per_hour: &str) -> Price {
        Price {
            machine: machine.to_owned(),
            per_hour: format!("{per_hour} USD").parse().unwrap(),
            source: "price list".to_owned(),
            date: "2024-02-20".to_owned(),
            // Each run had a machine of its own.
            billing: BillingRule {
                rental: RentalScope::Run,
                ..self.billing.clone()
            },
            changes: Vec::new(),
            own: None,
            shape: model::money::PricedShape::default(),
            sizes: Vec::new(),
        }
    }

    fn priced_run(mut self, price: Option<Price>, started: &str, seconds: f64) -> Study {
        let alone = self.billing.paid == PaidPhases::All;
        let phases = phases(seconds, alone);
        let total = phases.iter().map(|phase| phase.seconds).sum();
        let bill = price.as_ref().map(|price| {
            cost::bill(&cost::BillRequest {
                phases: &phases,
                total_seconds: total,
                requests: self.requests,
                started: None,
                price,
                study_currency: self.currency,
                rates: &self.rates,
            })
            .bill
        });
        self.runs.push(RunRecord {
            schema: model::run::BUNDLE_SCHEMA,
            study: self.name.to_owned(),
            run: RunId {
                scenario: 1,
                repetition: self.runs.len() as u32 + 1,
            },
            scenario: Scenario {
                number: 1,
                levels: Vec::new(),
            },
            fingerprint: String::new(),
            inputs: Vec::new(),
            origin: Origin::Measured {
                bancada: "0.1.0".to_owned(),
            },
            outcome: Outcome::ok(),
            started: started.parse().unwrap(),
            seconds: total,
            phases,
            epochs: Vec::new(),
            metrics: BTreeMap::new(),
            environment: EnvironmentRecord {
                name: self.environment.to_owned(),
                limits: Limits::default(),
                limits_by: "none".to_owned(),
                device: None,
            },
            command: Vec::new(),
            machine: Inventory::default(),
            price: price.map(Into::into),
            rental: None,
            bill: bill.map(Into::into),
            warnings: Vec::new(),
            framework: None,
            serving: None,
            profile: Vec::new(),
            machine_profile: None,
        });
        self
    }

    pub(crate) fn question(&self) -> Question<'_> {
        Question {
            study: self.name,
            runs: self.runs.iter().collect(),
            currency: self.currency,
            rates: &self.rates,
            tag: None,
        }
    }

    pub(crate) fn against(&self, bill: &str) -> Reconciliation {
        self.against_bytes(bill.as_bytes())
    }

    pub(crate) fn against_bytes(&self, bill: &[u8]) -> Reconciliation {
        reconcile(&self.question(), |bills| bills.read("bill.csv", bill)).unwrap()
    }

    pub(crate) fn against_tagged(&self, bill: &str, tag: &str) -> Reconciliation {
        let question = Question {
            tag: Some(tag.parse().unwrap()),
            ..self.question()
        };
        reconcile(&question, |bills| bills.read("bill.csv", bill.as_bytes())).unwrap()
    }
}

pub(crate) fn rate_of(from: &str, to: &str, rate: &str) -> ExchangeRate {
    ExchangeRate {
        from: from.parse().unwrap(),
        to: to.parse().unwrap(),
        rate: rate.parse().unwrap(),
        date: "2024-03-01".to_owned(),
        source: "central bank".to_owned(),
    }
}

fn phases(seconds: f64, alone: bool) -> Vec<Phase> {
    let phase = |name: &str, begin_seconds: f64, seconds: f64| Phase {
        name: name.to_owned(),
        begin_seconds,
        seconds,
    };
    match alone {
        true => vec![phase("train", 0.0, seconds)],
        false => vec![phase("load-data", 0.0, 60.0), phase("train", 60.0, seconds)],
    }
}

pub(crate) fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

/// Paid once for every run.
pub(crate) fn charge(kind: LineKind, what: &str, price: &str) -> Charge {
    Charge {
        what: what.to_owned(),
        kind,
        unit: Unit::Run,
        price: money(price),
        quantity: Decimal::ONE,
        free: Decimal::ZERO,
        source: "price list".to_owned(),
        date: "2024-02-20".to_owned(),
    }
}

/// The amount of a cause; zero where it is not among the lines.
pub(crate) fn amount(found: &Reconciliation, cause: &str) -> Decimal {
    let line = found.lines.iter().find(|line| line.cause == cause);
    line.map_or(Decimal::ZERO, |line| line.amount.amount)
}

#[track_caller]
pub(crate) fn details<'f>(found: &'f Reconciliation, cause: &str) -> &'f [String] {
    let line = found.lines.iter().find(|line| line.cause == cause);
    &line.unwrap().details
}

pub(crate) fn charges(found: &Reconciliation) -> Vec<String> {
    found.charges.iter().map(ToString::to_string).collect()
}

/// Each cause with its amount, in the order of the causes' names.
pub(crate) fn causes(found: &Reconciliation) -> Vec<String> {
    let mut list: Vec<String> = found
        .lines
        .iter()
        .map(|line| format!("{} {}", line.cause, line.amount.amount))
        .collect();
    list.sort();
    list
}

pub(crate) fn items(found: &Reconciliation) -> Vec<String> {
    let text = |item: &reconcile::Item| {
        let share = match item.of_study == item.amount || item.of_study.amount.is_zero() {
            true => String::new(),
            false => format!(", {} of the study", item.of_study),
        };
        format!("{:?} {}: {}{share}", item.whose, item.what, item.amount)
    };
    found.items.iter().map(text).collect()
}

/// The lines are the difference, and the items are the file.
#[track_caller]
pub(crate) fn sums_up(found: &Reconciliation) {
    let lines: Decimal = found.lines.iter().map(|line| line.amount.amount).sum();
    let parts: Decimal = found
        .unexplained
        .parts
        .iter()
        .map(|part| part.amount.amount)
        .sum();
    let difference = found.bill.amount - found.estimate.amount;
    assert_eq!(found.difference.amount, difference);
    assert_eq!(lines + found.unexplained.amount.amount, difference);
    assert_eq!(parts, found.unexplained.amount.amount, "{found:#?}");
    let mut items: BTreeMap<Currency, Decimal> = BTreeMap::new();
    for item in &found.items {
        *items.entry(item.amount.currency).or_default() += item.amount.amount;
    }
    let total = found.total.iter().map(|sum| (sum.currency, sum.amount));
    assert_eq!(items, total.collect(), "{found:#?}");
    let rows: u64 = found.items.iter().map(|item| item.rows).sum();
    let read = found.files.iter().map(|file| file.rows - file.left_out);
    assert_eq!(rows, read.sum::<u64>(), "{found:#?}");
}

pub(crate) fn money(text: &str) -> Money {
    text.parse().unwrap()
}
