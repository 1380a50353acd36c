//! How long a machine was on, from what a row counted.

use rust_decimal::Decimal;

use super::google_json::CORES;
use super::tags::entry;
use crate::charge::{Interval, Provider, contains};

pub(super) struct Counted<'c> {
    pub(super) provider: Provider,
    pub(super) quantity: Decimal,
    pub(super) unit: &'c str,
    pub(super) description: &'c str,
    pub(super) machine: &'c str,
    /// JSON that may tell the number of cores.
    pub(super) details: &'c str,
    pub(super) time: Option<Interval>,
}

/// `None` if the row counts something else than time.
pub(super) fn machine_seconds(counted: &Counted) -> Option<Decimal> {
    let unit = Unit::parse(counted.unit)?;
    let seconds = counted.quantity.checked_mul(unit.seconds)?;
    match counted.provider {
        Provider::Google => of_parts(counted, seconds),
        _ => Some(in_blocks(counted, seconds, unit.block)),
    }
}

struct Unit {
    /// Of one of it.
    seconds: Decimal,
    /// The 100 of `100 Hours`.
    block: Decimal,
}

impl Unit {
    fn parse(text: &str) -> Option<Unit> {
        let word = text.trim_start_matches(|c: char| c.is_ascii_digit() || " ,.".contains(c));
        let block = text[..text.len() - word.len()].trim();
        let seconds = match word.to_lowercase().as_str() {
            "hours" | "hour" | "hrs" | "hr" | "h" | "stunde" | "stunden" | "hora" | "horas"
            | "heure" | "heures" => 3600,
            "seconds" | "second" | "sec" | "s" => 1,
            "minutes" | "minute" | "min" => 60,
            _ => return None,
        };
        Some(Unit {
            seconds: Decimal::from(seconds),
            block: block.parse().unwrap_or(Decimal::ONE),
        })
    }
}

/// Azure prices some meters by 10 or 100 hours. Some exports count these blocks, others the
/// hours; no machine is on for longer than the row's own time, which tells them apart.
fn in_blocks(counted: &Counted, seconds: Decimal, block: Decimal) -> Decimal {
    let longest = counted
        .time
        .map(|time| Decimal::new(time.end_ms - time.start_ms, 3));
    match seconds.checked_mul(block) {
        Some(blocks) if longest.is_some_and(|longest| blocks.abs() <= longest) => blocks,
        _ => seconds,
    }
}

/// Google bills a machine in parts: its cores tell the time, memory and GPUs only cost.
fn of_parts(counted: &Counted, seconds: Decimal) -> Option<Decimal> {
    let is = |word: &str| contains(counted.description.as_bytes(), word.as_bytes());
    if is(" ram") || is("gpu") || is("nvidia") {
        return None;
    }
    if !is("core") {
        return Some(seconds);
    }
    let told = entry(counted.details, CORES).and_then(|cores| cores.parse().ok());
    let cores: Decimal = told.or_else(|| {
        let digits = counted.machine.rsplit('-').next()?;
        digits.parse().ok()
    })?;
    seconds.checked_div(cores).map(|s| s.round_dp(9))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::DAY_MS;

    #[test]
    fn quantities_become_machine_time() {
        let check = |provider, quantity: &str, unit, description, expected: Option<&str>| {
            let seconds = machine_seconds(&Counted {
                provider,
                quantity: quantity.parse().unwrap(),
                unit,
                description,
                machine: "n1-standard-4",
                details: "",
                time: Some(Interval {
                    start_ms: 0,
                    end_ms: DAY_MS,
                }),
            });
            let found = seconds.map(|s| s.normalize().to_string());
            assert_eq!(found.as_deref(), expected, "{quantity} {unit}");
        };
        use Provider::{Aws, Azure, Google};
        check(Aws, "0.5", "Hrs", "", Some("1800"));
        check(Azure, "24", "1 Hour", "", Some("86400"));
        check(Azure, "3", "100 Hours", "", Some("10800"));
        check(Azure, "0.03", "100 Hours", "", Some("10800"));
        check(Azure, "5", "1 GB/Month", "", None);
        check(Aws, "5", "vCPU-Hours", "", None);
        check(Google, "14400", "seconds", "N1 Instance Core", Some("3600"));
        check(Google, "3600", "seconds", "Nvidia Tesla T4 GPU", None);
        check(Google, "3600", "seconds", "Micro Instance", Some("3600"));
        check(Google, "9", "byte-seconds", "N1 Instance Ram", None);
    }
}
