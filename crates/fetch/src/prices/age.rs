//! How old a price is.

use model::KnownDate;

/// A year alone is counted from its middle. None where one of them is not a date.
pub fn age_days(date: &str, today: &str) -> Option<i64> {
    let day = |text: &str| Some(text.parse::<KnownDate>().ok()?.day());
    let old = day(today)?.duration_since(day(date)?);
    Some(old.as_hours() / 24)
}

/// `2026-08-22` on `2026-11-16` is `86 days old`.
pub fn age(date: &str, today: &str) -> String {
    let Some(days) = age_days(date, today) else {
        return "of unknown age".to_owned();
    };
    match days {
        ..=0 => "of today".to_owned(),
        1 => "1 day old".to_owned(),
        old @ 2..60 => format!("{old} days old"),
        old @ 60..730 => format!("{} months old", old * 12 / 365),
        old => format!("{} years old", old / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_as_people_do() {
        let check = |date, today, expected| assert_eq!(age(date, today), expected, "{date}");
        check("2026-11-16", "2026-11-16", "of today");
        check("2026-11-17", "2026-11-16", "of today");
        check("2026-11-15", "2026-11-16", "1 day old");
        check("2026-10-16", "2026-11-16", "31 days old");
        check("2024-02-28", "2024-03-01", "2 days old");
        check("2023-02-28", "2023-03-01", "1 day old");
        check("2026-08-22", "2026-11-16", "2 months old");
        check("2025-11-16", "2026-11-16", "12 months old");
        check("2023", "2026-11-16", "3 years old");
        check("yesterday", "2026-11-16", "of unknown age");
        check("2023-02-31", "2026-11-16", "of unknown age");
    }
}
