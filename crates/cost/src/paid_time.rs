//! Which time of a run is billed, at which price, and the amount.

use std::time::Duration;

use model::money::{LineKind, PaidPhases};
use model::{BillLine, BillingRule, Currency, Money, Price};
use rust_decimal::{Decimal, RoundingStrategy};

use crate::{AMOUNT_PLACES, BillRequest, Requests};

const SECONDS_PER_HOUR: Decimal = Decimal::from_parts(3600, 0, 0, false, 0);
/// About 30,000 years: longer times are clocks gone wrong, and would leave the range of decimals.
const LONGEST_SECONDS: f64 = 1e12;

/// What so many seconds cost at a price per hour, rounded up as the crate's rules say. No billing
/// rule is applied.
pub fn amount_for(seconds: Decimal, per_hour: Decimal) -> Decimal {
    amount_of(&[Stretch { per_hour, seconds }])
}

/// That a service counts for one request which took so long: whole steps, the minimum at least.
pub fn request_milliseconds(rule: &BillingRule, used: Duration) -> u64 {
    let step_ms = u64::from(rule.request_step_ms.max(1));
    let step = Duration::from_millis(step_ms).as_nanos();
    let steps = u64::try_from(used.as_nanos().div_ceil(step)).unwrap_or(u64::MAX);
    steps
        .saturating_mul(step_ms)
        .max(rule.request_minimum_ms.into())
}

/// Rounded once, so that it does not depend on how the time is divided.
fn amount_of(stretches: &[Stretch]) -> Decimal {
    let product = |stretch: &Stretch| stretch.seconds.checked_mul(stretch.per_hour);
    let mut sum = Some(Decimal::ZERO);
    for stretch in stretches {
        sum = sum
            .zip(product(stretch))
            .and_then(|(a, b)| a.checked_add(b));
    }
    let exact = sum.and_then(|sum| sum.checked_div(SECONDS_PER_HOUR));
    let sign_of = stretches.first().map_or(Decimal::ZERO, |s| s.per_hour);
    rounded_up(exact, sign_of)
}

/// `None` means beyond 10^24 units of money; the sign is all that is left to keep.
pub(crate) fn rounded_up(exact: Option<Decimal>, sign_of: Decimal) -> Decimal {
    let limit = match sign_of.is_sign_negative() {
        true => Decimal::MIN,
        false => Decimal::MAX,
    };
    exact
        .unwrap_or(limit)
        .round_dp_with_strategy(AMOUNT_PLACES, RoundingStrategy::AwayFromZero)
        .normalize()
}

/// Grows the lines of bills along the axis of paid time. Runs that share a machine follow one
/// another on it, so that their amounts, each rounded up, still sum to that of the whole time.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    currency: Currency,
    lines: Vec<BillLine>,
    /// Of the run whose lines these are.
    paid_seconds: Decimal,
    /// Of all runs, by price.
    stretches: Vec<Stretch>,
    amount: Decimal,
}

#[derive(Debug, Clone)]
struct Stretch {
    per_hour: Decimal,
    seconds: Decimal,
}

impl Axis {
    pub(crate) fn new(currency: Currency) -> Self {
        Axis {
            currency,
            lines: Vec::new(),
            paid_seconds: Decimal::ZERO,
            stretches: Vec::new(),
            amount: Decimal::ZERO,
        }
    }

    pub(crate) fn paid_seconds(&self) -> Decimal {
        self.paid_seconds
    }

    /// The lines of a run; the next one begins.
    pub(crate) fn take_lines(&mut self) -> Vec<BillLine> {
        self.paid_seconds = Decimal::ZERO;
        std::mem::take(&mut self.lines)
    }

    /// Adds a line for the time from what is paid so far to `end_seconds`, if there is any.
    pub(crate) fn advance_to(&mut self, line: LineOf<'_>, end_seconds: Decimal, per_hour: Decimal) {
        if end_seconds <= self.paid_seconds {
            return;
        }
        let seconds = end_seconds - self.paid_seconds;
        self.paid_seconds = end_seconds;
        match self.stretches.iter_mut().find(|s| s.per_hour == per_hour) {
            Some(stretch) => stretch.seconds += seconds,
            None => self.stretches.push(Stretch { per_hour, seconds }),
        }
        let amount = amount_of(&self.stretches);
        self.lines.push(BillLine {
            what: line.what.to_owned(),
            kind: line.kind,
            phase: line.phase.map(str::to_owned),
            seconds: seconds.normalize(),
            per_hour: Some(Money::new(per_hour, self.currency)),
            counted: None,
            amount: Money::new((amount - self.amount).normalize(), self.currency),
        });
        self.amount = amount;
    }
}

/// What a line says it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineOf<'a> {
    pub(crate) kind: LineKind,
    pub(crate) what: &'a str,
    pub(crate) phase: Option<&'a str>,
}

/// A stretch of paid time, given by where it ends on the axis of paid time.
pub(crate) struct Part {
    pub(crate) what: String,
    pub(crate) phase: Option<String>,
    pub(crate) end_seconds: Decimal,
    pub(crate) per_hour: Decimal,
}

/// The time of a run that is paid, without what its machine adds.
pub(crate) fn own_parts(request: &BillRequest) -> Vec<Part> {
    let rule = &request.price.billing;
    if rule.paid == PaidPhases::Requests {
        // Who reports no such time is billed for nothing, which the report shows.
        let seconds = request.requests.map_or(Decimal::ZERO, |requests| {
            request_seconds(requests, rule.request_step_ms, rule.request_minimum_ms)
        });
        return vec![Part {
            what: "requests".to_owned(),
            phase: None,
            end_seconds: milliseconds(seconds),
            per_hour: price_at(request, 0.0),
        }];
    }
    let total = decimal_seconds(request.total_seconds);
    let mut end = Decimal::ZERO;
    let mut parts: Vec<Part> = Vec::new();
    for used in uses(request) {
        end += used.seconds;
        // Sums of phases may pass the total by the last digit of a binary fraction.
        let end_seconds = milliseconds(end.min(total));
        parts.push(Part {
            what: used.what,
            phase: Some(used.phase),
            end_seconds,
            per_hour: used.per_hour,
        });
    }
    if rule.paid == PaidPhases::All {
        let what = if parts.is_empty() {
            "run"
        } else {
            "outside phases"
        };
        parts.push(Part {
            what: what.to_owned(),
            phase: None,
            end_seconds: milliseconds(total),
            per_hour: last_price(request),
        });
    }
    parts
}

/// The end of the last part.
pub(crate) fn own_seconds(request: &BillRequest) -> Decimal {
    let parts = own_parts(request);
    parts.last().map_or(Decimal::ZERO, |part| part.end_seconds)
}

/// Each request rounded up by itself. Only their sum is kept, so each is taken for the mean one:
/// exact where all take alike, and where the step is small beside them.
fn request_seconds(requests: Requests, step_ms: u32, minimum_ms: u32) -> Decimal {
    let seconds = decimal_seconds(requests.seconds);
    let count = Decimal::from(requests.count);
    let Some(mean) = seconds.checked_div(count) else {
        return seconds;
    };
    let step_ms = match requests.as_billed && step_ms == 1 {
        true => 0,
        false => step_ms,
    };
    if step_ms == 0 && minimum_ms == 0 {
        return seconds;
    }
    let thousandths = |ms: u32| Decimal::new(i64::from(ms), 3);
    let rounded = round_up_to(mean, thousandths(step_ms)).max(thousandths(minimum_ms));
    rounded.saturating_mul(count)
}

/// Paid time of one name at one price.
struct Used {
    what: String,
    phase: String,
    per_hour: Decimal,
    seconds: Decimal,
}

/// A phase may come again, such as `verify` after every epoch; it stays one line.
fn uses(request: &BillRequest) -> Vec<Used> {
    let is_paid = |name: &String| match &request.price.billing.paid {
        PaidPhases::All => true,
        PaidPhases::Only(only) => only.contains(name),
        PaidPhases::Requests => false,
    };
    let mut uses: Vec<Used> = Vec::new();
    for phase in request.phases.iter().filter(|p| is_paid(&p.name)) {
        for (per_hour, seconds) in at_prices(request, phase.begin_seconds, phase.seconds) {
            let what = match request.price.changes.is_empty() {
                true => phase.name.clone(),
                false => named_with_price(&phase.name, per_hour, request.price),
            };
            let seconds = decimal_seconds(seconds);
            match uses.iter_mut().find(|used| used.what == what) {
                Some(used) => used.seconds += seconds,
                None => uses.push(Used {
                    what,
                    phase: phase.name.clone(),
                    per_hour,
                    seconds,
                }),
            }
        }
    }
    uses
}

fn named_with_price(name: &str, per_hour: Decimal, price: &Price) -> String {
    let currency = price.per_hour.currency;
    format!("{name} at {} {currency}/h", per_hour.normalize())
}

/// A stretch of the run's clock, cut where the price changes.
fn at_prices(request: &BillRequest, begin: f64, seconds: f64) -> Vec<(Decimal, f64)> {
    let end = begin + seconds;
    let mut found = Vec::new();
    let mut at = begin;
    for change in moments(request) {
        if change > at && change < end {
            found.push((price_at(request, at), change - at));
            at = change;
        }
    }
    found.push((price_at(request, at), end - at));
    found
}

/// Of changes, in seconds of the run.
fn moments(request: &BillRequest) -> Vec<f64> {
    let Some(started) = request.started else {
        return Vec::new();
    };
    let changes = request.price.changes.iter();
    changes
        .map(|change| change.from.duration_since(started).as_secs_f64())
        .collect()
}

/// In force at a moment of the run.
fn price_at(request: &BillRequest, seconds: f64) -> Decimal {
    let price = request.price;
    let begun = moments(request).into_iter().filter(|at| *at <= seconds);
    match begun.count() {
        0 => price.per_hour.amount,
        count => price.changes[count - 1].per_hour,
    }
}

pub(crate) fn last_price(request: &BillRequest) -> Decimal {
    price_at(request, request.total_seconds)
}

/// Times that are no times (negative, not a number) count nothing.
pub(crate) fn decimal_seconds(seconds: f64) -> Decimal {
    let sane = if seconds.is_nan() {
        0.0
    } else {
        seconds.clamp(0.0, LONGEST_SECONDS)
    };
    Decimal::from_f64_retain(sane)
        .unwrap_or(Decimal::ZERO)
        .round_dp(9)
}

/// Every millisecond that began counts: a step that began is paid, however little of it was used.
fn milliseconds(seconds: Decimal) -> Decimal {
    seconds
        .round_dp_with_strategy(3, RoundingStrategy::AwayFromZero)
        .normalize()
}

/// To whole steps; a step of zero bills the exact time.
pub(crate) fn round_up_to(seconds: Decimal, step: Decimal) -> Decimal {
    match seconds.checked_div(step) {
        Some(steps) => steps.ceil() * step,
        None => seconds,
    }
}
