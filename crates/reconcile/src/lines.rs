//! Causes of the difference, gathered.

use model::{Currency, Money};
use rust_decimal::Decimal;

use crate::categories::Category;
use crate::reconciliation::{ChargeComparison, ExplainedLine};

/// A cause that no category of the bill names: it comes from comparing machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cause {
    name: &'static str,
    title: &'static str,
}

const fn cause(name: &'static str, title: &'static str) -> Cause {
    Cause { name, title }
}

impl Cause {
    pub(crate) const EXCHANGE_RATE: Cause = cause("exchange-rate", "exchange rate");
    pub(crate) const UNIT_PRICE: Cause = cause("unit-price", "price per hour");
    pub(crate) const BEFORE_RUNS: Cause = cause("before-runs", "machine on before the runs");
    pub(crate) const BETWEEN_RUNS: Cause = cause("between-runs", "machine on between the runs");
    pub(crate) const AFTER_RUNS: Cause = cause("after-runs", "machine on after the runs");
    pub(crate) const UNPAID_PHASES: Cause = cause("unpaid-phases", "phases not in the estimate");
    pub(crate) const MISSING_TIME: Cause = cause("missing-time", "run time not on the bill");
    pub(crate) const ESTIMATED_ROUNDING: Cause =
        cause("estimated-rounding", "rounding not on the bill");
    pub(crate) const EXPECTED_LOSSES: Cause = cause("expected-losses", "expected lost attempts");
    pub(crate) const NOT_IN_PERIOD: Cause =
        cause("not-in-period", "runs outside the bill's period");
    pub(crate) const NOT_BILLED: Cause = cause("not-billed", "machines not on the bill");
}

#[derive(Default)]
pub(crate) struct Lines {
    list: Vec<Sum>,
}

#[derive(Default)]
struct Sum {
    cause: String,
    title: String,
    amount: Decimal,
    /// What the study expected; the amount is what the bill has beyond it.
    estimated: Decimal,
    rows: u64,
    details: Vec<String>,
}

/// What is told of all lines at the end.
pub(crate) struct Finished {
    /// Largest first; those that come to nothing are left out.
    pub(crate) lines: Vec<ExplainedLine>,
    /// In the order in which they came.
    pub(crate) charges: Vec<ChargeComparison>,
}

impl Lines {
    pub(crate) fn cause(&mut self, cause: Cause, amount: Decimal, detail: impl Into<String>) {
        if !amount.is_zero() {
            let sum = self.sum(cause.name, cause.title);
            sum.amount += amount;
            let detail = detail.into();
            // Two machines on one bill have one exchange rate.
            if !sum.details.contains(&detail) {
                sum.details.push(detail);
            }
        }
    }

    /// What the bill has of a category.
    pub(crate) fn billed(&mut self, category: &Category, amount: Decimal, rows: u64) {
        let sum = self.sum(&category.name, &category.title);
        sum.amount += amount;
        sum.rows += rows;
    }

    /// What the study expected of it.
    pub(crate) fn estimated(&mut self, category: &Category, amount: Decimal) {
        let sum = self.sum(&category.name, &category.title);
        sum.amount -= amount;
        sum.estimated += amount;
    }

    pub(crate) fn detail(&mut self, category: &Category, detail: String) {
        let details = &mut self.sum(&category.name, &category.title).details;
        details.push(detail);
    }

    pub(crate) fn total(&self) -> Decimal {
        self.list.iter().map(|sum| sum.amount).sum()
    }

    fn sum(&mut self, cause: &str, title: &str) -> &mut Sum {
        let place = match self.list.iter().position(|sum| sum.cause == cause) {
            Some(place) => place,
            None => {
                self.list.push(Sum {
                    cause: cause.to_owned(),
                    title: title.to_owned(),
                    ..Sum::default()
                });
                self.list.len() - 1
            }
        };
        &mut self.list[place]
    }

    pub(crate) fn finish(self, currency: Currency, difference: Decimal) -> Finished {
        let estimated = self.list.iter().filter(|sum| !sum.estimated.is_zero());
        let charges = estimated.map(|sum| sum.comparison(currency)).collect();
        let mut lines: Vec<ExplainedLine> = self
            .list
            .into_iter()
            .filter(|sum| !sum.amount.is_zero())
            .map(|sum| sum.explained(currency, difference))
            .collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.amount.amount.abs()));
        Finished { lines, charges }
    }
}

impl Sum {
    fn comparison(&self, currency: Currency) -> ChargeComparison {
        let billed = self.amount + self.estimated;
        ChargeComparison {
            cause: self.cause.clone(),
            title: self.title.clone(),
            estimated: Money::new(self.estimated.normalize(), currency),
            billed: Money::new(billed.normalize(), currency),
            rows: self.rows,
        }
    }

    fn explained(self, currency: Currency, difference: Decimal) -> ExplainedLine {
        let comparison = self.comparison(currency);
        let mut details = self.details;
        if comparison.is_only_estimated() {
            details.push("estimated, not on the bill".to_owned());
        }
        ExplainedLine {
            share_percent: share(self.amount, difference),
            amount: Money::new(self.amount.normalize(), currency),
            cause: self.cause,
            title: self.title,
            rows: self.rows,
            details,
        }
    }
}

pub(crate) fn share(amount: Decimal, of: Decimal) -> Option<Decimal> {
    let percent = amount.checked_mul(Decimal::ONE_HUNDRED)?.checked_div(of)?;
    Some(percent.round_dp(1))
}
