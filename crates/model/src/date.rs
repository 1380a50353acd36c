//! Dates of prices, rates and rules.

use std::str::FromStr;

use jiff::civil::Date;

/// A day, or its month or year where no more is known: `2024-03-01`, `2024-03`, `2024`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownDate {
    Day(Date),
    /// Its first day.
    Month(Date),
    /// Its first day.
    Year(Date),
}

impl KnownDate {
    /// The day that stands for it where days are counted: a year is counted from its middle.
    pub fn day(self) -> Date {
        match self {
            KnownDate::Day(day) | KnownDate::Month(day) => day,
            KnownDate::Year(first) => Date::new(first.year(), 7, 1).unwrap_or(first),
        }
    }
}

impl FromStr for KnownDate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = match text.len() {
            4 => day(&format!("{text}-01-01")).map(KnownDate::Year),
            7 => day(&format!("{text}-01")).map(KnownDate::Month),
            _ => day(text).map(KnownDate::Day),
        };
        known.ok_or_else(|| format!("`{text}` is not a date such as \"2024-03-01\""))
    }
}

/// Written in this one way only, although ISO 8601 has others.
fn day(text: &str) -> Option<Date> {
    let date: Date = text.parse().ok()?;
    (date.to_string() == text).then_some(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let check = |text: &str, expected: Option<(&str, &str)>| {
            let found = text.parse::<KnownDate>().ok().map(|known| {
                let precision = match known {
                    KnownDate::Day(_) => "day",
                    KnownDate::Month(_) => "month",
                    KnownDate::Year(_) => "year",
                };
                (precision, known.day().to_string())
            });
            let expected = expected.map(|(precision, day)| (precision, day.to_owned()));
            assert_eq!(found, expected, "{text}");
        };
        check("2024-02-29", Some(("day", "2024-02-29")));
        check("2000-02-29", Some(("day", "2000-02-29")));
        check("2024-03", Some(("month", "2024-03-01")));
        check("2017", Some(("year", "2017-07-01")));
        for wrong in [
            "",
            "2023-02-31",
            "2023-02-29",
            "1900-02-29",
            "2024-13-01",
            "2024-13",
            "2024-00",
            "2024-3-1",
            "2024-03-1",
            "20240301",
            "2024-03-01T10:00",
            "2024-03-01-01",
            "1.3.2024",
            "+024",
            "-024",
            "٢٠٢٤",
            "soon",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn what_is_expected_is_shown() {
        let error = "2023-02-31".parse::<KnownDate>().unwrap_err();
        assert_eq!(error, "`2023-02-31` is not a date such as \"2024-03-01\"");
    }
}
