//! Rows of a bill that do not belong to the study.

use std::collections::BTreeMap;

use model::{Currency, Money};
use rust_decimal::Decimal;

use crate::belonging::Belonging;
use crate::ledger::{Ledger, Pile, Place};
use crate::reconciliation::{Apart, Note};

/// Services that are listed one by one, the most expensive first.
const SHOWN: usize = 10;

pub(crate) struct NotOfStudy {
    pub(crate) services: Vec<Apart>,
    /// What is next to the study's machines and may be of the study.
    pub(crate) undecided: Vec<Note>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ByService {
    service: u32,
    currency: Currency,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ByScope {
    scope: u32,
    currency: Currency,
}

pub(crate) fn apart(ledger: &Ledger, belonging: &Belonging) -> NotOfStudy {
    let mut services: BTreeMap<ByService, Pile> = BTreeMap::new();
    let mut undecided: BTreeMap<ByScope, Decimal> = BTreeMap::new();
    let mut add = |service: u32, currency: Currency, more: Pile| {
        let pile = services.entry(ByService { service, currency }).or_default();
        pile.amount += more.amount;
        pile.rows += more.rows;
    };
    for (id, resource) in ledger.resources.iter().enumerate() {
        if !belonging.resources[id] {
            let more = Pile {
                amount: resource.cost + resource.credits,
                rows: resource.rows,
            };
            add(resource.service, resource.currency, more);
        }
    }
    let machine = ledger.rules.id("machine");
    for (key, pile) in &ledger.piles {
        let Place::Scope(scope) = key.place else {
            continue;
        };
        if belonging.has(key) {
            continue;
        }
        let currency = key.currency;
        add(key.service, currency, *pile);
        if belonging.undecided_scopes.contains(&scope) && key.category != machine {
            *undecided.entry(ByScope { scope, currency }).or_default() += pile.amount;
        }
    }
    NotOfStudy {
        services: largest(ledger, services),
        undecided: undecided
            .into_iter()
            .map(|(key, amount)| Note::Undecided {
                scope: ledger.scopes.name(key.scope).to_owned(),
                amount: Money::new(amount.normalize(), key.currency),
            })
            .collect(),
    }
}

fn largest(ledger: &Ledger, services: BTreeMap<ByService, Pile>) -> Vec<Apart> {
    let mut all: Vec<Apart> = services
        .into_iter()
        .map(|(key, pile)| Apart {
            what: ledger.services.name(key.service).trim().to_owned(),
            amount: Money::new(pile.amount.normalize(), key.currency),
            rows: pile.rows,
        })
        .collect();
    all.sort_by_key(|apart| std::cmp::Reverse(apart.amount.amount.abs()));
    let rest = all.split_off(all.len().min(SHOWN));
    let mut others: BTreeMap<Currency, Apart> = BTreeMap::new();
    for apart in rest {
        let currency = apart.amount.currency;
        let sum = others.entry(currency).or_insert_with(|| Apart {
            what: "other services".to_owned(),
            amount: Money::zero(currency),
            rows: 0,
        });
        sum.amount.amount += apart.amount.amount;
        sum.rows += apart.rows;
    }
    all.extend(others.into_values());
    all
}
