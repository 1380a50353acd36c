//! A billing rule as a person would say it.

use messages::{message, word};
use model::BillingRule;
use model::money::{Charge, Discount, DiscountTerms, MonthOfUse, PaidPhases, RentalScope, Unit};
use rust_decimal::Decimal;

use crate::words::format;
use crate::words::names::phase_words;

/// `time is rounded up to whole seconds, at least 1 min; every phase is paid; tax of 17 %`.
pub fn billing_words(rule: &BillingRule) -> String {
    let mut parts = vec![time(rule), paid(rule)];
    parts.extend(rental(rule).map(str::to_owned));
    parts.extend(rule.interruptions.as_ref().map(|interruptions| {
        let saved = match interruptions.checkpoint_seconds {
            Some(seconds) => {
                let every = format::duration(f64::from(seconds));
                message!("rule-checkpoint", every)
            }
            None => word!("rule-all-lost").to_owned(),
        };
        message!(
            "rule-interruptions",
            count = decimal(interruptions.per_hour),
            saved
        )
    }));
    let around: Vec<String> = rule
        .around
        .parts()
        .map(|(phase, seconds)| {
            let time = format::duration(f64::from(seconds));
            message!("rule-around-part", time, phase = phase_words(phase))
        })
        .collect();
    if !around.is_empty() {
        let around = format::listed(&around, 3);
        parts.push(message!("rule-around", around, shared = rule.is_shared()));
    }
    let discounts = rule.discounts.iter();
    parts.extend(discounts.map(|one| discount(one, &rule.month)));
    let charges = rule.charges.iter();
    parts.extend(charges.map(|one| charge(one, &rule.month)));
    parts.extend(
        rule.tax_percent
            .map(|percent| message!("rule-tax", percent = decimal(percent))),
    );
    parts.join("; ")
}

fn time(rule: &BillingRule) -> String {
    if rule.paid == PaidPhases::Requests {
        let milliseconds = |ms: u32| format::duration(f64::from(ms) / 1000.0);
        let step = match rule.request_step_ms {
            0 => message!("rule-requests-exact"),
            step => message!("rule-requests-step", step = milliseconds(step)),
        };
        return match rule.request_minimum_ms {
            0 => step,
            least => message!("rule-with-minimum", step, least = milliseconds(least)),
        };
    }
    let step = match rule.step_seconds {
        0 => message!("rule-exact"),
        1 => message!("rule-seconds"),
        step => message!("rule-step", step = format::duration(f64::from(step))),
    };
    match rule.minimum_seconds {
        0 => step,
        least => {
            let least = format::duration(f64::from(least));
            message!("rule-with-minimum", step, least)
        }
    }
}

/// Requests are paid wherever they are handled.
fn rental(rule: &BillingRule) -> Option<&'static str> {
    match (rule.is_shared(), rule.rental) {
        (true, _) => Some(word!("rule-one-machine")),
        (false, RentalScope::Run) => Some(word!("rule-new-machine")),
        (false, RentalScope::Study) => None,
    }
}

fn paid(rule: &BillingRule) -> String {
    match &rule.paid {
        PaidPhases::All => message!("rule-all-phases"),
        PaidPhases::Only(phases) => {
            let phases: Vec<String> = phases.iter().map(|p| phase_words(p).to_owned()).collect();
            message!("rule-only-phases", phases = format::listed(&phases, 8))
        }
        PaidPhases::Requests => message!("rule-only-requests"),
    }
}

fn discount(discount: &Discount, month: &MonthOfUse) -> String {
    let what = &discount.what;
    match &discount.terms {
        DiscountTerms::Committed {
            percent,
            share_percent,
        } => {
            let (percent, share) = (decimal(*percent), decimal(*share_percent));
            match *share_percent == Decimal::ONE_HUNDRED {
                true => message!("rule-off", what, percent),
                false => message!("rule-off-part", what, percent, share),
            }
        }
        DiscountTerms::Sustained { .. } => match month.hours {
            Some(hours) => message!("rule-sustained", what, hours = decimal(hours)),
            None => message!("rule-sustained-unknown", what),
        },
        DiscountTerms::FreeTime { .. } if month.hours.or(month.requests).is_some() => what.clone(),
        DiscountTerms::FreeTime { .. } => message!("rule-free-unknown", what),
    }
}

fn charge(charge: &Charge, month: &MonthOfUse) -> String {
    let unit = unit_words(charge.unit);
    let price = format!("{}/{unit}", format::exact_money(&charge.price));
    let quantity = decimal(charge.quantity);
    let counted = match charge.unit {
        Unit::GigabyteMonth | Unit::Gigabyte => {
            message!("rule-quantity-gigabytes", quantity, price)
        }
        _ if charge.quantity > Decimal::ONE => message!("rule-quantity", quantity, price),
        _ => price,
    };
    let what = &charge.what;
    let known = match charge.unit {
        Unit::GigabyteMonth => true,
        Unit::MillionRequests => month.requests.is_some(),
        Unit::Gigabyte => month.gigabytes.is_some(),
        _ => month.hours.is_some(),
    };
    match (charge.free.is_zero(), known) {
        (true, _) => format!("{what}: {counted}"),
        (false, true) => {
            let free = decimal(charge.free);
            message!("rule-charge-free", what, counted, free, unit)
        }
        (false, false) => message!("rule-charge-unknown", what, counted),
    }
}

/// Behind a price: `h`, `GB-month`.
/// `GB-month`, `million requests`.
pub fn unit_words(unit: Unit) -> &'static str {
    match unit {
        Unit::GigabyteMonth => word!("per-GB-month"),
        Unit::Gigabyte => word!("per-GB"),
        Unit::Hour => word!("per-h"),
        Unit::MillionRequests => word!("per-million-requests"),
        Unit::Month => word!("per-month"),
        Unit::Run => word!("per-run"),
    }
}

fn decimal(value: Decimal) -> String {
    messages::number(&value.normalize().to_string())
}
