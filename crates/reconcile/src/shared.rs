//! What is charged to an account as a whole, divided in proportion to its other charges.

use std::collections::BTreeMap;

use model::Currency;
use rust_decimal::Decimal;

use crate::belonging::Belonging;
use crate::charge::Provider;
use crate::ledger::{Ledger, Place};

/// Charges by provider and currency: all, and those of the study.
pub(crate) struct ShareTable {
    sums: BTreeMap<(Provider, Currency), Charged>,
}

#[derive(Default)]
struct Charged {
    all: Decimal,
    ours: Decimal,
}

pub(crate) enum Shares {
    /// Nothing of the study is on that bill.
    None,
    Part {
        amount: Decimal,
        percent: Decimal,
    },
    /// Charges and credits cancel, so that there is no proportion.
    Undividable,
}

pub(crate) fn shares(ledger: &Ledger, belonging: &Belonging) -> ShareTable {
    let mut sums: BTreeMap<(Provider, Currency), Charged> = BTreeMap::new();
    let mut add = |service: u32, currency: Currency, amount: Decimal, ours: bool| {
        let provider = ledger.provider_of(service);
        let charged = sums.entry((provider, currency)).or_default();
        charged.all += amount;
        if ours {
            charged.ours += amount;
        }
    };
    for (id, resource) in ledger.resources.iter().enumerate() {
        let amount = resource.cost + resource.credits;
        add(
            resource.service,
            resource.currency,
            amount,
            belonging.resources[id],
        );
    }
    for (key, pile) in &ledger.piles {
        if key.place != Place::Account {
            add(key.service, key.currency, pile.amount, belonging.has(key));
        }
    }
    ShareTable { sums }
}

impl ShareTable {
    pub(crate) fn of(&self, provider: Provider, currency: Currency, whole: Decimal) -> Shares {
        let Some(charged) = self.sums.get(&(provider, currency)) else {
            return Shares::None;
        };
        if charged.ours.is_zero() {
            return Shares::None;
        }
        if charged.ours == charged.all {
            return Shares::Part {
                amount: whole,
                percent: Decimal::ONE_HUNDRED,
            };
        }
        let part = charged
            .ours
            .checked_div(charged.all)
            .filter(|part| *part > Decimal::ZERO && *part < Decimal::ONE);
        match part.and_then(|part| Some((part, whole.checked_mul(part)?))) {
            Some((part, amount)) => Shares::Part {
                amount: amount.round_dp(cost::AMOUNT_PLACES),
                percent: (part * Decimal::ONE_HUNDRED).round_dp(1),
            },
            None => Shares::Undividable,
        }
    }
}
