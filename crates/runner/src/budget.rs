//! Money spent against money allowed.

use model::run::Origin;
use model::{Money, RunRecord, Study};
use rust_decimal::Decimal;
use store::{Store, StoreError};

use crate::forecast::Forecast;

/// What a study has cost so far, in its currency.
#[derive(Debug, Clone)]
pub struct Ledger {
    pub spent: Money,
    /// The budget said in the study's currency.
    pub allowed: Option<Money>,
}

impl Ledger {
    /// Of all that was paid for: results, and attempts that were done again.
    pub fn open(study: &Study, store: &Store) -> Result<Self, StoreError> {
        let mut ledger = Ledger::new(study);
        for record in store.records()?.iter().chain(&store.superseded()?) {
            ledger.add(record);
        }
        Ok(ledger)
    }

    /// Nothing spent yet. The reader has checked that the budget can be said in the study's
    /// currency.
    pub fn new(study: &Study) -> Self {
        let said = |budget| cost::convert(budget, study.currency, &study.rates).ok();
        Ledger {
            spent: Money::zero(study.currency),
            allowed: study.budget.and_then(said),
        }
    }

    /// Measurements made elsewhere were paid from another budget.
    pub fn add(&mut self, record: &RunRecord) {
        if matches!(record.origin, Origin::Imported { .. }) {
            return;
        }
        if let Some(bill) = &record.bill {
            let total = bill.spoken_total();
            if total.currency == self.spent.currency {
                self.spent.amount += total.amount;
            }
        }
    }

    pub fn left(&self) -> Option<Money> {
        self.allowed
            .map(|allowed| Money::new(allowed.amount - self.spent.amount, allowed.currency))
    }

    /// Whether so much more would go beyond the budget.
    pub fn breaks_with(&self, more: Money) -> bool {
        self.left().is_some_and(|left| more.amount > left.amount)
    }

    pub fn is_spent(&self) -> bool {
        self.left().is_some_and(|left| left.amount <= Decimal::ZERO)
    }
}

/// The forecast, where it goes beyond what is left.
pub fn over_budget(ledger: &Ledger, forecast: &Forecast) -> Option<Money> {
    forecast
        .money
        .map(|m| m.value)
        .filter(|value| ledger.breaks_with(*value))
}
