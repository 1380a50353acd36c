//! Cost per hour of a machine that was bought, not rented.

use std::fmt;

use model::{Currency, Money, OwnMachine};
use rust_decimal::Decimal;

use crate::AMOUNT_PLACES;

/// Days of a year with its share of a leap day.
const DAYS_PER_YEAR: Decimal = Decimal::from_parts(36525, 0, 0, false, 2);
const HOURS_PER_DAY: Decimal = Decimal::from_parts(24, 0, 0, false, 0);
const WATTS_PER_KILOWATT: Decimal = Decimal::ONE_THOUSAND;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnMachineError {
    TwoCurrencies {
        purchase: Currency,
        electricity: Currency,
    },
    NotPositive {
        what: &'static str,
    },
    Negative {
        what: &'static str,
    },
    MoreThanADay,
    OutOfRange,
}

impl std::error::Error for OwnMachineError {}

impl fmt::Display for OwnMachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OwnMachineError::TwoCurrencies {
                purchase,
                electricity,
            } => write!(
                f,
                "the purchase price is in {purchase} and the electricity price in {electricity}: use one currency for both"
            ),
            OwnMachineError::NotPositive { what } => write!(f, "`{what}` must be above zero"),
            OwnMachineError::Negative { what } => write!(f, "`{what}` must not be negative"),
            OwnMachineError::MoreThanADay => f.write_str("a day has 24 hours"),
            OwnMachineError::OutOfRange => {
                f.write_str("these numbers give no usable price per hour")
            }
        }
    }
}

/// Straight-line depreciation over the hours of use, plus the electricity of one hour.
pub fn own_machine_per_hour(machine: &OwnMachine) -> Result<Money, OwnMachineError> {
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
        .ok_or(OwnMachineError::OutOfRange)
}

fn check(machine: &OwnMachine) -> Result<(), OwnMachineError> {
    let electricity = machine.electricity_per_kilowatt_hour;
    if machine.purchase.currency != electricity.currency {
        return Err(OwnMachineError::TwoCurrencies {
            purchase: machine.purchase.currency,
            electricity: electricity.currency,
        });
    }
    let zero = Decimal::ZERO;
    for (what, value) in [
        ("purchase", machine.purchase.amount),
        ("watts", machine.watts),
        ("electricity", electricity.amount),
    ] {
        if value < zero {
            return Err(OwnMachineError::Negative { what });
        }
    }
    if machine.years <= zero {
        return Err(OwnMachineError::NotPositive { what: "years" });
    }
    match machine.hours_per_day {
        Some(hours) if hours <= zero => Err(OwnMachineError::NotPositive {
            what: "hours_per_day",
        }),
        Some(hours) if hours > HOURS_PER_DAY => Err(OwnMachineError::MoreThanADay),
        _ => Ok(()),
    }
}
