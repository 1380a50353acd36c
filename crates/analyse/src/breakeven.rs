//! From where on one way to pay is cheaper than another: buying against renting, and a machine
//! that costs more an hour against one that costs less. Only what was measured on both counts.

use messages::{message, word};
use model::money::{Charge, PaidPhases, Unit};
use model::run::metric;
use model::{Currency, Money, OwnMachine, Price, RunRecord, Workload};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use serde::Serialize;
use stats::{Estimate, Interval, Sample};

use crate::along::Along;
use crate::analysis::ScenarioResult;
use crate::lists::push_new;
use crate::rounded::{self, sample};
use crate::scenarios::ok_rows;
use crate::table::{Row, Table};
use crate::unused;
use crate::words;

/// Of a study that trains or runs a command; what serves has its own (`Serving::break_evens`).
#[derive(Debug, Clone, Default, Serialize)]
pub struct BreakEvens {
    pub buying: Vec<BuyOrRent>,
    pub more_expensive: Vec<ExpensiveMachine>,
    pub sentences: Vec<String>,
    /// Pairs that are left out, and why.
    pub notes: Vec<String>,
}

/// An own machine against a rented one, alike in the other factors.
#[derive(Debug, Clone, Serialize)]
pub struct BuyOrRent {
    /// The levels of the other factors.
    pub phrase: String,
    pub own: u32,
    pub own_environment: String,
    pub rented: u32,
    pub rented_environment: String,
    /// What the own machine costs in a month without any work.
    pub per_month: Money,
    /// What an hour of its work adds.
    pub electricity_per_hour: Money,
    /// With what is taken off, charged beside and taxed; without what bills round up.
    pub rent_per_hour: Money,
    /// Time on the rented machine over time on the own one.
    pub time_ratio: Estimate,
    /// Of the own machine's work; `None` if renting costs no more than the electricity. Its
    /// interval has no end where the lower end of the ratio says so.
    pub hours_per_month: Option<Estimate>,
    pub verdict: Buying,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Buying {
    /// It is cheaper from so many hours on.
    Pays,
    /// It would be, if a month had more hours.
    NotWithinAMonth,
    /// Renting is never more expensive.
    Never,
    /// It does not within a month by the times as measured, and would by others that they may
    /// stand for.
    Inconclusive,
}

/// Two rented machines, alike in the other factors.
#[derive(Debug, Clone, Serialize)]
pub struct ExpensiveMachine {
    pub phrase: String,
    /// The one that costs more an hour.
    pub expensive: u32,
    pub expensive_environment: String,
    pub cheap: u32,
    pub cheap_environment: String,
    /// How many times as much an hour costs.
    pub hour_ratio: f64,
    pub basis: Basis,
    /// The speed-up at which both cost the same.
    pub break_even: f64,
    /// Time on the cheap one over time on the expensive one.
    pub speed_up: Estimate,
    /// Cost on the cheap one over cost on the expensive one: above one, the expensive one is cheaper. At a confidence
    /// that holds for all pairs together with the other statements of the study.
    pub cost_ratio: Estimate,
    pub verdict: CostVerdict,
}

/// What the break-even is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Prices an hour: both bill the plain time.
    Hours,
    /// What the runs cost: rounding, discounts, charges or taxes make hours of unlike cost.
    Runs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostVerdict {
    Cheaper,
    MoreExpensive,
    /// The interval contains the break-even point, or there are too few runs for one.
    Inconclusive,
}

pub(crate) const HOURS_PER_MONTH: f64 = 730.0;
/// Of what time is rounded up to: a run of so many pays less than a hundredth too much.
const SHORTEST_STEPS: f64 = 100.0;
const MONTHS_PER_YEAR: Decimal = Decimal::from_parts(12, 0, 0, false, 0);
const SECONDS_PER_HOUR: Decimal = Decimal::from_parts(3600, 0, 0, false, 0);

/// `level` is the error rate of all that is said of which machine is cheaper.
pub(crate) fn break_evens(table: &Table, scenarios: &[ScenarioResult], level: f64) -> BreakEvens {
    // How long a server's run takes is how long it was asked.
    if matches!(table.study.workload, Workload::Serve(_)) {
        return BreakEvens::default();
    }
    let maker = Maker {
        table,
        verdicts: table.confidence(),
    };
    let along = Along::new(scenarios, "environment");
    let lines = along.lines.iter().map(|line| {
        let cells = line.cells.iter().flatten();
        let sides: Vec<Side> = cells.filter_map(|s| maker.side(s)).collect();
        (line.phrase(), sides)
    });
    let lines: Vec<(String, Vec<Side>)> = lines.collect();
    let pairs = |count: usize| count * count.saturating_sub(1) / 2;
    let pairs: usize = lines.iter().map(|(_, sides)| pairs(sides.len())).sum();
    let maker = Maker {
        verdicts: 1.0 - level / pairs.max(1) as f64,
        ..maker
    };
    let mut found = BreakEvens::default();
    for (phrase, sides) in &lines {
        for (place, one) in sides.iter().enumerate() {
            for other in &sides[place + 1..] {
                maker.pair(phrase, one, other, &mut found);
            }
        }
    }
    found.sentences = words::breakeven::sentences(&found);
    found
}

/// One scenario in one environment.
struct Side<'s> {
    scenario: &'s ScenarioResult,
    price: &'s Price,
    rows: Vec<&'s Row<'s>>,
}

impl Side<'_> {
    /// Whether an hour of it costs what its price says, whatever the run.
    fn is_plain(&self) -> bool {
        let rule = &self.price.billing;
        let same = |row: &&Row| row.record.price.as_deref() == Some(self.price);
        let least = SHORTEST_STEPS * f64::from(rule.step_seconds);
        let is_long = |row: &&Row| row.record.seconds >= least.max(rule.minimum_seconds.into());
        let is_used = |row: &&Row| {
            let unused = unused::of_run(row.record, row.cost).zip(row.cost);
            let shares = unused.and_then(|(of, cost)| of.unused.amount.checked_div(cost.amount));
            shares.is_some_and(|share| share <= Decimal::new(1, 2))
        };
        // Of a shared machine it is the rental that must be long.
        let pays_for_use = match rule.is_shared() {
            true => self.rows.iter().all(is_used),
            false => self.rows.iter().all(is_long),
        };
        pays_for_use
            && rule.discounts.is_empty()
            && rule.charges.is_empty()
            && rule.interruptions.is_none()
            && rule.around.is_nothing()
            && rule.tax_percent.is_none()
            && self.price.changes.is_empty()
            && self.rows.iter().all(same)
    }

    fn seconds(&self, paid: Option<&PaidPhases>) -> Vec<f64> {
        let rows = self.rows.iter();
        rows.filter_map(|row| paid_seconds(row.record, paid))
            .collect()
    }

    fn costs(&self) -> Vec<Money> {
        self.rows.iter().filter_map(|row| row.cost).collect()
    }
}

/// Of the phases that are paid; of the whole run where two bills count different ones.
fn paid_seconds(record: &RunRecord, paid: Option<&PaidPhases>) -> Option<f64> {
    let seconds = match paid {
        Some(PaidPhases::Only(names)) => {
            let phases = record.phases.iter().filter(|p| names.contains(&p.name));
            phases.map(|phase| phase.seconds).sum()
        }
        _ => record.seconds,
    };
    Some(seconds).filter(|seconds| seconds.is_finite() && *seconds > 0.0)
}

struct Maker<'t, 'a> {
    table: &'t Table<'a>,
    /// Of the intervals that decide which machine is cheaper, so that all of them hold together.
    verdicts: f64,
}

impl<'t> Maker<'t, '_> {
    fn side(&self, scenario: &'t ScenarioResult) -> Option<Side<'t>> {
        let mut rows = ok_rows(self.table, scenario.number);
        rows.retain(|row| row.record.bill.is_some());
        let price = rows.first()?.record.price.as_ref()?;
        // What several own machines cost in a month is not kept with a run.
        let environment = self.table.study.environment(&scenario.environment);
        let has_hosts = environment.is_some_and(|e| e.hosts.is_some());
        let is_known = price.own.is_none() || !has_hosts;
        (is_known && !price.per_hour.amount.is_zero()).then_some(Side {
            scenario,
            price,
            rows,
        })
    }

    fn pair(&self, phrase: &str, one: &Side, other: &Side, found: &mut BreakEvens) {
        let made = match (one.price.own, other.price.own) {
            (Some(_), Some(_)) => return,
            (Some(own), None) => self.buying(phrase, &own, one, other),
            (None, Some(own)) => self.buying(phrase, &own, other, one),
            (None, None) => self.more_expensive(phrase, one, other),
        };
        match made {
            Some(Made::Buying(made)) => found.buying.push(*made),
            Some(Made::Expensive(made)) => found.more_expensive.push(*made),
            Some(Made::Note(note)) => push_new(&mut found.notes, note),
            None => {}
        }
    }

    fn buying(
        &self,
        phrase: &str,
        own_machine: &OwnMachine,
        own: &Side,
        rented: &Side,
    ) -> Option<Made> {
        let Some(currency) = self.common_currency(&[
            own_machine.purchase,
            own_machine.electricity_per_kilowatt_hour,
            rented.price.per_hour,
        ]) else {
            return Some(self.left_out(own, rented));
        };
        let rule = &own.price.billing;
        if rule.tax_percent.is_some() || !rule.charges.is_empty() || !rule.discounts.is_empty() {
            let why = word!("even-own-has-more");
            return Some(Made::none(own, rented, why));
        }
        // It was spread over the hours of one month, and the hours are what is asked.
        let has_fee = |charge: &Charge| charge.unit == Unit::Month;
        if rented.price.billing.charges.iter().any(has_fee) {
            let why = word!("even-rented-has-fee");
            return Some(Made::none(own, rented, why));
        }
        let months = own_machine.years.checked_mul(MONTHS_PER_YEAR)?;
        let purchase = self.said_in(own_machine.purchase, currency)?.amount;
        let per_month = purchase.checked_div(months)?;
        let kilowatts = own_machine.watts.checked_div(Decimal::ONE_THOUSAND)?;
        let electricity = own_machine.electricity_per_kilowatt_hour;
        let electricity = self.said_in(electricity, currency)?.amount;
        let electricity = kilowatts.checked_mul(electricity)?;
        let rent = self.per_hour(rented, currency)?;
        let paid = common_paid(own, rented);
        let confidence = self.table.confidence();
        let time_ratio = self.time_ratio([rented, own], paid, confidence)?;
        let money = |amount: Decimal| {
            let amount = amount.round_dp(cost::AMOUNT_PLACES).normalize();
            Money::new(amount, currency)
        };
        let costs = OwnCosts {
            per_month: per_month.to_f64()?,
            electricity: electricity.to_f64()?,
            rent: rent.to_f64()?,
        };
        let hours_per_month = costs.hours(&time_ratio);
        Some(Made::Buying(Box::new(BuyOrRent {
            phrase: phrase.to_owned(),
            own: own.scenario.number,
            own_environment: own.scenario.environment.clone(),
            rented: rented.scenario.number,
            rented_environment: rented.scenario.environment.clone(),
            per_month: money(per_month),
            electricity_per_hour: money(electricity),
            rent_per_hour: money(rent),
            verdict: costs.verdict(&time_ratio),
            time_ratio,
            hours_per_month,
        })))
    }

    /// Of the first to the second.
    fn time_ratio(
        &self,
        sides: [&Side; 2],
        paid: Option<&PaidPhases>,
        confidence: f64,
    ) -> Option<Estimate> {
        let [a, b] = sides.map(|side| side.seconds(paid));
        let [step_a, step_b] = sides.map(|side| self.step(side, metric::TOTAL_SECONDS));
        ratio(sample(&a, step_a), sample(&b, step_b), confidence)
    }

    fn cost_ratio(&self, sides: [&Side; 2], confidence: f64) -> Option<Estimate> {
        let [a, b] = sides.map(amounts);
        let [step_a, step_b] = sides.map(|side| self.step(side, metric::COST));
        ratio(sample(&a, step_a), sample(&b, step_b), confidence)
    }

    /// What its values were rounded to.
    fn step(&self, side: &Side, name: &str) -> f64 {
        let column = self.table.column(name);
        column.map_or(0.0, |column| rounded::step(&side.rows, column))
    }

    fn more_expensive(&self, phrase: &str, one: &Side, other: &Side) -> Option<Made> {
        let prices = [one.price.per_hour, other.price.per_hour];
        let Some(currency) = self.common_currency(&prices) else {
            return Some(self.left_out(one, other));
        };
        let hourly = |side: &Side| Some(self.said_in(side.price.per_hour, currency)?.amount);
        let (cheap, expensive) = match hourly(one)? <= hourly(other)? {
            true => (one, other),
            false => (other, one),
        };
        let hour_ratio = hourly(expensive)?.checked_div(hourly(cheap)?)?;
        // Of two that cost the same an hour, the faster one is cheaper.
        if hour_ratio == Decimal::ONE {
            return None;
        }
        let paid = common_paid(one, other);
        let speed_up = |confidence: f64| self.time_ratio([cheap, expensive], paid, confidence);
        let basis = match paid.is_some() && cheap.is_plain() && expensive.is_plain() {
            true => Basis::Hours,
            false => Basis::Runs,
        };
        let break_even = match basis {
            Basis::Hours => hour_ratio,
            Basis::Runs => {
                let effective = |side: &Side| cost_per_second(side, paid);
                effective(expensive)?.checked_div(effective(cheap)?)?
            }
        };
        let break_even = break_even.to_f64()?;
        let cost_ratio = match basis {
            Basis::Hours => {
                speed_up(self.verdicts)?.over(break_even, "speed-up over the ratio of the prices")
            }
            Basis::Runs => self.cost_ratio([cheap, expensive], self.verdicts)?,
        };
        let verdict = match cost_ratio.interval {
            Some(interval) if interval.low > 1.0 => CostVerdict::Cheaper,
            Some(interval) if interval.high < 1.0 => CostVerdict::MoreExpensive,
            _ => CostVerdict::Inconclusive,
        };
        Some(Made::Expensive(Box::new(ExpensiveMachine {
            phrase: phrase.to_owned(),
            expensive: expensive.scenario.number,
            expensive_environment: expensive.scenario.environment.clone(),
            cheap: cheap.scenario.number,
            cheap_environment: cheap.scenario.environment.clone(),
            hour_ratio: hour_ratio.to_f64()?,
            basis,
            break_even,
            speed_up: speed_up(self.table.confidence())?,
            cost_ratio,
            verdict,
        })))
    }

    /// What an hour of the rented machine came to. Who rents for hours does not pay for each run
    /// what it was rounded up by.
    fn per_hour(&self, side: &Side, currency: Currency) -> Option<Decimal> {
        if side.is_plain() {
            return Some(self.said_in(side.price.per_hour, currency)?.amount);
        }
        let rows = side.rows.iter();
        let costs: Option<Vec<Decimal>> = rows
            .map(|row| {
                let unused = unused::of_run(row.record, row.cost)?.unused;
                Some(row.cost?.amount - unused.amount)
            })
            .collect();
        let second = per_second(&costs?, &side.seconds(Some(&side.price.billing.paid)))?;
        let hour = Money::new(second.checked_mul(SECONDS_PER_HOUR)?, self.table.currency);
        Some(self.said_in(hour, currency)?.amount)
    }

    /// The one they are all in, else the study's, where rates are known.
    fn common_currency(&self, all: &[Money]) -> Option<Currency> {
        let first = all.first()?.currency;
        if all.iter().all(|money| money.currency == first) {
            return Some(first);
        }
        let known = |money: &Money| self.said_in(*money, self.table.currency).is_some();
        all.iter().all(known).then_some(self.table.currency)
    }

    fn said_in(&self, money: Money, currency: Currency) -> Option<Money> {
        cost::convert(money, currency, &self.table.study.rates)
    }

    fn left_out(&self, one: &Side, other: &Side) -> Made {
        let code = |side: &Side| side.price.per_hour.currency;
        let why = message!(
            "even-currencies",
            one = code(one).code(),
            other = code(other).code(),
            study = self.table.currency.code()
        );
        Made::none(one, other, &why)
    }
}

enum Made {
    Buying(Box<BuyOrRent>),
    Expensive(Box<ExpensiveMachine>),
    Note(String),
}

impl Made {
    fn none(one: &Side, other: &Side, why: &str) -> Self {
        let [one, other] = [one, other].map(|side| &side.scenario.environment);
        Made::Note(message!("even-none", one, other, why))
    }
}

/// `None` if two bills count different phases.
fn common_paid<'s>(one: &'s Side, other: &Side) -> Option<&'s PaidPhases> {
    let paid = &one.price.billing.paid;
    (*paid == other.price.billing.paid).then_some(paid)
}

/// First over second; without an interval where there are too few runs.
fn ratio(first: Sample, second: Sample, confidence: f64) -> Option<Estimate> {
    let compared = stats::welch_ratio_of(first, second, confidence);
    let (first, second) = (first.values, second.values);
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let mean = |values: &[f64]| stats::precise::mean(values);
    let bare = |_| {
        let method = "ratio of means, too few runs for an interval";
        let count = first.len() + second.len();
        Estimate::bare(mean(first) / mean(second), confidence, count, method)
    };
    let estimate = compared.map(|comparison| comparison.estimate);
    Some(estimate.unwrap_or_else(bare)).filter(|e| e.value.is_finite() && e.value > 0.0)
}

fn amounts(side: &Side) -> Vec<f64> {
    let costs = side.costs().into_iter();
    costs.filter_map(|cost| cost.amount.to_f64()).collect()
}

/// All that its runs cost over all that they took, in the study's currency.
fn cost_per_second(side: &Side, paid: Option<&PaidPhases>) -> Option<Decimal> {
    let costs = side.costs().into_iter().map(|cost| cost.amount);
    per_second(&costs.collect::<Vec<_>>(), &side.seconds(paid))
}

fn per_second(costs: &[Decimal], seconds: &[f64]) -> Option<Decimal> {
    if costs.is_empty() || costs.len() != seconds.len() {
        return None;
    }
    let cost: Decimal = costs.iter().sum();
    let seconds = Decimal::from_f64_retain(seconds.iter().sum())?;
    cost.checked_div(seconds)
        .filter(|each| *each > Decimal::ZERO)
}

/// Of an own machine a month and an hour, and of an hour of the rented one.
struct OwnCosts {
    per_month: f64,
    electricity: f64,
    rent: f64,
}

impl OwnCosts {
    /// Hours h with month + electricity · h = rent · ratio · h.
    fn hours_at(&self, ratio: f64) -> Option<f64> {
        let saved = self.rent * ratio - self.electricity;
        (saved > 0.0).then_some(self.per_month / saved)
    }

    fn hours(&self, ratio: &Estimate) -> Option<Estimate> {
        let interval = ratio.interval.and_then(|i| {
            Some(Interval {
                low: self.hours_at(i.high)?,
                high: self.hours_at(i.low)?,
            })
        });
        Some(Estimate {
            value: self.hours_at(ratio.value)?,
            interval,
            standard_error: None,
            method: "monthly cost of your own machine over the saving per hour of work".to_owned(),
            ..ratio.clone()
        })
    }

    fn verdict(&self, ratio: &Estimate) -> Buying {
        let pays = |ratio| self.hours_at(ratio).is_some_and(|h| h <= HOURS_PER_MONTH);
        match self.hours_at(ratio.value) {
            _ if pays(ratio.value) => Buying::Pays,
            _ if ratio.interval.is_some_and(|i| pays(i.high)) => Buying::Inconclusive,
            Some(_) => Buying::NotWithinAMonth,
            None => Buying::Never,
        }
    }
}
