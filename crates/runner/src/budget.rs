//! Money spent against money allowed.

use std::collections::BTreeMap;

use cost::{BillRequest, Rental};
use model::run::Origin;
use model::{Currency, ExchangeRate, Money, Plan, Price, RunId, RunRecord, Study};
use rust_decimal::Decimal;
use store::{Store, StoreError};

use crate::finish::settle;
use crate::forecast::{self, Forecast, RunForecast};

/// What a study has cost so far, in its currency.
#[derive(Debug, Clone)]
pub struct Ledger {
    /// The budget in the study's currency.
    pub allowed: Option<Money>,
    /// Of the sessions before this one, whose rentals are over.
    earlier: Decimal,
    rentals: Rentals,
}

impl Ledger {
    /// Of all that was paid for: results, attempts that were repeated, and runs of levels that the
    /// study no longer has.
    pub fn open(study: &Study, store: &Store) -> Result<Self, StoreError> {
        let mut records = store.records()?;
        records.extend(store.superseded()?);
        let aside = store.set_aside()?.into_iter();
        records.extend(aside.filter(|record| record.study == study.name));
        settle(&mut records);
        let mut ledger = Ledger::new(study);
        // Measurements made elsewhere were paid from another budget.
        let is_ours = |record: &&RunRecord| !matches!(record.origin, Origin::Imported { .. });
        let bills = records
            .iter()
            .filter(is_ours)
            .filter_map(|r| r.bill.as_ref());
        let totals = bills.map(|bill| bill.spoken_total());
        let ours = totals.filter(|total| total.currency == study.currency);
        ledger.earlier = ours.map(|total| total.amount).sum();
        Ok(ledger)
    }

    /// Nothing spent yet. The reader has checked that the budget can be converted to the study's
    /// currency.
    pub fn new(study: &Study) -> Self {
        let converted = |budget| cost::convert(budget, study.currency, &study.rates).ok();
        Ledger {
            allowed: study.budget.and_then(converted),
            earlier: Decimal::ZERO,
            rentals: Rentals::new(study),
        }
    }

    /// A run of this session.
    pub fn add(&mut self, record: &RunRecord) {
        let (Some(price), Some(bill)) = (&record.price, &record.bill) else {
            return;
        };
        let request = BillRequest::of(record, price, bill.total.currency, &[]);
        let idle = record.rental.as_ref().map_or(0.0, |part| part.idle_seconds);
        self.rentals.add(&record.environment.name, &request, idle);
    }

    /// Of a run in progress, as if it ended now.
    pub(crate) fn add_request(&mut self, environment: &str, request: &BillRequest, idle: f64) {
        self.rentals.add(environment, request, idle);
    }

    /// What is spent and what these runs are expected to cost; none where that of one of them is not
    /// known.
    pub(crate) fn projected(
        &self,
        study: &Study,
        plan: &Plan,
        runs: &[RunId],
        expected: &BTreeMap<u32, RunForecast>,
    ) -> Option<Money> {
        let is_known = |run: &RunId| expected.contains_key(&run.scenario);
        if !runs.iter().all(is_known) {
            return None;
        }
        let rest = forecast::add_up(study, plan, runs, expected.clone(), &self.rentals);
        let rest = match rest.money {
            Some(money) => money.value,
            None if runs.is_empty() => Money::zero(self.spent().currency),
            None => return None,
        };
        let spent = self.spent();
        let is_same = rest.currency == spent.currency;
        is_same.then(|| Money::new(spent.amount + rest.amount, rest.currency))
    }

    pub fn spent(&self) -> Money {
        let rentals = self
            .rentals
            .total(None)
            .filter(|money| money.currency == self.rentals.spoken);
        let now = rentals.map_or(Decimal::ZERO, |money| money.amount);
        Money::new(self.earlier + now, self.rentals.spoken)
    }

    /// Machines that this session has rented so far.
    pub(crate) fn rentals(&self) -> &Rentals {
        &self.rentals
    }

    pub fn left(&self) -> Option<Money> {
        let spent = self.spent();
        self.allowed
            .map(|allowed| Money::new(allowed.amount - spent.amount, allowed.currency))
    }

    /// Whether so much more would exceed the budget.
    pub fn breaks_with(&self, more: Money) -> bool {
        self.left().is_some_and(|left| more.amount > left.amount)
    }

    pub fn is_spent(&self) -> bool {
        self.left().is_some_and(|left| left.amount <= Decimal::ZERO)
    }
}

/// The rentals of one session, by environment and price.
#[derive(Debug, Clone)]
pub struct Rentals {
    spoken: Currency,
    rates: Vec<ExchangeRate>,
    all: Vec<Rented>,
}

#[derive(Debug, Clone)]
struct Rented {
    environment: String,
    price: Price,
    rental: Rental,
}

impl Rentals {
    pub fn new(study: &Study) -> Self {
        Rentals {
            spoken: study.currency,
            rates: study.rates.clone(),
            all: Vec::new(),
        }
    }

    pub fn add(&mut self, environment: &str, request: &BillRequest, idle_seconds: f64) {
        let is_same = |r: &Rented| r.environment == environment && r.price == *request.price;
        let place = self.all.iter().position(is_same).unwrap_or_else(|| {
            self.all.push(Rented {
                environment: environment.to_owned(),
                price: request.price.clone(),
                rental: Rental::new(request.price),
            });
            self.all.len() - 1
        });
        self.all[place].rental.add(request, idle_seconds);
    }

    /// Of one environment, or of all, in the study's currency as far as rates are known; none where
    /// nothing was rented or two currencies remain.
    pub fn total(&self, environment: Option<&str>) -> Option<Money> {
        let is_asked = |r: &&Rented| environment.is_none_or(|name| r.environment == name);
        let mut sum: Option<Money> = None;
        for rented in self.all.iter().filter(is_asked) {
            let total = rented.rental.total();
            let total = cost::convert(total, self.spoken, &self.rates).unwrap_or(total);
            let so_far = sum.unwrap_or(Money::zero(total.currency));
            if so_far.currency != total.currency {
                return None;
            }
            sum = Some(Money::new(so_far.amount + total.amount, total.currency));
        }
        sum
    }
}

/// The forecast, where it goes beyond what is left.
pub fn over_budget(ledger: &Ledger, forecast: &Forecast) -> Option<Money> {
    forecast
        .money
        .map(|m| m.value)
        .filter(|value| ledger.breaks_with(*value))
}
