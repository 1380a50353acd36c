//! Cost per hour of a machine that was bought, not rented.

use model::{Money, OwnMachine};
use rust_decimal::Decimal;

use crate::AMOUNT_PLACES;

/// Days of a year with its share of a leap day.
const DAYS_PER_YEAR: Decimal = Decimal::from_parts(36525, 0, 0, false, 2);
const HOURS_PER_DAY: Decimal = Decimal::from_parts(24, 0, 0, false, 0);
const WATTS_PER_KILOWATT: Decimal = Decimal::ONE_THOUSAND;

/// Straight-line depreciation over the hours of use, plus the electricity of one hour.
pub fn own_machine_per_hour(machine: &OwnMachine) -> Result<Money, String> {
    check(machine)?;
    let electricity = machine.electricity_per_kilowatt_hour;
    let hours = machine
        .years
        .checked_mul(DAYS_PER_YEAR)
        .and_then(|days| days.checked_mul(machine.hours_per_day.unwrap_or(HOURS_PER_DAY)));
    let depreciation = hours.and_then(|hours| machine.purchase.amount.checked_div(hours));
    let energy = machine
        .watts
        .checked_div(WATTS_PER_KILOWATT)
        .and_then(|kilowatts| kilowatts.checked_mul(electricity.amount));
    depreciation
        .zip(energy)
        .and_then(|(depreciation, energy)| depreciation.checked_add(energy))
        .map(|amount| {
            Money::new(
                amount.round_dp(AMOUNT_PLACES).normalize(),
                electricity.currency,
            )
        })
        .ok_or_else(|| "these numbers give no usable price per hour".to_owned())
}

fn check(machine: &OwnMachine) -> Result<(), String> {
    let electricity = machine.electricity_per_kilowatt_hour;
    let currency = machine.purchase.currency;
    if currency != electricity.currency {
        return Err(format!(
            "the purchase price is in {currency} and the electricity price in {}: use one currency for both",
            electricity.currency
        ));
    }
    let costs = [
        ("purchase", machine.purchase.amount),
        ("watts", machine.watts),
        ("electricity", electricity.amount),
    ];
    let hours = machine.hours_per_day.unwrap_or(HOURS_PER_DAY);
    let times = [("years", machine.years), ("hours_per_day", hours)];
    let zero = Decimal::ZERO;
    if let Some((what, _)) = costs.iter().find(|(_, value)| *value < zero) {
        return Err(format!("`{what}` must not be negative"));
    }
    if let Some((what, _)) = times.iter().find(|(_, value)| *value <= zero) {
        return Err(format!("`{what}` must be above zero"));
    }
    match hours > HOURS_PER_DAY {
        true => Err("a day has 24 hours".to_owned()),
        false => Ok(()),
    }
}
