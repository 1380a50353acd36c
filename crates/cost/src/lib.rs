//! Time × price → money. Prices come with a source and a date, billing rules are data, and every
//! amount is decimal: no binary fraction ever holds money.
//!
//! # Rounding rules
//!
//! - Seconds are measured as binary fractions; a bill counts started milliseconds.
//! - Runs that share a machine share its minimum and its rounding ([`settle`]), in proportion to the
//!   time they used; the shares add up to the whole.
//! - An amount has at most [`AMOUNT_PLACES`] decimal places and is rounded up there, once, from
//!   the total billed time. A line is what its seconds add to the amount so far. So the total is
//!   exactly the sum of its lines, does not depend on how a run is divided into phases, and never
//!   decreases by splitting it.
//! - A discount subtracts the difference to the rounded-up remainder; charges and taxes are rounded
//!   up at the same place.
//! - A converted amount is rounded half to even at the same place.
//! - Nothing is rounded to cents: a run may cost US$ 0.00009. The caller decides how many places to
//!   print.

mod adjustments;
mod bill;
mod catalog;
mod compare;
mod currency;
mod exchange;
mod lost;
mod own_machine;
mod paid_time;
mod rental;
mod rules;

pub use bill::{BillRequest, BillResult, Requests, bill, per_request};
pub use catalog::{
    Architecture, Bound, Builder, Catalog, CatalogEntry, CatalogFile, Gpu, GpuWanted, LeftOut,
    LookupError, LookupProblem, MachineMatches, MachineQuery, Paying, Quote, Reason, Shape, SortBy,
    Tally, catalog, in_region, names, provider_named, same_shape, search, write_catalog,
};
pub use compare::{Comparison, Repriced, ScenarioPaid, compare, times};
pub use currency::known_currency;
pub use exchange::{convert, find_rate};
pub use own_machine::own_machine_per_hour;
pub use paid_time::{amount_for, request_milliseconds};
pub use rental::{Rental, settle, settle_measured};
pub use rules::{KnownCharge, ProviderRule, Rules, UnitPrice, rules, unit_price};

/// Decimal places kept of an amount: the smallest unit is a ten-thousandth of a millionth.
pub const AMOUNT_PLACES: u32 = 10;
