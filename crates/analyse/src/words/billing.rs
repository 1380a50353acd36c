//! A billing rule as a person would say it.

use model::BillingRule;
use model::money::{Charge, Discount, DiscountTerms, MonthOfUse, PaidPhases, RentalScope, Unit};
use rust_decimal::Decimal;

use crate::words::format;

/// `time is rounded up to whole seconds, at least 1 min; every phase is paid; tax of 17 %`.
pub fn billing_words(rule: &BillingRule) -> String {
    let mut parts = vec![time(rule), paid(rule)];
    parts.extend(rental(rule).map(str::to_owned));
    parts.extend(rule.interruptions.as_ref().map(|interruptions| {
        let saved = match interruptions.checkpoint_seconds {
            Some(seconds) => {
                let every = format::duration(f64::from(seconds));
                format!("work since the last checkpoint (every {every}) is lost")
            }
            None => "all work is lost each time".to_owned(),
        };
        format!(
            "{} interruptions per hour are expected, {saved}",
            interruptions.per_hour.normalize()
        )
    }));
    let around: Vec<String> = rule
        .around
        .parts()
        .map(|(phase, seconds)| format!("{} {phase}", format::duration(f64::from(seconds))))
        .collect();
    if !around.is_empty() {
        let around = format::listed(&around, 3);
        let each = match rule.is_shared() {
            true => "once per rental",
            false => "for every run",
        };
        parts.push(format!("{around} of the machine {each}"));
    }
    let discounts = rule.discounts.iter();
    parts.extend(discounts.map(|one| discount(one, &rule.month)));
    let charges = rule.charges.iter();
    parts.extend(charges.map(|one| charge(one, &rule.month)));
    parts.extend(
        rule.tax_percent
            .map(|percent| format!("tax of {} %", percent.normalize())),
    );
    parts.join("; ")
}

fn time(rule: &BillingRule) -> String {
    if rule.paid == PaidPhases::Requests {
        let milliseconds = |ms: u32| format::duration(f64::from(ms) / 1000.0);
        let step = match rule.request_step_ms {
            0 => "requests are billed for their exact time".to_owned(),
            step => format!("each request is rounded up to {}", milliseconds(step)),
        };
        return match rule.request_minimum_ms {
            0 => step,
            least => format!("{step}, minimum {}", milliseconds(least)),
        };
    }
    let step = match rule.step_seconds {
        0 => "the exact time is billed".to_owned(),
        1 => "time is rounded up to whole seconds".to_owned(),
        step => {
            let step = format::duration(f64::from(step));
            format!("time is rounded up to multiples of {step}")
        }
    };
    match rule.minimum_seconds {
        0 => step,
        least => format!("{step}, minimum {}", format::duration(f64::from(least))),
    }
}

/// Requests are paid wherever they are handled.
fn rental(rule: &BillingRule) -> Option<&'static str> {
    match (rule.is_shared(), rule.rental) {
        (true, _) => Some("one machine for all runs of a session"),
        (false, RentalScope::Run) => Some("a new machine for every run"),
        (false, RentalScope::Study) => None,
    }
}

fn paid(rule: &BillingRule) -> String {
    match &rule.paid {
        PaidPhases::All => "all phases of a run".to_owned(),
        PaidPhases::Only(phases) => format!("only {}", format::listed(phases, 8)),
        PaidPhases::Requests => "only time in which requests are handled".to_owned(),
    }
}

fn discount(discount: &Discount, month: &MonthOfUse) -> String {
    let what = &discount.what;
    match &discount.terms {
        DiscountTerms::Committed {
            percent,
            share_percent,
        } => {
            let (percent, share) = (percent.normalize(), share_percent.normalize());
            match share == Decimal::ONE_HUNDRED {
                true => format!("{what}: {percent} % off"),
                false => format!("{what}: {percent} % off {share} % of the time"),
            }
        }
        DiscountTerms::Sustained { .. } => match month.hours {
            Some(hours) => format!("{what}, for {} hours per month", hours.normalize()),
            None => format!("{what} is not applied: the hours per month are not set"),
        },
        DiscountTerms::FreeTime { .. } if month.hours.or(month.requests).is_some() => what.clone(),
        DiscountTerms::FreeTime { .. } => {
            format!("{what} are not applied: the usage per month is not set")
        }
    }
}

fn charge(charge: &Charge, month: &MonthOfUse) -> String {
    let price = format!(
        "{}/{}",
        format::exact_money(&charge.price),
        charge.unit.word()
    );
    let quantity = charge.quantity.normalize();
    let counted = match charge.unit {
        Unit::GigabyteMonth | Unit::Gigabyte => format!("{quantity} GB at {price}"),
        _ if quantity > Decimal::ONE => format!("{quantity} at {price}"),
        _ => price,
    };
    let free = charge.free.normalize();
    let known = match charge.unit {
        Unit::GigabyteMonth => true,
        Unit::MillionRequests => month.requests.is_some(),
        Unit::Gigabyte => month.gigabytes.is_some(),
        _ => month.hours.is_some(),
    };
    match (free.is_zero(), known) {
        (true, _) => format!("{}: {counted}", charge.what),
        (false, true) => format!(
            "{}: {counted}, {free} {} per month free",
            charge.what,
            charge.unit.word()
        ),
        (false, false) => format!(
            "{}: {counted}; free amounts are not applied, the usage per month is not set",
            charge.what
        ),
    }
}
