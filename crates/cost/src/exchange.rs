//! One currency in terms of another, at rates that are dated inputs.

use model::{Currency, ExchangeRate, Money};
use rust_decimal::Decimal;

use crate::AMOUNT_PLACES;

/// Multiplies by a rate, or divides by one that is given the other way round. Never goes over a
/// third currency: two roundings and two dates would hide in one number. `None` without a rate.
pub fn convert(money: Money, to: Currency, rates: &[ExchangeRate]) -> Option<Money> {
    if money.currency == to {
        return Some(money);
    }
    let rate = find_rate(money.currency, to, rates)?;
    let amount = match rate.from == money.currency {
        true => money.amount.checked_mul(rate.rate),
        false => money.amount.checked_div(rate.rate),
    };
    let amount = amount?.round_dp(AMOUNT_PLACES).normalize();
    Some(Money::new(amount, to))
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
