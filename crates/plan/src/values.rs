//! Numbers with units, as people write them. Pure functions over text; an error says what was
//! expected.

use std::str::FromStr;

use model::energy::JOULES_PER_KILOWATT_HOUR;
use model::{Currency, KnownDate, Money};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

/// `10ms`, `1.5s`, `2min`, `6h`, `1d`.
pub fn duration_seconds(text: &str) -> Result<f64, String> {
    let expected =
        || format!("`{text}` is not a duration such as \"10ms\", \"1.5s\", \"2min\" or \"6h\"");
    let Quantity { number, unit } = quantity(text).ok_or_else(expected)?;
    let milliseconds: i64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(expected()),
    };
    number
        .checked_mul(Decimal::new(milliseconds, 3))
        .and_then(|seconds| seconds.to_f64())
        .ok_or_else(expected)
}

/// `95%` or `95`: shares are written as percentages everywhere.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').map(str::trim_end);
    let value = number.unwrap_or(text).parse::<f64>();
    let value = value.map_err(|_| format!("`{text}` is not a percentage such as \"95%\""))?;
    match number.is_some() && value > 0.0 && value <= 100.0 {
        true => Ok(value),
        false => checked_percent(value),
    }
}

/// A number without `%` that is 1 or less was meant as a share.
pub(crate) fn checked_percent(value: f64) -> Result<f64, String> {
    if value > 0.0 && value <= 1.0 {
        let meant = (1e8 * value).round() / 1e6;
        return Err(format!(
            "{value} is a share, and percent are needed: write {meant} for {meant} %"
        ));
    }
    match value > 0.0 && value <= 100.0 {
        true => Ok(value),
        false => Err(format!(
            "{value} is not a percentage above 0 and at most 100, such as 98.5"
        )),
    }
}

/// `8 GB`, `512 MiB`, `1.5GB`: a decimal prefix is a power of 1000, a binary one of 1024.
pub(crate) fn size_bytes(text: &str) -> Result<u64, String> {
    let expected = || format!("`{text}` is not a size such as \"8 GB\" or \"512 MiB\"");
    let Quantity { number, unit } = quantity(text).ok_or_else(expected)?;
    let factor: u64 = match unit {
        "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return Err(expected()),
    };
    number
        .checked_mul(Decimal::from(factor))
        .and_then(|bytes| bytes.round().to_u64())
        .filter(|bytes| *bytes > 0)
        .ok_or_else(expected)
}

/// `60 W` or `0.06 kW`.
pub(crate) fn watts(text: &str) -> Result<f64, String> {
    let expected = || format!("`{text}` is not a power such as \"60 W\"");
    let Quantity { number, unit } = quantity(text).ok_or_else(expected)?;
    let watts = match unit {
        "W" => Some(number),
        "kW" => number.checked_mul(Decimal::ONE_THOUSAND),
        _ => None,
    };
    watts.and_then(|watts| watts.to_f64()).ok_or_else(expected)
}

/// `50 kJ` or `2 kWh`.
pub fn joules(text: &str) -> Result<f64, String> {
    let expected = || format!("`{text}` is not an energy such as \"50 kJ\" or \"2 kWh\"");
    let Quantity { number, unit } = quantity(text).ok_or_else(expected)?;
    let unit_joules = match unit {
        "J" => 1.0,
        "kJ" => 1e3,
        "MJ" => 1e6,
        "Wh" => 3600.0,
        "kWh" => JOULES_PER_KILOWATT_HOUR,
        _ => return Err(expected()),
    };
    let joules = number.to_f64().map(|number| number * unit_joules);
    joules.ok_or_else(expected)
}

/// `0.169 USD/h`, as money an hour. Also a minute (`/min`) or a second (`/s`).
pub fn price_per_hour(text: &str) -> Result<Money, String> {
    let expected = || format!("`{text}` is not a price such as \"0.169 USD/h\"");
    let (money, unit) = money_per(text).ok_or_else(expected)?;
    let hours: i64 = match unit {
        "h" | "hour" => 1,
        "min" => 60,
        "s" => 3600,
        _ => return Err(expected()),
    };
    let amount = money
        .amount
        .checked_mul(Decimal::from(hours))
        .ok_or_else(expected)?;
    Ok(Money::new(amount, money.currency))
}

/// `0.15 USD/kWh`.
pub(crate) fn price_per_kilowatt_hour(text: &str) -> Result<Money, String> {
    let expected = || format!("`{text}` is not a price of electricity such as \"0.15 USD/kWh\"");
    match money_per(text) {
        Some((money, "kWh")) => Ok(money),
        _ => Err(expected()),
    }
}

/// `200 USD`, not negative.
pub(crate) fn money(text: &str) -> Result<Money, String> {
    let money: Money = text.parse()?;
    match money.amount.is_sign_negative() {
        true => Err(format!("`{text}` is negative")),
        false => Ok(money),
    }
}

/// `2024-03-01`, also `2024-03` and `2024` where the day is not known.
pub(crate) fn date(text: &str) -> Result<String, String> {
    text.parse::<KnownDate>().map(|_| text.to_owned())
}

/// A number as typed in TOML (`4.865`, `1_000`, `1e-3`), without a binary fraction on the way.
pub(crate) fn decimal(text: &str) -> Option<Decimal> {
    let text = text.replace('_', "");
    let text = text.strip_prefix('+').unwrap_or(&text);
    match text.contains(['e', 'E']) {
        true => Decimal::from_scientific(&text.replace('E', "e")).ok(),
        false => Decimal::from_str(text).ok(),
    }
}

struct Quantity<'t> {
    number: Decimal,
    unit: &'t str,
}

/// A number that is not negative, and the unit after it, with or without a space between.
fn quantity(text: &str) -> Option<Quantity<'_>> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_')?;
    let number = decimal(&text[..end])?;
    Some(Quantity {
        number,
        unit: text[end..].trim(),
    })
}

fn money_per(text: &str) -> Option<(Money, &str)> {
    let (amount, unit) = text.rsplit_once('/')?;
    let (number, currency) = amount.trim().split_once(char::is_whitespace)?;
    let number = decimal(number).filter(|n| !n.is_sign_negative())?;
    let currency: Currency = currency.trim().parse().ok()?;
    Some((Money::new(number, currency), unit.trim()))
}

/// What is wrong with a device or a list of them; whether it is there, only the machine can tell.
pub(crate) fn device_complaint(text: &str) -> Option<String> {
    let is_number = |number: &str| {
        (1..=3).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_device = |device: &str| match device.split_once(':') {
        None => matches!(device, "cpu" | "cuda"),
        Some((kind, number)) => kind == "cuda" && is_number(number),
    };
    let mut devices = text.split(',');
    let unknown = devices.find(|device| !is_device(device))?;
    Some(format!(
        "`{unknown}` is not a device: use cpu, cuda:0, or cuda:0,cuda:1 for two"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let check = |text, expected| assert_eq!(duration_seconds(text).ok(), expected, "{text}");
        check("10ms", Some(0.01));
        check("1.5s", Some(1.5));
        check("2 min", Some(120.0));
        check("6h", Some(21600.0));
        check("0s", Some(0.0));
        for wrong in [
            "",
            "10",
            "s",
            "-1s",
            "1m",
            "1.2.3s",
            "1 s s",
            "1e3s",
            "9999999999999999999999999999h",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn sizes() {
        let check = |text, expected| assert_eq!(size_bytes(text).ok(), expected, "{text}");
        check("8 GB", Some(8_000_000_000));
        check("512 MiB", Some(536_870_912));
        check("1.5GB", Some(1_500_000_000));
        check("100B", Some(100));
        for wrong in ["", "8", "GB", "8 gb", "-8 GB", "0 GB", "99999999999 TB"] {
            check(wrong, None);
        }
    }

    #[test]
    fn power_and_energy() {
        let check = |text, expected| assert_eq!(watts(text).ok(), expected, "{text}");
        check("60 W", Some(60.0));
        check("0.18kW", Some(180.0));
        for wrong in ["", "60", "W", "-1 W", "60 w", "60 J"] {
            check(wrong, None);
        }
        let check = |text, expected| assert_eq!(joules(text).ok(), expected, "{text}");
        check("850 J", Some(850.0));
        check("50 kJ", Some(50_000.0));
        check("2 kWh", Some(7.2e6));
        for wrong in ["", "2", "2 kW", "-1 J"] {
            check(wrong, None);
        }
    }

    #[test]
    fn prices() {
        let check = |text, expected: Option<&str>| {
            let expected = expected.map(|e| e.parse::<Money>().unwrap());
            assert_eq!(price_per_hour(text).ok(), expected, "{text}");
        };
        check("0.169 USD/h", Some("0.169 USD"));
        check("0.0000200 USD/s", Some("0.0720000 USD"));
        check("1 EUR / min", Some("60 EUR"));
        for wrong in [
            "",
            "0.169",
            "0.169 USD",
            "USD/h",
            "-1 USD/h",
            "1 usd/h",
            "1 USD/day",
        ] {
            check(wrong, None);
        }
        assert_eq!(
            price_per_kilowatt_hour("0.15 USD/kWh").unwrap().to_string(),
            "US$ 0.15"
        );
        assert!(price_per_kilowatt_hour("0.15 USD/h").is_err());
    }

    #[test]
    fn decimals_are_read_as_typed() {
        let check = |text, expected: &str| assert_eq!(decimal(text).unwrap().to_string(), expected);
        check("4.865", "4.865");
        check("+1_000.50", "1000.50");
        check("1e-3", "0.001");
        assert_eq!(decimal("nan"), None);
        assert_eq!(decimal("0x10"), None);
    }

    #[test]
    fn devices_are_known_by_their_form() {
        for device in ["cpu", "cuda", "cuda:0", "cuda:15", "cuda:0,cuda:1"] {
            assert_eq!(device_complaint(device), None, "{device}");
        }
        for device in [
            "gpu",
            "wgpu",
            "cuda:-1",
            "cuda:",
            "cuda:99999",
            "cpu:0",
            "cuda:0,",
            "CPU",
        ] {
            assert!(device_complaint(device).is_some(), "{device}");
        }
    }
}
