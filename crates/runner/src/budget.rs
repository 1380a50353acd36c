//! Money spent against money allowed.

use std::collections::BTreeMap;

use cost::{BillRequest, Rental};
use model::run::Origin;
use model::{
    Currency, ExchangeRate, MachineLife, Money, Plan, Price, RentalPart, RunId, RunRecord, Study,
    Timestamp,
};
use rust_decimal::Decimal;
use store::{Store, StoreError};

use crate::finish::{machine_lives, price_record, settle};
use crate::forecast::{self, Forecast, RunForecast};
use crate::short::{as_paid, short_records};

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
    /// study no longer has. Machines that are `on` are paid until now, also before their first run.
    pub fn open(study: &Study, store: &Store, on: &[MachineLife]) -> Result<Self, StoreError> {
        let mut records = store.records()?;
        records.extend(store.superseded()?);
        let aside = store.set_aside()?.into_iter();
        records.extend(aside.filter(|record| record.study == study.name));
        records.extend(short_records(store)?);
        // Of predicted runs only what was carried out is paid.
        for record in records.iter_mut().filter(|r| r.prediction().is_some()) {
            *record = as_paid(record);
            price_record(record, study);
        }
        let lives = machine_lives(store)?;
        settle(&mut records, &lives);
        let mut ledger = Ledger::new(study);
        for life in on {
            ledger.rentals.add_machine(study, life);
        }
        // Measurements made elsewhere were paid from another budget.
        records.retain(|record| matches!(record.origin, Origin::Measured { .. }));
        // A machine that was left on goes on being paid: its runs are part of its life.
        let is_on = |record: &RunRecord| on.iter().any(|life| is_of(record, life));
        let (still, over): (Vec<RunRecord>, Vec<RunRecord>) = records.into_iter().partition(is_on);
        still.iter().for_each(|record| ledger.add(record));
        let bills = over.iter().filter_map(|r| r.bill.as_ref());
        let totals = bills.map(|bill| bill.total_in_study_currency());
        let ours = totals.filter(|total| total.currency == study.currency);
        ledger.earlier = ours.map(|total| total.amount).sum();
        // A machine on which nothing ran has no bill to be on.
        let mut unused = Rentals::new(study);
        let has_run = |life: &MachineLife| over.iter().any(|record| is_of(record, life));
        let are_on = |life: &MachineLife| on.iter().any(|other| other.rental == life.rental);
        let lives = lives.iter().filter(|life| !has_run(life) && !are_on(life));
        lives.for_each(|life| unused.add_machine(study, life));
        let unused = unused.total(None);
        let unused = unused.filter(|total| total.currency == study.currency);
        ledger.earlier += unused.map_or(Decimal::ZERO, |total| total.amount);
        ledger.set_time(Timestamp::now(), &BTreeMap::new());
        Ok(ledger)
    }

    /// Machines that are on are paid until then, less the seconds that `left_out` has by
    /// [`MachineLife::rental`]: those of a run in progress, for whoever adds its expected time.
    pub(crate) fn set_time(&mut self, now: Timestamp, left_out: &BTreeMap<String, f64>) {
        for rented in &mut self.rentals.all {
            if let Some(life) = rented.rental.life() {
                let mut life = life.clone();
                let age = now.duration_since(life.began).as_secs_f64();
                let left_out = left_out.get(&life.rental).copied().unwrap_or(0.0);
                life.total_seconds = (age + life.shutdown_seconds - left_out).max(0.0);
                rented.rental.set_life(life);
            }
        }
    }

    /// Nothing spent yet. The reader has checked that the budget can be converted to the study's
    /// currency.
    pub fn new(study: &Study) -> Self {
        let converted = |budget| cost::convert(budget, study.currency, &study.rates);
        Ledger {
            allowed: study.budget.and_then(converted),
            earlier: Decimal::ZERO,
            rentals: Rentals::new(study),
        }
    }

    /// A run of this session.
    pub fn add(&mut self, record: &RunRecord) {
        let record = &as_paid(record);
        let (Some(price), Some(bill)) = (&record.price, &record.bill) else {
            return;
        };
        let request = BillRequest::of(record, price, bill.total.currency, &[]);
        let part = record.rental.clone().unwrap_or_default();
        let machine = Some(part.id.as_str());
        let name = &record.environment.name;
        self.rentals.add(name, machine, &request, part.idle_seconds);
    }

    /// Of a run in progress, as if it ended now.
    pub(crate) fn add_request(
        &mut self,
        environment: &str,
        request: &BillRequest,
        part: &RentalPart,
    ) {
        let machine = Some(part.id.as_str());
        self.rentals
            .add(environment, machine, request, part.idle_seconds);
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
        let rest = match forecast::money(study, plan, runs, expected, &self.rentals) {
            Some(money) => money,
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
            .filter(|money| money.currency == self.rentals.study_currency);
        let now = rentals.map_or(Decimal::ZERO, |money| money.amount);
        Money::new(self.earlier + now, self.rentals.study_currency)
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

fn is_of(record: &RunRecord, life: &MachineLife) -> bool {
    let rental = record.rental.as_ref().map(|part| part.id.as_str());
    rental == Some(life.rental.as_str()) && life.environment == record.environment.name
}

/// The rentals of one session, by environment, machine and price.
#[derive(Debug, Clone)]
pub struct Rentals {
    study_currency: Currency,
    rates: Vec<ExchangeRate>,
    all: Vec<Rented>,
}

#[derive(Debug, Clone)]
struct Rented {
    environment: String,
    /// [`RentalPart::id`]; none where only a forecast has rented it.
    machine: Option<String>,
    price: Price,
    rental: Rental,
}

impl Rentals {
    pub fn new(study: &Study) -> Self {
        Rentals {
            study_currency: study.currency,
            rates: study.rates.clone(),
            all: Vec::new(),
        }
    }

    /// A machine that is on, with the end that its price expects, or one that has ended.
    fn add_machine(&mut self, study: &Study, life: &MachineLife) {
        let environment = study.environment(&life.environment);
        let Some(price) = environment.and_then(|environment| environment.price.as_ref()) else {
            return;
        };
        let mut rental = Rental::new(price);
        let expected = f64::from(price.billing.around.shutdown_seconds);
        rental.set_life(MachineLife {
            shutdown_seconds: match life.shutdown_seconds {
                0.0 => expected,
                measured => measured,
            },
            ..life.clone()
        });
        self.all.push(Rented {
            environment: life.environment.clone(),
            machine: Some(life.rental.clone()),
            price: Price::clone(price),
            rental,
        });
    }

    /// All machines that are on stay on until the last of them has done its runs, which were added to
    /// these `begun` rentals without a machine's name.
    pub(crate) fn stay_on_together(&mut self, begun: &Rentals) {
        let total = |rented: &Rented| rented.rental.life().map(|life| life.total_seconds);
        let grown = |(now, before): (&Rented, &Rented)| Some(total(now)? - total(before)?);
        let pairs = self.all.iter().zip(&begun.all);
        let longest = pairs.filter_map(grown).fold(0.0, f64::max);
        for (rented, before) in self.all.iter_mut().zip(&begun.all) {
            if let Some(life) = before.rental.life() {
                let total_seconds = life.total_seconds + longest;
                rented.rental.set_life(MachineLife {
                    total_seconds,
                    ..life.clone()
                });
            }
        }
    }

    /// `machine` is its [`RentalPart::id`]; whoever does not know yet which of them it will be adds to
    /// the first, and to its life if it is on.
    pub fn add(
        &mut self,
        environment: &str,
        machine: Option<&str>,
        request: &BillRequest,
        idle_seconds: f64,
    ) {
        let is_same = |r: &Rented| {
            let is_machine = machine.is_none() || r.machine.as_deref() == machine;
            r.environment == environment && is_machine && r.price == *request.price
        };
        let place = self.all.iter().position(is_same).unwrap_or_else(|| {
            self.all.push(Rented {
                environment: environment.to_owned(),
                machine: machine.map(str::to_owned),
                price: request.price.clone(),
                rental: Rental::new(request.price),
            });
            self.all.len() - 1
        });
        let rental = &mut self.all[place].rental;
        rental.add(request, idle_seconds);
        if let (None, Some(life)) = (machine, rental.life()) {
            let total_seconds = life.total_seconds + request.total_seconds;
            rental.set_life(MachineLife {
                total_seconds,
                ..life.clone()
            });
        }
    }

    /// Of one environment, or of all, in the study's currency as far as rates are known; none where
    /// nothing was rented or two currencies remain.
    pub fn total(&self, environment: Option<&str>) -> Option<Money> {
        let is_asked = |r: &&Rented| environment.is_none_or(|name| r.environment == name);
        let mut sum: Option<Money> = None;
        for rented in self.all.iter().filter(is_asked) {
            let total = rented.rental.total();
            let total = cost::convert(total, self.study_currency, &self.rates).unwrap_or(total);
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
