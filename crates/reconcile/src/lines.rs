//! Causes of the difference, gathered.

use model::{Currency, Money};
use rust_decimal::Decimal;

use crate::reconciliation::ExplainedLine;

/// Causes that no category of the bill names: they come from comparing machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    ExchangeRate,
    UnitPrice,
    BeforeRuns,
    BetweenRuns,
    AfterRuns,
    UnpaidPhases,
    MissingTime,
    EstimatedRounding,
    NotInPeriod,
    NotBilled,
}

impl Cause {
    fn name(self) -> &'static str {
        match self {
            Cause::ExchangeRate => "exchange-rate",
            Cause::UnitPrice => "unit-price",
            Cause::BeforeRuns => "before-runs",
            Cause::BetweenRuns => "between-runs",
            Cause::AfterRuns => "after-runs",
            Cause::UnpaidPhases => "unpaid-phases",
            Cause::MissingTime => "missing-time",
            Cause::EstimatedRounding => "estimated-rounding",
            Cause::NotInPeriod => "not-in-period",
            Cause::NotBilled => "not-billed",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Cause::ExchangeRate => "rate of exchange",
            Cause::UnitPrice => "price an hour",
            Cause::BeforeRuns => "machine on before the runs",
            Cause::BetweenRuns => "machine on between the runs",
            Cause::AfterRuns => "machine on after the runs",
            Cause::UnpaidPhases => "phases the estimate does not pay",
            Cause::MissingTime => "run time the bill does not have",
            Cause::EstimatedRounding => "rounding up the bill does not have",
            Cause::NotInPeriod => "runs outside the bill's period",
            Cause::NotBilled => "machines not on the bill",
        }
    }
}

#[derive(Default)]
pub(crate) struct Lines {
    list: Vec<Sum>,
}

struct Sum {
    cause: String,
    title: String,
    amount: Decimal,
    rows: u64,
    details: Vec<String>,
}

impl Lines {
    pub(crate) fn cause(&mut self, cause: Cause, amount: Decimal, detail: impl Into<String>) {
        if !amount.is_zero() {
            let sum = self.sum(cause.name(), cause.title());
            sum.amount += amount;
            let detail = detail.into();
            // Two machines on one bill have one rate of exchange.
            if !sum.details.contains(&detail) {
                sum.details.push(detail);
            }
        }
    }

    pub(crate) fn category(&mut self, name: &str, title: &str, amount: Decimal, rows: u64) {
        let sum = self.sum(name, title);
        sum.amount += amount;
        sum.rows += rows;
    }

    pub(crate) fn detail(&mut self, name: &str, title: &str, detail: String) {
        self.sum(name, title).details.push(detail);
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
                    amount: Decimal::ZERO,
                    rows: 0,
                    details: Vec::new(),
                });
                self.list.len() - 1
            }
        };
        &mut self.list[place]
    }

    /// Largest first; those that come to nothing are left out.
    pub(crate) fn finish(self, currency: Currency, difference: Decimal) -> Vec<ExplainedLine> {
        let mut lines: Vec<ExplainedLine> = self
            .list
            .into_iter()
            .filter(|sum| !sum.amount.is_zero())
            .map(|sum| ExplainedLine {
                share_percent: share(sum.amount, difference),
                amount: Money::new(sum.amount.normalize(), currency),
                cause: sum.cause,
                title: sum.title,
                rows: sum.rows,
                details: sum.details,
            })
            .collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.amount.amount.abs()));
        lines
    }
}

pub(crate) fn share(amount: Decimal, of: Decimal) -> Option<Decimal> {
    let percent = amount.checked_mul(Decimal::ONE_HUNDRED)?.checked_div(of)?;
    Some(percent.round_dp(1))
}
