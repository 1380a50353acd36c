//! In which order runs were measured, as far as their starts tell.

use model::run::Origin;

use crate::table::Row;

/// Runs that say when they began.
pub(crate) struct InOrderOfStarts<'t, 'a> {
    pub(crate) rows: Vec<&'t Row<'a>>,
    /// Pairs of neighbours that began at the same time.
    ties: usize,
    /// Successful runs that do not say when they began.
    pub(crate) undated: usize,
}

/// One run in so many that has no place of its own does no harm.
const FEW: usize = 10;

impl<'t, 'a> InOrderOfStarts<'t, 'a> {
    pub(crate) fn of(runs: &'t [Row<'a>]) -> Self {
        let mut rows: Vec<&Row> = runs.iter().filter(|row| row.record.is_dated()).collect();
        rows.sort_by_key(|row| (row.record.started, row.record.run));
        let is_tie = |two: &&[&Row]| two[0].record.started == two[1].record.started;
        let ties = rows.windows(2).filter(is_tie).count();
        let undated = |row: &&Row| row.is_ok() && !row.record.is_dated();
        let undated = runs.iter().filter(undated).count();
        InOrderOfStarts {
            rows,
            ties,
            undated,
        }
    }

    /// Dates without a time of day are no order. A few runs that began together, on machines side by side, do no harm.
    pub(crate) fn is_known(&self) -> bool {
        !self.rows.is_empty() && !self.has_gaps() && self.ties * FEW <= self.rows.len()
    }

    /// Whether too many runs do not say when they began: one level might have its own time.
    pub(crate) fn has_gaps(&self) -> bool {
        self.undated * FEW > self.rows.len()
    }

    /// Of each row, from 0 to 1; runs that began together share theirs.
    pub(crate) fn places(&self) -> Vec<f64> {
        let last = self.rows.len().saturating_sub(1).max(1) as f64;
        let mut places = Vec::with_capacity(self.rows.len());
        let groups = self
            .rows
            .chunk_by(|a, b| a.record.started == b.record.started);
        for group in groups {
            let middle = places.len() as f64 + (group.len() - 1) as f64 / 2.0;
            places.extend(std::iter::repeat_n(middle / last, group.len()));
        }
        places
    }
}

/// How runs of several scenarios followed one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sequence {
    /// Nobody says when they were.
    Unknown,
    InTurn,
    /// All runs of one, then all of the next.
    Apart,
}

impl Sequence {
    /// Of scenarios that were repeated.
    pub(crate) fn of(runs: &[Row]) -> Self {
        let order = InOrderOfStarts::of(runs);
        if !order.is_known() {
            return Sequence::Unknown;
        }
        let mut numbers: Vec<u32> = order
            .rows
            .iter()
            .map(|row| row.record.run.scenario)
            .collect();
        let runs = numbers.len();
        numbers.dedup();
        let changes = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        let scenarios = numbers.len();
        match scenarios > 1 && runs > scenarios && changes == scenarios {
            true => Sequence::Apart,
            false => Sequence::InTurn,
        }
    }
}

/// Rows of a file are numbered as they stand there, which may be any order.
pub(crate) fn is_imported(row: &Row) -> bool {
    matches!(row.record.origin, Origin::Imported { .. })
}
