//! How numbers are written for people, in one place: sentences here and tables in `report` agree.
//! Every function takes any `f64`; what is not a number is written as a dash.

use messages::{message, number};
use model::Currency;
use rust_decimal::Decimal;
use stats::Estimate;

/// What stands where there is not a number.
pub const NONE: &str = "–";

/// A value and half the width of its interval, written with as many digits as the interval allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantity {
    pub value: String,
    /// Empty when there is no interval.
    pub half_width: String,
}

impl Quantity {
    /// `1.92 ± 0.03`.
    pub fn text(&self) -> String {
        match self.half_width.is_empty() {
            true => self.value.clone(),
            false => format!("{} ± {}", self.value, self.half_width),
        }
    }
}

/// The estimate divided by `scale` (1e6 for megabytes), with the digits its interval allows.
pub fn quantity(estimate: &Estimate, scale: f64) -> Quantity {
    let value = estimate.value / scale;
    let half = estimate
        .interval
        .as_ref()
        .map(|i| (i.high - i.low) / 2.0 / scale);
    match half {
        // Of equal values, what is left is noise of floating numbers.
        Some(half) if half.is_finite() && half > 1e-9 * value.abs() && value.is_finite() => {
            let places = uncertain_places(half)
                .max(significant_places(value, 2))
                .min(9);
            Quantity {
                value: fixed(value, places),
                half_width: fixed(half, places),
            }
        }
        _ => Quantity {
            value: significant(value, 3),
            half_width: String::new(),
        },
    }
}

/// Decimal places that show one significant digit of the uncertainty, two when it begins with 1:
/// the usual rule for reporting (GUM 7.2.6, JCGM 100:2008). Negative for tens and more.
fn uncertain_places(half: f64) -> i32 {
    let exponent = half.log10().floor() as i32;
    let leading = (half / 10f64.powi(exponent)).floor();
    if leading <= 1.0 {
        1 - exponent
    } else {
        -exponent
    }
}

fn significant_places(value: f64, digits: i32) -> i32 {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    digits - 1 - value.abs().log10().floor() as i32
}

/// So many digits after the point; none and no rounding beyond units for zero and less.
fn fixed(value: f64, places: i32) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let text = format!("{:.*}", places.clamp(0, 12) as usize, value);
    number(
        text.strip_prefix('-')
            .filter(|rest| rest.bytes().all(|b| matches!(b, b'0' | b'.')))
            .unwrap_or(&text),
    )
}

/// So many significant digits, never in powers of ten: `1.92`, `534`, `0.00093`.
pub fn significant(value: f64, digits: i32) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let places = significant_places(value, digits);
    // 9.996 to three digits is 10.0, not 10.00.
    let rounded = if places >= 0 {
        (value * 10f64.powi(places)).round() / 10f64.powi(places)
    } else {
        value
    };
    fixed(
        value,
        if rounded.is_finite() {
            significant_places(rounded, digits)
        } else {
            places
        },
    )
}

/// For what is background: whole numbers from ten up, two digits below.
pub fn whole(value: f64) -> String {
    if value.abs() >= 9.95 {
        fixed(value, 0)
    } else {
        significant(value, 2)
    }
}

/// `12,345 runs` without the word: a count.
pub fn count(value: usize) -> String {
    number(&value.to_string())
}

/// `1 run`, `3 runs`.
pub fn counted(value: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// A length of time as people say it: `38 ms`, `9.80 s`, `1 min 50 s`, `2 h 05 min`, `3 d 4 h`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() {
        return NONE.to_owned();
    }
    let magnitude = seconds.abs();
    let sign = if seconds < 0.0 { "−" } else { "" };
    let whole = magnitude.round();
    let text = if magnitude == 0.0 {
        Unit::new("s", 1.0).write("0")
    } else if magnitude < 0.9995e-3 {
        Unit::new("µs", 1e-6).of(magnitude)
    } else if magnitude < 0.9995 {
        Unit::new("ms", 1e-3).of(magnitude)
    } else if whole < 60.0 {
        Unit::new("s", 1.0).of(magnitude)
    } else if whole < 3600.0 {
        let minutes = (whole / 60.0).floor() as usize;
        let seconds = format!("{:02.0}", whole % 60.0);
        message!("duration-minutes", minutes, seconds)
    } else if magnitude < 86_400.0 {
        let all = (magnitude / 60.0).round();
        let hours = (all / 60.0).floor() as usize;
        let minutes = format!("{:02.0}", all % 60.0);
        message!("duration-hours", hours, minutes)
    } else {
        let all = (magnitude / 3600.0).round();
        let days = (all / 24.0).floor() as usize;
        let hours = format!("{:.0}", all % 24.0);
        message!("duration-days", days, hours)
    };
    format!("{sign}{text}")
}

/// Memory that a machine or a GPU has, as makers and clouds count it: `23.5 GiB`, powers of 1024.
/// Everything that is measured or stored is in powers of a thousand, see [`bytes`].
pub fn memory(bytes: u64) -> String {
    const UNITS: [(&str, u32); 3] = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let unit = UNITS.iter().find(|(_, power)| bytes >= 1 << power);
    match unit {
        Some((name, power)) => Unit::new(name, (1u64 << power) as f64).of(bytes as f64),
        None => Unit::new("B", 1.0).write(&bytes.to_string()),
    }
}

/// `143 MB`, `1.61 GB`: powers of a thousand, as disks and clouds count.
pub fn bytes(value: f64) -> String {
    let unit = byte_unit(value);
    match value.is_finite() {
        true => unit.of(value),
        false => NONE.to_owned(),
    }
}

/// A unit and how many of the metric's own unit it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    pub name: &'static str,
    pub scale: f64,
}

impl Unit {
    /// By its symbol; some languages have their own.
    pub fn new(symbol: &'static str, scale: f64) -> Self {
        Unit {
            name: messages::named("unit", symbol).unwrap_or(symbol),
            scale,
        }
    }

    /// A value in the metric's own unit, with three digits: `12.3 kJ`.
    pub fn of(&self, value: f64) -> String {
        self.write(&significant(value / self.scale, 3))
    }

    fn write(&self, number: &str) -> String {
        format!("{number} {}", self.name)
    }
}

pub fn byte_unit(value: f64) -> Unit {
    const UNITS: [(&str, f64); 4] = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let mut units = UNITS.into_iter();
    let found = units.find(|(_, scale)| value.abs() >= 0.9995 * scale);
    let (symbol, scale) = found.unwrap_or(("B", 1.0));
    Unit::new(symbol, scale)
}

/// One unit for a column of seconds, chosen by a typical value.
pub fn seconds_unit(typical: f64) -> Unit {
    match typical.abs() {
        value if value < 1e-3 => Unit::new("µs", 1e-6),
        value if value < 0.5 => Unit::new("ms", 1e-3),
        value if value < 1_200.0 => Unit::new("s", 1.0),
        value if value < 18_000.0 => Unit::new("min", 60.0),
        value if value.is_finite() => Unit::new("h", 3600.0),
        _ => Unit::new("s", 1.0),
    }
}

/// A fraction as percent: `71 %`, `2.1 %`, `< 0.1 %`.
pub fn percent(fraction: f64) -> String {
    let value = fraction * 100.0;
    if !value.is_finite() {
        NONE.to_owned()
    } else if value != 0.0 && value.abs() < 0.1 {
        format!("< {} %", number("0.1"))
    } else if value.abs() < 9.95 && value != value.round() {
        format!("{} %", fixed(value, 1))
    } else {
        format!("{} %", fixed(value, 0))
    }
}

/// A relative difference that may be tiny: `0.4 %`, `2e-6`, `0`.
pub fn difference(fraction: f64) -> String {
    match fraction.abs() {
        size if !size.is_finite() => NONE.to_owned(),
        0.0 => "0".to_owned(),
        size if size < 1e-3 => format!("{size:.0e}"),
        size => percent(size),
    }
}

/// `2.9×`, with one digit more than its interval makes sure of when that is narrow.
pub fn ratio(value: f64) -> String {
    format!("{}×", bare_ratio(value))
}

/// `[2.8, 3.0]`.
pub fn interval(low: f64, high: f64, write: impl Fn(f64) -> String) -> String {
    message!("interval", low = write(low), high = write(high))
}

pub fn bare_ratio(value: f64) -> String {
    match value.abs() {
        size if size < 9.95 => significant(value, 2),
        // From there on as many decimals as next to it, and no more: 9.9, 10.0, 10.6.
        size if size < 99.95 => significant((10.0 * value).round() / 10.0, 3),
        _ => significant(value, 3),
    }
}

/// What something costs, in a table: four significant digits and two decimals at least,
/// `US$ 0.005005`. Sentences say it shorter, as `Money` is displayed.
pub fn amount(money: &model::Money) -> String {
    let mut rounded = *money;
    let four = money.amount.round_sf(4).unwrap_or(money.amount);
    rounded.amount = match four.scale() < 2 {
        true => money.amount.round_dp(2),
        false => four,
    };
    exact_money(&rounded)
}

/// All the digits there are, for prices: `US$ 0.169`. Two decimals at least.
pub fn exact_money(money: &model::Money) -> String {
    let amount = money.amount.normalize();
    let amount = if amount.scale() < 2 {
        format!("{amount:.2}")
    } else {
        amount.to_string()
    };
    in_currency(money.currency, &number(&amount))
}

/// An amount in a sentence: `US$ 0.0052`, with the digits of [`model::Money`].
pub fn money(money: &model::Money) -> String {
    let text = money.to_string();
    let amount = text.split_once(' ').map_or("", |(_, amount)| amount);
    in_currency(money.currency, &number(amount))
}

/// A written number with its currency where the language puts it.
pub fn in_currency(currency: Currency, amount: &str) -> String {
    message!("money", symbol = currency.symbol(), amount)
}

/// A p-value: `0.03`, `< 0.001`.
pub fn p_value(p: f64) -> String {
    match p {
        p if !p.is_finite() => NONE.to_owned(),
        p if p < 0.001 => format!("< {}", number("0.001")),
        p => number(&format!("{:.*}", if p < 0.1 { 3 } else { 2 }, p)),
    }
}

/// `C1, C2 and 5 more`; at most `limit` are named.
pub fn listed(items: &[String], limit: usize) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        _ if items.len() <= limit => {
            let (last, rest) = (&items[items.len() - 1], &items[..items.len() - 1]);
            message!("list", rest = rest.join(", "), last)
        }
        _ => {
            let named = items[..limit].join(", ");
            message!("list-and-more", named, more = items.len() - limit)
        }
    }
}

/// A sentence that goes on behind a name: its first letter small.
pub fn uncapitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(char::to_lowercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// The beginning of a sentence.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// `A is 5 % cheaper than B`, `A costs 3.11 times as much as B`.
pub fn price_compared(one: &str, other: &str, times: Decimal) -> String {
    let percent = |part: Decimal| number(&decimal((part * Decimal::ONE_HUNDRED).round_dp(1)));
    if times == Decimal::ONE {
        message!("price-same", one, other)
    } else if times < Decimal::ONE {
        message!(
            "price-cheaper",
            one,
            other,
            percent = percent(Decimal::ONE - times)
        )
    } else if times < Decimal::TWO {
        message!(
            "price-dearer",
            one,
            other,
            percent = percent(times - Decimal::ONE)
        )
    } else {
        message!(
            "price-times",
            one,
            other,
            times = number(&decimal(times.round_dp(2)))
        )
    }
}

/// Without zeros at the end.
fn decimal(value: Decimal) -> String {
    value.normalize().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        let check = |got: String, expected: &str| assert_eq!(got, expected);
        check(significant(1.9234, 3), "1.92");
        check(significant(9.996, 3), "10.0");
        check(significant(534.2, 3), "534");
        check(significant(12_345.6, 3), "12,346");
        check(significant(0.000_932_1, 2), "0.00093");
        check(significant(-2.5, 2), "−2.5");
        check(significant(0.0, 3), "0");
        check(significant(f64::NAN, 3), "–");
        check(duration(110.2), "1 min 50 s");
        check(duration(59.7), "1 min 00 s");
        check(duration(7_500.0), "2 h 05 min");
        check(duration(0.038), "38.0 ms");
        check(duration(270_000.0), "3 d 3 h");
        check(duration(f64::INFINITY), "–");
        check(bytes(143.2e6), "143 MB");
        check(bytes(999.9e6), "1.00 GB");
        check(bytes(0.0), "0 B");
        check(memory(25_261_768_704), "23.5 GiB");
        check(memory(16 << 30), "16.0 GiB");
        check(memory(512 << 20), "512 MiB");
        check(memory(12), "12 B");
        let money = |text: &str| text.parse::<model::Money>().unwrap();
        check(amount(&money("0.0050050013 USD")), "US$ 0.005005");
        check(amount(&money("123456.789 USD")), "US$ 123,456.79");
        check(amount(&money("0.1 USD")), "US$ 0.10");
        check(amount(&money("0 USD")), "US$ 0.00");
        check(percent(0.71), "71 %");
        check(percent(0.0214), "2.1 %");
        check(percent(0.000_2), "< 0.1 %");
        check(percent(f64::NAN), "–");
        check(difference(3.2e-6), "3e-6");
        check(difference(-0.021), "2.1 %");
        check(difference(0.0), "0");
        check(difference(f64::NAN), "–");
        check(ratio(2.94), "2.9×");
        check(ratio(12.34), "12.3×");
        check(p_value(0.000_01), "< 0.001");
        check(p_value(0.034), "0.034");
        check(
            listed(&["C1".into(), "C2".into(), "C3".into()], 2),
            "C1, C2 and 1 more",
        );
        check(listed(&["C1".into(), "C2".into()], 5), "C1 and C2");
    }

    #[test]
    fn prices_are_compared_in_percent_or_times() {
        let check = |times: &str, expected: &str| {
            assert_eq!(price_compared("A", "B", times.parse().unwrap()), expected);
        };
        check("0.9468", "A is 5.3 % cheaper than B");
        check("1", "A costs the same as B");
        check("1.1", "A is 10 % more expensive than B");
        check("3.1124", "A costs 3.11 times as much as B");
    }
}
