//! Which readings become rows of `samples.csv`.
//!
//! A rate over a moment says nothing: the kernel counts CPU time in hundredths of a second, and a
//! row that covers a millisecond may show four cores where there are two. A row covers at least
//! half of the interval asked for. What was read sooner still counts in the totals; its rates are
//! in the next row, or, at the end, in the last one. A run that is shorter than that has one row
//! for all of it.

use model::Sample;

use super::probe::Counters;

/// Of the interval asked for, so much a row covers at least.
const LEAST_SHARE: f64 = 0.5;

#[derive(Debug)]
pub(super) struct Rows {
    least_seconds: f64,
    /// The row that may yet grow, with what was counted up to it.
    last: Option<Row>,
    /// What was counted up to the row before.
    before: Option<Counters>,
}

#[derive(Debug)]
struct Row {
    sample: Sample,
    counters: Counters,
}

/// What becomes of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowUse {
    /// A row of its own.
    Own,
    /// Takes the place of the row before it, and covers both.
    Merged,
    /// No row: too soon after the one before.
    Skipped,
}

impl Rows {
    pub(super) fn new(interval_seconds: f64) -> Self {
        Rows {
            least_seconds: LEAST_SHARE * interval_seconds,
            last: None,
            before: None,
        }
    }

    pub(super) fn place(&self, seconds: f64, is_last: bool) -> RowUse {
        let Some(last) = &self.last else {
            return RowUse::Own;
        };
        let is_short = seconds - last.sample.seconds < self.least_seconds;
        match (is_short, is_last) {
            (false, _) => RowUse::Own,
            (true, false) => RowUse::Skipped,
            // The first row covers nothing that could be longer.
            (true, true) if self.before.is_none() => RowUse::Own,
            (true, true) => RowUse::Merged,
        }
    }

    /// What the rates of a reading are to be counted from.
    pub(super) fn since(&self, place: RowUse) -> Option<Counters> {
        match place {
            RowUse::Own | RowUse::Skipped => self.last.as_ref().map(|row| row.counters),
            RowUse::Merged => self.before,
        }
    }

    /// The row that is finished by this reading.
    pub(super) fn take(
        &mut self,
        place: RowUse,
        sample: &Sample,
        counters: Counters,
    ) -> Option<Sample> {
        let row = || Row {
            sample: sample.clone(),
            counters,
        };
        match place {
            RowUse::Skipped => None,
            RowUse::Merged => {
                self.last = Some(row());
                None
            }
            RowUse::Own => {
                let finished = self.last.replace(row());
                self.before = finished.as_ref().map(|row| row.counters);
                finished.map(|row| row.sample)
            }
        }
    }

    /// The last row.
    pub(super) fn finish(self) -> Option<Sample> {
        self.last.map(|row| row.sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readings of a run with one busy core → what its rows cover, and the rate in them.
    fn check(readings: &[f64], expected: &[(f64, f64)]) {
        let mut rows = Rows::new(1.0);
        let mut written = Vec::new();
        for (index, &seconds) in readings.iter().enumerate() {
            let place = rows.place(seconds, index + 1 == readings.len());
            let mut counters = Counters {
                seconds,
                ..Counters::default()
            };
            counters.run.cpu_seconds = seconds;
            let mut sample = Sample {
                seconds,
                ..Sample::default()
            };
            sample.run.cpu_percent = rows
                .since(place)
                .map(|since| 100.0 * (seconds - since.run.cpu_seconds));
            written.extend(rows.take(place, &sample, counters));
        }
        written.extend(rows.finish());
        let mut begin = 0.0;
        let covered: Vec<(f64, f64)> = written
            .iter()
            .map(|row| {
                let seconds = row.seconds - std::mem::replace(&mut begin, row.seconds);
                (seconds, row.run.cpu_percent.unwrap_or(0.0))
            })
            .collect();
        assert_eq!(covered, expected, "{readings:?}");
    }

    #[test]
    fn no_row_covers_less_than_half_of_the_interval() {
        check(&[0.0, 1.0, 2.0], &[(0.0, 0.0), (1.0, 100.0), (1.0, 100.0)]);
        // The end comes a moment after a reading: the last row covers both.
        check(
            &[0.0, 1.0, 2.0, 2.125],
            &[(0.0, 0.0), (1.0, 100.0), (1.125, 112.5)],
        );
        check(&[0.0, 1.0, 1.75], &[(0.0, 0.0), (1.0, 100.0), (0.75, 75.0)]);
        // A phase began a moment after a reading.
        check(
            &[0.0, 1.0, 1.25, 2.0, 3.0],
            &[(0.0, 0.0), (1.0, 100.0), (1.0, 100.0), (1.0, 100.0)],
        );
        check(&[0.0, 1.0, 1.25, 1.375], &[(0.0, 0.0), (1.375, 137.5)]);
        // A run that is shorter than the interval is one row.
        check(&[0.0, 0.25], &[(0.0, 0.0), (0.25, 25.0)]);
        check(&[0.0, 0.125, 0.25], &[(0.0, 0.0), (0.25, 25.0)]);
        check(&[0.0], &[(0.0, 0.0)]);
    }
}
