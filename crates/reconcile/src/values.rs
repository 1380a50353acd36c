//! Numbers and dates as providers and spreadsheets write them.

use jiff::{Timestamp, civil};
use rust_decimal::Decimal;

/// Larger amounts and quantities are errors, and would leave the range of decimals when summed.
const LARGEST: Decimal = Decimal::from_parts(0xd4a5_1000, 0xe8, 0, false, 0); // 10^12
/// Digits kept after the point: sums of a million rows stay exact.
const PLACES: u32 = 18;

/// `None` if it is not a number, or one beyond 10^12. `comma_parts_cells` says that a comma cannot
/// be a decimal mark without quotes, so that `1,234` means thousands.
pub(crate) fn number(text: &str, comma_parts_cells: bool) -> Option<Decimal> {
    if text.is_empty() {
        return None;
    }
    let is_plain = memchr::memchr3(b',', b'e', b'E', text.as_bytes()).is_none();
    let parsed = match is_plain {
        true => text.parse::<Decimal>().ok().or_else(|| spaced(text)),
        false => spaced(&with_point(text, comma_parts_cells)),
    }?;
    let kept = match parsed.scale() > PLACES {
        true => parsed.round_dp(PLACES),
        false => parsed,
    };
    // So few characters cannot write a larger one; comparing costs more than parsing.
    let is_short = is_plain && text.len() <= 12;
    match is_short {
        true => Some(kept),
        false => bounded(kept),
    }
}

/// `None` for what is too large to be summed safely.
pub(crate) fn bounded(number: Decimal) -> Option<Decimal> {
    (number.abs() <= LARGEST).then_some(number)
}

/// `1 234.5`, `1.2E-05`.
fn spaced(text: &str) -> Option<Decimal> {
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    match plain.contains(['e', 'E']) {
        true => Decimal::from_scientific(&plain).ok(),
        false => plain.parse().ok(),
    }
}

/// The last mark of a number is the decimal one when it stands alone; what comes several times
/// parts thousands.
fn with_point(text: &str, comma_parts_cells: bool) -> String {
    let commas = text.matches(',').count();
    let points = text.matches('.').count();
    let decimal_comma = match (text.rfind(','), text.rfind('.')) {
        (Some(comma), Some(point)) => comma > point,
        (Some(comma), None) => {
            let three_digits = text.len() - comma == 4;
            let whole = text[..comma].trim_start_matches('-');
            commas == 1 && !(comma_parts_cells && three_digits && whole != "0")
        }
        _ => false,
    };
    match decimal_comma {
        true => text.replace('.', "").replace(',', "."),
        false if points > 1 => text.replace(['.', ','], ""),
        false => text.replace(',', ""),
    }
}

/// Which of two numbers before the year is the month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DayOrder {
    MonthFirst,
    DayFirst,
}

/// A moment, and whether only the day was reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Since 1970, in UTC.
    pub(crate) ms: i64,
    pub(crate) day_only: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReadMoment {
    pub(crate) moment: Moment,
    pub(crate) order: OrderRead,
}

/// How sure it is which number of a date is the month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderRead {
    /// The way of writing leaves no doubt.
    Certain,
    /// Both numbers could be.
    ByCustom,
    /// One of the numbers is above 12.
    Proven(DayOrder),
}

pub(crate) const DAY_MS: i64 = 86_400_000;
pub(crate) const HOUR_MS: i64 = 3_600_000;

/// `2024-03-01`, `2024-03-01T10:00:00Z`, `2024-03-01 10:00:00.5+01:00`, `2024-03-01 10:00 UTC`,
/// `03/21/2024`, `21.03.2024 10:00`.
pub(crate) fn moment(text: &str, order: DayOrder) -> Option<ReadMoment> {
    let bytes = text.as_bytes();
    let (date, rest) = match bytes.get(4) {
        Some(b'-' | b'/') if bytes.len() >= 10 => (iso_date(bytes)?, &text[10..]),
        _ => local_date(text, order)?,
    };
    let days = days_since_1970(date.year, date.month, date.day)?;
    let clock = clock(rest)?;
    Some(ReadMoment {
        moment: Moment {
            ms: days * DAY_MS + clock.unwrap_or(0),
            day_only: clock.is_none(),
        },
        order: date.order,
    })
}

struct Date {
    year: i64,
    month: i64,
    day: i64,
    order: OrderRead,
}

fn iso_date(bytes: &[u8]) -> Option<Date> {
    if !matches!(bytes[7], b'-' | b'/') || !bytes[..10].is_ascii() {
        return None;
    }
    Some(Date {
        year: digits(&bytes[..4])?,
        month: digits(&bytes[5..7])?,
        day: digits(&bytes[8..10])?,
        order: OrderRead::Certain,
    })
}

/// Points part the German way: the day comes first.
fn local_date(text: &str, order: DayOrder) -> Option<(Date, &str)> {
    let end = text.find([' ', 'T']).unwrap_or(text.len());
    let (date, rest) = text.split_at(end);
    let with_points = date.contains('.');
    let mut parts = date.split(['/', '.', '-']);
    let first = digits(parts.next()?.as_bytes())?;
    let second = digits(parts.next()?.as_bytes())?;
    let year = parts.next().filter(|year| year.len() == 4)?;
    if parts.next().is_some() {
        return None;
    }
    let read = match (with_points, first > 12, second > 12) {
        (true, _, _) => OrderRead::Certain,
        (_, true, false) => OrderRead::Proven(DayOrder::DayFirst),
        (_, false, true) => OrderRead::Proven(DayOrder::MonthFirst),
        _ => OrderRead::ByCustom,
    };
    let order = match read {
        OrderRead::Certain => DayOrder::DayFirst,
        OrderRead::Proven(proven) => proven,
        OrderRead::ByCustom => order,
    };
    let (month, day) = match order {
        DayOrder::MonthFirst => (first, second),
        DayOrder::DayFirst => (second, first),
    };
    let date = Date {
        year: digits(year.as_bytes())?,
        month,
        day,
        order: read,
    };
    Some((date, rest))
}

/// Milliseconds since midnight UTC; `Some(None)` where there is no clock at all.
fn clock(text: &str) -> Option<Option<i64>> {
    if let Some(usual) = usual_clock(text.as_bytes()) {
        return Some(Some(usual));
    }
    let text = text.trim_start_matches(['T', ' ']).trim_end();
    if text.is_empty() {
        return Some(None);
    }
    let text = text.trim_end_matches("UTC").trim_end();
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let (time, zone) = match text.rfind(['+', '-']) {
        Some(at) => (&text[..at], zone_ms(&text[at..])?),
        None => (text, 0),
    };
    let mut parts = time.split(':');
    let hours = digits(parts.next()?.as_bytes())?;
    let minutes = digits(parts.next()?.as_bytes())?;
    let (seconds, fraction) = match parts.next() {
        None => (0, 0),
        Some(text) => {
            let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
            (digits(whole.as_bytes())?, milliseconds(fraction)?)
        }
    };
    let sane = hours <= 24 && minutes < 60 && seconds <= 60 && parts.next().is_none();
    sane.then_some(Some(
        ((hours * 60 + minutes) * 60 + seconds) * 1000 + fraction - zone,
    ))
}

/// `T10:00:00Z` and ` 10:00:00`, which nearly all bills write.
fn usual_clock(text: &[u8]) -> Option<i64> {
    let [b'T' | b' ', h1, h2, b':', m1, m2, b':', s1, s2, rest @ ..] = text else {
        return None;
    };
    if !matches!(rest, b"" | b"Z") {
        return None;
    }
    let hours = digits(&[*h1, *h2])?;
    let minutes = digits(&[*m1, *m2]).filter(|minutes| *minutes < 60)?;
    let seconds = digits(&[*s1, *s2]).filter(|seconds| *seconds <= 60)?;
    (hours <= 24).then_some(((hours * 60 + minutes) * 60 + seconds) * 1000)
}

fn milliseconds(fraction: &str) -> Option<i64> {
    let kept = &fraction.as_bytes()[..fraction.len().min(3)];
    match kept.len() {
        0 => Some(0),
        length => Some(digits(kept)? * [100, 10, 1][length - 1]),
    }
}

/// `+01:00`, `-0300`, `+00`.
fn zone_ms(text: &str) -> Option<i64> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let plain = text[1..].replace(':', "");
    let (hours, minutes) = plain.split_at_checked(2)?;
    let minutes = match minutes {
        "" => 0,
        text => digits(text.as_bytes())?,
    };
    Some(sign * (digits(hours.as_bytes())? * 60 + minutes) * 60_000)
}

fn digits(bytes: &[u8]) -> Option<i64> {
    if bytes.is_empty() || bytes.len() > 4 || !bytes.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(
        bytes
            .iter()
            .fold(0, |sum, b| sum * 10 + i64::from(b - b'0')),
    )
}

fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    let year = i16::try_from(year).ok().filter(|year| *year >= 1970)?;
    let date = civil::Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    Some(date.duration_since(civil::date(1970, 1, 1)).as_hours() / 24)
}

/// `2024-03-01`, for people.
pub(crate) fn day_of(ms: i64) -> String {
    let moment = Timestamp::from_millisecond(ms).unwrap_or_default();
    moment.strftime("%Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_several_places() {
        let check = |text: &str, comma_parts_cells: bool, expected: Option<&str>| {
            let found = number(text, comma_parts_cells).map(|n| n.normalize().to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("0.0000111390", true, Some("0.000011139"));
        check("-3.25", true, Some("-3.25"));
        check("1.2E-05", true, Some("0.000012"));
        check("1,234.5", true, Some("1234.5"));
        check("1.234,5", true, Some("1234.5"));
        check("0,526", true, Some("0.526"));
        check("12,34", true, Some("12.34"));
        check("1,234", true, Some("1234"));
        check("1,234", false, Some("1.234"));
        check("1,234,567", false, Some("1234567"));
        check("1 234,5", false, Some("1234.5"));
        check("1000000000000", true, Some("1000000000000"));
        check("1000000000001", true, None);
        check("1e99", true, None);
        check("twelve", true, None);
        check("", true, None);
        check("NaN", true, None);
    }

    #[test]
    fn dates_of_several_places() {
        let check = |text: &str, order: DayOrder, expected: Option<&str>| {
            let found = moment(text, order).map(|read| {
                let clock = read.moment.ms.rem_euclid(DAY_MS);
                let minutes = clock / 60_000;
                let day = day_of(read.moment.ms);
                match read.moment.day_only {
                    true => day,
                    false => format!(
                        "{day} {:02}:{:02}:{}",
                        minutes / 60,
                        minutes % 60,
                        clock % 60_000
                    ),
                }
            });
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        use DayOrder::{DayFirst, MonthFirst};
        check("2024-02-29", MonthFirst, Some("2024-02-29"));
        check("2023-02-29", MonthFirst, None);
        check(
            "2024-09-18 23:00:00",
            MonthFirst,
            Some("2024-09-18 23:00:0"),
        );
        check(
            "2024-03-01T00:30:00Z",
            MonthFirst,
            Some("2024-03-01 00:30:0"),
        );
        check(
            "2024-03-01T00:30:00.25+01:00",
            DayFirst,
            Some("2024-02-29 23:30:250"),
        );
        check(
            "2024-03-01 10:00:00 UTC",
            DayFirst,
            Some("2024-03-01 10:00:0"),
        );
        check("03/04/2024", MonthFirst, Some("2024-03-04"));
        check("03/04/2024", DayFirst, Some("2024-04-03"));
        check("9/21/2023", DayFirst, Some("2023-09-21"));
        check("21.03.2024 10:15", MonthFirst, Some("2024-03-21 10:15:0"));
        check("13/13/2024", MonthFirst, None);
        check("soon", MonthFirst, None);
        check("", MonthFirst, None);
        check("2024-3", MonthFirst, None);
        check("1969-12-31", MonthFirst, None);
    }
}
