//! Money spent against money allowed.

use model::{Currency, ExchangeRate, Money, RunRecord};
use rust_decimal::Decimal;

use crate::forecast::Forecast;

/// What a study has cost so far, in its currency.
#[derive(Debug, Clone)]
pub struct Ledger {
    pub spent: Money,
    /// The budget said in the study's currency.
    pub allowed: Option<Money>,
}

impl Ledger {
    /// The reader has checked that the budget can be said in the study's currency.
    pub fn new(
        budget: Option<Money>,
        currency: Currency,
        rates: &[ExchangeRate],
        earlier: &[RunRecord],
    ) -> Self {
        let mut ledger = Ledger {
            spent: Money::zero(currency),
            allowed: budget.and_then(|b| cost::convert(b, currency, rates).ok()),
        };
        for record in earlier {
            ledger.add(record);
        }
        ledger
    }

    pub fn add(&mut self, record: &RunRecord) {
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
