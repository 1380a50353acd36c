//! One currency in terms of another, at rates that are dated inputs.

use std::fmt;

use model::{Currency, ExchangeRate, Money};
use rust_decimal::Decimal;

use crate::AMOUNT_PLACES;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRate {
    pub from: Currency,
    pub to: Currency,
}

impl std::error::Error for NoRate {}

impl fmt::Display for NoRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoRate { from, to } = self;
        write!(
            f,
            "no usable rate from {from} to {to}: add a [[rates]] entry with from = \"{from}\" and to = \"{to}\""
        )
    }
}

/// Multiplies by a rate, or divides by one that is given the other way round. Never goes over a
/// third currency: two roundings and two dates would hide in one number.
pub fn convert(money: Money, to: Currency, rates: &[ExchangeRate]) -> Result<Money, NoRate> {
    if money.currency == to {
        return Ok(money);
    }
    let no_rate = NoRate {
        from: money.currency,
        to,
    };
    let rate = find_rate(money.currency, to, rates).ok_or(no_rate)?;
    let amount = match rate.from == money.currency {
        true => money.amount.checked_mul(rate.rate),
        false => money.amount.checked_div(rate.rate),
    };
    let amount = amount.ok_or(no_rate)?.round_dp(AMOUNT_PLACES).normalize();
    Ok(Money::new(amount, to))
}

/// The newest rate between the two, as it was given: one in the direction requested before one
/// in the other. Rates of zero or less are never used.
pub fn find_rate(from: Currency, to: Currency, rates: &[ExchangeRate]) -> Option<&ExchangeRate> {
    let newest = |from: Currency, to: Currency| {
        rates
            .iter()
            .filter(|r| r.from == from && r.to == to && r.rate > Decimal::ZERO)
            .max_by(|a, b| a.date.cmp(&b.date))
    };
    newest(from, to).or_else(|| newest(to, from))
}
