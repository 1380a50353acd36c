//! The bill of one run: what was paid, line by line.

use model::money::ConvertedTotal;
use model::{Bill, BillLine, Currency, ExchangeRate, Money, PaidPhases, Phase, Price, Warning};
use rust_decimal::{Decimal, RoundingStrategy};

use crate::{AMOUNT_PLACES, convert, find_rate};

const SECONDS_PER_HOUR: Decimal = Decimal::from_parts(3600, 0, 0, false, 0);
/// About 30,000 years: longer times are clocks gone wrong, and would leave the range of decimals.
const LONGEST_SECONDS: f64 = 1e12;

#[derive(Debug, Clone, Copy)]
pub struct BillRequest<'a> {
    pub phases: &'a [Phase],
    /// The run's whole life. Phases are parts of it.
    pub total_seconds: f64,
    /// In which requests were handled, as the service counts them, for a price that is paid so.
    pub request_seconds: Option<f64>,
    pub price: &'a Price,
    /// The currency the study speaks.
    pub spoken: Currency,
    pub rates: &'a [ExchangeRate],
}

#[derive(Debug, Clone, PartialEq)]
pub struct BillResult {
    pub bill: Bill,
    /// Only ever [`Warning::NoRate`].
    pub warning: Option<Warning>,
}

/// One line for each paid phase, in the order they first began; then `outside phases` for paid
/// time that no phase covers, the rounding up to the price's step, and what its minimum adds.
/// A run of which nothing is paid has no lines, not even the minimum.
pub fn bill(request: &BillRequest) -> BillResult {
    let rule = &request.price.billing;
    let mut lines = Lines::new(request.price.per_hour);
    for part in paid_parts(request) {
        lines.advance_to(&part.what, part.end_seconds);
    }
    if !lines.paid_seconds.is_zero() {
        let step = Decimal::from(rule.step_seconds);
        let whole_steps = round_up_to(lines.paid_seconds, step);
        lines.advance_to(&format!("rounding up to {step} s"), whole_steps);
        let minimum = Decimal::from(rule.minimum_seconds);
        lines.advance_to(&format!("minimum of {minimum} s"), minimum);
    }
    let total = Money::new(lines.amount, request.price.per_hour.currency);
    let converted = in_spoken_currency(total, request);
    BillResult {
        warning: converted.as_ref().err().cloned(),
        bill: Bill {
            lines: lines.list,
            total,
            converted: converted.ok().flatten(),
        },
    }
}

/// What so many seconds cost at a price an hour, rounded up as the crate's rules say. No billing
/// rule is applied.
pub fn amount_for(seconds: Decimal, per_hour: Decimal) -> Decimal {
    let exact = seconds
        .checked_mul(per_hour)
        .and_then(|product| product.checked_div(SECONDS_PER_HOUR))
        // Beyond 10^24 units of money; the sign is all that is left to keep.
        .unwrap_or(if per_hour.is_sign_negative() {
            Decimal::MIN
        } else {
            Decimal::MAX
        });
    exact
        .round_dp_with_strategy(AMOUNT_PLACES, RoundingStrategy::AwayFromZero)
        .normalize()
}

/// Grows a bill along the axis of paid time.
struct Lines {
    per_hour: Money,
    list: Vec<BillLine>,
    paid_seconds: Decimal,
    amount: Decimal,
}

impl Lines {
    fn new(per_hour: Money) -> Self {
        Lines {
            per_hour,
            list: Vec::new(),
            paid_seconds: Decimal::ZERO,
            amount: Decimal::ZERO,
        }
    }

    /// Adds a line for the time from what is paid so far to `end_seconds`, if there is any.
    fn advance_to(&mut self, what: &str, end_seconds: Decimal) {
        if end_seconds <= self.paid_seconds {
            return;
        }
        let amount = amount_for(end_seconds, self.per_hour.amount);
        self.list.push(BillLine {
            what: what.to_owned(),
            seconds: (end_seconds - self.paid_seconds).normalize(),
            amount: Money::new((amount - self.amount).normalize(), self.per_hour.currency),
        });
        self.paid_seconds = end_seconds;
        self.amount = amount;
    }
}

/// A stretch of paid time, given by where it ends on the axis of paid time.
struct Part {
    what: String,
    end_seconds: Decimal,
}

fn paid_parts(request: &BillRequest) -> Vec<Part> {
    if request.price.billing.paid == PaidPhases::Requests {
        // Who tells no such time is billed for nothing, which the report shows.
        let seconds = decimal_seconds(request.request_seconds.unwrap_or(0.0));
        return vec![Part {
            what: "requests".to_owned(),
            end_seconds: milliseconds(seconds),
        }];
    }
    let total = decimal_seconds(request.total_seconds);
    let mut names: Vec<&str> = Vec::new();
    for phase in request.phases {
        let paid = match &request.price.billing.paid {
            PaidPhases::All => true,
            PaidPhases::Only(only) => only.contains(&phase.name),
            PaidPhases::Requests => false,
        };
        // A phase may come again, such as `verify` after every epoch; it stays one line.
        if paid && !names.contains(&phase.name.as_str()) {
            names.push(&phase.name);
        }
    }
    let mut end = Decimal::ZERO;
    let mut parts: Vec<Part> = Vec::new();
    for name in names {
        let of_this_name = request.phases.iter().filter(|p| p.name == name);
        end += of_this_name
            .map(|p| decimal_seconds(p.seconds))
            .sum::<Decimal>();
        // Sums of phases may pass the total by the last digit of a binary fraction.
        let end_seconds = milliseconds(end.min(total));
        parts.push(Part {
            what: name.to_owned(),
            end_seconds,
        });
    }
    if request.price.billing.paid == PaidPhases::All {
        let what = if parts.is_empty() {
            "run"
        } else {
            "outside phases"
        };
        parts.push(Part {
            what: what.to_owned(),
            end_seconds: milliseconds(total),
        });
    }
    parts
}

/// Times that are no times (negative, not a number) count nothing.
fn decimal_seconds(seconds: f64) -> Decimal {
    let sane = if seconds.is_nan() {
        0.0
    } else {
        seconds.clamp(0.0, LONGEST_SECONDS)
    };
    Decimal::from_f64_retain(sane)
        .unwrap_or(Decimal::ZERO)
        .round_dp(9)
}

fn milliseconds(seconds: Decimal) -> Decimal {
    seconds.round_dp(3).normalize()
}

/// To whole steps; a step of zero bills the exact time.
fn round_up_to(seconds: Decimal, step: Decimal) -> Decimal {
    match seconds.checked_div(step) {
        Some(steps) => steps.ceil() * step,
        None => seconds,
    }
}

fn in_spoken_currency(
    total: Money,
    request: &BillRequest,
) -> Result<Option<ConvertedTotal>, Warning> {
    if total.currency == request.spoken {
        return Ok(None);
    }
    let no_rate = Warning::NoRate {
        from: total.currency.to_string(),
        to: request.spoken.to_string(),
    };
    let rate = find_rate(total.currency, request.spoken, request.rates).ok_or(no_rate.clone())?;
    let converted = convert(total, request.spoken, request.rates).map_err(|_| no_rate)?;
    Ok(Some(ConvertedTotal {
        total: converted,
        rate: rate.clone(),
    }))
}
