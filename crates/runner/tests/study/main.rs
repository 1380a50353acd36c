//! Studies carried out at places that carry nothing out: what is due, what is kept, what is paid, and
//! what happens when places misbehave.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod adoption;
mod bench;
mod budgets;
mod faults;
mod forecast_truth;
mod forecasts;
mod scale;
mod search;
mod short;
mod until;
mod what_is_due;
