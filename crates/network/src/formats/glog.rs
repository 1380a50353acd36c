//! The head that glog and Abseil write before every line of a log:
//! `I0515 10:11:12.123456  4242 solver.cpp:239] message`.

/// A line taken apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line<'t> {
    pub severity: Severity,
    pub moment: Moment,
    /// `solver.cpp`, without the number of the line.
    pub source: &'t str,
    /// What follows the head, with its indent.
    pub message: &'t str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Info,
    Warning,
    Error,
    Fatal,
}

/// By the clock of the machine that wrote it, whose zone the line does not tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Only younger versions write it.
    pub year: Option<i16>,
    pub month: i8,
    pub day: i8,
    pub hour: i8,
    pub minute: i8,
    /// With its fraction.
    pub second: f64,
}

impl Moment {
    /// To a moment less than a day later; the days themselves are not looked at, since their year
    /// may be missing.
    pub fn seconds_until(self, later: Moment) -> f64 {
        const DAY: f64 = 86_400.0;
        let of_day = |moment: Moment| {
            f64::from(moment.hour) * 3600.0 + f64::from(moment.minute) * 60.0 + moment.second
        };
        (of_day(later) - of_day(self)).rem_euclid(DAY)
    }
}

/// `None` for a line without the head: a stack trace, a second line of a message.
pub fn line(text: &str) -> Option<Line<'_>> {
    let text = text.trim_start();
    let severity = match text.as_bytes().first()? {
        b'I' => Severity::Info,
        b'W' => Severity::Warning,
        b'E' => Severity::Error,
        b'F' => Severity::Fatal,
        _ => return None,
    };
    let (head, message) = text.get(1..)?.split_once(']')?;
    let mut words = head.split_ascii_whitespace();
    let (date, time) = (words.next()?, words.next()?);
    let source = words.next_back()?.rsplit_once(':')?.0;
    let (year, month_and_day) = match date.len() {
        4 => (None, date),
        8 => (Some(number(date.get(..4)?)?), date.get(4..)?),
        _ => return None,
    };
    let mut parts = time.splitn(3, ':');
    let moment = Moment {
        year,
        month: within(month_and_day.get(..2)?, 1..=12)?,
        day: within(month_and_day.get(2..)?, 1..=31)?,
        hour: within(parts.next()?, 0..=23)?,
        minute: within(parts.next()?, 0..=59)?,
        second: parts.next()?.parse().ok()?,
    };
    let is_second = (0.0..61.0).contains(&moment.second);
    is_second.then_some(Line {
        severity,
        moment,
        source,
        message: message.strip_prefix(' ').unwrap_or(message),
    })
}

fn number(digits: &str) -> Option<i16> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}

fn within(digits: &str, range: std::ops::RangeInclusive<i8>) -> Option<i8> {
    let number = i8::try_from(number(digits)?).ok()?;
    range.contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read() {
        let check = |text: &str, expected: Option<(Severity, Option<i16>, &str, &str)>| {
            let found = line(text).map(|l| (l.severity, l.moment.year, l.source, l.message));
            assert_eq!(found, expected, "{text}");
        };
        check(
            "I0515 10:11:12.123456  4242 solver.cpp:239] Iteration 20, loss = 2.30",
            Some((
                Severity::Info,
                None,
                "solver.cpp",
                "Iteration 20, loss = 2.30",
            )),
        );
        check(
            " F20230506 16:29:05.468179 19928 syncedmem.cpp:71] Check failed: a[0]",
            Some((
                Severity::Fatal,
                Some(2023),
                "syncedmem.cpp",
                "Check failed: a[0]",
            )),
        );
        check(
            "I1017 07:36:34.248730 31333 solver.cpp:298]     Test net output #0: accuracy = 0.3916",
            Some((
                Severity::Info,
                None,
                "solver.cpp",
                "    Test net output #0: accuracy = 0.3916",
            )),
        );
        check("Iteration 20, loss = 2.30", None);
        check("INFO:tensorflow:global step 1: loss = 1 [x]", None);
        check("I1315 10:11:12.1 1 a.cpp:1] month", None);
        check("I0532 10:11:12.1 1 a.cpp:1] day", None);
        check("I0515 24:11:12.1 1 a.cpp:1] hour", None);
        check("I0515 10:11 1 a.cpp:1] time", None);
        check("I0515 10:11:nan 1 a.cpp:1] time", None);
        check("I0+15 10:11:12.1 1 a.cpp:1] sign", None);
        check("Ié15 10:11:12.1 1 a.cpp:1] letters", None);
        check("I", None);
        check("", None);
    }

    #[test]
    fn moments_follow_one_another() {
        let check = |from: &str, to: &str, expected: f64| {
            let moment = |time| line(&format!("I1231 {time} 1 a.cpp:1] x")).unwrap().moment;
            let found = moment(from).seconds_until(moment(to));
            assert!((found - expected).abs() < 1e-9, "{from} {to}: {found}");
        };
        check("10:11:12.000250", "10:11:12.001220", 0.00097);
        check("23:59:59.5", "00:00:01.0", 1.5);
        check("10:00:00.0", "10:00:00.0", 0.0);
    }

    #[test]
    fn moments_are_read() {
        let found = line("W1231 23:59:59.999999     1 a.cpp:1] x").unwrap();
        assert_eq!(
            found.moment,
            Moment {
                year: None,
                month: 12,
                day: 31,
                hour: 23,
                minute: 59,
                second: 59.999999,
            }
        );
    }
}
