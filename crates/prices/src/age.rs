//! How old a price is.

/// A year alone is counted from its middle. `None` if one of them is not a date.
pub fn age_days(date: &str, today: &str) -> Option<i64> {
    Some(days(today)? - days(date)?)
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

/// Since the year 0 (days_from_civil of Howard Hinnant's chrono-compatible date algorithms).
fn days(date: &str) -> Option<i64> {
    let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
    let year = parts.next()??;
    let month = parts.next().unwrap_or(Some(7))?;
    let day = parts.next().unwrap_or(Some(1))?;
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(year * 365 + year / 4 - year / 100 + year / 400 + of_year)
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
    }
}
