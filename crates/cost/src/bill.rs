//! The bill of one run: what was paid, line by line.

use model::money::{AroundRun, Charge, ConvertedTotal, LineKind, Unit};
use model::run::{metric, phase};
use model::{
    Bill, BillLine, BillingRule, Currency, ExchangeRate, Money, PaidPhases, Phase, Price,
    RunRecord, Timestamp, Warning,
};
use rust_decimal::Decimal;

use crate::adjustments::Adjustments;
use crate::paid_time::{self, Axis, LineOf, decimal_seconds};
use crate::rental::{self, AddedTime};
use crate::{convert, find_rate, lost};

#[derive(Debug, Clone, Copy)]
pub struct BillRequest<'a> {
    pub phases: &'a [Phase],
    /// The run's whole life. Phases are parts of it.
    pub total_seconds: f64,
    /// Of the run, for a price that moves; none counts the price it began with.
    pub started: Option<Timestamp>,
    /// As the service counts them, for a price that is paid so.
    pub requests: Option<Requests>,
    pub price: &'a Price,
    /// What the total is converted to.
    pub study_currency: Currency,
    pub rates: &'a [ExchangeRate],
}

/// What was asked of a server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Requests {
    pub count: u64,
    /// In which they were handled, together.
    pub seconds: f64,
    /// By the service's own word, which has rounded each to whole milliseconds already.
    pub as_billed: bool,
}

impl<'a> BillRequest<'a> {
    /// Of a run that is over, at a price, which need not be its own.
    pub fn of(
        record: &'a RunRecord,
        price: &'a Price,
        study_currency: Currency,
        rates: &'a [ExchangeRate],
    ) -> Self {
        let seconds = record.request_seconds();
        BillRequest {
            phases: &record.phases,
            total_seconds: paid_life(record),
            started: Some(record.started),
            requests: seconds.map(|seconds| Requests {
                count: record.requests(),
                seconds,
                as_billed: record.metrics.contains_key(metric::BILLED_SECONDS),
            }),
            price,
            study_currency,
            rates,
        }
    }
}

/// While figures are waited for, there is no endpoint any more.
fn paid_life(record: &RunRecord) -> f64 {
    let waits = record.phases.iter().filter(|p| p.name == phase::FIGURES);
    record.seconds - waits.map(|phase| phase.seconds).sum::<f64>()
}

#[derive(Debug, Clone, PartialEq)]
pub struct BillResult {
    pub bill: Bill,
    /// Only ever [`Warning::NoRate`].
    pub warning: Option<Warning>,
}

/// One line for each paid phase, in the order they first began; then `outside phases` for paid
/// time that no phase covers, the machine's start and end, the rounding up to the price's step,
/// what its minimum adds, and attempts that are expected to be lost; then what is taken off, what is
/// paid beside the time, and the tax. A run of which no time is paid has no lines for time, not even
/// the minimum.
///
/// Of a run that shares its machine these are its own lines only: [`crate::settle`] adds what the
/// rental as a whole pays.
pub fn bill(request: &BillRequest) -> BillResult {
    let rule = &request.price.billing;
    let added = match rule.is_shared() {
        true => Vec::new(),
        false => rental::added_time(rule, paid_time::own_seconds(request), Decimal::ZERO),
    };
    bill_with(
        request,
        &added,
        &mut Axis::new(request.price.per_hour.currency),
    )
}

/// `axis` has the runs before it on the same machine.
pub(crate) fn bill_with(request: &BillRequest, added: &[AddedTime], axis: &mut Axis) -> BillResult {
    let mut lines = time_lines(request, added, axis);
    let time = sum(&lines);
    let adjustments = Adjustments::of(request, added);
    lines.extend(adjustments.discounts(time));
    lines.extend(adjustments.charges());
    lines.extend(adjustments.tax(sum(&lines)));
    // A hundred thousand of them may be kept.
    lines.shrink_to_fit();
    let total = Money::new(sum(&lines).normalize(), request.price.per_hour.currency);
    let converted = in_spoken_currency(total, request);
    BillResult {
        warning: converted.as_ref().err().cloned(),
        bill: Bill {
            lines,
            total,
            converted: converted.ok().flatten().map(Box::new),
        },
    }
}

/// What one more request costs that takes so long: with discounts, what is paid by the request or by
/// the time, and tax; without what a run is rounded up to, and what a run pays as a whole. Reckoned
/// for a million of them, whose cost has more digits.
pub fn per_request(price: &Price, seconds: f64, as_billed: bool) -> Money {
    const MILLION: u32 = 1_000_000;
    let is_of_requests =
        |charge: &&Charge| charge.unit.is_time() || charge.unit == Unit::MillionRequests;
    let charges = price.billing.charges.iter().filter(is_of_requests);
    let paid = match &price.billing.paid {
        PaidPhases::Requests => PaidPhases::Requests,
        PaidPhases::All | PaidPhases::Only(_) => PaidPhases::All,
    };
    let price = Price {
        billing: BillingRule {
            step_seconds: 0,
            minimum_seconds: 0,
            paid,
            interruptions: None,
            around: AroundRun::default(),
            charges: charges.cloned().collect(),
            ..price.billing.clone()
        },
        changes: Vec::new(),
        ..price.clone()
    };
    let seconds = seconds * f64::from(MILLION);
    let all = bill(&BillRequest {
        phases: &[],
        total_seconds: seconds,
        started: None,
        requests: Some(Requests {
            count: MILLION.into(),
            seconds,
            as_billed,
        }),
        price: &price,
        study_currency: price.per_hour.currency,
        rates: &[],
    });
    let amount = all.bill.total.amount / Decimal::from(MILLION);
    Money::new(amount.normalize(), price.per_hour.currency)
}

fn sum(lines: &[BillLine]) -> Decimal {
    let amounts = lines.iter().map(|line| line.amount.amount);
    amounts.fold(Decimal::ZERO, Decimal::saturating_add)
}

fn time_lines(request: &BillRequest, added: &[AddedTime], axis: &mut Axis) -> Vec<BillLine> {
    let rule = &request.price.billing;
    for part in paid_time::own_parts(request) {
        let line = LineOf {
            kind: LineKind::Time,
            what: &part.what,
            phase: part.phase.as_deref(),
        };
        axis.advance_to(line, part.end_seconds, part.per_hour);
    }
    let used = axis.paid_seconds();
    let last = paid_time::last_price(request);
    for added in added {
        let end = axis.paid_seconds() + added.seconds;
        let line = LineOf {
            kind: added.kind,
            what: &added.what,
            phase: added.phase,
        };
        axis.advance_to(line, end, last);
    }
    if let Some(interruptions) = rule.interruptions.as_ref().filter(|_| !used.is_zero()) {
        let expected = lost::expected(used, interruptions);
        let end = axis.paid_seconds() + decimal_seconds(expected.paid_seconds).round_dp(3);
        let count = expected.interruptions.round_sf(2).unwrap_or_default();
        let (kind, what) = match expected.is_capped {
            true => (
                LineKind::LostCapped,
                "lost attempts, too many to compute: the run is not expected to finish".to_owned(),
            ),
            false => (
                LineKind::Lost,
                format!("lost attempts, {} expected", count.normalize()),
            ),
        };
        let line = LineOf {
            kind,
            what: &what,
            phase: None,
        };
        axis.advance_to(line, end, last);
    }
    axis.take_lines()
}

fn in_spoken_currency(
    total: Money,
    request: &BillRequest,
) -> Result<Option<ConvertedTotal>, Warning> {
    if total.currency == request.study_currency {
        return Ok(None);
    }
    let rate = find_rate(total.currency, request.study_currency, request.rates);
    let converted = convert(total, request.study_currency, request.rates).zip(rate);
    let (total, rate) = converted.ok_or_else(|| Warning::NoRate {
        from: total.currency.to_string(),
        to: request.study_currency.to_string(),
    })?;
    Ok(Some(ConvertedTotal {
        total,
        rate: rate.clone(),
    }))
}
