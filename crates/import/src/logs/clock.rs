//! Moments of log lines, most of which lack the year.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use network::formats::glog::Moment;

/// Gives every line the year it is of, going through them in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock {
    year: i16,
    month: i8,
}

impl Clock {
    /// A log that goes from December to January is of two years. Where nobody tells the year, the
    /// last line is of the last such day before the file was written.
    pub(super) fn of(
        mut moments: impl Iterator<Item = Moment>,
        told: Option<i16>,
        modified: Timestamp,
    ) -> Self {
        let Some(first) = moments.next() else {
            return Clock {
                year: 1970,
                month: 1,
            };
        };
        let mut last = first;
        let mut turns = 0_i16;
        for moment in moments {
            turns = turns.saturating_add(is_new_year(last.month, moment.month).into());
            last = moment;
        }
        let year = first.year.or(told).unwrap_or_else(|| {
            let written = modified.to_zoned(TimeZone::UTC).date();
            // Its clock may be of a zone that is a day ahead.
            let latest = written.tomorrow().unwrap_or(written);
            let date = Date::new(latest.year(), last.month, last.day);
            let is_later = date.map_or(last.month > latest.month(), |date| date > latest);
            (latest.year() - i16::from(is_later)).saturating_sub(turns)
        });
        Clock {
            year,
            month: first.month,
        }
    }

    /// Taken as UTC, since the zone is not reported; `None` for a day that the year does not have.
    pub(super) fn at(&mut self, moment: Moment) -> Option<Timestamp> {
        let turn = is_new_year(self.month, moment.month);
        self.year = self.year.saturating_add(turn.into());
        self.month = moment.month;
        let year = moment.year.unwrap_or(self.year);
        let nanoseconds = (moment.second * 1e9) as i64;
        let second = (nanoseconds / 1_000_000_000).min(59);
        let civil = DateTime::new(
            year,
            moment.month,
            moment.day,
            moment.hour,
            moment.minute,
            second as i8,
            (nanoseconds % 1_000_000_000) as i32,
        );
        TimeZone::UTC.to_timestamp(civil.ok()?).ok()
    }
}

fn is_new_year(before: i8, after: i8) -> bool {
    before == 12 && after == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(month: i8, day: i8, hour: i8) -> Moment {
        Moment {
            year: None,
            month,
            day,
            hour,
            minute: 0,
            second: 0.5,
        }
    }

    fn check(moments: &[Moment], told: Option<i16>, modified: &str, expected: &[&str]) {
        let mut clock = Clock::of(moments.iter().copied(), told, modified.parse().unwrap());
        let found: Vec<String> = moments
            .iter()
            .map(|&moment| clock.at(moment).unwrap().to_string())
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_year_is_that_of_the_file_or_as_told() {
        let may = [moment(5, 15, 23), moment(5, 16, 0)];
        let of = |year: &str| {
            [
                format!("{year}-05-15T23:00:00.5Z"),
                format!("{year}-05-16T00:00:00.5Z"),
            ]
        };
        let check = |told, modified: &str, year: &str| {
            let expected = of(year);
            check(&may, told, modified, &[&expected[0], &expected[1]]);
        };
        check(None, "2017-05-16T00:01:00Z", "2017");
        // Copied in another year.
        check(None, "2017-03-01T00:00:00Z", "2016");
        // A zone ahead of UTC.
        check(None, "2017-05-15T20:00:00Z", "2017");
        check(Some(2014), "2017-05-16T00:01:00Z", "2014");
    }

    #[test]
    fn years_turn() {
        let nights = [moment(12, 31, 23), moment(1, 1, 0), moment(1, 1, 1)];
        let expected = [
            "2016-12-31T23:00:00.5Z",
            "2017-01-01T00:00:00.5Z",
            "2017-01-01T01:00:00.5Z",
        ];
        check(&nights, None, "2017-01-02T00:00:00Z", &expected);
        check(&nights, Some(2016), "2020-01-02T00:00:00Z", &expected);
    }

    #[test]
    fn a_year_that_is_written_counts() {
        let written = Moment {
            year: Some(2023),
            ..moment(2, 28, 5)
        };
        check(
            &[written],
            Some(1999),
            "2030-01-01T00:00:00Z",
            &["2023-02-28T05:00:00.5Z"],
        );
        let mut clock = Clock::of([written].into_iter(), None, Timestamp::UNIX_EPOCH);
        let no_day = Moment { day: 30, ..written };
        assert_eq!(clock.at(no_day), None);
    }
}
