//! One machine of the estimate against its rows of the bill.
//!
//! The way from estimate to bill is walked in steps, each an amount of its own; a step's line is
//! the difference to the one before. So the lines sum to the whole, whatever the rounding:
//!
//! 1. the estimate, at the study's exchange rate;
//! 2. the same at the bill's rate;
//! 3. the estimate's time at the bill's price;
//! 4. then time added and taken away, until it is the bill's time: its cost.
//!
//! Estimated charges other than machine time are compared with the categories of the bill.

use std::collections::{BTreeMap, BTreeSet};

use model::{Currency, ExchangeRate, Money};
use rust_decimal::Decimal;

use crate::categories::{Category, CategoryId};
use crate::charge::Interval;
use crate::estimate::{EstimatedRun, Group};
use crate::ledger::{Ledger, Resource};
use crate::lines::{Cause, Lines};
use crate::machine_time::{MachineTime, from_ms, machine_time};
use crate::names::Sought;
use crate::reconciliation::{HeldAgainst, MachineComparison, RateComparison, RateTold};
use crate::values::day_of;

const SECONDS_PER_HOUR: Decimal = Decimal::from_parts(3600, 0, 0, false, 0);

pub(crate) struct Comparer<'l> {
    pub(crate) ledger: &'l Ledger<'l>,
    /// Everything is brought into it.
    pub(crate) currency: Currency,
    pub(crate) rates: &'l [ExchangeRate],
}

/// What comparing one machine gives beside lines.
pub(crate) struct Compared {
    /// In the common currency: all the group's runs, and its rows of the bill without credits.
    pub(crate) estimate: Decimal,
    pub(crate) bill: Decimal,
    pub(crate) rows: u64,
    pub(crate) machine: MachineComparison,
    pub(crate) rate: Option<RateComparison>,
    pub(crate) unexplained: Option<NotCompared>,
}

/// Money that nothing could be held against.
pub(crate) struct NotCompared {
    /// Which machine, and why.
    pub(crate) what: String,
    pub(crate) amount: Decimal,
}

/// Runs of a group, summed: those within the period of the bill, or those outside.
#[derive(Default)]
struct RunSums {
    runs: u64,
    /// In the common currency.
    whole: Decimal,
    beside: BTreeMap<CategoryId, Decimal>,
    /// The machine's time, less discounts.
    time: TimeSum,
    /// What is taken off the time.
    discounts: TimeSum,
    run_seconds: Decimal,
    paid_seconds: Decimal,
    rounding_seconds: Decimal,
    lost_seconds: Decimal,
}

impl RunSums {
    fn estimated_seconds(&self) -> Decimal {
        self.paid_seconds + self.rounding_seconds + self.lost_seconds
    }
}

#[derive(Default, Clone, Copy)]
struct TimeSum {
    /// In the common currency.
    amount: Decimal,
    /// In the price's.
    priced: Decimal,
}

/// The rows of the bill, summed.
struct Billed {
    cost: Decimal,
    credits: Decimal,
    rounding: Decimal,
    /// Without its rounding, as written; of rows in one currency.
    own_cost: Decimal,
    /// `None` if rows are in several.
    currency: Option<Currency>,
    list_cost: Decimal,
    list_cost_of: Decimal,
    time: Option<Interval>,
    rows: u64,
    resources: u64,
    machine_time: MachineTime,
}

/// Estimate and bill of one group.
struct Sides<'g> {
    group: &'g Group,
    /// Runs within the period of the bill, and those outside.
    covered: RunSums,
    uncovered: RunSums,
    billed: Billed,
}

impl Sides<'_> {
    /// Runs that nothing of the bill is held against.
    fn without(&self, cause: Cause, amount: Decimal, runs: u64, lines: &mut Lines) {
        let detail = format!("{}, {}", self.group.title, count(runs, "run"));
        lines.cause(cause, -amount, detail);
    }

    fn not_compared(&self, why: &str) -> NotCompared {
        NotCompared {
            what: format!("{}: {why}", self.group.title),
            amount: self.billed.cost - self.covered.time.amount,
        }
    }
}

impl Comparer<'_> {
    /// `None` if money is in a currency without rate.
    pub(crate) fn convert(&self, amount: Decimal, from: Currency) -> Option<Decimal> {
        let money = Money::new(amount, from);
        let converted = cost::convert(money, self.currency, self.rates)?;
        Some(converted.amount.round_dp(cost::AMOUNT_PLACES))
    }

    /// `resources` are those of the bill that are of the study and of this group, all in
    /// currencies that can be converted.
    pub(crate) fn compare(
        &self,
        group: &Group,
        resources: &BTreeSet<u32>,
        lines: &mut Lines,
    ) -> Compared {
        let period = self.ledger.period(group.sought.provider());
        let is_covered = |run: &&EstimatedRun| period.is_some_and(|p| p.meets(run.time));
        let (inside, outside): (Vec<_>, Vec<_>) = group.runs.iter().partition(is_covered);
        let mut covered = self.sum_runs(&inside);
        let uncovered = self.sum_runs(&outside);
        let billed = self.sum_rows(group, resources);
        let mut compared = Compared {
            estimate: covered.whole + uncovered.whole,
            bill: billed.cost,
            rows: billed.rows,
            machine: comparison(group, &[&covered, &uncovered], &billed),
            rate: None,
            unexplained: None,
        };
        self.hold_beside(&mut covered, &billed, lines);
        let sides = Sides {
            group,
            covered,
            uncovered,
            billed,
        };
        if group.paid_by_requests {
            let is_on_bill = period.is_some();
            self.hold_requests(&sides, is_on_bill, lines);
        } else if sides.billed.rows == 0 {
            let amount = sides.covered.time.amount + sides.uncovered.whole;
            let runs = sides.covered.runs + sides.uncovered.runs;
            sides.without(Cause::NOT_BILLED, amount, runs, lines);
        } else {
            let Sides { uncovered, .. } = &sides;
            sides.without(Cause::NOT_IN_PERIOD, uncovered.whole, uncovered.runs, lines);
            match self.why_not(&sides) {
                Some(why) => compared.unexplained = Some(sides.not_compared(why)),
                None => compared.rate = self.walk(&sides, lines),
            }
        }
        compared
    }

    /// Functions have no hours: what they cost is a category of the bill.
    fn hold_requests(&self, sides: &Sides, is_on_bill: bool, lines: &mut Lines) {
        let Sides {
            uncovered, billed, ..
        } = sides;
        lines.billed(&self.category("serverless"), billed.cost, billed.rows);
        let cause = match is_on_bill {
            true => Cause::NOT_IN_PERIOD,
            false => Cause::NOT_BILLED,
        };
        sides.without(cause, uncovered.whole, uncovered.runs, lines);
    }

    /// `None` if rows and estimate can be compared.
    fn why_not(&self, sides: &Sides) -> Option<&'static str> {
        let lacks_rate = |run: &EstimatedRun| run.amount(self.currency, self.rates).is_none();
        match sides.billed.machine_time.billed <= Decimal::ZERO {
            true => Some("its rows contain no time"),
            false if sides.group.runs.iter().any(lacks_rate) => {
                Some("its estimate has no exchange rate")
            }
            false => None,
        }
    }

    /// What is estimated beside the machine's time goes to the categories of the bill. So do
    /// discounts, where the bill has credits of the machine; where not, they are in its price.
    fn hold_beside(&self, covered: &mut RunSums, billed: &Billed, lines: &mut Lines) {
        for (category, amount) in &covered.beside {
            lines.estimated(&self.ledger.rules.category(*category), *amount);
        }
        if !billed.credits.is_zero() {
            let discounts = std::mem::take(&mut covered.discounts);
            lines.estimated(&self.category("credit"), discounts.amount);
            covered.time.amount -= discounts.amount;
            covered.time.priced -= discounts.priced;
        }
    }

    fn category(&self, name: &str) -> Category {
        let rules = self.ledger.rules;
        rules.category(rules.id(name))
    }

    /// Money without rate counts nothing; a note says so.
    fn sum_runs(&self, runs: &[&EstimatedRun]) -> RunSums {
        let mut sums = RunSums {
            runs: runs.len() as u64,
            ..RunSums::default()
        };
        for run in runs {
            let run_ms = run.time.end_ms - run.time.start_ms;
            sums.run_seconds += from_ms(run_ms) * Decimal::from(run.machines);
            sums.paid_seconds += run.paid_seconds;
            sums.rounding_seconds += run.rounding_seconds;
            sums.lost_seconds += run.lost_seconds;
            sums.time.priced += run.priced_time();
            sums.discounts.priced += run.parts.discounts;
            let Some(converted) = run.converted(self.currency, self.rates) else {
                continue;
            };
            sums.whole += converted.whole;
            sums.time.amount += converted.time();
            sums.discounts.amount += converted.parts.discounts;
            for (category, amount) in converted.parts.beside {
                *sums.beside.entry(category).or_default() += amount;
            }
        }
        sums
    }

    fn sum_rows(&self, group: &Group, resources: &BTreeSet<u32>) -> Billed {
        let rows: Vec<&Resource> = resources
            .iter()
            .filter_map(|id| self.ledger.resources.get(*id as usize))
            .collect();
        let converted = |amount: fn(&Resource) -> Decimal| -> Decimal {
            let each = rows
                .iter()
                .filter_map(|r| self.convert(amount(r), r.currency));
            each.sum()
        };
        let first = rows.first().map(|row| row.currency);
        let times = rows.iter().filter_map(|row| row.time);
        Billed {
            cost: converted(|row| row.cost),
            credits: converted(|row| row.credits),
            rounding: converted(|row| row.rounding),
            own_cost: rows.iter().map(|row| row.cost - row.rounding).sum(),
            currency: first.filter(|c| rows.iter().all(|row| row.currency == *c)),
            list_cost: rows.iter().map(|row| row.list_cost).sum(),
            list_cost_of: rows.iter().map(|row| row.list_cost_of).sum(),
            time: times.reduce(Interval::with),
            rows: rows.iter().map(|row| row.rows).sum(),
            resources: rows.len() as u64,
            machine_time: machine_time(self.ledger, group, resources),
        }
    }

    fn walk(&self, sides: &Sides, lines: &mut Lines) -> Option<RateComparison> {
        let Sides {
            group,
            covered,
            billed,
            ..
        } = sides;
        let machine = &group.title;
        lines.billed(&self.category("rounding"), billed.rounding, 0);
        let exact_cost = billed.cost - billed.rounding;
        let time = &billed.machine_time;
        let cost_of = |seconds: Decimal| {
            let cost = exact_cost
                .checked_mul(seconds)
                .and_then(|product| product.checked_div(time.billed));
            cost.unwrap_or_default().round_dp(cost::AMOUNT_PLACES)
        };
        let estimated_seconds = covered.estimated_seconds();
        let at_bill_price = cost_of(estimated_seconds);
        let exchange = self.at_bill_rate(group, covered, billed, at_bill_price);
        let at_bill_rate = exchange.as_ref().map_or(covered.time.amount, |e| e.amount);
        if let Some(exchange) = &exchange {
            let amount = exchange.amount - covered.time.amount;
            lines.cause(Cause::EXCHANGE_RATE, amount, exchange.detail());
        }
        lines.cause(
            Cause::UNIT_PRICE,
            at_bill_price - at_bill_rate,
            price_detail(group, covered, billed),
        );
        let mut seconds = estimated_seconds;
        let mut amount = at_bill_price;
        let steps = time_steps(covered, time);
        for (place, step) in steps.iter().enumerate() {
            seconds += step.seconds;
            let next = match place + 1 == steps.len() {
                true => exact_cost,
                false => cost_of(seconds),
            };
            let detail = match step.cause {
                Cause::EXPECTED_LOSSES => format!(
                    "{machine}, {} on average: an expected value; attempts that were really lost are part of the runs and of the time around them",
                    hours(-step.seconds)
                ),
                _ => format!("{machine}, {}", hours(step.seconds)),
            };
            lines.cause(step.cause, next - amount, detail);
            amount = next;
        }
        exchange.and_then(|exchange| exchange.comparison)
    }

    /// None where bill and price are in the same currency.
    fn at_bill_rate(
        &self,
        group: &Group,
        covered: &RunSums,
        billed: &Billed,
        at_bill_price: Decimal,
    ) -> Option<Exchange> {
        let priced_in = group.price.per_hour.currency;
        let billed_in = billed.currency.filter(|currency| *currency != priced_in)?;
        let told_rate = billed.list_cost_of.checked_div(billed.list_cost);
        let told_amount = told_rate
            .filter(|rate| *rate > Decimal::ZERO)
            .and_then(|rate| covered.time.priced.checked_mul(rate))
            .and_then(|amount| self.convert(amount, billed_in));
        let (amount, told) = match told_amount {
            Some(amount) => (amount, RateTold::ByTheBill),
            None => (at_bill_price, RateTold::Implied),
        };
        let rate_of = |amount: Decimal| {
            amount
                .checked_div(covered.time.priced)
                .map(|r| r.round_dp(6))
        };
        let comparison = (billed_in == self.currency)
            .then(|| {
                Some(RateComparison {
                    from: priced_in,
                    to: billed_in,
                    study_rate: rate_of(covered.time.amount)?.normalize(),
                    study_rate_date: self.rate_date(group, billed_in),
                    bill_rate: rate_of(amount)?.normalize(),
                    told,
                })
            })
            .flatten();
        Some(Exchange { amount, comparison })
    }

    /// The date of the rate that the runs were converted with.
    fn rate_date(&self, group: &Group, to: Currency) -> String {
        let frozen = group.runs.iter().rev().find_map(|run| {
            let converted = run.bill.converted.as_ref()?;
            (converted.total.currency == to).then(|| converted.rate.date.clone())
        });
        let given = || cost::find_rate(group.price.per_hour.currency, to, self.rates);
        frozen
            .or_else(|| given().map(|rate| rate.date.clone()))
            .unwrap_or_default()
    }
}

struct Exchange {
    /// The estimate at the bill's rate.
    amount: Decimal,
    comparison: Option<RateComparison>,
}

impl Exchange {
    fn detail(&self) -> String {
        let Some(rate) = &self.comparison else {
            return "bill and price have different currencies".to_owned();
        };
        let how = match rate.told {
            RateTold::ByTheBill => "as stated",
            RateTold::Implied => "derived from the price per hour",
        };
        format!(
            "1 {} = {} {} in the bill ({how}), {} in the study ({})",
            rate.from,
            rate.bill_rate.round_dp(4).normalize(),
            rate.to,
            rate.study_rate.round_dp(4).normalize(),
            rate.study_rate_date
        )
    }
}

struct TimeStep {
    cause: Cause,
    seconds: Decimal,
}

/// From the estimate's seconds to the bill's. The steps sum to the difference of the two.
fn time_steps(covered: &RunSums, time: &MachineTime) -> [TimeStep; 7] {
    // What rounding up adds to a run is paid after it: it explains as much of the time outside.
    let outside = time.between.max(Decimal::ZERO) + time.after.max(Decimal::ZERO);
    let rounded = covered.rounding_seconds.min(outside);
    let of_between = rounded.min(time.between.max(Decimal::ZERO));
    let of_after = rounded - of_between;
    let step = |cause: Cause, seconds: Decimal| TimeStep { cause, seconds };
    [
        step(
            Cause::UNPAID_PHASES,
            covered.run_seconds - covered.paid_seconds,
        ),
        step(Cause::MISSING_TIME, time.in_runs - covered.run_seconds),
        step(
            Cause::ESTIMATED_ROUNDING,
            rounded - covered.rounding_seconds,
        ),
        step(Cause::EXPECTED_LOSSES, -covered.lost_seconds),
        step(Cause::BEFORE_RUNS, time.before),
        step(Cause::BETWEEN_RUNS, time.between - of_between),
        step(Cause::AFTER_RUNS, time.after - of_after),
    ]
}

fn price_detail(group: &Group, covered: &RunSums, billed: &Billed) -> String {
    let price = &group.price;
    let in_bill = per_hour(billed).map_or_else(|| "another".to_owned(), rounded);
    let days = billed.time.map_or(String::new(), |time| {
        format!(", {} to {}", day_of(time.start_ms), day_of(time.end_ms - 1))
    });
    let taken_off = match -covered.discounts.priced {
        nothing if nothing.is_zero() => String::new(),
        amount => format!(
            ", minus discounts of {}",
            Money::new(amount, price.per_hour.currency)
        ),
    };
    format!(
        "{}: {in_bill}/h in the bill{days}; {}/h in the estimate, {} of {}{taken_off}",
        group.title,
        rounded(price.per_hour),
        price.source,
        price.date
    )
}

/// Four places: prices per hour differ in the third.
pub(crate) fn rounded(money: Money) -> String {
    format!(
        "{} {}",
        money.currency.symbol(),
        money.amount.round_dp(4).normalize()
    )
}

/// In the bill's own currency, which is also the common one or can be converted to it.
fn per_hour(billed: &Billed) -> Option<Money> {
    billed.currency.and_then(|currency| {
        let amount = billed
            .own_cost
            .checked_mul(SECONDS_PER_HOUR)?
            .checked_div(billed.machine_time.billed)?;
        Some(Money::new(amount.round_dp(8).normalize(), currency))
    })
}

fn comparison(group: &Group, runs: &[&RunSums], billed: &Billed) -> MachineComparison {
    let sum = |seconds: fn(&RunSums) -> Decimal| -> Decimal {
        let each = runs.iter().map(|part| seconds(part));
        each.sum::<Decimal>().normalize()
    };
    MachineComparison {
        machine: group.title.clone(),
        environments: group.environments.iter().cloned().collect(),
        held_against: match group.sought {
            _ if group.paid_by_requests => HeldAgainst::Requests,
            Sought::Nothing => HeldAgainst::Nothing,
            Sought::Machine(_) | Sought::Service(_) => HeldAgainst::Hours,
        },
        runs: group.runs.len() as u64,
        run_seconds: sum(|part| part.run_seconds),
        estimated_seconds: sum(RunSums::estimated_seconds),
        estimated_per_hour: group.price.per_hour,
        price_date: group.price.date.clone(),
        price_source: group.price.source.clone(),
        resources: billed.resources,
        billed_seconds: billed.machine_time.billed.normalize(),
        billed_per_hour: per_hour(billed),
        billed_from: billed.time.map(|time| day_of(time.start_ms)),
        billed_to: billed.time.map(|time| day_of(time.end_ms - 1)),
    }
}

pub(crate) fn count(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

pub(crate) fn hours(seconds: Decimal) -> String {
    let hours = seconds
        .checked_div(SECONDS_PER_HOUR)
        .unwrap_or_default()
        .round_dp(2);
    format!("{} h", hours.normalize())
}
