//! What is charged to an account as a whole, divided in proportion to its other charges.

use std::collections::BTreeMap;

use model::Currency;
use rust_decimal::Decimal;

use crate::belonging::Belonging;
use crate::charge::Provider;
use crate::ledger::{Attribution, Ledger};

/// Charges by provider and currency: all, and those of the study.
pub(crate) struct ShareTable {
    sums: BTreeMap<(Provider, Currency), Charged>,
}

#[derive(Default)]
struct Charged {
    all: Decimal,
    ours: Decimal,
}

/// What of an account's charge is the study's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Share {
    /// Nothing of the study is on that bill.
    None,
    Whole,
    Part(Decimal),
    /// Charges and credits cancel, so that there is no proportion.
    Undividable,
}

impl Share {
    pub(crate) fn of(self, amount: Decimal) -> Decimal {
        match self {
            Share::None | Share::Undividable => Decimal::ZERO,
            Share::Whole => amount,
            // A part is below one, so that the product stays in range.
            Share::Part(part) => (amount * part).round_dp(cost::AMOUNT_PLACES),
        }
    }
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
    for (resource, ours) in ledger.resources.iter().zip(&belonging.resources) {
        add(resource.service, resource.currency, resource.sum(), *ours);
    }
    for (key, pile) in &ledger.piles {
        if key.place != Attribution::Account {
            add(key.service, key.currency, pile.sum(), belonging.has(key));
        }
    }
    ShareTable { sums }
}

impl ShareTable {
    pub(crate) fn of(&self, provider: Provider, currency: Currency) -> Share {
        match self.sums.get(&(provider, currency)) {
            None => Share::None,
            Some(charged) if charged.ours.is_zero() => Share::None,
            Some(charged) if charged.ours == charged.all => Share::Whole,
            Some(charged) => charged
                .ours
                .checked_div(charged.all)
                .filter(|part| *part > Decimal::ZERO && *part < Decimal::ONE)
                .map_or(Share::Undividable, Share::Part),
        }
    }
}
