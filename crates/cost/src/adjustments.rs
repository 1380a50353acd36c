//! Discounts on the price of time, and charges other than time.

use model::money::{Charge, Counted, DiscountTerms, LineKind, MonthOfUse, SustainedTier, Unit};
use model::{BillLine, Money};
use rust_decimal::Decimal;

use crate::BillRequest;
use crate::paid_time::{decimal_seconds, rounded_up};
use crate::rental::AddedTime;

/// As Azure and AWS count a month: 365 days of 24 hours in twelve parts.
pub(crate) const HOURS_PER_MONTH: Decimal = Decimal::from_parts(730, 0, 0, false, 0);
const SECONDS_PER_HOUR: Decimal = Decimal::from_parts(3600, 0, 0, false, 0);
const MILLION: Decimal = Decimal::from_parts(1_000_000, 0, 0, false, 0);

pub(crate) struct Adjustments<'a> {
    request: &'a BillRequest<'a>,
    seconds: Decimal,
}

struct Fraction {
    top: Decimal,
    bottom: Decimal,
}

impl Fraction {
    fn value(&self) -> Decimal {
        self.top.checked_div(self.bottom).unwrap_or_default()
    }
}

impl<'a> Adjustments<'a> {
    pub(crate) fn of(request: &'a BillRequest<'a>, added: &[AddedTime]) -> Self {
        let is_life = |added: &&AddedTime| {
            added.kind != LineKind::Rounding && added.kind != LineKind::Minimum
        };
        let around: Decimal = added
            .iter()
            .filter(is_life)
            .map(|added| added.seconds)
            .sum();
        let seconds = decimal_seconds(request.total_seconds) + around;
        Adjustments { request, seconds }
    }

    /// One after the other, each of what the ones before left.
    pub(crate) fn discounts(&self, time: Decimal) -> Vec<BillLine> {
        let mut lines = Vec::new();
        let mut amount = time;
        for discount in &self.request.price.billing.discounts {
            let Some(paid_share) = self.paid_share(&discount.terms) else {
                continue;
            };
            let left = rounded_up(amount.checked_mul(paid_share), amount);
            let kind = match discount.terms {
                DiscountTerms::FreeTime { .. } => LineKind::FreeTier,
                _ => LineKind::Discount,
            };
            lines.extend(self.line(&discount.what, kind, left - amount));
            amount = left;
        }
        lines
    }

    /// `None` if the month's use is not known, by which it is computed.
    fn paid_share(&self, terms: &DiscountTerms) -> Option<Decimal> {
        let month = &self.request.price.billing.month;
        match terms {
            DiscountTerms::Committed {
                percent,
                share_percent,
            } => Some(Decimal::ONE - percent * share_percent / Decimal::from(10_000)),
            DiscountTerms::Sustained { tiers } => sustained(tiers, month.hours?),
            DiscountTerms::FreeTime { seconds_per_month } => {
                paid_part(self.month_seconds(month)?, *seconds_per_month)
            }
        }
    }

    fn month_seconds(&self, month: &MonthOfUse) -> Option<Decimal> {
        let of_requests = || {
            let requests = self.request.requests?;
            let each = decimal_seconds(requests.seconds).checked_div(requests.count.into())?;
            each.checked_mul(month.requests?)
        };
        let of_hours = || month.hours?.checked_mul(SECONDS_PER_HOUR);
        of_requests().or_else(of_hours)
    }

    pub(crate) fn charges(&self) -> Vec<BillLine> {
        let charges = self.request.price.billing.charges.iter();
        charges.flat_map(|charge| self.charge(charge)).collect()
    }

    /// The whole of it, then what of it is free.
    fn charge(&self, charge: &Charge) -> Vec<BillLine> {
        let quantity = self.quantity(charge);
        let price = charge.price.amount;
        let exact = quantity.top.checked_mul(price);
        let exact = exact.and_then(|product| product.checked_div(quantity.bottom));
        let whole = rounded_up(exact, price);
        let mut lines: Vec<BillLine> = Vec::new();
        lines.extend(
            self.line(&charge.what, charge.kind, whole)
                .map(|line| BillLine {
                    counted: Some(Box::new(Counted {
                        quantity: quantity.value().round_dp(9).normalize(),
                        unit: charge.unit,
                        unit_price: charge.price,
                        source: charge.source.clone(),
                        date: charge.date.clone(),
                    })),
                    ..line
                }),
        );
        if let Some(share) = self.paid_share_of(charge) {
            let left = rounded_up(whole.checked_mul(share), whole);
            let what = format!("free {}", charge.what);
            lines.extend(self.line(&what, LineKind::FreeTier, left - whole));
        }
        lines
    }

    /// As a fraction: divided last, an amount that comes out even is not rounded up.
    fn quantity(&self, charge: &Charge) -> Fraction {
        let month = &self.request.price.billing.month;
        let of_a_month = |hours: Decimal| Fraction {
            top: self.seconds.saturating_mul(charge.quantity),
            bottom: hours * SECONDS_PER_HOUR,
        };
        match charge.unit {
            Unit::GigabyteMonth => of_a_month(HOURS_PER_MONTH),
            Unit::Month => of_a_month(month.hours.unwrap_or(HOURS_PER_MONTH)),
            Unit::Hour => of_a_month(Decimal::ONE),
            Unit::MillionRequests => Fraction {
                top: Decimal::from(self.request.requests.map_or(0, |requests| requests.count)),
                bottom: MILLION,
            },
            Unit::Gigabyte | Unit::Run => Fraction {
                top: charge.quantity,
                bottom: Decimal::ONE,
            },
        }
    }

    /// `None` if nothing is free, or the month's use is not known.
    fn paid_share_of(&self, charge: &Charge) -> Option<Decimal> {
        if charge.free.is_zero() {
            return None;
        }
        let month = &self.request.price.billing.month;
        let used = match charge.unit {
            // It is there all month.
            Unit::GigabyteMonth => Some(charge.quantity),
            Unit::Hour => month
                .hours
                .map(|hours| hours.saturating_mul(charge.quantity)),
            Unit::Gigabyte => month.gigabytes,
            Unit::MillionRequests => month.requests.map(|requests| requests / MILLION),
            Unit::Month | Unit::Run => None,
        };
        paid_part(used?, charge.free)
    }

    pub(crate) fn tax(&self, net: Decimal) -> Option<BillLine> {
        let percent = self.request.price.billing.tax_percent?;
        let exact = net.checked_mul(percent / Decimal::ONE_HUNDRED);
        let what = format!("tax of {} %", percent.normalize());
        self.line(&what, LineKind::Tax, rounded_up(exact, net))
    }

    fn line(&self, what: &str, kind: LineKind, amount: Decimal) -> Option<BillLine> {
        let currency = self.request.price.per_hour.currency;
        (!amount.is_zero()).then(|| BillLine {
            what: what.to_owned(),
            kind,
            phase: None,
            seconds: Decimal::ZERO,
            per_hour: None,
            counted: None,
            amount: Money::new(amount.normalize(), currency),
        })
    }
}

/// Of a month's use, what is beyond the free part.
fn paid_part(used: Decimal, free: Decimal) -> Option<Decimal> {
    let beyond = (used - free).max(Decimal::ZERO);
    beyond.checked_div(used)
}

/// Mean over the hours of use: each part of the month at its own rate.
fn sustained(tiers: &[SustainedTier], hours: Decimal) -> Option<Decimal> {
    let used = (hours * Decimal::ONE_HUNDRED / HOURS_PER_MONTH).min(Decimal::ONE_HUNDRED);
    let (mut from, mut paid) = (Decimal::ZERO, Decimal::ZERO);
    for tier in tiers {
        let end = tier.up_to_percent.min(used);
        if end > from {
            paid += (end - from) * tier.pays_percent / Decimal::ONE_HUNDRED;
            from = end;
        }
    }
    // Beyond the last tier, as in it would be a guess.
    paid += used - from;
    paid.checked_div(used)
}
